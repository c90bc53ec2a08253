#include "primitives/control/control.h"

#include "primitives/registration.h"

namespace calque::primitives {

template void register_family<ControlList>(std::span<const Registration>);

}  // namespace calque::primitives
