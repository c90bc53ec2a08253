#pragma once
// Terms of a sum that a later loop would compute again are kept where that loop stores.
#include "kernel/ir/kernel.h"

namespace calque::kernel {

/// Where a reduction computes dear values that a parallel loop after it computes again on its way to a store (the
/// exponentials of a softmax), the reduction stores them there, and the loop reads them.
void keep_terms(Kernel& kernel);

}  // namespace calque::kernel
