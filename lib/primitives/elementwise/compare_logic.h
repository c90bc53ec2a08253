#pragma once
// Comparisons, logic and bit operations. Comparisons with NaN are false, except `ne`, which is true; -0 equals +0.
#include "primitives/core/rule.h"
#include "primitives/elementwise/scalar.h"

namespace calque::primitives {

/// A comparison: operands of any dtype in the set, bool result.
template <class P, DTypeSet Accepted>
struct Comparison : Elementwise<P, 2, Accepted> {
  static constexpr DType result_dtype(DType) { return DType::bool_; }
  using jvp = ZeroDerivative;
};

struct Eq : Comparison<Eq, kAny> {
  static constexpr std::string_view name = "eq";
  static constexpr std::string_view doc = "x == y";
  static constexpr ScalarOp scalar_op = ScalarOp::eq;
  template <class T>
  static bool element(T x, T y) {
    return x == y;
  }
};

struct Ne : Comparison<Ne, kAny> {
  static constexpr std::string_view name = "ne";
  static constexpr std::string_view doc = "x != y; true if either is NaN";
  static constexpr ScalarOp scalar_op = ScalarOp::ne;
  template <class T>
  static bool element(T x, T y) {
    return x != y;
  }
};

struct Lt : Comparison<Lt, kReal | kBool> {
  static constexpr std::string_view name = "lt";
  static constexpr std::string_view doc = "x < y; false < true";
  static constexpr ScalarOp scalar_op = ScalarOp::lt;
  template <class T>
  static bool element(T x, T y) {
    return x < y;
  }
};

struct Le : Comparison<Le, kReal | kBool> {
  static constexpr std::string_view name = "le";
  static constexpr std::string_view doc = "x <= y";
  static constexpr ScalarOp scalar_op = ScalarOp::le;
  template <class T>
  static bool element(T x, T y) {
    return x <= y;
  }
};

struct Gt : Comparison<Gt, kReal | kBool> {
  static constexpr std::string_view name = "gt";
  static constexpr std::string_view doc = "x > y";
  static constexpr ScalarOp scalar_op = ScalarOp::gt;
  template <class T>
  static bool element(T x, T y) {
    return x > y;
  }
};

struct Ge : Comparison<Ge, kReal | kBool> {
  static constexpr std::string_view name = "ge";
  static constexpr std::string_view doc = "x >= y";
  static constexpr ScalarOp scalar_op = ScalarOp::ge;
  template <class T>
  static bool element(T x, T y) {
    return x >= y;
  }
};

struct Not : Elementwise<Not, 1, kBool | kInteger> {
  static constexpr std::string_view name = "not";
  static constexpr std::string_view doc = "logical not of bool, all bits flipped of integers";
  static constexpr ScalarOp scalar_op = ScalarOp::not_;
  template <class T>
  static T element(T x) {
    if constexpr (std::is_same_v<T, bool>) {
      return !x;
    } else {
      return static_cast<T>(~x);
    }
  }
  using jvp = ZeroDerivative;
};

struct And : Elementwise<And, 2, kBool | kInteger> {
  static constexpr std::string_view name = "and";
  static constexpr std::string_view doc = "bitwise and; logical and of bool";
  static constexpr ScalarOp scalar_op = ScalarOp::and_;
  template <class T>
  static T element(T x, T y) {
    return static_cast<T>(x & y);
  }
  using jvp = ZeroDerivative;
};

struct Or : Elementwise<Or, 2, kBool | kInteger> {
  static constexpr std::string_view name = "or";
  static constexpr std::string_view doc = "bitwise or; logical or of bool";
  static constexpr ScalarOp scalar_op = ScalarOp::or_;
  template <class T>
  static T element(T x, T y) {
    return static_cast<T>(x | y);
  }
  using jvp = ZeroDerivative;
};

struct Xor : Elementwise<Xor, 2, kBool | kInteger> {
  static constexpr std::string_view name = "xor";
  static constexpr std::string_view doc = "bitwise exclusive or; != of bool";
  static constexpr ScalarOp scalar_op = ScalarOp::xor_;
  template <class T>
  static T element(T x, T y) {
    return static_cast<T>(x ^ y);
  }
  using jvp = ZeroDerivative;
};

struct Shl : Elementwise<Shl, 2, kInteger> {
  static constexpr std::string_view name = "shl";
  static constexpr std::string_view doc =
      "x shifted left by y; a count that is negative or not below the width gives 0";
  static constexpr ScalarOp scalar_op = ScalarOp::shl;
  template <class T>
  static T element(T x, T y) {
    return scalar::shl(x, y);
  }
  using jvp = ZeroDerivative;
};

struct ShrArithmetic : Elementwise<ShrArithmetic, 2, kInteger> {
  static constexpr std::string_view name = "shr_arithmetic";
  static constexpr std::string_view doc =
      "x shifted right by y, filled with the sign bit (zeros if unsigned); a count that is negative or not below the "
      "width gives nothing but the fill";
  static constexpr ScalarOp scalar_op = ScalarOp::shr_arithmetic;
  template <class T>
  static T element(T x, T y) {
    return scalar::shr_arithmetic(x, y);
  }
  using jvp = ZeroDerivative;
};

struct ShrLogical : Elementwise<ShrLogical, 2, kInteger> {
  static constexpr std::string_view name = "shr_logical";
  static constexpr std::string_view doc =
      "x shifted right by y, filled with zeros; a count that is negative or not below the width gives 0";
  static constexpr ScalarOp scalar_op = ScalarOp::shr_logical;
  template <class T>
  static T element(T x, T y) {
    return scalar::shr_logical(x, y);
  }
  using jvp = ZeroDerivative;
};

struct Popcount : Elementwise<Popcount, 1, kInteger> {
  static constexpr std::string_view name = "popcount";
  static constexpr std::string_view doc = "how many bits are set";
  static constexpr std::string_view intrinsic = "llvm.ctpop";
  template <class T>
  static T element(T x) {
    return static_cast<T>(std::popcount(static_cast<std::make_unsigned_t<T>>(x)));
  }
  using jvp = ZeroDerivative;
};

struct Clz : Elementwise<Clz, 1, kInteger> {
  static constexpr std::string_view name = "clz";
  static constexpr std::string_view doc = "how many zero bits stand above the highest set bit; the width for 0";
  static constexpr std::string_view intrinsic = "llvm.ctlz";
  template <class T>
  static T element(T x) {
    return static_cast<T>(std::countl_zero(static_cast<std::make_unsigned_t<T>>(x)));
  }
  using jvp = ZeroDerivative;
};

struct Signbit : Elementwise<Signbit, 1, kReal | kBool> {
  static constexpr std::string_view name = "signbit";
  static constexpr std::string_view doc =
      "whether the sign bit is set, of zeros and NaNs too; x < 0 of integers; false of bool";
  static constexpr DType result_dtype(DType) { return DType::bool_; }
  template <class T>
  static bool element(T x) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::signbit(x);
    } else {
      return x < T{0};
    }
  }
  static ScalarTerm compose(ScalarTerm x) {
    if (is_floating(x.dtype())) x = bits(x);
    return apply(ScalarOp::lt, {x, constant(x, 0)});
  }
  using jvp = ZeroDerivative;
};

/// select(pred, on_true, on_false).
struct Select : Rule {
  static constexpr std::string_view name = "select";
  static constexpr std::string_view doc = "pred ? x : y, element by element; pred is bool of the same shape";
  static constexpr ScalarOp scalar_op = ScalarOp::select;
  static constexpr int min_operands = 3;
  static constexpr int max_operands = 3;
  static constexpr LowerKind kind = LowerKind::elementwise;
  static constexpr FusionKind fusion_kind = FusionKind::elementwise;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b) { batch_elementwise(b); }
};

using CompareLogicList =
    TypeList<Eq, Ne, Lt, Le, Gt, Ge, Not, And, Or, Xor, Shl, ShrArithmetic, ShrLogical, Popcount, Clz, Signbit, Select>;

}  // namespace calque::primitives
