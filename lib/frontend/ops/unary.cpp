// Elementwise functions of one operand. Functions of several primitives compute 16-bit floats in f32 and round once.
#include <cmath>
#include <limits>

#include "frontend/ops/complex.h"
#include "frontend/ops/expression.h"

namespace calque::detail::ops {

namespace {

// The rules of elementwise.def: templates over the primitive P.

/// P of a floating or complex number; integers and bool become f32.
template <class P>
Handle inexact_unary(const Operand& x, const Site& s) {
  const Handle v = value(x, to_inexact(operand_dtype(x, s)), s);
  if (is_complex(dtype(v))) return complex_unary(v, s);
  return emit<P>(s, {v});
}

Handle number(const Operand& x, const Site& s) {
  const Handle v = value(x, s);
  if (is_bool(dtype(v))) reject(type(v), "numbers", s);
  return v;
}

Handle real_number(const Operand& x, const Site& s) {
  const Handle v = number(x, s);
  if (is_complex(dtype(v))) reject(type(v), "real numbers", s);
  return v;
}

/// Rounding to integral values: the identity for integers.
template <class P>
Handle rounding_unary(const Operand& x, const Site& s) {
  const Handle v = real_number(x, s);
  return is_integer(dtype(v)) ? v : emit<P>(s, {v});
}

/// The sign; of complex numbers z / |z|.
template <class P>
Handle sign_unary(const Operand& x, const Site& s) {
  const Handle v = number(x, s);
  return is_complex(dtype(v)) ? complex_unary(v, s) : emit<P>(s, {v});
}

template <class P>
Handle real_unary(const Operand& x, const Site& s) {
  return emit<P>(s, {real_number(x, s)});
}

/// Real numbers and bool.
template <class P>
Handle ordered_unary(const Operand& x, const Site& s) {
  const Handle v = value(x, s);
  if (is_complex(dtype(v))) reject(type(v), "real numbers", s);
  return emit<P>(s, {v});
}

template <class P>
Handle integer_unary(const Operand& x, const Site& s) {
  const Handle v = value(x, s);
  if (!is_integer(dtype(v))) reject(type(v), "integers", s);
  return emit<P>(s, {v});
}

template <class P>
Handle any_unary(const Operand& x, const Site& s) {
  return emit<P>(s, {value(x, s)});
}

Handle constant_bool(bool value, Handle like, const Site& s) {
  return literal(Literal::of(value), {DType::bool_, shape(like)}, s.at);
}

/// A test of floating-point numbers: `of_integers` for integers; for complex numbers, whether it holds for either part
/// (for both if `conjunction`).
template <class F>
Handle float_test(const Operand& x, const Site& s, bool of_integers, bool conjunction, F&& test) {
  const Handle v = value(x, s);
  const DType d = dtype(v);
  if (!is_inexact(d)) return constant_bool(of_integers, v, s);
  if (!is_complex(d)) return test(v);
  const Handle re = test(emit<prim::Real>(s, {v})), im = test(emit<prim::Imag>(s, {v}));
  return conjunction ? emit<prim::And>(s, {re, im}) : emit<prim::Or>(s, {re, im});
}

Handle infinity_like(Handle v, const Site& s) { return splat(__builtin_inf(), type(v), s); }

}  // namespace

#define CALQUE_UNARY(f, result, rule, P) \
  Handle f(const Operand& x, Location at) { return rule<prim::P>(x, {#f, at}); }
#include "calque/elementwise.def"

Handle negative(const Operand& x, Location at) {
  const Site s{"negative", at};
  return emit<prim::Neg>(s, {number(x, s)});
}

Handle positive(const Operand& x, Location at) { return value(x, {"positive", at}); }

Handle square(const Operand& x, Location at) {
  const Site s{"square", at};
  const Handle v = number(x, s);
  if (const auto square = product_of_distances(v, v, s)) return *square;
  return emit<prim::Mul>(s, {v, v});
}

Handle relu(const Operand& x, Location at) {
  const Site s{"relu", at};
  const Handle v = real_number(x, s), zero = splat(0, type(v), s);
  // Not max, so that NaN stays NaN and the derivative at 0 is 0.
  return select(emit<prim::Le>(s, {v, zero}), zero, v, s);
}

Handle conj(const Operand& x, Location at) {
  const Site s{"conj", at};
  const Handle v = value(x, s);
  return is_complex(dtype(v)) ? emit<prim::Conj>(s, {v}) : v;
}

Handle bitwise_not(const Operand& x, Location at) {
  const Site s{"bitwise_not", at};
  const Handle v = value(x, s);
  if (is_inexact(dtype(v))) reject(type(v), "integers or bool", s);
  return emit<prim::Not>(s, {v});
}

Handle logical_not(const Operand& x, Location at) {
  const Site s{"logical_not", at};
  return emit<prim::Not>(s, {value(x, DType::bool_, s)});
}

Handle abs(const Operand& x, Location at) {
  const Site s{"abs", at};
  const Handle v = value(x, s);
  const DType d = dtype(v);
  return is_bool(d) || is_unsigned_integer(d) ? v : emit<prim::Abs>(s, {v});
}

Handle real(const Operand& x, Location at) {
  const Site s{"real", at};
  const Handle v = value(x, s);
  return is_complex(dtype(v)) ? emit<prim::Real>(s, {v}) : v;
}

Handle imag(const Operand& x, Location at) {
  const Site s{"imag", at};
  const Handle v = value(x, s);
  return is_complex(dtype(v)) ? emit<prim::Imag>(s, {v}) : splat(0, type(v), s);
}

Handle isnan(const Operand& x, Location at) {
  const Site s{"isnan", at};
  return float_test(x, s, false, false, [&](Handle v) { return emit<prim::Ne>(s, {v, v}); });
}

Handle isinf(const Operand& x, Location at) {
  const Site s{"isinf", at};
  return float_test(x, s, false, false,
                    [&](Handle v) { return emit<prim::Eq>(s, {emit<prim::Abs>(s, {v}), infinity_like(v, s)}); });
}

Handle isfinite(const Operand& x, Location at) {
  const Site s{"isfinite", at};
  return float_test(x, s, true, true,
                    [&](Handle v) { return emit<prim::Lt>(s, {emit<prim::Abs>(s, {v}), infinity_like(v, s)}); });
}

namespace {
double smallest_normal(DType d) {
  return visit_dtype(d, []<class T>() {
    if constexpr (is_floating(dtype_of<T>)) {
      return static_cast<double>(std::numeric_limits<T>::min());
    } else {
      return 0.0;
    }
  });
}
}  // namespace

Handle isnormal(const Operand& x, Location at) {
  const Site s{"isnormal", at};
  const Handle v = value(x, s);
  if (is_complex(dtype(v))) reject(type(v), "real numbers", s);
  if (!is_floating(dtype(v))) return emit<prim::Ne>(s, {v, splat(0, type(v), s)});
  const Expression size = Expression(v, s).of<prim::Abs>();
  return (size >= smallest_normal(dtype(v))) & (size < __builtin_inf());
}

Handle fpclassify(const Operand& x, Location at) {
  const Site s{"fpclassify", at};
  const Handle v = value(x, s);
  if (is_complex(dtype(v))) reject(type(v), "real numbers", s);
  const Type to{DType::i32, shape(v)};
  const auto code = [&](int of_class) { return Expression(splat(of_class, to, s), s); };
  const Expression zero(emit<prim::Eq>(s, {v, splat(0, type(v), s)}), s);
  if (!is_floating(dtype(v))) return zero.choose(code(FP_ZERO), code(FP_NORMAL));
  const Expression size = Expression(v, s).of<prim::Abs>();
  const Expression tiny = (size < smallest_normal(dtype(v))).choose(code(FP_SUBNORMAL), code(FP_NORMAL));
  const Expression finite = (size < __builtin_inf()).choose(tiny, code(FP_INFINITE));
  return zero.choose(code(FP_ZERO), (size == size).choose(finite, code(FP_NAN)));
}

}  // namespace calque::detail::ops
