#include "math/evaluate.h"
#include "math/functions.h"
#include "math/scalar_backend.h"

namespace calque::math {

float evaluate_f32(PrimitiveId id, const MathForms& forms, float x, float y) {
  const auto in = [&]<class B>() { return function_of<float, B>(id, forms.fast_math, x, y).value().raw(); };
  return forms.fused ? in.operator()<ScalarBackend>() : in.operator()<UnfusedScalarBackend>();
}

}  // namespace calque::math
