#include "primitives/elementwise/random_bits.h"

#include "primitives/elementwise/elementwise_evaluation.h"
#include "primitives/registry.h"

namespace calque::primitives {

void register_random_bits(std::span<const Registration> table) { register_primitives(RandomBitsList{}, table); }

}  // namespace calque::primitives
