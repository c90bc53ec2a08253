// Functions of complex numbers, computed from their real and imaginary parts. Cancellation is avoided where |z| is near
// one (log); where an intermediate value would leave the range although the result does not, the argument is scaled by
// a power of two (log, sqrt) or the exponential is split in two factors (exp, sinh, cosh and what is made of them), as
// in Kahan's "Branch cuts for complex elementary functions". Infinite and NaN parts give what C's Annex G says.
#include "frontend/ops/complex.h"

#include <cmath>
#include <numbers>

namespace calque::detail::ops {
namespace {

struct Parts {
  Handle re, im;
};

Parts parts(Handle z, const Site& s) { return {emit<prim::Real>(s, {z}), emit<prim::Imag>(s, {z})}; }

/// Chosen elementwise: `yes` where the condition holds, else `no`, of the type of x.
Handle choose(Handle condition, double yes, double no, Handle x, Location at) {
  const Site s{"complex", at};
  return select(condition, splat(yes, type(x), s), splat(no, type(x), s), s);
}

bool is_single(Handle x) { return dtype(x) == DType::f32; }

/// factor * scale; the factor overflows only for arguments beyond twice the largest whose exponential is finite.
struct Scaled {
  Handle factor, scale;
};

/// The largest integer whose exponential is finite.
double last_exponent(Handle x) { return is_single(x) ? 88 : 709; }

/// e^x; the scale is 1 where e^x is finite.
Scaled exp_scaled(Handle x, Location at) {
  const double last = last_exponent(x);
  const Handle beyond = greater(x, lit(last), at);
  return {exp(subtract(x, choose(beyond, last, 0, x, at), at), at), choose(beyond, std::exp(last), 1, x, at)};
}

struct Hyperbolic {
  Handle sinh, cosh, scale;
};

/// Beyond the last exponent both are e^|x| / 2. The functions are not evaluated there, where their derivatives
/// overflow.
Hyperbolic hyperbolic_scaled(Handle x, Location at) {
  const double last = last_exponent(x);
  const Handle size = abs(x, at), beyond = greater(size, lit(last), at);
  const Handle near = where(beyond, lit(0.0), x, at);
  const Handle half = multiply(exp(subtract(size, lit(last), at), at), lit(0.5), at);
  return {where(beyond, copysign(half, x, at), sinh(near, at), at), where(beyond, half, cosh(near, at), at),
          choose(beyond, std::exp(last), 1, x, at)};
}

/// Which part of a product of an exponential with the cosine and sine of an infinite or NaN angle stays infinite.
enum class AtUnknownAngle : uint8_t { infinite, nan };

/// Whether the real part is one at which the exponential and hyperbolic functions are 0 or infinite, not only too small
/// or too large for their type.
Handle is_exact(Handle x, Location at) { return logical_or(equal(x, lit(0.0), at), isinf(x, at), at); }

/// A value of trigonometric functions times one of the exponential or hyperbolic functions, with the zeros of either
/// winning: 0 * inf is zero, and so is 0 * NaN where the zero is `exact`.
Handle product(Handle angular, Handle radial, Handle exact, AtUnknownAngle unknown, Location at) {
  const Handle no_angle = isnan(angular, at);
  const Handle kept = unknown == AtUnknownAngle::infinite
                          ? logical_or(equal(radial, lit(0.0), at), isinf(radial, at), at)
                          : equal(radial, lit(0.0), at);
  const Handle zero = logical_and(equal(angular, lit(0.0), at), logical_not(isfinite(radial, at), at), at);
  const Handle plain = multiply(angular, radial, at);
  const Handle signed_zero = multiply(angular, copysign(lit(1.0), radial, at), at);
  return where(logical_and(logical_and(no_angle, kept, at), exact, at), radial, where(zero, signed_zero, plain, at),
               at);
}

Parts exp_parts(const Parts& z, Location at) {
  const Scaled e = exp_scaled(z.re, at);
  const Handle exact = is_exact(z.re, at);
  return {product(multiply(cos(z.im, at), e.scale, at), e.factor, exact, AtUnknownAngle::infinite, at),
          product(multiply(sin(z.im, at), e.scale, at), e.factor, exact, AtUnknownAngle::nan, at)};
}

Parts sinh_parts(const Parts& z, Location at) {
  const Hyperbolic h = hyperbolic_scaled(z.re, at);
  const Handle exact = is_exact(z.re, at);
  return {product(multiply(cos(z.im, at), h.scale, at), h.sinh, exact, AtUnknownAngle::infinite, at),
          product(multiply(sin(z.im, at), h.scale, at), h.cosh, exact, AtUnknownAngle::nan, at)};
}

Parts cosh_parts(const Parts& z, Location at) {
  const Hyperbolic h = hyperbolic_scaled(z.re, at);
  const Handle exact = is_exact(z.re, at);
  return {product(multiply(cos(z.im, at), h.scale, at), h.cosh, exact, AtUnknownAngle::infinite, at),
          product(multiply(sin(z.im, at), h.scale, at), h.sinh, exact, AtUnknownAngle::nan, at)};
}

/// z scaled by a power of 4 where a sum of its parts would overflow or lose digits to subnormal numbers.
struct ScaledParts {
  Parts z;
  Handle root;       ///< of the scale's reciprocal
  Handle logarithm;  ///< of the scale's reciprocal
};

ScaledParts scaled(const Parts& z, Location at) {
  const bool single = is_single(z.re);
  const Handle largest = maximum(abs(z.re, at), abs(z.im, at), at);
  const Handle huge = greater(largest, lit(single ? 0x1p125 : 0x1p1021), at);
  const Handle tiny = less(largest, lit(single ? 0x1p-100 : 0x1p-960), at);
  const int up = single ? 24 : 54;
  const auto chosen = [&](double of_huge, double of_tiny, double otherwise) {
    return where(huge, lit(of_huge), choose(tiny, of_tiny, otherwise, z.re, at), at);
  };
  const Handle scale = chosen(0.25, std::ldexp(1.0, 2 * up), 1);
  return {{multiply(z.re, scale, at), multiply(z.im, scale, at)},
          chosen(2, std::ldexp(1.0, -up), 1),
          chosen(2 * std::numbers::ln2, -2 * up * std::numbers::ln2, 0)};
}

Parts log_parts(const Parts& z, Location at) {
  // Where |z| is near 1, log|z| = log1p((m - 1) (m + 1) + n^2) / 2 for parts |m| >= |n|. The derivatives are those of
  // this formula for either assignment of m and n; a maximum and absolute values would give wrong derivatives at ties
  // and on the axes.
  const ScaledParts other = scaled(z, at);
  const Handle r = hypot(other.z.re, other.z.im, at);
  const Handle swap = less(abs(z.re, at), abs(z.im, at), at);
  const Handle near_one = logical_and(logical_and(greater(r, lit(0.5), at), less(r, lit(2.0), at), at),
                                      equal(other.root, lit(1.0), at), at);
  const Handle large = where(near_one, where(swap, z.im, z.re, at), lit(1.0), at);
  const Handle small = where(near_one, where(swap, z.re, z.im, at), lit(0.0), at);
  const Handle excess =
      add(multiply(subtract(large, lit(1.0), at), add(large, lit(1.0), at), at), square(small, at), at);
  const Handle far = add(log(r, at), other.logarithm, at);
  return {where(near_one, multiply(log1p(excess, at), lit(0.5), at), far, at), atan2(z.im, z.re, at)};
}

/// (t, y / 2t) for z = x + yi with x >= 0, else (y / 2u, u) with u = copysign(t, y), where t = sqrt((|x| + |z|) / 2).
Parts sqrt_parts(const Parts& given, Location at) {
  const auto [z, back, unused] = scaled(given, at);
  const Handle right = greater_equal(z.re, lit(0), at);
  // Not abs, whose derivative at 0 is wrong here: on the imaginary axis a one-sided derivative is taken.
  const Handle a = where(right, z.re, negative(z.re, at), at);
  const Handle t = sqrt(add(multiply(a, lit(0.5), at), multiply(hypot(z.re, z.im, at), lit(0.5), at), at), at);
  const Handle none = equal(t, lit(0), at);
  const Handle root = where(right, t, copysign(t, z.im, at), at);
  const Handle other = divide(multiply(z.im, lit(0.5), at), where(none, lit(1.0), root, at), at);
  const Handle re = multiply(where(right, root, other, at), back, at);
  const Handle im = multiply(where(right, other, root, at), back, at);
  const Handle endless = isinf(given.im, at);
  return {where(endless, lit(__builtin_inf()), re, at), where(endless, given.im, im, at)};
}

/// Kahan's formula; for |x| beyond `far` the real part rounds to one.
Parts tanh_parts(const Parts& z, Location at) {
  const double far = dtype(z.re) == DType::f32 ? 11 : 22;
  const Handle exact = is_exact(z.re, at);
  const Handle a = clip(z.re, lit(-far), lit(far), at);
  const Handle t = tan(z.im, at), q = sinh(a, at);
  const Handle beta = add(square(t, at), lit(1.0), at), rho = sqrt(add(square(q, at), lit(1.0), at), at);
  const Handle d = add(product(beta, square(q, at), exact, AtUnknownAngle::nan, at), lit(1.0), at);
  const Handle beyond = greater(abs(z.re, at), lit(far), at);
  const Handle near_re = divide(product(multiply(beta, rho, at), q, exact, AtUnknownAngle::nan, at), d, at);
  const Handle near_im = product(t, divide(lit(1.0), d, at), exact, AtUnknownAngle::nan, at);
  // 1 - cos(2y) decay / 2 + sin(2y) decay / 2 i, whose real part is 1 but has a derivative.
  const Handle c = cos(z.im, at), s = sin(z.im, at);
  const Handle decay = multiply(exp(multiply(abs(z.re, at), lit(-2.0), at), at), lit(4.0), at);
  const Handle double_cosine = multiply(subtract(c, s, at), add(c, s, at), at);
  const Handle below_one = product(double_cosine, multiply(decay, lit(0.5), at), exact, AtUnknownAngle::nan, at);
  const Handle far_re = multiply(copysign(lit(1.0), z.re, at), subtract(lit(1.0), below_one, at), at);
  const Handle far_im = product(multiply(s, c, at), decay, exact, AtUnknownAngle::nan, at);
  return {where(beyond, far_re, near_re, at), where(beyond, far_im, near_im, at)};
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
    const Parts rotated = sinh_parts({z.im, z.re}, at);  // sin z = -i sinh(iz)
    w = {rotated.im, rotated.re};
  } else if (s.name == "cos") {
    const Parts rotated = cosh_parts({z.im, z.re}, at);  // cos z = cosh(iz)
    w = {rotated.re, negative(rotated.im, at)};
  } else if (s.name == "sinh") {
    w = sinh_parts(z, at);
  } else if (s.name == "cosh") {
    w = cosh_parts(z, at);
  } else if (s.name == "tanh") {
    w = tanh_parts(z, at);
  } else if (const auto inverse = complex_inverse({x, s}, s)) {
    return *inverse;
  } else if (const auto derived = complex_derived({x, s}, s)) {
    return *derived;
  } else {
    reject(type(x), "real numbers", s);
  }
  return emit<prim::Complex>(s, {w.re, w.im});
}

Handle angle(const Operand& x, Location at) {
  const Site s{"angle", at};
  const Handle z = value(x, to_inexact(operand_dtype(x, s)), s);
  if (is_complex(dtype(z))) return emit<prim::Atan2>(s, {emit<prim::Imag>(s, {z}), emit<prim::Real>(s, {z})});
  return emit<prim::Atan2>(s, {splat(0, type(z), s), z});
}

Handle polar(const Operand& radius, const Operand& angle, Location at) {
  const Site s{"polar", at};
  const DType d = promoted_dtype(radius, angle, s) == DType::f64 ? DType::f64 : DType::f32;
  Handle xs[] = {value_fitting(radius, d, s), value_fitting(angle, d, s)};
  broadcast_together(xs, s);
  const Handle re = emit<prim::Mul>(s, {xs[0], emit<prim::Cos>(s, {xs[1]})});
  return emit<prim::Complex>(s, {re, emit<prim::Mul>(s, {xs[0], emit<prim::Sin>(s, {xs[1]})})});
}

Handle as_complex(const Operand& real, const Operand& imaginary, Location at) {
  const Site s{"as_complex", at};
  const DType d = promoted_dtype(real, imaginary, s) == DType::f64 ? DType::f64 : DType::f32;
  Handle xs[] = {value_fitting(real, d, s), value_fitting(imaginary, d, s)};
  broadcast_together(xs, s);
  return emit<prim::Complex>(s, {xs[0], xs[1]});
}

}  // namespace calque::detail::ops
