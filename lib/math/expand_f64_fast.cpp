#include "math/expand_fast.h"

namespace calque::math {

Value expand_f64_fast(PrimitiveId id, const ValueList& operands) { return expand_fast<double>(id, operands); }

}  // namespace calque::math
