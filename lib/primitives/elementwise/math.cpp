#include "primitives/elementwise/math.h"

#include "primitives/elementwise/elementwise_evaluation.h"
#include "primitives/registry.h"

namespace calque::primitives {

void register_math(std::span<const Registration> table) { register_primitives(MathList{}, table); }

}  // namespace calque::primitives
