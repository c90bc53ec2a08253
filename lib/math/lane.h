// The interface in which lib/math is written.
//
// Invariant: every function of lib/math is a pure, elementwise composition of the operations in this header. Each is
// correctly rounded (IEEE 754) and never contracted with another, so that every backend produces the same bits.
//
// A lane is one element of type T (float, double, int32_t, uint32_t, int64_t, uint64_t or bool) in the representation
// of a backend: a plain scalar (ScalarBackend in scalar_backend.h, for tests and constant folding), a value of a graph
// under construction, a register. To instantiate lib/math for another representation, write a struct with the members
// below and call, for example, `exp(Lane<float, MyBackend>::from_raw(v)).raw()`:
//
//   struct MyBackend {
//     template <class T> using Value = ...;                       // copyable; may be one type for all T
//     template <class T> static Value<T> constant(T c);
//     // T floating or integer (unsigned and signed wrap); operands by const reference
//     template <class T> static Value<T> add(a, b); sub(a, b); mul(a, b); neg(a);
//     // T floating
//     template <class T> static Value<T> div(a, b); sqrt(a); abs(a); floor(a); trunc(a); rint(a); fma(a, b, c);
//     template <class T> static Value<T> multiply_add(a, b, c); product_error(a, b, p);
//     // T integer or bool
//     template <class T> static Value<T> bit_and(a, b); bit_or(a, b); bit_xor(a, b); bit_not(a);
//     // T integer; the amount is a value of the same type in [0, width); right shifts of signed types keep the sign
//     template <class T> static Value<T> shift_left(a, n); shift_right(a, n);
//     // false with a NaN operand, `ne` true
//     template <class T> static Value<bool> eq(a, b); ne(a, b); lt(a, b); le(a, b); gt(a, b); ge(a, b);
//     template <class T> static Value<T> select(const Value<bool>& mask, a, b);
//     template <class To, class From> static Value<To> bitcast(a);    // same width
//     // float <-> int of values in range, f32 <-> f64, i <-> i
//     template <class To, class From> static Value<To> convert(a);
//     // the table has static storage, 0 <= i < N
//     template <class T, std::size_t N, class Index>
//     static Value<T> lookup(const std::array<T, N>& table, const Value<Index>& i);
//     // select(mask, slow(inputs...), fast); a vector need not evaluate `slow` unless the mask is set in some lane
//     template <class T, class Slow, class... In>
//     static Lane<T, B> with_cold_path(const Lane<bool, B>& mask, const Lane<T, B>& fast, Slow slow,
//                                      const In&... inputs);
//     // per lane: while (cond(carry...)) std::tie(carry...) = body(carry...); finished lanes keep their carry
//     template <class Cond, class Body, class... Carry>
//     static std::tuple<Carry...> while_lanes(Cond cond, Body body, const Carry&... initial);
//   };
//
// Functions passed to `with_cold_path` and `while_lanes` capture nothing: all values are passed as lanes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

namespace calque::math {

template <class T>
struct FloatFormat;

/// Constants of IEEE binary32.
template <>
struct FloatFormat<float> {
  using Int = std::int32_t;
  using Uint = std::uint32_t;
  static constexpr int kMantissaBits = 23;
  static constexpr int kBias = 127;
  static constexpr Uint kSignMask = 0x80000000u;
  static constexpr Uint kExponentMask = 0x7f800000u;
  static constexpr Uint kMantissaMask = 0x007fffffu;
  static constexpr float kMinNormal = 0x1p-126f;
  static constexpr float kMax = 0x1.fffffep127f;
  /// Adding it to |x| < 2^22 leaves rint(x) in the low bits.
  static constexpr float kRoundingShift = 0x1.8p23f;
  static constexpr Int kRoundingShiftBits = 0x4b400000;
};

/// Constants of IEEE binary64.
template <>
struct FloatFormat<double> {
  using Int = std::int64_t;
  using Uint = std::uint64_t;
  static constexpr int kMantissaBits = 52;
  static constexpr int kBias = 1023;
  static constexpr Uint kSignMask = 0x8000000000000000u;
  static constexpr Uint kExponentMask = 0x7ff0000000000000u;
  static constexpr Uint kMantissaMask = 0x000fffffffffffffu;
  static constexpr double kMinNormal = 0x1p-1022;
  static constexpr double kMax = 0x1.fffffffffffffp1023;
  static constexpr double kRoundingShift = 0x1.8p52;
  static constexpr Int kRoundingShiftBits = 0x4338000000000000;
};

/// One element of type T in the representation of backend B.
template <class T, class B>
class Lane {
 public:
  using Scalar = T;
  using Backend = B;
  using Raw = typename B::template Value<T>;
  using Mask = Lane<bool, B>;
  template <class U>
  using Rebind = Lane<U, B>;

