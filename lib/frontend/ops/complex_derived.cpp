// Functions of complex numbers that are made of exp, log, sqrt and tanh, and powers.
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "calque/detail/transforms/transform.h"

#include "frontend/ops/complex.h"

namespace calque::detail::ops {
namespace {

Expression zero(Expression x) { return x.number(0); }

/// log(1 + z). The real part is log1p(x (2 + x) + y^2) / 2 where 1 + z is neither small nor large.
Expression log1p_value(Expression z, const Site& s) {
  const Expression x = z.re(), y = z.im();
  const Expression shifted = (1 + x).with_im(y);
  const Expression whole{log(shifted.handle(), s.at), s};
  const Expression size = shifted.of<prim::Abs>(), near = (size > 0.5) & (size < 2.0);
  const Expression a = near.choose(x, zero(x)), b = near.choose(y, zero(y));
  const Expression re = (a * (a + 2) + b * b).of<prim::Log1p>() * 0.5;
  return near.choose(re, whole.re()).with_im(y.of<prim::Atan2>(1 + x));
}

/// e^z - 1, by expm1(x) cos y - 2 sin^2(y / 2) near the imaginary axis.
Expression expm1_value(Expression z, const Site& s) {
  const Expression x = z.re(), y = z.im();
  const Expression whole{exp(z.handle(), s.at), s};
  const Expression near = x.of<prim::Abs>() < 1.0, inside = near.choose(x, zero(x));
  const Expression half_sine = (y * 0.5).of<prim::Sin>();
  const Expression re = inside.of<prim::Expm1>() * y.of<prim::Cos>() - 2 * (half_sine * half_sine);
  return near.choose(re, whole.re() - 1).with_im(whole.im());
}

/// tan z = -i tanh(i z).
Expression tan_value(Expression z, const Site& s) {
  const Expression w{tanh((-z.im()).with_im(z.re()).handle(), s.at), s};
  return w.im().with_im(-w.re());
}

/// z / |z|, 0 at 0. The number is scaled where its modulus overflows or has few digits.
Expression sign_value(Expression z) {
  const Expression x = z.re(), y = z.im();
  const bool single = dtype(x) == DType::f32;
  const Expression a = x.of<prim::Abs>(), b = y.of<prim::Abs>(), most = (a < b).choose(b, a);
  const Expression huge = most > (single ? 0x1p+125 : 0x1p+1021), tiny = most < (single ? 0x1p-100 : 0x1p-960);
  const Expression scale = huge.choose(x.number(0.25), tiny.choose(x.number(single ? 0x1p+60 : 0x1p+200), x.number(1)));
  const Expression u = x * scale, v = y * scale;
  const Expression none = most == 0.0;
  // At 0 the modulus has no derivative.
  const Expression safe_u = none.choose(u.number(1), u);
  const Expression size = safe_u.of<prim::Hypot>(v);
  return none.choose(x, u / size).with_im(none.choose(y, v / size));
}

/// z^n for n > 0, by squaring.
Expression power_by_squaring(Expression z, unsigned n) {
  std::optional<Expression> result;
  for (Expression square = z;; square = square * square) {
    if ((n & 1U) != 0) result = result ? *result * square : square;
    n >>= 1U;
    if (n == 0) return *result;
  }
}

/// |z|^c e^(-d theta) (cos phi + i sin phi) with phi = c theta + d log |z|, for the exponent c + di.
Expression power_value(Expression z, Expression exponent, const Site& s) {
  const Expression c = exponent.re(), d = exponent.im();
  const Expression size = z.of<prim::Abs>(), theta = z.im().of<prim::Atan2>(z.re());
  const Expression is_real = d == 0.0, none = size == 0.0;
  const Expression log_size = none.choose(zero(size), Expression(log(z.handle(), s.at), s).re());
  const Expression phi = c * theta + is_real.choose(zero(d), d * log_size);
  const Expression shrunk = is_real.choose(c.number(1), (-(d * theta)).of<prim::Exp>());
  const Expression r = size.of<prim::Pow>(c) * shrunk;
  // A modulus of zero or infinity is not a NaN beside a sine or cosine of zero.
  const auto times = [&](Expression angular) {
    return ((angular == 0.0) | (r == 0.0)).choose(angular * 0.0, r * angular);
  };
  const Expression re = times(phi.of<prim::Cos>()), im = times(phi.of<prim::Sin>());
  const Expression is_one = (c == 0.0) & (d == 0.0), vanishes = none & (c > 0.0);
  return is_one.choose(c.number(1), vanishes.choose(zero(c), re)).with_im((is_one | vanishes).choose(zero(c), im));
}

}  // namespace

namespace {

/// A rule contains the value again, with a rule of its own as long as there are `orders`.
constexpr int kOrders = 2;

Expression with_derivatives(int orders, Expression z, const Site& s, const ComplexFunction& value,
                            const ComplexFunction& derivative) {
  if (orders == 0) return value(z);
  const TraceBody body = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    out.push_back(value(Expression(in[0], s)));
  };
  const TraceBody rule = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    const Expression at(in[0], s), tangent(in[1], s);
    out.push_back(with_derivatives(orders - 1, at, s, value, derivative));
    out.push_back(tangent * derivative(at));
  };
  const Handle operands[] = {z};
  return {emit_custom_jvp(body, rule, operands, {}, {s.name, s.at, {}}).front(), s};
}

}  // namespace

