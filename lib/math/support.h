// Building blocks: polynomials, powers of two, and numbers represented as unevaluated sums of two floats
// (double-double).
//
// Invariant: the parts of a Pair satisfy |low| <= ulp(high). Pair arithmetic requires that no operation is contracted.
#pragma once

#include <limits>
#include <utility>

#include "math/lane.h"

namespace calque::math {

/// high + low, about twice the precision of F.
template <FloatLane F>
struct Pair {
  F high;
  F low;
};

template <class T>
inline constexpr T kInfinity = std::numeric_limits<T>::infinity();
template <class T>
inline constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();

// Polynomials.

/// coefficients[0] + coefficients[1] x + ..., by Horner's rule.
template <FloatLane F, std::size_t N>
F horner(const F& x, const std::array<scalar_t<F>, N>& coefficients) {
  F sum(coefficients[N - 1]);
  for (std::size_t i = N - 1; i-- > 0;) {
    sum = multiply_add(sum, x, coefficients[i]);
  }
  return sum;
}

/// horner with its last step (the dominant one unless the sum cancels) rounded once on every target.
template <FloatLane F, std::size_t N>
F horner_rounded_once(const F& x, const std::array<scalar_t<F>, N>& coefficients) {
  std::array<scalar_t<F>, N - 1> higher;
  for (std::size_t i = 1; i < N; ++i) higher[i - 1] = coefficients[i];
  return fma(horner(x, higher), x, F(coefficients[0]));
}

/// horner on even and odd powers separately when long: a shorter dependence chain, but one more rounding when the
/// halves cancel.
template <FloatLane F, std::size_t N>
F polynomial(const F& x, const std::array<scalar_t<F>, N>& coefficients) {
  if constexpr (N < 8) {
    return horner(x, coefficients);
  } else {
    const F square = x * x;
    F odd(coefficients[(N - 2) | 1]);
    F even(coefficients[(N - 1) & ~std::size_t{1}]);
    for (std::size_t i = (N - 2) | 1; i > 1; i -= 2) {
      odd = multiply_add(odd, square, coefficients[i - 2]);
    }
    for (std::size_t i = (N - 1) & ~std::size_t{1}; i > 0; i -= 2) {
      even = multiply_add(even, square, coefficients[i - 2]);
    }
    return multiply_add(odd, x, even);
  }
}

/// `polynomial` with coefficients a where the mask is set and b (at least as many) elsewhere, in one evaluation.
template <FloatLane F, std::size_t M, std::size_t N>
F either_polynomial(const mask_t<F>& mask, const F& x, const std::array<scalar_t<F>, M>& a,
                    const std::array<scalar_t<F>, N>& b) {
  static_assert(M <= N && M >= 2);
  const auto chain = [&](const F& z, std::size_t first, std::size_t step) {
    std::size_t i = (N - 1 - first) / step * step + first;
    F sum = i < M ? where(mask, F(a[i]), F(b[i])) : F(b[i]);
    while (i >= step + first) {
      const bool ends = i >= M && i - step < M;
      i -= step;
      sum = i < M ? multiply_add(ends ? where(mask, F(0), sum) : sum, z, where(mask, F(a[i]), F(b[i])))
                  : multiply_add(sum, z, F(b[i]));
    }
    return sum;
  };
  if constexpr (N < 8) {
    return chain(x, 0, 1);
  } else {
    const F square = x * x;
    return multiply_add(chain(square, 1, 2), x, chain(square, 0, 2));
  }
}

/// horner with coefficients a where the mask is set and b (at least as many) elsewhere: more accurate than
/// either_polynomial where even and odd powers cancel.
template <FloatLane F, std::size_t M, std::size_t N>
F either_horner(const mask_t<F>& mask, const F& x, const std::array<scalar_t<F>, M>& a,
                const std::array<scalar_t<F>, N>& b) {
  static_assert(M <= N);
  F sum = M == N ? where(mask, F(a[M - 1]), F(b[N - 1])) : F(b[N - 1]);
  for (std::size_t i = N - 1; i-- > 0;) {
    if (i + 1 == M && M < N) sum = where(mask, F(0), sum);
    sum = multiply_add(sum, x, i < M ? where(mask, F(a[i]), F(b[i])) : F(b[i]));
  }
  return sum;
}

// Exact sums and products (Knuth, Dekker; with fma).

/// a + b exactly, where |a| >= |b| or a == 0.
template <FloatLane F>
Pair<F> quick_two_sum(const F& a, const F& b) {
  const F s = a + b;
  return {s, b - (s - a)};
}

/// a + b exactly.
template <FloatLane F>
Pair<F> two_sum(const F& a, const F& b) {
  const F s = a + b;
  const F t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}

/// a * b exactly, unless the low part underflows.
template <FloatLane F>
Pair<F> two_product(const F& a, const F& b) {
  const F p = a * b;
  return {p, product_error(a, b, p)};
}

/// a * b to about twice the precision.
template <FloatLane F>
Pair<F> multiply(const Pair<F>& a, const Pair<F>& b) {
  const Pair<F> p = two_product(a.high, b.high);
  const F low = multiply_add(a.high, b.low, multiply_add(a.low, b.high, p.low));
  return quick_two_sum(p.high, low);
}

template <FloatLane F>
Pair<F> multiply(const Pair<F>& a, const F& b) {
  const Pair<F> p = two_product(a.high, b);
  return quick_two_sum(p.high, multiply_add(a.low, b, p.low));
}

/// a + b to about twice the precision; the sum must not cancel much.
template <FloatLane F>
Pair<F> add(const Pair<F>& a, const Pair<F>& b) {
  const Pair<F> s = two_sum(a.high, b.high);
  return quick_two_sum(s.high, s.low + (a.low + b.low));
}

template <FloatLane F>
Pair<F> add(const Pair<F>& a, const F& b) {
  const Pair<F> s = two_sum(a.high, b);
  return quick_two_sum(s.high, s.low + a.low);
}

template <FloatLane F>
Pair<F> negate(const Pair<F>& a) {
  return {-a.high, -a.low};
}

template <FloatLane F>
Pair<F> where(const mask_t<F>& mask, const Pair<F>& a, const Pair<F>& b) {
  return {where(mask, a.high, b.high), where(mask, a.low, b.low)};
}

/// numerator / denominator, unevaluated: high is within an ulp and high + low about twice as precise. One division.
template <FloatLane F>
Pair<F> divide(const Pair<F>& numerator, const Pair<F>& denominator) {
  const F reciprocal = F(1) / denominator.high;
  const F q = numerator.high * reciprocal;
  const F rest = fma(-q, denominator.high, numerator.high) + multiply_add(-q, denominator.low, numerator.low);
  return {q, rest * reciprocal};
}

/// The square root of a, unevaluated, for a.high 0 or a normal number.
template <FloatLane F>
Pair<F> square_root(const Pair<F>& a) {
  const F r = sqrt(a.high);
  const F rest = fma(-r, r, a.high) + a.low;
  return {r, rest / where(r > F(0), r + r, F(1))};
}

// Bits.

/// x with the sign of `sign`.
template <FloatLane F>
F copysign(const F& x, const F& sign) {
  using Format = FloatFormat<scalar_t<F>>;
  const uint_t<F> magnitude = to_unsigned_bits(x) & uint_t<F>(Format::kSignMask - 1);
  return from_bits(magnitude | (to_unsigned_bits(sign) & uint_t<F>(Format::kSignMask)));
}

/// x with its sign flipped where `sign` is negative.
template <FloatLane F>
F flip_sign(const F& x, const F& sign) {
  using Format = FloatFormat<scalar_t<F>>;
  return from_bits(to_unsigned_bits(x) ^ (to_unsigned_bits(sign) & uint_t<F>(Format::kSignMask)));
}

template <FloatLane F>
mask_t<F> is_nan(const F& x) {
  return x != x;
}

/// An integer of small absolute value (below 2^22 or 2^51) as a float.
template <FloatLane F>
F small_integer(const int_t<F>& k) {
  using Format = FloatFormat<scalar_t<F>>;
  return from_bits(k + int_t<F>(Format::kRoundingShiftBits)) - F(Format::kRoundingShift);
}

/// 2^n for n in the range of normal exponents.
template <FloatLane F>
F power_of_two(const int_t<F>& n) {
  using Format = FloatFormat<scalar_t<F>>;
  return from_bits((n + int_t<F>(Format::kBias)) << int_t<F>(Format::kMantissaBits));
}

/// x * 2^n rounded once, for |n| up to twice the largest exponent and |x| in [1/4, 4) or so.
template <FloatLane F>
F scale(const F& x, const int_t<F>& n) {
  const int_t<F> half = n >> int_t<F>(1);
  return (x * power_of_two<F>(half)) * power_of_two<F>(n - half);
}

/// x * 2^n rounded once, for x in [1/2, 2) and n from twice the least normal exponent to where the result is at most
/// twice the least normal number. A subnormal result is rounded by an addition that aligns its last bit: on some
/// processors a subnormal product takes hundreds of cycles.
template <FloatLane F>
F scale_down(const F& x, const int_t<F>& n) {
  using T = scalar_t<F>;
  using Format = FloatFormat<T>;
  using I = int_t<F>;
  constexpr T kNormal = sizeof(T) == 4 ? T(0x1p23) : T(0x1p52);  // the least normal number, in units of that bit
  const F units =
      from_bits(to_bits(x) + ((n + I(Format::kBias - 1 + Format::kMantissaBits)) << I(Format::kMantissaBits)));
  // Fast forms flush to zero; otherwise the addition of 0 flushes in modes that flush.
  const F rounded = kApproximate<F> ? F(0) : from_bits(to_bits(units + kNormal) - to_bits(F(kNormal))) + F(0);
  const F scaled = from_bits(to_bits(x) + (n << I(Format::kMantissaBits)));
  return where(units < F(kNormal), rounded, scaled);
}

/// x * 2^n rounded once, for every x and n.
template <FloatLane F>
F scale_exactly(const F& x, const int_t<F>& n) {
  using Format = FloatFormat<scalar_t<F>>;
  using I = int_t<F>;
  constexpr int kUp = Format::kBias;
  constexpr int kDown = Format::kBias - 1;
  // If a step down rounds a subnormal, at least kMantissaBits + 2 binary orders remain, which yield 0: no result is
  // rounded twice.
  constexpr int kStep = kDown - Format::kMantissaBits - 1;
  F y = x;
  I left = n;
  for (int i = 0; i < 2; ++i) {
    const I now = where(left > I(kUp), I(kUp), where(left < I(-kDown), I(-kStep), I(0)));
    y = y * power_of_two<F>(now);
    left = left - now;
  }
  left = where(left > I(kUp), I(kUp), where(left < I(-kDown), I(-kDown), left));
  return y * power_of_two<F>(left);
}

/// x = mantissa * 2^exponent with mantissa in [low, 2 low), for normal x > 0; `low_bits` are the bits of low.
template <FloatLane F>
std::pair<F, int_t<F>> split_exponent(const F& x, const int_t<F>& low_bits) {
  using Format = FloatFormat<scalar_t<F>>;
  const int_t<F> bits = to_bits(x);
  const int_t<F> exponent = (bits - low_bits) >> int_t<F>(Format::kMantissaBits);
  return {from_bits(bits - (exponent << int_t<F>(Format::kMantissaBits))), exponent};
}

}  // namespace calque::math
