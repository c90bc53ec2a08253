#include "primitives/reduction/reduction.h"

#include "primitives/registration.h"

namespace calque::primitives {

template void register_family<ReductionList>(std::span<const Registration>);

}  // namespace calque::primitives
