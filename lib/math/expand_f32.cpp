#include "math/expand_rules.h"
#include "math/functions.h"

namespace calque::math {

Value expand_f32(PrimitiveId id, bool fast_math, Value x, Value y) {
  using F = Lane<float, GraphBackend>;
  const auto result = function_of(id, fast_math, F::from_raw(x), F::from_raw(y));
  return result ? result->raw() : Value{};
}

}  // namespace calque::math
