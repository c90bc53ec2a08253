// log, log2, log10, log1p.
//
// x = 2^k (1 + f), log x = k ln 2 + log(1 + f) and log(1 + f) = f - f^2 / 2 + R. For f32 |f| <= 1/3 and R = f^3 P(f);
// for f64, with sqrt(1/2) <= 1 + f < sqrt(2) and s = f / (2 + f), log(1 + f) = 2 atanh(s) gives R = s (f^2 / 2 + s^2
// P(s^2)).
#pragma once

#include "math/coefficients/logarithm.h"
#include "math/support.h"

namespace calque::math {

/// The bits of the smallest 1 + f: 2/3 (f32) or sqrt(1/2) (f64).
template <class T>
inline constexpr auto kLogReductionBits = [] {
  if constexpr (sizeof(T) == 4) {
    return std::int32_t{0x3f2aaaab};
  } else {
    return std::int64_t{0x3fe6a09e667f3bcd};
  }
}();

/// log(1 + f) - f + f^2 / 2, given square = f^2.
template <FloatLane F>
F log1p_rest(const F& f, const F& square) {
  using T = scalar_t<F>;
  if constexpr (sizeof(T) == 4) {
    return (f * square) * polynomial(f, LogConstants<T>::kLog1p);
  } else {
    const F s = f / (f + T(2));
    const F z = s * s;
    return s * multiply_add(z, polynomial(z, LogConstants<T>::kLogAtanh), square * T(0.5));
  }
}

/// log(1 + f + f_low) as a pair, to about 2^-3 ulp of its high part.
template <FloatLane F>
Pair<F> log1p_reduced(const F& f, const F& f_low) {
  using T = scalar_t<F>;
  const F half = f * T(0.5);
  const F h = half * f;
  const F h_low = product_error(half, f, h);
  const F high = f - h;
  const F low = ((f - high) - h) - h_low;
  return {high, (low + fma(-f, f_low, f_low)) + log1p_rest(f, f * f)};
}

/// k ln 2 + log(1 + f), rounded, for normal positive x times 2^extra.
template <FloatLane F>
F log_normal(const F& x, const int_t<F>& extra) {
  using T = scalar_t<F>;
  using C = LogConstants<T>;
  const auto [m, exponent] = split_exponent(x, int_t<F>(kLogReductionBits<T>));
  const F k = small_integer<F>(exponent + extra);
  const F f = m - T(1);
  const F square = f * f;
  const F rest = multiply_add(k, C::kLn2_1, log1p_rest(f, square));
  return multiply_add(k, C::kLn2_0, f + multiply_add(square, T(-0.5), rest));
}

/// x = 2^k (1 + f) and log(1 + f), to derive logarithms to other bases.
template <FloatLane F>
struct LogReduction {
  F k;
  Pair<F> rest;
};

template <FloatLane F>
LogReduction<F> log_reduction(const F& x, const int_t<F>& extra) {
  using T = scalar_t<F>;
  const auto [m, exponent] = split_exponent(x, int_t<F>(kLogReductionBits<T>));
  return {small_integer<F>(exponent + extra), log1p_reduced(m - T(1), F(0))};
}

template <FloatLane F>
F log2_normal(const F& x, const int_t<F>& extra) {
  using C = LogConstants<scalar_t<F>>;
  const LogReduction<F> r = log_reduction(x, extra);
  const Pair<F> p = two_product(r.rest.high, F(C::kInvLn2_0));
  const F low = fma(r.rest.low, C::kInvLn2_0, fma(r.rest.high, C::kInvLn2_1, p.low));
  const Pair<F> sum = quick_two_sum(r.k, p.high);
  return sum.high + (sum.low + low);
}

template <FloatLane F>
F log10_normal(const F& x, const int_t<F>& extra) {
  using C = LogConstants<scalar_t<F>>;
  const LogReduction<F> r = log_reduction(x, extra);
  const Pair<F> p = two_product(r.rest.high, F(C::kInvLn10_0));
  const F low = fma(r.rest.low, C::kInvLn10_0, fma(r.rest.high, C::kInvLn10_1, p.low));
  const Pair<F> sum = quick_two_sum(r.k * C::kLog10Of2_0, p.high);
  return sum.high + (sum.low + fma(r.k, C::kLog10Of2_1, low));
}

/// True when x is not a positive normal number.
template <FloatLane F>
mask_t<F> is_not_positive_normal(const F& x) {
  using Format = FloatFormat<scalar_t<F>>;
  using U = uint_t<F>;
  constexpr auto kLeast = typename Format::Uint{1} << Format::kMantissaBits;
  return to_unsigned_bits(x) - U(kLeast) >= U(Format::kExponentMask - kLeast);
}

/// scale * k + f P(f), the logarithm of 2^k (1 + f) to some base, with an error of about 4 ulp.
template <FloatLane F, std::size_t N>
F log_fast(const F& x, const int_t<F>& extra, scalar_t<F> scale, const std::array<scalar_t<F>, N>& coefficients) {
  const auto [m, exponent] = split_exponent(x, int_t<F>(kLogReductionBits<scalar_t<F>>));
  const F f = m - scalar_t<F>(1);
  return fma(small_integer<F>(exponent + extra), scale, f * polynomial(f, coefficients));
}

/// True when the shorter form of the logarithms exists for F and may be used.
template <FloatLane F>
inline constexpr bool kFastLog = kApproximate<F> && sizeof(scalar_t<F>) == 4;

/// Extends the logarithm `normal(x, extra exponent)` to all x: -inf at 0, NaN below, inf at inf, subnormals scaled.
template <FloatLane F, class Normal>
F logarithm(const F& x, Normal normal) {
  return with_cold_path(
      is_not_positive_normal(x), normal(x, int_t<F>(0)),
      [](const F& v) {
        using T = scalar_t<F>;
        using Format = FloatFormat<T>;
        constexpr T kUp = sizeof(T) == 4 ? T(0x1p24) : T(0x1p53);
        const mask_t<F> subnormal = v < F(Format::kMinNormal);
        const F finite =
            Normal()(where(subnormal, v * kUp, v), where(subnormal, int_t<F>(-Format::kMantissaBits - 1), int_t<F>(0)));
        const F edge = where(v == F(0), F(-kInfinity<T>), where(v < F(0), F(kNaN<T>), v));
        return where((v > F(0)) & (v < F(kInfinity<T>)), finite, edge);
      },
      x);
}

/// The natural logarithm.
template <FloatLane F>
F log(const F& x) {
  return logarithm(x, [](const F& v, const int_t<F>& extra) {
    if constexpr (kFastLog<F>) {
      using T = scalar_t<F>;
      return log_fast(v, extra, T(0.693147180559945309), LogConstants<T>::kLogFast);
    } else {
      return log_normal(v, extra);
    }
  });
}

/// The logarithm to base 2; exact for powers of 2.
template <FloatLane F>
F log2(const F& x) {
  return logarithm(x, [](const F& v, const int_t<F>& extra) {
    if constexpr (kFastLog<F>) {
      using T = scalar_t<F>;
      return log_fast(v, extra, T(1), LogConstants<T>::kLog2Fast);
    } else {
      return log2_normal(v, extra);
    }
  });
}

/// The logarithm to base 10.
template <FloatLane F>
F log10(const F& x) {
  return logarithm(x, [](const F& v, const int_t<F>& extra) {
    if constexpr (kFastLog<F>) {
      using T = scalar_t<F>;
      return log_fast(v, extra, LogConstants<T>::kLog10Of2, LogConstants<T>::kLog10Fast);
    } else {
      return log10_normal(v, extra);
    }
  });
}

/// log(1 + f.high + f.low) as a pair, accurate near 0; 1 + f must be positive and finite; |f.high| >= 2^-1000, or
/// f.low is 0.
template <FloatLane F>
Pair<F> log1p_pair(const Pair<F>& f) {
  using T = scalar_t<F>;
  using C = LogConstants<T>;
  using I = int_t<F>;
  const Pair<F> u = two_sum(F(1), f.high);
  const auto [m, exponent] = split_exponent(u.high, I(kLogReductionBits<T>));
  const mask_t<F> unreduced = exponent == I(0);
  // The rounding error of 1 + f, scaled like m; negligible where 2^-exponent would not be normal.
  const I capped = where(exponent > I(100), I(100), exponent);
  const F error = (u.low + f.low) * power_of_two<F>(I(0) - capped);
  const Pair<F> rest = log1p_reduced(where(unreduced, f.high, m - T(1)), where(unreduced, f.low, error));
  const F k = small_integer<F>(exponent);
  const Pair<F> sum = quick_two_sum(k * C::kLn2_0, rest.high);
  return {sum.high, sum.low + multiply_add(k, C::kLn2_1, rest.low)};
}

/// log(1 + x), accurate near 0.
template <FloatLane F>
F log1p(const F& x) {
  using T = scalar_t<F>;
  const Pair<F> y = log1p_pair(Pair<F>{x, F(0)});
  return with_cold_path(
      !((abs(x) > F(0)) & (x > F(-1)) & (x < F(kInfinity<T>))), y.high + y.low,
      [](const F& v) { return where(v == F(-1), F(-kInfinity<T>), where(v < F(-1), F(kNaN<T>), v)); }, x);
}

}  // namespace calque::math
