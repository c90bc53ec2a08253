#include "primitives/elementwise/random_bits.h"

#include "primitives/elementwise/elementwise_evaluation.h"
#include "primitives/registration.h"

namespace calque::primitives {

template void register_family<RandomBitsList>(std::span<const Registration>);

}  // namespace calque::primitives
