#pragma once
// Conversions of one element, with the single rounding that `convert` guarantees. Included only by source files of
// evaluation rules.
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "calque/ir/dtype.h"
#include "calque/ir/rounding.h"

#include "primitives/elementwise/scalar.h"

namespace calque::primitives {

template <class T>
inline constexpr bool is_half_v = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

/// The type in which arithmetic is computed: f32 for 16-bit floats, else T.
template <class T>
using Compute = std::conditional_t<is_half_v<T>, float, T>;

/// The type in which the reference computes functions: wider than T for floats, T for integers.
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

/// Truncates toward zero and saturates; NaN becomes 0.
template <class I, class F>
I saturate(F x) {
  if (std::isnan(x)) return 0;
  // Powers of two that floats represent: the least I, and one past the greatest.
  constexpr F kLow = static_cast<F>(std::numeric_limits<I>::min());
  const F high = std::ldexp(F(1), std::numeric_limits<I>::digits);
  if (x <= kLow) return std::numeric_limits<I>::min();
  if (x >= high) return std::numeric_limits<I>::max();
  return static_cast<I>(x);
}

/// x converted to type To, as defined by `convert`.
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
    return round_once<To>(x);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return saturate<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace calque::primitives
