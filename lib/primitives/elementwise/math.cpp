#include "primitives/elementwise/math.h"

#include "primitives/elementwise/elementwise_evaluation.h"
#include "primitives/registration.h"

namespace calque::primitives {

template void register_family<MathList>(std::span<const Registration>);

}  // namespace calque::primitives
