#pragma once
// Arithmetic primitives. Integers wrap and never trap; 16-bit floats are computed in f32 and rounded; every operation
// is defined to the bit, so that generated code in strict mode produces the same bits.
#include "primitives/core/rule.h"
#include "primitives/elementwise/scalar.h"

namespace calque::primitives {

struct Neg : Elementwise<Neg, 1, kNumber> {
  static constexpr std::string_view name = "neg";
  static constexpr std::string_view doc = "-x; flips the sign bit of floats, NaN included; integers wrap";
  static constexpr ScalarOp scalar_op = ScalarOp::neg;
  template <class T>
  static T element(T x) {
    return scalar::neg(x);
  }
  static Term tangent(Term t, Term, Term) { return -t; }
  static void transpose(Transposition& t) { t.add(0, -t.cotangent()); }
};

struct Abs : Elementwise<Abs, 1, kNumber> {
  static constexpr std::string_view name = "abs";
  static constexpr std::string_view doc =
      "|x|; clears the sign bit of floats, NaN included; the least signed integer stays; complex gives the modulus";
  static constexpr ScalarOp scalar_op = ScalarOp::abs;
  static constexpr DType result_dtype(DType d) { return real_of(d); }
  template <class T>
  static auto element(T x) {
    return scalar::abs(x);
  }
  static Term tangent(Term t, Term x, Term result) {
    if (!is_complex(element_dtype(x))) return t * sign(x);
    return real(t * (conj(x) / convert(nonzero(result), element_dtype(x))));
  }
};

struct Sign : Elementwise<Sign, 1, kReal> {
  static constexpr std::string_view name = "sign";
  static constexpr std::string_view doc = "-1, 0 or 1; sign(-0) = -0, NaN gives NaN";
  static constexpr ScalarOp scalar_op = ScalarOp::sign;
  template <class T>
  static T element(T x) {
    return scalar::sign(x);
  }
  using jvp = ZeroDerivative;
};

struct Floor : Elementwise<Floor, 1, kReal> {
  static constexpr std::string_view name = "floor";
  static constexpr std::string_view doc = "the greatest integral value not above x; identity on integers";
  static constexpr ScalarOp scalar_op = ScalarOp::floor;
  template <class T>
  static T element(T x) {
    return scalar::round_with(x, [](auto v) { return std::floor(v); });
  }
  using jvp = ZeroDerivative;
};

struct Ceil : Elementwise<Ceil, 1, kReal> {
  static constexpr std::string_view name = "ceil";
  static constexpr std::string_view doc = "the least integral value not below x; identity on integers";
  static constexpr ScalarOp scalar_op = ScalarOp::ceil;
  template <class T>
  static T element(T x) {
    return scalar::round_with(x, [](auto v) { return std::ceil(v); });
  }
  using jvp = ZeroDerivative;
};

struct Trunc : Elementwise<Trunc, 1, kReal> {
  static constexpr std::string_view name = "trunc";
  static constexpr std::string_view doc = "x rounded toward zero; identity on integers";
  static constexpr ScalarOp scalar_op = ScalarOp::trunc;
  template <class T>
  static T element(T x) {
    return scalar::round_with(x, [](auto v) { return std::trunc(v); });
  }
  using jvp = ZeroDerivative;
};

struct Round : Elementwise<Round, 1, kReal> {
  static constexpr std::string_view name = "round";
  static constexpr std::string_view doc = "the nearest integral value, ties to even; identity on integers";
  static constexpr ScalarOp scalar_op = ScalarOp::round;
  template <class T>
  static T element(T x) {
    return scalar::round_with(x, [](auto v) { return std::nearbyint(v); });
  }
  using jvp = ZeroDerivative;
};

struct RoundHalfAway : Elementwise<RoundHalfAway, 1, kReal> {
  static constexpr std::string_view name = "round_half_away";
  static constexpr std::string_view doc = "the nearest integral value, ties away from zero; identity on integers";
  static constexpr ScalarOp scalar_op = ScalarOp::round_half_away;
  template <class T>
  static T element(T x) {
    return scalar::round_with(x, [](auto v) { return std::round(v); });
  }
  using jvp = ZeroDerivative;
};

struct Sqrt : Elementwise<Sqrt, 1, kFloat> {
  static constexpr std::string_view name = "sqrt";
  static constexpr std::string_view doc = "the square root, correctly rounded; NaN below zero, sqrt(-0) = -0";
  static constexpr ScalarOp scalar_op = ScalarOp::sqrt;
  template <class T>
  static T element(T x) {
    return std::sqrt(x);
  }
  static Term tangent(Term t, Term, Term result) { return t * (0.5 / result); }
};

struct Add : Elementwise<Add, 2, kNumber> {
  static constexpr std::string_view name = "add";
  static constexpr std::string_view doc = "x + y; integers wrap";
  static constexpr ScalarOp scalar_op = ScalarOp::add;
  static constexpr auto attributes = kNoContractAttribute;
  template <class T>
  static T element(T x, T y) {
    return scalar::add(x, y);
  }
  static Term tangent(int, Term t, Term, Term, Term) { return t; }
  static void transpose(Transposition& t) {
    if (t.linear(0)) t.add(0, t.cotangent());
    if (t.linear(1)) t.add(1, t.cotangent());
  }
};

struct Sub : Elementwise<Sub, 2, kNumber> {
  static constexpr std::string_view name = "sub";
  static constexpr std::string_view doc = "x - y; integers wrap";
  static constexpr ScalarOp scalar_op = ScalarOp::sub;
  static constexpr auto attributes = kNoContractAttribute;
  template <class T>
  static T element(T x, T y) {
    return scalar::sub(x, y);
  }
  static Term tangent(int i, Term t, Term, Term, Term) { return i == 0 ? t : -t; }
  static void transpose(Transposition& t) {
    if (t.linear(0)) t.add(0, t.cotangent());
    if (t.linear(1)) t.add(1, -t.cotangent());
  }
};

struct Mul : Elementwise<Mul, 2, kNumber> {
  static constexpr std::string_view name = "mul";
  static constexpr std::string_view doc = "x * y; integers wrap; complex is (ac - bd) + (ad + bc)i";
  static constexpr ScalarOp scalar_op = ScalarOp::mul;
  static constexpr auto attributes = kNoContractAttribute;
  template <class T>
  static T element(T x, T y) {
    return scalar::mul(x, y);
  }
  static Term tangent(int i, Term t, Term x, Term y, Term) { return i == 0 ? t * y : x * t; }
  static void transpose(Transposition& t) {
    if (t.linear(0) && t.linear(1)) refuse(t.equation, NotLinear::reason);
    t.add(t.linear(0) ? 0 : 1, t.cotangent() * t.operand(t.linear(0) ? 1 : 0));
  }
};

struct Div : Elementwise<Div, 2, kNumber> {
  static constexpr std::string_view name = "div";
  static constexpr std::string_view doc =
      "x / y; integers truncate toward zero, x / 0 has all bits set, the least one / -1 is itself";
  static constexpr ScalarOp scalar_op = ScalarOp::div;
  template <class T>
  static T element(T x, T y) {
    return scalar::div(x, y);
  }
  static Term tangent(int i, Term t, Term, Term y, Term result) { return i == 0 ? t / y : -(t * (result / y)); }
  static void transpose(Transposition& t) {
    if (t.linear(1)) refuse(t.equation, NotLinear::reason);
    t.add(0, t.cotangent() / t.operand(1));
  }
};

struct Rem : Elementwise<Rem, 2, kReal> {
  static constexpr std::string_view name = "rem";
  static constexpr std::string_view doc =
      "the remainder of truncated division, with the dividend's sign; integers: x rem 0 = x, the least one rem -1 = 0; "
      "floats: fmod, which is exact, NaN for y = 0 or infinite x, and x for infinite y";
  static constexpr ScalarOp scalar_op = ScalarOp::rem;
  /// On floats it is a loop, implemented in lib/math.
  static constexpr LowerKind lower_kind(DType d) {
    return is_floating(d) ? LowerKind::function : LowerKind::elementwise;
  }
  template <class T>
  static T element(T x, T y) {
    return scalar::rem(x, y);
  }
  /// (x - z) / y is trunc(x / y) up to its rounding error; x / y itself might round up to the next integer.
  static Term tangent(int i, Term t, Term x, Term y, Term result) {
    return i == 0 ? t : -strong_mul(t, round((x - result) / y));
  }
};

struct Max : Elementwise<Max, 2, kReal | kBool> {
  static constexpr std::string_view name = "max";
  static constexpr std::string_view doc = "the greater; NaN if either is NaN, max(-0, +0) = +0, or on bool";
  static constexpr ScalarOp scalar_op = ScalarOp::max;
  template <class T>
  static T element(T x, T y) {
    return scalar::max(x, y);
  }
  /// Equal operands share.
  static Term tangent(int i, Term t, Term x, Term y, Term) { return t * share(i == 0 ? x > y : y > x, x == y, t); }
};

struct Min : Elementwise<Min, 2, kReal | kBool> {
  static constexpr std::string_view name = "min";
  static constexpr std::string_view doc = "the lesser; NaN if either is NaN, min(-0, +0) = -0, and on bool";
  static constexpr ScalarOp scalar_op = ScalarOp::min;
  template <class T>
  static T element(T x, T y) {
    return scalar::min(x, y);
  }
  /// Equal operands share.
  static Term tangent(int i, Term t, Term x, Term y, Term) { return t * share(i == 0 ? x < y : y < x, x == y, t); }
};

struct Copysign : Elementwise<Copysign, 2, kFloat> {
  static constexpr std::string_view name = "copysign";
  static constexpr std::string_view doc = "x with the sign bit of y";
  static constexpr ScalarOp scalar_op = ScalarOp::copysign;
  template <class T>
  static T element(T x, T y) {
    return std::copysign(x, y);
  }
  static Term tangent(int i, Term t, Term x, Term y, Term) {
    return i == 0 ? t * (copysign(constant(x, 1), x) * copysign(constant(x, 1), y)) : constant(t, 0);
  }
};

/// Forward and reverse mode of functions of several operands some of whose partial derivatives are not finite where the
/// value is: a zero tangent or cotangent hides them. Bilinear for finite y.
struct StrongMul : Elementwise<StrongMul, 2, kFloat> {
  static constexpr std::string_view name = "strong_mul";
  static constexpr std::string_view doc = "x * y, and x where x is 0: also for infinite and NaN y";
  static ScalarTerm compose(ScalarTerm x, ScalarTerm y) {
    return apply(ScalarOp::select, {apply(ScalarOp::eq, {x, constant(x, 0)}), x, apply(ScalarOp::mul, {x, y})});
  }
  template <class T>
  static T element(T x, T y) {
    return x == T{0} ? x : x * y;
  }
  static Term tangent(int i, Term t, Term x, Term y, Term) { return i == 0 ? strong_mul(t, y) : strong_mul(x, t); }
  static void transpose(Transposition& t) {
    if (t.linear(0) && t.linear(1)) refuse(t.equation, NotLinear::reason);
    if (t.linear(0)) {
      t.add(0, strong_mul(t.cotangent(), t.operand(1)));
    } else {
      t.add(1, strong_mul(t.operand(0), t.cotangent()));
    }
  }
};

struct Fma : Elementwise<Fma, 3, kFloat> {
  static constexpr std::string_view name = "fma";
  static constexpr std::string_view doc =
      "x * y + z with one rounding; 16-bit floats are the f32 fma rounded to 16 bits";
  static constexpr ScalarOp scalar_op = ScalarOp::fma;
  template <class T>
  static T element(T x, T y, T z) {
    return std::fma(x, y, z);
  }
  static Term tangent(int i, Term t, Term x, Term y, Term, Term) { return i == 0 ? t * y : i == 1 ? x * t : t; }
};

struct Clamp : Elementwise<Clamp, 3, kReal> {
  static constexpr std::string_view name = "clamp";
  static constexpr std::string_view doc = "clamp(lo, x, hi) = min(max(x, lo), hi) with this library's max and min";
  static constexpr ScalarOp scalar_op = ScalarOp::clamp;
  template <class T>
  static T element(T lo, T x, T hi) {
    return scalar::min(scalar::max(x, lo), hi);
  }
  /// The derivative is 1 with respect to x strictly inside the bounds, to `lo` at and below `lo`, to `hi` at and above
  /// `hi`, and to `hi` when lo > hi: exactly one of the three is nonzero, unless an operand is NaN.
  static Term tangent(int i, Term t, Term lo, Term x, Term hi, Term) {
    if (i == 0) return where((x <= lo) & (x < hi) & (lo <= hi), t);
    return where(i == 1 ? (x > lo) & (x < hi) : (x >= hi) | (lo > hi), t);
  }
};

struct Pow : MathFunction<Pow, 2, kReal> {
  static constexpr std::string_view name = "pow";
  static constexpr std::string_view doc =
      "x to the power y; floats as C's pow; integers wrap, a negative exponent gives the power of 1 / x truncated, so "
      "0 for |x| > 1 and all bits set for x = 0";
  template <class T>
  static T element(T x, T y) {
    return scalar::pow(x, y);
  }
  /// With respect to x: y x^(y-1), zero for y = 0. With respect to y: x^y log(x), zero for x = 0. At y = 0 the first is
  /// written (y / x) x^y, whose derivatives with respect to x are zeros (also where x^(y-1) overflows and for NaN) and
  /// with respect to y is 1 / x. Both powers are of x, so that they share its logarithm. Where the power is finite
  /// either may be infinite or NaN (the second below zero), so a zero tangent takes no part in it.
  static Term tangent(int i, Term t, Term x, Term y, Term result) {
    if (i == 0) {
      const Term power = pow(x, select(y == 0.0, constant(y, 1), y - 1.0));
      const Term divisor = select(abs(x) > constant(x, 0), x, constant(x, 1));
      return strong_mul(t, select(y == 0.0, (y / divisor) * result, strong_mul(y, power)));
    }
    return strong_mul(t, strong_mul(result, log(nonzero(x))));
  }
};

using ArithmeticList = TypeList<Neg, Abs, Sign, Floor, Ceil, Trunc, Round, RoundHalfAway, Sqrt, Add, Sub, Mul, Div, Rem,
                                Max, Min, Copysign, Fma, Clamp, Pow, StrongMul>;

}  // namespace calque::primitives
