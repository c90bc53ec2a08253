#include "math/evaluate.h"
#include "math/functions.h"
#include "math/scalar_backend.h"

namespace calque::math {

double evaluate_f64(PrimitiveId id, const MathForms& forms, double x, double y) {
  const auto in = [&]<class B>() { return function_of<double, B>(id, forms.fast_math, x, y).value().raw(); };
  return forms.fused ? in.operator()<ScalarBackend>() : in.operator()<UnfusedScalarBackend>();
}

}  // namespace calque::math
