#pragma once
// Conversions between element types, and real and imaginary parts. A conversion rounds once.
#include "primitives/core/rule.h"
#include "primitives/elementwise/scalar.h"

namespace calque::primitives {

struct Convert : Rule {
  static constexpr std::string_view name = "convert";
  static constexpr std::string_view doc =
      "x as `dtype`: integers wrap; numbers become floats in one rounding to nearest even (f64 and i64 to a 16-bit "
      "float "
      "too); float to integer truncates and saturates, NaN gives 0; to bool is x != 0; complex to real drops the "
      "imaginary part";
  static constexpr ScalarOp scalar_op = ScalarOp::convert;
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr std::array attributes{AttributeSpec{"dtype", AttributeKind::dtype}};
  static constexpr LowerKind kind = LowerKind::elementwise;
  static constexpr FusionKind fusion_kind = FusionKind::elementwise;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b) { batch_same(b); }
};

struct Bitcast : Rule {
  static constexpr std::string_view name = "bitcast";
  static constexpr std::string_view doc = "the same bits read as `dtype` of the same width; neither bool nor complex";
  static constexpr ScalarOp scalar_op = ScalarOp::bitcast;
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr std::array attributes{AttributeSpec{"dtype", AttributeKind::dtype}};
  static constexpr LowerKind kind = LowerKind::elementwise;
  static constexpr FusionKind fusion_kind = FusionKind::elementwise;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  /// Zero, except for the identity.
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b) { batch_same(b); }
};

struct StopGradient : Rule {
  static constexpr std::string_view name = "stop_gradient";
  static constexpr std::string_view doc = "x itself, constant to derivatives";
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr LowerKind kind = LowerKind::elementwise;
  static constexpr FusionKind fusion_kind = FusionKind::elementwise;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static ScalarTerm compose(ScalarTerm x) { return x; }
  using jvp = ZeroDerivative;
  /// No cotangent is propagated.
  static void transpose(Transposition&) {}
  static void batch(Batching& b) { batch_same(b); }
};

struct Real : Elementwise<Real, 1, kComplex> {
  static constexpr std::string_view name = "real";
  static constexpr std::string_view doc = "the real part";
  static constexpr ScalarOp scalar_op = ScalarOp::unsupported;
  static constexpr DType result_dtype(DType d) { return real_of(d); }
  template <class T>
  static auto element(T x) {
    return x.real();
  }
  static Term tangent(Term t, Term, Term) { return real(t); }
  static void transpose(Transposition& t) { t.add(0, complex(t.cotangent(), constant(t.cotangent(), 0))); }
};

struct Imag : Elementwise<Imag, 1, kComplex> {
  static constexpr std::string_view name = "imag";
  static constexpr std::string_view doc = "the imaginary part";
  static constexpr ScalarOp scalar_op = ScalarOp::unsupported;
  static constexpr DType result_dtype(DType d) { return real_of(d); }
  template <class T>
  static auto element(T x) {
    return x.imag();
  }
  static Term tangent(Term t, Term, Term) { return imag(t); }
  static void transpose(Transposition& t) { t.add(0, complex(constant(t.cotangent(), 0), -t.cotangent())); }
};

struct Conj : Elementwise<Conj, 1, kComplex> {
  static constexpr std::string_view name = "conj";
  static constexpr std::string_view doc = "the complex conjugate";
  static constexpr ScalarOp scalar_op = ScalarOp::unsupported;
  template <class T>
  static T element(T x) {
    return {x.real(), -x.imag()};
  }
  static Term tangent(Term t, Term, Term) { return conj(t); }
  static void transpose(Transposition& t) { t.add(0, conj(t.cotangent())); }
};

struct Complex : Elementwise<Complex, 2, set_of(DType::f32) | set_of(DType::f64)> {
  static constexpr std::string_view name = "complex";
  static constexpr std::string_view doc = "re + im i";
  static constexpr ScalarOp scalar_op = ScalarOp::unsupported;
  static constexpr DType result_dtype(DType d) { return d == DType::f64 ? DType::c128 : DType::c64; }
  template <class T>
  static auto element(T re, T im) {
    return std::complex<T>(re, im);
  }
  static Term tangent(int i, Term t, Term, Term, Term) {
    return i == 0 ? complex(t, constant(t, 0)) : complex(constant(t, 0), t);
  }
  static void transpose(Transposition& t) {
    if (t.linear(0)) t.add(0, real(t.cotangent()));
    if (t.linear(1)) t.add(1, -imag(t.cotangent()));
  }
};

using ConvertList = TypeList<Convert, Bitcast, StopGradient, Real, Imag, Conj, Complex>;

}  // namespace calque::primitives
