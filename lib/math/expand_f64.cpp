#include "math/expand_float.h"

namespace calque::math {

Value expand_f64(PrimitiveId id, const ValueList& operands) { return expand_float<double>(id, operands); }

}  // namespace calque::math
