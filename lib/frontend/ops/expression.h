#pragma once
// Formulas of handles as expressions: every operation is one equation, operands have one dtype and shape, and numbers
// take those of the other operand.
#include "frontend/ops/common.h"

namespace calque::detail::ops {

class Expression {
 public:
  Expression(Handle value, const Site& s) : value_(value), s_(&s) {}
  Handle handle() const { return value_; }
  operator Handle() const { return value_; }  // NOLINT(google-explicit-constructor)

  Expression number(double x) const { return {splat(x, type(value_), *s_), *s_}; }
  template <class P>
  Expression of() const {
    return {emit<P>(*s_, {value_}), *s_};
  }
  template <class P>
  Expression of(Expression y) const {
    return {emit<P>(*s_, {value_, y.value_}), *s_};
  }
  Expression as(DType d) const { return {convert(value_, d, *s_), *s_}; }
  /// The same bits as another type of the same width.
  Expression bits_as(DType d) const { return {emit<prim::Bitcast>(*s_, {value_}, {{"dtype", d}}), *s_}; }
  /// Of a bool: x where it is true, y elsewhere.
  Expression choose(Expression x, Expression y) const { return {select(value_, x, y, *s_), *s_}; }
  /// Of a complex number, and from parts.
  Expression re() const { return of<prim::Real>(); }
  Expression im() const { return of<prim::Imag>(); }
  Expression with_im(Expression y) const { return of<prim::Complex>(y); }
  /// Of a float: rounded, so that a product is not contracted into a sum.
  Expression rounded() const { return {emit<prim::Convert>(*s_, {value_}, {{"dtype", dtype(value_)}}), *s_}; }
  /// x y + z, rounded once.
  Expression times_plus(Expression y, Expression z) const { return {emit<prim::Fma>(*s_, {value_, y, z}), *s_}; }
  /// With no derivative.
  Expression fixed() const { return of<prim::StopGradient>(); }

 private:
  Handle value_;
  const Site* s_;
};

#define CALQUE_OPERATOR(op, P)                                                                 \
  inline Expression operator op(Expression x, Expression y) { return x.of<prim::P>(y); }       \
  inline Expression operator op(Expression x, double y) { return x.of<prim::P>(x.number(y)); } \
  inline Expression operator op(double x, Expression y) { return y.number(x).of<prim::P>(y); }
CALQUE_OPERATOR(+, Add)
CALQUE_OPERATOR(-, Sub)
CALQUE_OPERATOR(*, Mul)
CALQUE_OPERATOR(/, Div)
CALQUE_OPERATOR(<, Lt)
CALQUE_OPERATOR(<=, Le)
CALQUE_OPERATOR(>, Gt)
CALQUE_OPERATOR(>=, Ge)
CALQUE_OPERATOR(==, Eq)
#undef CALQUE_OPERATOR
inline Expression operator-(Expression x) { return x.of<prim::Neg>(); }
/// Of bools.
inline Expression operator!(Expression x) { return x.of<prim::Not>(); }
inline Expression operator&(Expression x, Expression y) { return x.of<prim::And>(y); }
inline Expression operator|(Expression x, Expression y) { return x.of<prim::Or>(y); }

}  // namespace calque::detail::ops
