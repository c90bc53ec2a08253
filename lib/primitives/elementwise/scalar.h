#pragma once
// The arithmetic of one element as defined in docs/semantics.md, without undefined behavior: integers wrap and never
// trap. T is bool, an integer, float, double or a complex of these; 16-bit floats are passed as float.
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "calque/ir/dtype.h"

#include "primitives/elementwise/complex_arithmetic.h"

namespace calque::primitives::scalar {

template <class T>
inline constexpr bool is_complex_v = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

/// An unsigned type in which arithmetic on T wraps (small types would be promoted to int).
template <class T>
using Wrapping = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;

template <class T, class F>
T wrapping(T x, T y, F f) {
  using U = Wrapping<T>;
  return static_cast<T>(f(static_cast<U>(x), static_cast<U>(y)));
}

template <class T>
T add(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    return wrapping(x, y, [](auto a, auto b) { return a + b; });
  } else {
    return x + y;
  }
}

template <class T>
T sub(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    return wrapping(x, y, [](auto a, auto b) { return a - b; });
  } else {
    return x - y;
  }
}

template <class T>
T mul(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    return wrapping(x, y, [](auto a, auto b) { return a * b; });
  } else if constexpr (is_complex_v<T>) {
    using R = typename T::value_type;
    const auto p = complex_numbers::product<R>({x.real(), x.imag()}, {y.real(), y.imag()});
    return {p.re, p.im};
  } else {
    return x * y;
  }
}

template <class T>
T div(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    if (y == 0) return static_cast<T>(~T{0});
    if constexpr (std::is_signed_v<T>) {
      if (y == -1) return sub(T{0}, x);
    }
    return static_cast<T>(x / y);
  } else if constexpr (is_complex_v<T>) {
    using R = typename T::value_type;
    const complex_numbers::Parts<double> a{x.real(), x.imag()}, b{y.real(), y.imag()};
    // The products of f32 are exact in f64, and do not leave its range.
    const auto q =
        std::is_same_v<R, float> ? complex_numbers::recovered_quotient(a, b) : complex_numbers::quotient(a, b);
    return {static_cast<R>(q.re), static_cast<R>(q.im)};
  } else {
    return x / y;
  }
}

template <class T>
T rem(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    if (y == 0) return x;
    if constexpr (std::is_signed_v<T>) {
      if (y == -1) return 0;
    }
    return static_cast<T>(x % y);
  } else {
    return std::fmod(x, y);
  }
}

template <class T>
T neg(T x) {
  if constexpr (std::is_integral_v<T>) {
    return sub(T{0}, x);
  } else {
    return -x;
  }
}

/// For complex numbers the modulus, computed in a wider type.
template <class T>
auto abs(T x) {
  if constexpr (is_complex_v<T>) {
    using R = typename T::value_type;
    using Wide = std::conditional_t<std::is_same_v<R, float>, double, long double>;
    return static_cast<R>(std::hypot(static_cast<Wide>(x.real()), static_cast<Wide>(x.imag())));
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::fabs(x);
  } else {
    return x < T{0} ? neg(x) : x;
  }
}

template <class T>
T sign(T x) {
  if (x > T{0}) return T{1};
  if constexpr (!std::is_unsigned_v<T>) {
    if (x < T{0}) return T(-1);
  }
  return x;  // zeros and NaN are returned unchanged
}

/// f on floats, the identity on integers.
template <class T, class F>
T round_with(T x, F f) {
  if constexpr (std::is_floating_point_v<T>) {
    return f(x);
  } else {
    return x;
  }
}

template <class T>
T max(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(x)) return x;
    if (std::isnan(y)) return y;
    if (x == y) return std::signbit(x) ? y : x;
  }
  return x < y ? y : x;
}

template <class T>
T min(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(x)) return x;
    if (std::isnan(y)) return y;
    if (x == y) return std::signbit(x) ? x : y;
  }
  return y < x ? y : x;
}

template <class T>
bool shift_too_wide(T count) {
  return static_cast<std::make_unsigned_t<T>>(count) >= 8 * sizeof(T);
}

template <class T>
T shl(T x, T count) {
  if (shift_too_wide(count)) return 0;
  return static_cast<T>(static_cast<Wrapping<T>>(x) << static_cast<int>(count));
}

template <class T>
T shr_arithmetic(T x, T count) {
  if (shift_too_wide(count)) return static_cast<T>(x < T{0} ? -1 : 0);
  return static_cast<T>(x >> static_cast<int>(count));
}

template <class T>
T shr_logical(T x, T count) {
  if (shift_too_wide(count)) return 0;
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) >> static_cast<int>(count));
}

template <class T>
T pow(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    if constexpr (std::is_signed_v<T>) {
      if (y < 0) {
        if (x == 0) return -1;
        if (x == 1) return 1;
        return static_cast<T>(x == -1 ? (y % 2 == 0 ? 1 : -1) : 0);
      }
    }
    T result = 1;
    for (auto n = static_cast<std::make_unsigned_t<T>>(y); n != 0; n = static_cast<std::make_unsigned_t<T>>(n >> 1)) {
      if ((n & 1) != 0) result = mul(result, x);
      x = mul(x, x);
    }
    return result;
  } else {
    return std::pow(x, y);
  }
}

}  // namespace calque::primitives::scalar
