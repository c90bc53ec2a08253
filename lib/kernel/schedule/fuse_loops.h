#pragma once
#include <vector>

#include "kernel/ir/program.h"

namespace calque::kernel {

/// Makes one loop of loops that follow each other, run over the same extent and do not need each other's results, when
/// one of them reduces: what they read is then read once, what they compute alike is computed once, and a reduction's
/// loop also stores elements. Then the same inside the loop. Equal instructions of a region become one. `views` are
/// what the kernel's buffers are bound to.
void fuse_loops(Kernel& kernel, const std::vector<View>& views);

}  // namespace calque::kernel
