#include "primitives/shape/shape.h"

#include "primitives/registration.h"

namespace calque::primitives {

template void register_family<ShapeList>(std::span<const Registration>);

}  // namespace calque::primitives