  /// A constant, rounded to T.
  template <class U>
    requires(std::is_arithmetic_v<U> && std::is_same_v<U, bool> == std::is_same_v<T, bool>)
  Lane(U value) : raw_(B::template constant<T>(static_cast<T>(value))) {}

  static Lane from_raw(Raw raw) { return Lane(Wrap{}, std::move(raw)); }
  const Raw& raw() const { return raw_; }

  friend Lane operator+(const Lane& a, const Lane& b) { return make(B::template add<T>(a.raw_, b.raw_)); }
  friend Lane operator-(const Lane& a, const Lane& b) { return make(B::template sub<T>(a.raw_, b.raw_)); }
  friend Lane operator*(const Lane& a, const Lane& b) { return make(B::template mul<T>(a.raw_, b.raw_)); }
  friend Lane operator/(const Lane& a, const Lane& b) { return make(B::template div<T>(a.raw_, b.raw_)); }
  friend Lane operator-(const Lane& a) { return make(B::template neg<T>(a.raw_)); }

  friend Lane operator&(const Lane& a, const Lane& b) { return make(B::template bit_and<T>(a.raw_, b.raw_)); }
  friend Lane operator|(const Lane& a, const Lane& b) { return make(B::template bit_or<T>(a.raw_, b.raw_)); }
  friend Lane operator^(const Lane& a, const Lane& b) { return make(B::template bit_xor<T>(a.raw_, b.raw_)); }
  friend Lane operator!(const Lane& a)
    requires std::is_same_v<T, bool>
  {
    return make(B::template bit_not<T>(a.raw_));
  }
  friend Lane operator~(const Lane& a)
    requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
  {
    return make(B::template bit_not<T>(a.raw_));
  }
  friend Lane operator<<(const Lane& a, const Lane& n) { return make(B::template shift_left<T>(a.raw_, n.raw_)); }
  friend Lane operator>>(const Lane& a, const Lane& n) { return make(B::template shift_right<T>(a.raw_, n.raw_)); }

  friend Mask operator==(const Lane& a, const Lane& b) { return Mask::from_raw(B::template eq<T>(a.raw_, b.raw_)); }
  friend Mask operator!=(const Lane& a, const Lane& b) { return Mask::from_raw(B::template ne<T>(a.raw_, b.raw_)); }
  friend Mask operator<(const Lane& a, const Lane& b) { return Mask::from_raw(B::template lt<T>(a.raw_, b.raw_)); }
  friend Mask operator<=(const Lane& a, const Lane& b) { return Mask::from_raw(B::template le<T>(a.raw_, b.raw_)); }
  friend Mask operator>(const Lane& a, const Lane& b) { return Mask::from_raw(B::template gt<T>(a.raw_, b.raw_)); }
  friend Mask operator>=(const Lane& a, const Lane& b) { return Mask::from_raw(B::template ge<T>(a.raw_, b.raw_)); }

  /// a * b + c, rounded once.
  friend Lane fma(const Lane& a, const Lane& b, const Lane& c) {
    return make(B::template fma<T>(a.raw_, b.raw_, c.raw_));
  }
  /// a * b + c, rounded once where the target has a fused multiply-add, else twice.
  friend Lane multiply_add(const Lane& a, const Lane& b, const Lane& c) {
    return make(B::template multiply_add<T>(a.raw_, b.raw_, c.raw_));
  }
  /// a * b - p, the rounding error of the product p = a * b: exact unless it underflows.
  friend Lane product_error(const Lane& a, const Lane& b, const Lane& p) {
    return make(B::template product_error<T>(a.raw_, b.raw_, p.raw_));
  }
  friend Lane sqrt(const Lane& a) { return make(B::template sqrt<T>(a.raw_)); }
  friend Lane abs(const Lane& a) { return make(B::template abs<T>(a.raw_)); }
  friend Lane floor(const Lane& a) { return make(B::template floor<T>(a.raw_)); }
  friend Lane trunc(const Lane& a) { return make(B::template trunc<T>(a.raw_)); }
  /// The nearest integer, ties to even.
  friend Lane rint(const Lane& a) { return make(B::template rint<T>(a.raw_)); }
  /// a where the mask is set, else b.
  friend Lane where(const Mask& mask, const Lane& a, const Lane& b) {
    return make(B::template select<T>(mask.raw(), a.raw_, b.raw_));
  }

