#include "primitives/elementwise/arithmetic.h"

#include "primitives/elementwise/elementwise_evaluation.h"
#include "primitives/registry.h"

namespace calque::primitives {

void register_arithmetic(std::span<const Registration> table) { register_primitives(ArithmeticList{}, table); }

}  // namespace calque::primitives
