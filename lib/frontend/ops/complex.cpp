// Functions of complex numbers, computed from their real and imaginary parts. Cancellation is avoided where |z| is near
// one (log) and overflow where the parts are large (sqrt, tanh).
#include "frontend/ops/common.h"

namespace calque::detail::ops {
namespace {

struct Parts {
  Handle re, im;
};

Parts parts(Handle z, const Site& s) { return {emit<prim::Real>(s, {z}), emit<prim::Imag>(s, {z})}; }

Parts exp_parts(const Parts& z, Location at) {
  const Handle r = exp(z.re, at);
  // A real argument with infinite or NaN exponential is handled apart, since inf * 0 is NaN. Where r is finite the
  // products and their derivatives are right.
  const Handle flat = logical_and(equal(z.im, lit(0), at), logical_not(isfinite(r, at), at), at);
  return {where(flat, r, multiply(r, cos(z.im, at), at), at), where(flat, z.im, multiply(r, sin(z.im, at), at), at)};
}

Parts log_parts(const Parts& z, Location at) {
  // Where |z| is near 1, log|z| = log1p((m - 1) (m + 1) + n^2) / 2 for parts |m| >= |n|. The derivatives are those of
  // this formula for either assignment of m and n; a maximum and absolute values would give wrong derivatives at ties
  // and on the axes.
  const Handle r = hypot(z.re, z.im, at), swap = less(abs(z.re, at), abs(z.im, at), at);
  const Handle large = where(swap, z.im, z.re, at), small = where(swap, z.re, z.im, at);
  const Handle excess =
      add(multiply(subtract(large, lit(1.0), at), add(large, lit(1.0), at), at), square(small, at), at);
  const Handle near_one = logical_and(greater(r, lit(0.5), at), less(r, lit(2.0), at), at);
  return {where(near_one, multiply(log1p(where(near_one, excess, lit(0.0), at), at), lit(0.5), at), log(r, at), at),
          atan2(z.im, z.re, at)};
}

/// (t, y / 2t) for z = x + yi with x >= 0, else (y / 2u, u) with u = copysign(t, y), where t = sqrt((|x| + |z|) / 2).
Parts sqrt_parts(const Parts& z, Location at) {
  const Handle right = greater_equal(z.re, lit(0), at);
  // Not abs, whose derivative at 0 is wrong here: on the imaginary axis a one-sided derivative is taken.
  const Handle a = where(right, z.re, negative(z.re, at), at);
  const Handle t = sqrt(add(multiply(a, lit(0.5), at), multiply(hypot(z.re, z.im, at), lit(0.5), at), at), at);
  const Handle none = equal(t, lit(0), at);
  const Handle root = where(right, t, copysign(t, z.im, at), at);
  const Handle other = divide(multiply(z.im, lit(0.5), at), where(none, lit(1.0), root, at), at);
  return {where(right, root, other, at), where(right, other, root, at)};
}

/// Kahan's formula; for |x| beyond `far` the real part rounds to one.
Parts tanh_parts(const Parts& z, Location at) {
  const double far = dtype(z.re) == DType::f32 ? 11 : 22;
  const Handle a = clip(z.re, lit(-far), lit(far), at);
  const Handle t = tan(z.im, at), q = sinh(a, at);
  const Handle beta = add(square(t, at), lit(1.0), at), rho = sqrt(add(square(q, at), lit(1.0), at), at);
  const Handle d = add(multiply(beta, square(q, at), at), lit(1.0), at);
  const Handle beyond = greater(abs(z.re, at), lit(far), at);
  const Handle tail = multiply(multiply(sin(z.im, at), cos(z.im, at), at),
                               multiply(exp(multiply(abs(z.re, at), lit(-2.0), at), at), lit(4.0), at), at);
  return {where(beyond, copysign(lit(1.0), z.re, at), divide(multiply(multiply(beta, rho, at), q, at), d, at), at),
          where(beyond, tail, divide(t, d, at), at)};
}

}  // namespace

Handle complex_unary(Handle x, const Site& s) {
  const Parts z = parts(x, s);
  const Location at = s.at;
  Parts w{};
  if (s.name == "exp") {
    w = exp_parts(z, at);
  } else if (s.name == "log") {
    w = log_parts(z, at);
  } else if (s.name == "sqrt") {
    w = sqrt_parts(z, at);
  } else if (s.name == "sin") {
    w = {multiply(sin(z.re, at), cosh(z.im, at), at), multiply(cos(z.re, at), sinh(z.im, at), at)};
  } else if (s.name == "cos") {
    w = {multiply(cos(z.re, at), cosh(z.im, at), at), negative(multiply(sin(z.re, at), sinh(z.im, at), at), at)};
  } else if (s.name == "sinh") {
    w = {multiply(sinh(z.re, at), cos(z.im, at), at), multiply(cosh(z.re, at), sin(z.im, at), at)};
  } else if (s.name == "cosh") {
    w = {multiply(cosh(z.re, at), cos(z.im, at), at), multiply(sinh(z.re, at), sin(z.im, at), at)};
  } else if (s.name == "tanh") {
    w = tanh_parts(z, at);
  } else {
    reject(type(x), "real numbers", s);
  }
  return emit<prim::Complex>(s, {w.re, w.im});
}

Handle complex(const Operand& real, const Operand& imaginary, Location at) {
  const Site s{"complex", at};
  const DType d = promoted_dtype(real, imaginary, s) == DType::f64 ? DType::f64 : DType::f32;
  Handle xs[] = {value_fitting(real, d, s), value_fitting(imaginary, d, s)};
  broadcast_together(xs, s);
  return emit<prim::Complex>(s, {xs[0], xs[1]});
}

}  // namespace calque::detail::ops
