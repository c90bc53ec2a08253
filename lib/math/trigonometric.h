// sin, cos, tan.
//
// x = n pi/2 + r with |r| <= pi/4 as a pair. While |n| fits the significand, x - n P with P = fl(pi/2) is exact (a
// multiple of the smaller last place, below 1), so three parts of pi/2 leave an error far below the distance of any
// float from a multiple of pi/2. Beyond kLimit the product of x with the bits of 2/pi that matter is formed exactly in
// integers (Payne and Hanek), which vectors do only when a lane needs it.
#pragma once

#include "math/coefficients/trigonometric.h"
#include "math/support.h"

namespace calque::math {

/// x = (4 j + quadrant) pi/2 + high + low; quadrant's two low bits count.
template <FloatLane F>
struct TrigReduction {
  int_t<F> quadrant;
  F high;
  F low;
};

/// Largest |x| that reduce_trig takes.
template <class T>
inline constexpr T kTrigLimit = sizeof(T) == 4 ? T(0x1p16) : T(0x1p30);

template <FloatLane F>
TrigReduction<F> reduce_trig(const F& x) {
  using T = scalar_t<F>;
  using C = TrigConstants<T>;
  using Format = FloatFormat<T>;
  const F shifted = fma(x, C::kTwoOverPi, Format::kRoundingShift);
  const F n = shifted - Format::kRoundingShift;
  const F first = fma(n, -C::kPiOver2_0, x);
  // first - n P1 exactly but for the last product with P2.
  const Pair<F> second = two_product(n, F(-C::kPiOver2_1));
  const Pair<F> sum = two_sum(first, second.high);
  const F low = sum.low + fma(n, -C::kPiOver2_2, second.low);
  return {to_bits(shifted), sum.high, low};
}

/// sin(r) as high + low: r and what is to be added to it.
template <FloatLane F>
Pair<F> sin_reduced(const F& high, const F& low, const F& square) {
  const F tail = fma(high * square, polynomial(square, TrigConstants<scalar_t<F>>::kSin), low);
  return {high, tail};
}

/// cos(r): 1 - r^2 / 2 rounded, and what is to be added to it.
template <FloatLane F>
Pair<F> cos_reduced(const F& high, const F& low, const F& square) {
  using T = scalar_t<F>;
  const F half = square * T(0.5);
  const F sum = T(1) - half;
  const F half_low = fma(high, high, -square) * T(0.5);
  const F tail = fma(square * square, polynomial(square, TrigConstants<T>::kCos),
                     ((T(1) - sum) - half) - fma(high, low, half_low));
  return {sum, tail};
}

/// sin of the reduced argument, negated where `sign` is negative.
template <FloatLane F>
F sin_of(const TrigReduction<F>& r, const F& sign) {
  using T = scalar_t<F>;
  using I = int_t<F>;
  const F square = r.high * r.high;
  const Pair<F> s = sin_reduced(r.high, r.low, square);
  const Pair<F> c = cos_reduced(r.high, r.low, square);
  const mask_t<F> even = (r.quadrant & I(1)) == I(0);
  const F y = where(even, s.high, c.high) + where(even, s.low, c.low);
  constexpr int kBitOneToSign = static_cast<int>(8 * sizeof(T)) - 2;
  return flip_sign(y, from_bits((r.quadrant << I(kBitOneToSign)) ^ to_bits(sign)));
}

template <FloatLane F>
F cos_of(const TrigReduction<F>& r) {
  return sin_of(TrigReduction<F>{r.quadrant + int_t<F>(1), r.high, r.low}, F(0));
}

template <FloatLane F>
F tan_of(const TrigReduction<F>& r, const F& sign) {
  using I = int_t<F>;
  const F square = r.high * r.high;
  const Pair<F> s0 = sin_reduced(r.high, r.low, square);
  const Pair<F> c0 = cos_reduced(r.high, r.low, square);
  const Pair<F> s = quick_two_sum(s0.high, s0.low);
  const Pair<F> c = quick_two_sum(c0.high, c0.low);
  const mask_t<F> even = (r.quadrant & I(1)) == I(0);
  const Pair<F> y = divide(where(even, s, c), where(even, c, negate(s)));
  return flip_sign(y.high + y.low, sign);
}

/// The reduction of 2^16 <= x < inf by integers.
///
/// x = M 2^e with M of 53 bits. With e + 56 = 28 q + shift, A = M 2^shift of 80 bits in three digits of 28, and 2/pi in
/// digits W, x 2/pi = sum over j, i of A[j] W[i] 2^(28 (j + q - 2 - i)). Digits W before q - 2 give multiples of 4;
/// seven columns reach 2^-138, and no double comes nearer to a multiple of pi/2 than 2^-62.
template <class B>
TrigReduction<Lane<double, B>> reduce_trig_huge(const Lane<double, B>& x) {
  using F = Lane<double, B>;
  using C = TrigConstants<double>;
  using U = uint_t<F>;
  using I = int_t<F>;
  constexpr std::uint64_t kDigit = (1u << 28) - 1;
  const U bits = to_unsigned_bits(x);
  // Other lanes may come along, whose exponents must not lead out of the table.
  const I position = bitcast<std::int64_t>((bits >> U(52)) & U(0x7ff)) - I(1075 - 56);
  const I e = where((position < I(0)) | (position > I(971 + 56)), I(0), position);
  const I q = (e * I(2341)) >> I(16);  // e / 28
  const U shift = bitcast<std::uint64_t>(e - q * I(28));
  const U significand = (bits & U(0xfffffffffffffu)) | U(0x10000000000000u);
  const U bottom = (significand & U(kDigit)) << shift;
  const U top = ((significand >> U(28)) << shift) + (bottom >> U(28));
  const std::array<U, 3> a{bottom & U(kDigit), top & U(kDigit), top >> U(28)};
  // Column p, of weight 2^(-28 p): A[0] W[p] + A[1] W[p + 1] + A[2] W[p + 2]; from the last to the first, with carries.
  std::array<U, 7> digit{U(0), U(0), U(0), U(0), U(0), U(0), U(0)};
  U carry(0);
  U w1 = lookup(C::kTwoOverPiDigits, q + I(7));
  U w2 = lookup(C::kTwoOverPiDigits, q + I(8));
  for (int p = 6; p >= 0; --p) {
    const U w0 = lookup(C::kTwoOverPiDigits, q + I(p));
    const U column = ((a[0] * w0 + a[1] * w1) + a[2] * w2) + carry;
    digit[static_cast<std::size_t>(p)] = column & U(kDigit);
    carry = column >> U(28);
    w2 = w1;
    w1 = w0;
  }
  // The fraction as a signed number in [-1/2, 1/2): four pieces of 32 bits.
  const U first = ((digit[1] << U(36)) | (digit[2] << U(8))) | (digit[3] >> U(20));
  const U second = ((digit[3] << U(44)) | (digit[4] << U(16))) | (digit[5] >> U(12));
  const I signed_first = bitcast<std::int64_t>(first);
  const I quadrant = bitcast<std::int64_t>(digit[0]) - (signed_first >> I(63));
  const auto piece = [](const U& u) { return convert<double>(bitcast<std::int64_t>(u & U(0xffffffffu))); };
  const Pair<F> leading = quick_two_sum(convert<double>(signed_first >> I(32)) * 0x1p-32, piece(first) * 0x1p-64);
  const Pair<F> trailing = quick_two_sum(piece(second >> U(32)) * 0x1p-96, piece(second) * 0x1p-128);
  const Pair<F> sum = quick_two_sum(leading.high, trailing.high);
  const Pair<F> fraction = quick_two_sum(sum.high, sum.low + (leading.low + trailing.low));
  const Pair<F> r = multiply(fraction, Pair<F>{F(C::kPiOver2_0), F(C::kPiOver2_1)});
  return {quadrant, r.high, r.low};
}

/// `fast` where |x| is within the limit (or not finite), else what `function` makes of the exact reduction of |x| in
/// f64.
template <FloatLane F, class Function>
F with_huge_arguments(const F& x, const F& fast, Function) {
  using T = scalar_t<F>;
  const F magnitude = abs(x);
  return rarely((magnitude > F(kTrigLimit<T>)) & (magnitude < F(kInfinity<T>)), fast,
                [](const F& v) {
                  const auto wide = convert<double>(v);
                  return convert<T>(Function()(reduce_trig_huge(abs(wide)), wide));
                },
                x);
}

/// The sine of x (radians).
template <FloatLane F>
F sin(const F& x) {
  return with_huge_arguments(x, sin_of(reduce_trig(abs(x)), x),
                             [](const auto& r, const auto& v) { return sin_of(r, v); });
}

/// The cosine of x (radians).
template <FloatLane F>
F cos(const F& x) {
  return with_huge_arguments(x, cos_of(reduce_trig(abs(x))), [](const auto& r, const auto&) { return cos_of(r); });
}

/// The tangent of x (radians).
template <FloatLane F>
F tan(const F& x) {
  return with_huge_arguments(x, tan_of(reduce_trig(abs(x)), x),
                             [](const auto& r, const auto& v) { return tan_of(r, v); });
}

}  // namespace calque::math
