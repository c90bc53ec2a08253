#include "primitives/linalg/linalg.h"

#include "primitives/registration.h"

namespace calque::primitives {

template void register_family<LinalgList>(std::span<const Registration>);

}  // namespace calque::primitives
