#pragma once
// Functions missing from <cmath>, for the reference evaluator: accurate rather than fast.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>

namespace calque::primitives::special {

/// log |gamma(x)|, thread-safe (std::lgamma writes the global signgam).
inline double lgamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}
inline long double lgamma(long double x) {
  int sign = 0;
  return ::lgammal_r(x, &sign);
}

/// The inverse of erf. Starts from the leading terms of the approximation of M. Giles, "Approximating the erfinv
/// function" (GPU Computing Gems, 2011), refined by Halley steps on erf, or on erfc where 1 - |x| is small, which
/// converge cubically.
template <class W>
W erf_inv(W x) {
  const W a = std::fabs(x);
  if (!(a < 1))
    return a == 1 ? std::copysign(std::numeric_limits<W>::infinity(), x) : std::numeric_limits<W>::quiet_NaN();
  if (x == 0) return x;
  const W q = 1 - a;  // exact for a >= 1/2
  const W w = -std::log(q * (1 + a));
  W y;
  if (w < 5) {
    const W v = w - W(2.5);
    y = a * (W(1.50140941) + v * (W(0.246640727) + v * (W(-0.00417768164) + v * W(-0.00125372503))));
  } else {
    const W v = std::sqrt(w) - 3;
    y = a * (W(2.83297682) + v * (W(1.00167406) + v * (W(0.00943887047) + v * W(-0.0076224613))));
  }
  const W slope = 2 * std::numbers::inv_sqrtpi_v<W>;
  for (int step = 0; step < 4; ++step) {
    const W f = a < W(0.5) ? std::erf(y) - a : q - std::erfc(y);
    const W u = f / (slope * std::exp(-y * y));
    y -= u / (1 + y * u);
  }
  return std::copysign(y, x);
}

/// The derivative of log gamma. Reflection below 0 (Abramowitz & Stegun 6.3.7), the recurrence psi(x) = psi(x + 1) - 1
/// / x up to 20, then the asymptotic series (6.3.18) with ten Bernoulli terms, whose error there is below 1e-24.
template <class W>
W digamma(W x) {
  if (x == 0) return std::copysign(std::numeric_limits<W>::infinity(), -x);
  if (x < 0) {
    const W fraction = x - std::nearbyint(x);
    if (fraction == 0 || std::isinf(x)) return std::numeric_limits<W>::quiet_NaN();
    return digamma(1 - x) - std::numbers::pi_v<W> / std::tan(std::numbers::pi_v<W> * fraction);
  }
  W sum = 0;
  for (; x < 20; x += 1) sum -= 1 / x;
  if (std::isinf(x)) return x;
  // B_2k / (2k)
  static constexpr W kTerms[] = {W(1) / 12,       W(-1) / 120, W(1) / 252,      W(-1) / 240,      W(1) / 132,
                                 W(-691) / 32760, W(1) / 12,   W(-3617) / 8160, W(43867) / 14364, W(-174611) / 6600};
  const W z = 1 / (x * x);
  W series = 0;
  for (int k = 9; k >= 0; --k) series = z * (kTerms[k] + series);
  return sum + (std::log(x) - 1 / (2 * x) - series);
}

/// The derivative of digamma, as that function.
template <class W>
W trigamma(W x) {
  if (x <= 0) {
    const W fraction = x - std::nearbyint(x);
    if (fraction == 0 || std::isinf(x)) return std::numeric_limits<W>::infinity();
    const W ratio = std::numbers::pi_v<W> / std::sin(std::numbers::pi_v<W> * fraction);
    return ratio * ratio - trigamma(1 - x);
  }
  W sum = 0;
  for (; x < 20; x += 1) sum += 1 / (x * x);
  const W r = 1 / x, z = r * r;
  // B_2k
  static constexpr W kTerms[] = {W(1) / 6,       W(-1) / 30, W(1) / 42,      W(-1) / 30,     W(5) / 66,
                                 W(-691) / 2730, W(7) / 6,   W(-3617) / 510, W(43867) / 798, W(-174611) / 330};
  W series = 0;
  for (int k = 9; k >= 0; --k) series = z * (kTerms[k] + series);
  return sum + r * (1 + (r / 2 + series));
}

