#include "math/expand_fast.h"

namespace calque::math {

Value expand_f32_fast(PrimitiveId id, const ValueList& operands) { return expand_fast<float>(id, operands); }

}  // namespace calque::math
