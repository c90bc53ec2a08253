// sinh, cosh, tanh and their inverses, through e^x - 1 and log(1 + x) as pairs.
#pragma once

#include "math/coefficients/hyperbolic.h"
#include "math/elementary/exponential.h"
#include "math/elementary/logarithm.h"

namespace calque::math {

/// e^a / 4 and e^-a / 4 for a >= 0; a is clamped where the results overflow.
template <FloatLane F>
struct HyperbolicParts {
  Pair<F> grow;
  Pair<F> decay;
};

template <FloatLane F>
HyperbolicParts<F> hyperbolic_parts(const F& a) {
  using T = scalar_t<F>;
  using I = int_t<F>;
  constexpr T kTop = sizeof(T) == 4 ? T(89.5) : T(710.5);
  const ExpPair<F> e = exp_pair(where(a > F(kTop), F(kTop), a));
  const F reciprocal = T(1) / e.high;
  const F reciprocal_low = reciprocal * fma(-e.low, reciprocal, fma(-e.high, reciprocal, T(1)));
  const F up = power_of_two<F>(e.exponent - I(2));
  // Negligible against the other exponential; it only has to stay finite.
  const F down = power_of_two<F>(I(-2) - where(e.exponent > I(60), I(60), e.exponent));
  return {{e.high * up, e.low * up}, {reciprocal * down, reciprocal_low * down}};
}

/// The hyperbolic sine.
template <FloatLane F>
F sinh(const F& x) {
  using T = scalar_t<F>;
  const F a = abs(x);
  const F z = a * a;
  const F small = fma(a * z, polynomial(z, HyperbolicConstants<T>::kSinh), a);
  const HyperbolicParts<F> p = hyperbolic_parts(a);
  const Pair<F> sum = quick_two_sum(p.grow.high, -p.decay.high);
  const F half = sum.high + (sum.low + (p.grow.low - p.decay.low));
  return flip_sign(where(a < F(1), small, half + half), x);
}

/// The hyperbolic cosine.
template <FloatLane F>
F cosh(const F& x) {
  const HyperbolicParts<F> p = hyperbolic_parts(abs(x));
  const Pair<F> sum = quick_two_sum(p.grow.high, p.decay.high);
  const F half = sum.high + (sum.low + (p.grow.low + p.decay.low));
  return half + half;
}

/// tanh with an error of about 4 ulp: E / (E + 2) with E = e^2a - 1 = (2^n - 1) + 2^n (e^r - 1).
template <FloatLane F>
F tanh_fast(const F& x) {
  using T = scalar_t<F>;
  using C = ExpConstants<T>;
  using Format = FloatFormat<T>;
  constexpr T kTop = sizeof(T) == 4 ? T(10) : T(20);
  const F a = abs(x);
  const F limited = where(a > F(kTop), F(kTop), a);
  const F shifted = multiply_add(limited, T(2) * C::kLog2E, Format::kRoundingShift);
  const F n = shifted - Format::kRoundingShift;
  // The low part of ln 2 is negligible where n is not 0.
  const F r = fma(n, -C::kLn2_0, limited + limited);
  const F power = power_of_two<F>(to_bits(shifted) - int_t<F>(Format::kRoundingShiftBits));
  const F e = fma(power, fma(r * r, polynomial(r, C::kExpAlone), r), power - T(1));
  return flip_sign(e / (e + T(2)), x);
}

/// The hyperbolic tangent: (e^2a - 1) / (e^2a + 1).
template <FloatLane F>
F tanh(const F& x) {
  if constexpr (kApproximate<F>) return tanh_fast(x);
  using T = scalar_t<F>;
  constexpr T kTop = sizeof(T) == 4 ? T(10) : T(20);
  const F a = abs(x);
  const F limited = where(a > F(kTop), F(kTop), a);
  const Pair<F> e = expm1_pair(limited + limited);
  const Pair<F> sum = two_sum(e.high, F(2));
  const Pair<F> y = divide(e, Pair<F>{sum.high, sum.low + e.low});
  return flip_sign(y.high + y.low, x);
}

/// The inverse hyperbolic sine: log1p(a + a^2 / (1 + sqrt(1 + a^2))), for large a log a + log 2.
template <FloatLane F>
F asinh(const F& x) {
  using T = scalar_t<F>;
  using C = LogConstants<T>;
  constexpr T kLarge = sizeof(T) == 4 ? T(0x1p13) : T(0x1p28);
  const F a = abs(x);
  const mask_t<F> large = a > F(kLarge);
  const F b = where(large, F(1), a);
  const Pair<F> square = two_product(b, b);
  const Pair<F> shifted = two_sum(F(1), square.high);
  const Pair<F> root = square_root(Pair<F>{shifted.high, shifted.low + square.low});
  const Pair<F> denominator = two_sum(F(1), root.high);
  const Pair<F> q = divide(square, Pair<F>{denominator.high, denominator.low + root.low});
  const Pair<F> sum = quick_two_sum(b, q.high);
  const Pair<F> f = where(large, two_sum(a, F(-1)), Pair<F>{sum.high, sum.low + q.low});
  const Pair<F> y = log1p_pair(f);
  const Pair<F> total = quick_two_sum(y.high, where(large, F(C::kLn2_0), F(0)));
  const F result = total.high + (total.low + (y.low + where(large, F(C::kLn2_1), F(0))));
  // At infinity, 0 times a part of a pair would be NaN.
  return where((a > F(0)) & (a < F(kInfinity<T>)), flip_sign(result, x), x);
}

/// The inverse hyperbolic cosine, NaN below 1: log1p(y + sqrt(y (y + 2))) with y = x - 1, for large x log x + log 2.
template <FloatLane F>
F acosh(const F& x) {
  using T = scalar_t<F>;
  using C = LogConstants<T>;
  constexpr T kLarge = sizeof(T) == 4 ? T(0x1p13) : T(0x1p28);
  const mask_t<F> large = x > F(kLarge);
  const Pair<F> y = two_sum(x, F(-1));
  const Pair<F> b = where(large, Pair<F>{F(1), F(0)}, y);
  const Pair<F> square = two_product(b.high, b.high);
  const Pair<F> product = two_sum(b.high + b.high, square.high);
  const F twice_low = b.low + b.low;
  const Pair<F> root =
      square_root(Pair<F>{product.high, fma(twice_low, b.high, twice_low) + (product.low + square.low)});
  const Pair<F> sum = two_sum(b.high, root.high);
  const Pair<F> l = log1p_pair(where(large, y, Pair<F>{sum.high, sum.low + (b.low + root.low)}));
  const Pair<F> total = quick_two_sum(l.high, where(large, F(C::kLn2_0), F(0)));
  const F result = total.high + (total.low + (l.low + where(large, F(C::kLn2_1), F(0))));
  const F edge = where(x < F(1), F(kNaN<T>), where(x == F(1), F(0), x));
  return where((x > F(1)) & (x < F(kInfinity<T>)), result, edge);
}

/// The inverse hyperbolic tangent: log1p(2 a / (1 - a)) / 2; infinite at 1, NaN beyond.
template <FloatLane F>
F atanh(const F& x) {
  using T = scalar_t<F>;
  const F a = abs(x);
  const Pair<F> denominator = quick_two_sum(F(1), -a);
  const Pair<F> y = log1p_pair(divide(Pair<F>{a + a, F(0)}, denominator));
  const F result = (y.high + y.low) * T(0.5);
  const F edge = where(a > F(1), F(kNaN<T>), where(a == F(1), F(kInfinity<T>), a));
  constexpr T kTiny = sizeof(T) == 4 ? T(0x1p-30) : T(0x1p-60);
  return flip_sign(where((a > F(kTiny)) & (a < F(1)), result, edge), x);
}

}  // namespace calque::math
