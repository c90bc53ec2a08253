#pragma once
// Conversions of one element, each with the single rounding that `convert` promises. Included only by source files of
// evaluation rules.
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "calque/ir/dtype.h"

#include "primitives/scalar.h"

namespace calque::primitives {

template <class T>
inline constexpr bool is_half_v = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

/// The type in which basic primitives compute: f32 for 16-bit floats.
template <class T>
using Compute = std::conditional_t<is_half_v<T>, float, T>;

/// The type in which the reference computes functions: wider than T, T itself for integers.
template <class T>
struct WiderOf {
  using type = T;
};
template <>
struct WiderOf<float16> {
  using type = double;
};
template <>
struct WiderOf<bfloat16> {
  using type = double;
};
template <>
struct WiderOf<float> {
  using type = double;
};
template <>
struct WiderOf<double> {
  using type = long double;
};
template <class T>
using Wider = typename WiderOf<T>::type;

/// The f32 next to x toward zero, or x, with its last bit set if x is none: a later rounding to fewer bits (by two at
/// least) then gives what one rounding of x would.
template <class W>
float round_to_odd(W x) {
  auto f = static_cast<float>(x);
  if (std::isnan(f) || static_cast<W>(f) == x) return f;
  if (std::fabs(static_cast<W>(f)) > std::fabs(x)) f = std::nextafter(f, 0.0F);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(f) | 1U);
}

/// A floating-point number in the float type T, rounded once to nearest even.
template <class T, class W>
T round_float(W x) {
  if constexpr (is_half_v<T>) {
    if constexpr (sizeof(W) > sizeof(float)) {
      return T(round_to_odd(x));
    } else {
      return T(x);
    }
  } else {
    return static_cast<T>(x);
  }
}

/// Truncated and saturated; NaN gives 0.
template <class I, class F>
I saturate(F x) {
  if (std::isnan(x)) return 0;
  // Two powers that floats represent: the least I, and one past the greatest.
  constexpr F kLow = static_cast<F>(std::numeric_limits<I>::min());
  const F high = std::ldexp(F(1), std::numeric_limits<I>::digits);
  if (x <= kLow) return std::numeric_limits<I>::min();
  if (x >= high) return std::numeric_limits<I>::max();
  return static_cast<I>(x);
}

/// x as an element of type To, as `convert` defines it.
template <class To, class From>
To convert_element(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (is_half_v<From>) {
    return convert_element<To>(static_cast<float>(x));
  } else if constexpr (scalar::is_complex_v<From>) {
    if constexpr (scalar::is_complex_v<To>) {
      using R = typename To::value_type;
      return {static_cast<R>(x.real()), static_cast<R>(x.imag())};
    } else if constexpr (std::is_same_v<To, bool>) {
      return x.real() != 0 || x.imag() != 0;
    } else {
      return convert_element<To>(x.real());
    }
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From{0};
  } else if constexpr (scalar::is_complex_v<To>) {
    return To(static_cast<typename To::value_type>(x));
  } else if constexpr (is_half_v<To>) {
    if constexpr (std::is_integral_v<From>) {
      return To(static_cast<float>(x));
    } else {
      return round_float<To>(x);
    }
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return saturate<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace calque::primitives
