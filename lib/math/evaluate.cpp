#include "math/evaluate.h"

#include <bit>

#include "calque/ir/rounding.h"

#include "math/elementary/remainder.h"
#include "math/scalar_backend.h"
#include "primitives/registry.h"

namespace calque::math {

namespace {

namespace p = primitives;

/// f16 or bf16.
template <class H>
H nextafter_element(H x, H y) {
  using F = Lane<float, ScalarBackend>;
  using I = Lane<int16_t, ScalarBackend>;
  const auto bits = [](H h) { return I(std::bit_cast<int16_t>(h)); };
  const F wide_x(static_cast<float>(x)), wide_y(static_cast<float>(y));
  return std::bit_cast<H>(nextafter_of_half(wide_x, wide_y, bits(x), bits(y), std::is_same_v<H, bfloat16>).raw());
}

template <class T>
T evaluate_element(PrimitiveId id, const MathForms& forms, T x, T y) {
  if constexpr (std::is_same_v<T, double>) {
    return evaluate_f64(id, forms, x, y);
  } else if constexpr (std::is_same_v<T, float>) {
    return evaluate_f32(id, forms, x, y);
  } else {
    if (id == p::id_of<p::Nextafter>) return nextafter_element(x, y);
    return round_once<T>(evaluate_f32(id, forms, static_cast<float>(x), static_cast<float>(y)));
  }
}

}  // namespace

bool can_evaluate(PrimitiveId id, DType dtype, const MathForms& forms) {
  if (is_complex(dtype)) return id == p::id_of<p::Abs>;
  if (!is_floating(dtype) || p::rules(id).kind(dtype) != p::LowerKind::function) return false;
  return !(forms.estimates && id == p::id_of<p::Rsqrt> && dtype != DType::f64);
}

void evaluate(PrimitiveId id, const MathForms& forms, p::Evaluation& e) {
  visit_dtype(e.operands[0].dtype(), [&]<class T>() {
    if constexpr (is_complex(dtype_of<T>)) {
      using R = typename T::value_type;
      const T* const x = e.operands[0].data_as<T>();
      AnyArray& out = e.add_result();
      auto* const to = static_cast<R*>(out.mutable_data());
      for (int64_t i = 0, n = out.size(); i < n; ++i)
        to[i] = evaluate_element(p::id_of<p::Hypot>, forms, x[i].real(), x[i].imag());
    }
    if constexpr (p::contains(p::kFloat, dtype_of<T>)) {
      const T* const x = e.operands[0].data_as<T>();
      const T* const y = e.operands[e.operands.size() - 1].data_as<T>();
      AnyArray& out = e.add_result();
      auto* const to = static_cast<T*>(out.mutable_data());
      for (int64_t i = 0, n = out.size(); i < n; ++i) to[i] = evaluate_element(id, forms, x[i], y[i]);
    }
  });
}

}  // namespace calque::math
