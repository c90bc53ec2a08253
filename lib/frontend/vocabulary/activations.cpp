// Activation functions. 16-bit floats are computed in f32; selected branches have finite values and derivatives where
// the other branch is meant.
#include <cmath>
#include <limits>
#include <numbers>

#include "frontend/vocabulary/common.h"

namespace calque::detail::ops {
namespace {

template <class F>
Handle activated(const Operand& x, const F& formula, const Site& s) {
  const auto [v, result] = widened_real(x, s);
  return convert(formula(Expression(v, s)), result, s);
}

Expression bounded_by(Expression x, double low, double high, const Site& s) {
  return {emit<prim::Clamp>(s, {x.number(low), x, x.number(high)}), s};
}

/// -infinity as the least finite number, so that a product with 0 is 0.
Expression above_infinity(Expression x) {
  const double least = dtype(x) == DType::f64 ? std::numeric_limits<double>::lowest()
                                              : static_cast<double>(std::numeric_limits<float>::lowest());
  return x.of<prim::Max>(x.number(least));
}

/// log(1 + e^x).
Expression soft_plus(Expression x, const Site& s) { return {logaddexp(x.handle(), lit(0.0), s.at), s}; }

/// (x < 0 or 0) ? alpha (e^(x / width) - 1) : x.
Expression exponential_linear(Expression x, double alpha, double width) {
  const Expression positive = x > 0.0, negative_part = positive.choose(x.number(0), x);
  const Expression scaled = width == 1 ? negative_part : negative_part / width;
  return positive.choose(x, scaled.of<prim::Expm1>() * alpha);
}

Expression hard_logistic(Expression x, const Site& s) { return bounded_by(x + 3.0, 0, 6, s) / 6.0; }

}  // namespace

Handle relu6(const Operand& x, Location at) {
  const Site s{"relu6", at};
  return activated(x, [&](Expression v) { return bounded_by(v, 0, 6, s); }, s);
}

Handle elu(const Operand& x, double alpha, Location at) {
  return activated(x, [&](Expression v) { return exponential_linear(v, alpha, 1); }, {"elu", at});
}

Handle celu(const Operand& x, double alpha, Location at) {
  return activated(x, [&](Expression v) { return exponential_linear(v, alpha, alpha); }, {"celu", at});
}

Handle selu(const Operand& x, Location at) {
  constexpr double kAlpha = 1.6732632423543772848170429916717, kScale = 1.0507009873554804934193349852946;
  return activated(x, [&](Expression v) { return exponential_linear(v, kAlpha, 1) * kScale; }, {"selu", at});
}

Handle gelu(const Operand& x, bool approximate, Location at) {
  const auto formula = [&](Expression v) {
    const Expression finite = above_infinity(v);
    if (!approximate) return finite * finite.of<prim::Ndtr>();
    // (1 + tanh(u)) / 2 is the logistic function of 2 u, which is accurate where both are small.
    const double factor = 2 * std::sqrt(2 / std::numbers::pi);
    const Expression cube = v * v * v;
    return finite * ((v + 0.044715 * cube) * factor).of<prim::Logistic>();
  };
  return activated(x, formula, {"gelu", at});
}

Handle silu(const Operand& x, Location at) {
  return activated(x, [](Expression v) { return above_infinity(v) * v.of<prim::Logistic>(); }, {"silu", at});
}

Handle hard_sigmoid(const Operand& x, Location at) {
  const Site s{"hard_sigmoid", at};
  return activated(x, [&](Expression v) { return hard_logistic(v, s); }, s);
}

Handle hard_silu(const Operand& x, Location at) {
  const Site s{"hard_silu", at};
  return activated(x, [&](Expression v) { return above_infinity(v) * hard_logistic(v, s); }, s);
}

Handle hard_tanh(const Operand& x, Location at) {
  const Site s{"hard_tanh", at};
  return activated(x, [&](Expression v) { return bounded_by(v, -1, 1, s); }, s);
}

Handle leaky_relu(const Operand& x, double slope, Location at) {
  return activated(x, [&](Expression v) { return (v >= 0.0).choose(v, v * slope); }, {"leaky_relu", at});
}

Handle log_sigmoid(const Operand& x, Location at) {
  const Site s{"log_sigmoid", at};
  return activated(x, [&](Expression v) { return -soft_plus(-v, s); }, s);
}

Handle soft_sign(const Operand& x, Location at) {
  const Site s{"soft_sign", at};
  const auto formula = [&](Expression v) {
    const double most = dtype(v) == DType::f64 ? std::numeric_limits<double>::max()
                                               : static_cast<double>(std::numeric_limits<float>::max());
    const Expression finite = bounded_by(v, -most, most, s);
    return finite / (finite.of<prim::Abs>() + 1.0);
  };
  return activated(x, formula, s);
}

Handle softplus(const Operand& x, Location at) {
  const Site s{"softplus", at};
  return activated(x, [&](Expression v) { return soft_plus(v, s); }, s);
}

Handle squareplus(const Operand& x, double b, Location at) {
  const Site s{"squareplus", at};
  if (!(b >= 0)) s.shape_error("b must not be negative, got " + std::to_string(b));
  const auto formula = [&](Expression v) {
    // (v + root) / 2 without cancellation below 0: the product of both roots of the quadratic is -b / 4.
    const Expression root = v.of<prim::Hypot>(v.number(std::sqrt(b)));
    const Expression negative_one = v < 0.0;
    const Expression distance = root + v.of<prim::Abs>(), safe = (distance == 0.0).choose(v.number(1), distance);
    return negative_one.choose((0.5 * b) / safe, distance * 0.5);
  };
  return activated(x, formula, s);
}

Handle mish(const Operand& x, Location at) {
  const Site s{"mish", at};
  return activated(x, [&](Expression v) { return above_infinity(v) * soft_plus(v, s).of<prim::Tanh>(); }, s);
}

Handle sparse_plus(const Operand& x, Location at) {
  const auto formula = [](Expression v) {
    const Expression raised = v + 1.0;
    return (v >= 1.0).choose(v, (v <= -1.0).choose(v.number(0), raised * raised * 0.25));
  };
  return activated(x, formula, {"sparse_plus", at});
}

Handle sparse_sigmoid(const Operand& x, Location at) {
  const Site s{"sparse_sigmoid", at};
  return activated(x, [&](Expression v) { return bounded_by((v + 1.0) * 0.5, 0, 1, s); }, s);
}

Handle log1mexp(const Operand& x, Location at) {
  // Maechler, Accurately computing log(1 - exp(-|a|)), 2012: each formula where it does not cancel. The other one is of
  // a number at which it is finite.
  const auto formula = [](Expression v) {
    const Expression near = v < std::numbers::ln2;
    const Expression small = near.choose(v, v.number(0.5)), large = near.choose(v.number(1), v);
    const Expression by_expm1 = (-((-small).of<prim::Expm1>())).of<prim::Log>();
    const Expression by_exp = (-((-large).of<prim::Exp>())).of<prim::Log1p>();
    return near.choose(by_expm1, by_exp);
  };
  return activated(x, formula, {"log1mexp", at});
}

Handle glu(const Operand& x, int axis, Location at) {
  const Site s{"glu", at};
  const auto [v, result] = widened_real(x, s);
  const int a = axis_in(axis, v, s);
  const int64_t n = extent_of(v, a);
  if (n % 2 != 0) s.shape_error("axis " + std::to_string(a) + " of " + to_string(type(v)) + " is not of even extent");
  const Expression first(slice_axis(v, a, 0, n / 2, 1, s), s), second(slice_axis(v, a, n / 2, n, 1, s), s);
  return convert(first * second.of<prim::Logistic>(), result, s);
}

}  // namespace calque::detail::ops