Expression holomorphic(Expression z, const Site& s, const ComplexFunction& value, const ComplexFunction& derivative) {
  return with_derivatives(kOrders, z, s, value, derivative);
}

std::optional<Handle> complex_derived(Expression z, const Site& s) {
  const Location at = s.at;
  const auto scaled_log = [&](double factor) -> Handle {
    const Expression w{log(z.handle(), at), s};
    return (w.re() * factor).with_im(w.im() * factor);
  };
  if (s.name == "log2") return scaled_log(1 / std::numbers::ln2);
  if (s.name == "log10") return scaled_log(1 / std::numbers::ln10);
  if (s.name == "rsqrt") return 1 / Expression(sqrt(z.handle(), at), s);
  if (s.name == "sign") return sign_value(z);
  if (s.name == "log1p")
    return holomorphic(z, s, [&](Expression w) { return log1p_value(w, s); }, [](Expression w) { return 1 / (1 + w); });
  if (s.name == "expm1")
    return holomorphic(
        z, s, [&](Expression w) { return expm1_value(w, s); },
        [&](Expression w) { return Expression(exp(w.handle(), at), s); });
  if (s.name == "tan") return tan_value(z, s);
  return std::nullopt;
}

Handle complex_power(Expression z, int exponent, const Site&) {
  if (exponent == 0) return z.number(1);
  const Expression power = power_by_squaring(z, static_cast<unsigned>(std::abs(exponent)));
  return exponent > 0 ? power : 1 / power;
}

namespace {

/// The derivatives are w z^(w - 1) and z^w log z, 0 where z^w is 0 at 0.
Expression power(int orders, Expression z, Expression exponent, const Site& s) {
  if (orders == 0) return power_value(z, exponent, s);
  const TraceBody body = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    out.push_back(power_value(Expression(in[0], s), Expression(in[1], s), s));
  };
  const TraceBody rule = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    const Expression x(in[0], s), y(in[1], s), dx(in[2], s), dy(in[3], s);
    const Expression result = power(orders - 1, x, y, s), nothing = y.number(0);
    const Expression constant = y == nothing, none = x == nothing;
    const Expression by_x = constant.choose(nothing, y * power(orders - 1, x, y - 1, s));
    const Expression logarithm{log(none.choose(x.number(1), x).handle(), s.at), s};
    out.push_back(result);
    out.push_back(dx * by_x + dy * (result * logarithm));
  };
  const Handle operands[] = {z, exponent};
  return {emit_custom_jvp(body, rule, operands, {}, {s.name, s.at, {}}).front(), s};
}

}  // namespace

Handle complex_power(Expression z, Expression exponent, const Site& s) { return power(kOrders, z, exponent, s); }

}  // namespace calque::detail::ops