 private:
  struct Wrap {};
  Lane(Wrap, Raw raw) : raw_(std::move(raw)) {}
  static Lane make(Raw raw) { return Lane(Wrap{}, std::move(raw)); }
  Raw raw_;
};

template <class F>
inline constexpr bool kIsFloatLane = false;
template <class B>
inline constexpr bool kIsFloatLane<Lane<float, B>> = true;
template <class B>
inline constexpr bool kIsFloatLane<Lane<double, B>> = true;

/// A lane of float or double: the operands and results of the functions of lib/math.
template <class F>
concept FloatLane = kIsFloatLane<F>;

template <class F>
using scalar_t = typename F::Scalar;
template <class F>
using mask_t = typename F::Mask;
/// The lane of signed integers of the width of F.
template <class F>
using int_t = typename F::template Rebind<typename FloatFormat<scalar_t<F>>::Int>;
/// The lane of unsigned integers of the width of F.
template <class F>
using uint_t = typename F::template Rebind<typename FloatFormat<scalar_t<F>>::Uint>;

/// True when functions of F may take forms with errors of about 4 ulp that ignore infinities and NaN. A backend opts in
/// by a member type `Approximate`.
template <class F>
inline constexpr bool kApproximate = requires { typename F::Backend::Approximate; };

/// Backend B with these forms enabled.
template <class B>
struct Fast : B {
  using Approximate = void;
};

/// The same bits as a lane of type To.
template <class To, class From, class B>
Lane<To, B> bitcast(const Lane<From, B>& a) {
  static_assert(sizeof(To) == sizeof(From));
  if constexpr (std::is_same_v<To, From>) {
    return a;
  } else {
    return Lane<To, B>::from_raw(B::template bitcast<To, From>(a.raw()));
  }
}

/// The value converted to a lane of type To, which must be able to hold it up to rounding.
template <class To, class From, class B>
Lane<To, B> convert(const Lane<From, B>& a) {
  if constexpr (std::is_same_v<To, From>) {
    return a;
  } else {
    return Lane<To, B>::from_raw(B::template convert<To, From>(a.raw()));
  }
}

/// table[i]; 0 <= i < N must hold.
template <class T, std::size_t N, class Index, class B>
Lane<T, B> lookup(const std::array<T, N>& table, const Lane<Index, B>& i) {
  return Lane<T, B>::from_raw(B::template lookup<T, N, Index>(table, i.raw()));
}

/// where(mask, slow(inputs...), fast), where `slow` is a cold path: a backend may skip it when no lane's mask is set.
template <class T, class B, class Slow, class... In>
Lane<T, B> with_cold_path(const Lane<bool, B>& mask, const Lane<T, B>& fast, Slow slow, const In&... inputs) {
  return std::get<0>(
      B::with_cold_path(mask, std::tuple{fast}, [slow](const In&... v) { return std::tuple{slow(v...)}; }, inputs...));
}

/// As above for several results.
template <class B, class... Out, class Slow, class... In>
std::tuple<Out...> with_cold_path(const Lane<bool, B>& mask, const std::tuple<Out...>& fast, Slow slow,
                                  const In&... inputs) {
  return B::with_cold_path(mask, fast, slow, inputs...);
}

/// A while loop per lane: while cond(carry...) holds, carry = body(carry...).
template <class Cond, class Body, class T, class B, class... Carry>
std::tuple<Lane<T, B>, Carry...> while_lanes(Cond cond, Body body, const Lane<T, B>& first, const Carry&... rest) {
  return B::while_lanes(cond, body, first, rest...);
}

// The bit patterns of floats.

template <FloatLane F>
int_t<F> to_bits(const F& x) {
  return bitcast<scalar_t<int_t<F>>>(x);
}

template <FloatLane F>
uint_t<F> to_unsigned_bits(const F& x) {
  return bitcast<scalar_t<uint_t<F>>>(x);
}

template <class T, class B>
auto from_bits(const Lane<T, B>& bits) {
  return bitcast<std::conditional_t<sizeof(T) == 4, float, double>>(bits);
}

}  // namespace calque::math
