#include "primitives/elementwise/arithmetic.h"

#include "primitives/elementwise/elementwise_evaluation.h"
#include "primitives/registration.h"

namespace calque::primitives {

template void register_family<ArithmeticList>(std::span<const Registration>);

}  // namespace calque::primitives
