#include "primitives/registration.h"

namespace calque::primitives {

template void register_family<ReductionList>(std::span<const Registration>);
template void register_family<ControlList>(std::span<const Registration>);
template void register_family<EffectsList>(std::span<const Registration>);

}  // namespace calque::primitives
