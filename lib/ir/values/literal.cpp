// Bytes of a literal after its element are zero, so that literals compare and hash as 16 bytes.
#include <cmath>
#include <limits>

#include "calque/ir/graph.h"
#include "calque/ir/rounding.h"

namespace calque {
namespace {

/// Truncates toward zero and saturates; NaN becomes 0.
template <class T>
T saturate(double value) {
  if (std::isnan(value)) return 0;
  constexpr auto kLowest = static_cast<double>(std::numeric_limits<T>::min());
  // The largest integer may round up to a power of two, which is itself out of range.
  const double limit = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (value < kLowest) return std::numeric_limits<T>::min();
  if (value >= limit) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

}  // namespace

Literal make_literal(DType dtype, double value) {
  return visit_dtype(dtype, [value]<class T>() {
    if constexpr (std::is_same_v<T, bool>) {
      return Literal::of<bool>(value != 0);
    } else if constexpr (std::is_integral_v<T>) {
      return Literal::of<T>(saturate<T>(value));
    } else if constexpr (is_complex(dtype_of<T>)) {
      return Literal::of<T>(T(static_cast<typename T::value_type>(value), 0));
    } else {
      return Literal::of<T>(round_once<T>(value));
    }
  });
}

Literal make_literal(DType dtype, int64_t value) {
  return visit_dtype(dtype, [value]<class T>() {
    if constexpr (std::is_same_v<T, bool>) {
      return Literal::of<bool>(value != 0);
    } else if constexpr (is_complex(dtype_of<T>)) {
      return Literal::of<T>(T(static_cast<typename T::value_type>(value), 0));
    } else if constexpr (is_floating(dtype_of<T>)) {
      return Literal::of<T>(round_once<T>(value));
    } else {
      return Literal::of<T>(static_cast<T>(value));
    }
  });
}

}  // namespace calque