/// The zeta function of Hurwitz for s > 1, q > 0: Euler and Maclaurin's formula (Abramowitz and Stegun 23.1.30).
template <class W>
W zeta_positive(W s, W q) {
  if (std::isinf(q)) return 0;
  constexpr int kTerms = 16;
  const W w = q + kTerms, r = 1 / w, bounded = std::fmin(s, W(1000));
  // B_2j
  static constexpr W kBernoulli[] = {W(1) / 6,       W(-1) / 30, W(1) / 42,      W(-1) / 30,     W(5) / 66,
                                     W(-691) / 2730, W(7) / 6,   W(-3617) / 510, W(43867) / 798, W(-174611) / 330};
  // s (s + 1) ... (s + 2j - 2) / (2j)! w^(1 - 2j)
  W factor = bounded * r / 2, series = W(1) / 2;
  for (int j = 1; j <= 10; ++j) {
    series += kBernoulli[j - 1] * factor;
    factor *= (bounded + (2 * j - 1)) * (bounded + 2 * j) * (r * r) / ((2 * j + 1) * (2 * j + 2));
  }
  const W power = std::pow(w, 1 - s);
  W sum = power / (s - 1) + power * r * series;
  for (int k = kTerms - 1; k >= 0; --k) sum += std::pow(q + k, -s);
  return sum;
}

/// The zeta function of Hurwitz. For q < 0 and whole s the terms of negative q + k are, up to their sign, those of
/// positive numbers.
template <class W>
W zeta(W s, W q) {
  if (s == 1 && !std::isnan(q)) return std::numeric_limits<W>::infinity();
  if (!(s > 1) || std::isnan(q)) return std::numeric_limits<W>::quiet_NaN();
  if (q > 0) return zeta_positive(s, q);
  if (q == std::trunc(q)) return std::numeric_limits<W>::infinity();
  if (s != std::trunc(s) || std::isinf(s)) return std::numeric_limits<W>::quiet_NaN();
  const W fraction = std::trunc(q) - q, sign = std::fmod(s, W(2)) == 0 ? 1 : -1;
  return zeta_positive(s, 1 - fraction) + sign * (zeta_positive(s, fraction) - zeta_positive(s, 1 - q));
}

/// e^(sign x^2), with the rounding error of the square.
template <class W>
W exp_of_square(W x, W factor) {
  const W square = x * x;
  if (std::isinf(square)) return factor < 0 ? W(0) : square;
  return std::exp(factor * square) * (1 + factor * std::fma(x, x, -square));
}

/// e^(x^2) erfc(x): as that product, from 20 on by the asymptotic series (Abramowitz & Stegun 7.1.23).
template <class W>
W erfcx(W x) {
  if (x < 0) return 2 * exp_of_square(x, W(1)) - erfcx(-x);
  if (x < 20) return exp_of_square(x, W(1)) * std::erfc(x);
  const W r = 1 / x, z = r * r / 2;
  W sum = 1;
  for (int k = 12; k > 0; --k) sum = 1 - W(2 * k - 1) * z * sum;
  return sum * (r * std::numbers::inv_sqrtpi_v<W>);
}

/// The distribution function of the standard normal distribution.
template <class W>
W ndtr(W x) {
  if (x > 0) return 1 - ndtr(-x);
  const W tail = erfcx(-x / std::numbers::sqrt2_v<W>) / 2;
  return std::isinf(x) ? W(0) : exp_of_square(x, W(-0.5)) * tail;
}

