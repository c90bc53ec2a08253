#include "math/expand_float.h"

namespace calque::math {

Value expand_f32(PrimitiveId id, const ValueList& operands) { return expand_float<float>(id, operands); }

}  // namespace calque::math
