#include "primitives/registry.h"

namespace calque::primitives {

void register_structural(std::span<const Registration> table) {
  register_primitives(ShapeList{}, table);
  register_primitives(ReductionList{}, table);
  register_primitives(ControlList{}, table);
  register_primitives(EffectsList{}, table);
}

}  // namespace calque::primitives