template <class W>
W log_ndtr(W x) {
  if (x >= 0) return std::log1p(-ndtr(-x));
  return std::log(erfcx(-x / std::numbers::sqrt2_v<W>) / 2) - x * x / 2;
}

/// The inverse of ndtr: that of erf in the middle; in the tails Newton's steps on log ndtr, which is concave.
template <class W>
W ndtri(W p) {
  if (!(p >= 0 && p <= 1)) return std::numeric_limits<W>::quiet_NaN();
  const W side = p < W(0.5) ? p : 1 - p;
  if (side > W(0.25)) return std::numbers::sqrt2_v<W> * erf_inv(2 * p - 1);
  if (side == 0) return p == 0 ? -std::numeric_limits<W>::infinity() : std::numeric_limits<W>::infinity();
  const W target = std::log(side);
  W y = -std::sqrt(-2 * target);
  for (int step = 0; step < 12; ++step) {
    // The derivative of log ndtr is sqrt(2 / pi) / erfcx(-y / sqrt(2)).
    const W scaled = erfcx(-y / std::numbers::sqrt2_v<W>) / 2;
    const W f = std::log(scaled) - y * y / 2 - target;
    y -= f * scaled * std::sqrt(2 * std::numbers::pi_v<W>);
  }
  return p < W(0.5) ? y : -y;
}

/// The modified Bessel function of order 0 or 1 times e^-|x| if `scaled`: the power series (Abramowitz &
/// Stegun 9.6.10), from 40 on the asymptotic series (9.7.1).
template <class W>
W bessel_i(int order, W x, bool scaled) {
  const W a = std::fabs(x);
  W result;
  if (a < 40) {
    const W square = a * a / 4;
    W term = order == 0 ? W(1) : a / 2, sum = term;
    for (int k = 1; term > sum * std::numeric_limits<W>::epsilon() / 8; ++k) {
      term *= square / (W(k) * W(k + order));
      sum += term;
    }
    result = scaled ? sum * std::exp(-a) : sum;
  } else {
    const W mu = W(4 * order * order);
    W term = 1, sum = 1;
    for (int k = 1; k < 30; ++k) {
      term *= (W((2 * k - 1) * (2 * k - 1)) - mu) / (8 * W(k) * a);
      sum += term;
    }
    sum /= std::sqrt(2 * std::numbers::pi_v<W>) * std::sqrt(a);
    // In two factors: e^a may overflow where the result does not.
    const W root = std::exp(a / 2);
    result = scaled ? sum : std::isinf(a) ? a : root * sum * root;
  }
  return order == 0 ? result : std::copysign(result, x);
}

/// sin(pi x) / (pi x), with the argument of the sine reduced exactly to [0, 1/2].
template <class W>
W sinc(W x) {
  const W a = std::fabs(x);
  if (a == 0) return 1;
  const W turn = std::remainder(a, W(2));
  const W half = std::fabs(turn);
  const W sine = std::sin(std::numbers::pi_v<W> * (half > W(0.5) ? 1 - half : half));
  return std::copysign(sine, turn) / (std::numbers::pi_v<W> * a) + W(0);  // +0 at every other integer
}

/// C's nextafter, for 16-bit floats as well.
template <class T>
T nextafter(T x, T y) {
  if constexpr (sizeof(T) >= 4) {
    return std::nextafter(x, y);
  } else {
    const float fx = static_cast<float>(x);
    const float fy = static_cast<float>(y);
    if (std::isnan(fx) || std::isnan(fy)) return T(std::numeric_limits<float>::quiet_NaN());
    if (fx == fy) return y;
    auto bits = std::bit_cast<uint16_t>(x);
    if (fx == 0) {
      bits = static_cast<uint16_t>(fy < 0 ? 0x8001 : 0x0001);
    } else {
      bits = static_cast<uint16_t>((fx < fy) == (fx > 0) ? bits + 1 : bits - 1);
    }
    return std::bit_cast<T>(bits);
  }
}

}  // namespace calque::primitives::special
