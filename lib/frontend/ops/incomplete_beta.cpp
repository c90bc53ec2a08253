// The regularized incomplete beta function I_x(a, b). With y = 1 - x, D = x^a y^b / B(a, b) and t / (1 - t) =
// x / y e^-u,
//
//   I = D (integral of e^-h(u) for u from 0 to infinity),
//   h(u) = a u + (a + b) log(1 + x (e^-u - 1)) = -b u + (a + b) log(1 + y (e^u - 1))
//
// for x up to about a / (a + b), where e^-h falls; beyond, 1 - I_y(b, a). It is that of a + 4, which falls faster, and
// steps of the recurrence I(a) = D(a) / a + I(a + 1), D(a + 1) = D(a) x (a + b) / a. e^-h has poles at log(x / y) +- pi
// i and falls slowly before if a and b are small: there one interval of nodes ends and another begins. Where h is small
// its terms of first order in u are joined: their coefficients cancel.
#include <numbers>

#include "frontend/ops/incomplete.h"

namespace calque::detail::ops {
namespace {

struct BetaDomain {
  Expression where, a, b, x;

  BetaDomain(Expression a_, Expression b_, Expression x_)
      : where((a_ > 0.0) & (a_ < kLargestParameter) & (b_ > 0.0) & (b_ < kLargestParameter) & (x_ > 0.0) & (x_ < 1.0)),
        a(where.choose(a_, a_.number(1))),
        b(where.choose(b_, a_.number(1))),
        x(where.choose(x_, a_.number(0.5))) {}
};

/// x^a y^b / B(a, b) with y = 1 - x, and how far x is from the mean: x (a + b) - a.
struct Position {
  Expression factor, from_mean;
};

/// The distance from the mean as a pair, and with it x (a + b) and y (a + b).
struct Distance {
  ExactPair from_mean, x_sum, y_sum;

  Distance(Expression a, Expression b, Expression x) : from_mean{x, x}, x_sum{x, x}, y_sum{x, x} {
    const ExactPair sum = exact_sum(a, b), product = exact_product(x, sum.high);
    x_sum = {product.high, product.low + x * sum.low};
    const ExactPair difference = exact_sum(product.high, -a);
    from_mean = exact_sum(difference.high, difference.low + x_sum.low);
    // b - (x (a + b) - a)
    const ExactPair rest = exact_sum(b, -from_mean.high);
    const ExactPair y = exact_sum(x.number(1), -x), of_y = exact_product(y.high, sum.high);
    // The product, where the difference cancels.
    const Expression cancels = rest.high < 0.5 * b;
    y_sum = {cancels.choose(of_y.high, rest.high),
             cancels.choose(of_y.low + (y.high * sum.low + y.low * sum.high), rest.low - from_mean.low)};
  }
};

// By Lanczos, with c = kLanczosShift and a, b and a + b all increased by it: the product of (x (a + b) / a)^a, of
// (y (a + b) / b)^b and of e^c is the exponential of a log(1 + v) + b log(1 + w) + c, where a v + b w = -c (1 + v + w).
Position single_position(Expression a, Expression b, Expression x) {
  const Expression y = 1.0 - x;
  const ExactPair sum = exact_sum(a, b);
  const Expression from_mean = x.times_plus(sum.high, -a) + x * sum.low;
  const Expression a_more = a + kLanczosShift, b_more = b + kLanczosShift, sum_more = sum.high + kLanczosShift;
  const Expression v = (from_mean - kLanczosShift * y) / a_more, w = (-from_mean - kLanczosShift * x) / b_more;
  const Expression of_a = a * log_remainder(v, x * (sum_more / a_more), Digits::single);
  const Expression of_b = b * log_remainder(w, y * (sum_more / b_more), Digits::single);
  const Expression power = (-(of_a + of_b + kLanczosShift * (v + w))).of<prim::Exp>();
  const Expression root = (a_more / sum_more * b_more * (0.5 / std::numbers::pi)).of<prim::Sqrt>();
  return {power * (root * lanczos(sum.high) / (lanczos(a) * lanczos(b))), from_mean};
}

Position position(Expression a, Expression b, Expression x, Digits digits) {
  if (digits == Digits::single) return single_position(a, b, x);
  const Distance at(a, b, x);
  const ExactPair exponent = log_deviance(a, at.x_sum, at.from_mean) + log_deviance(b, at.y_sum, -at.from_mean);
  // a b / (a + b) without overflow
  const Expression root = (a / (a + b) * b * (0.5 / std::numbers::pi)).of<prim::Sqrt>();
  const Expression factor = exp_of(exponent) * (root * scaled_gamma(a + b) / (scaled_gamma(a) * scaled_gamma(b)));
  return {factor, at.from_mean.high};
}

/// Steps of the recurrence to the function that is an integral.
constexpr int kBetaSteps = 4;

/// What h is made of: by x <= 1/2, 1 + w is what its logarithm is of with w = x (e^-u - 1), else with w = y (e^u - 1).
struct BetaExponent {
  Expression sign, z, slope, total, b;
};

Expression beta_exponent(const BetaExponent& of, Expression u, Digits digits) {
  const Expression signed_u = of.sign * u;
  const Exponential e = exponential(signed_u, digits);
  const Expression grown = digits == Digits::full ? signed_u.of<prim::Expm1>() : signed_u + e.remainder;
  const Expression w = of.z * grown, one_more = 1.0 + w;
  if (digits == Digits::single) {
    const SmallOf small(w, digits);
    const Expression rest =
        small.where.choose(of.z * e.remainder - small.log_remainder(), one_more.of<prim::Log>() - of.z * signed_u);
    return of.slope * u + of.total * rest;
  }
  const Expression joined = of.slope * u + of.total * (of.z * e.remainder - log_remainder(w, one_more, digits));
  const Expression plain = of.total * w.of<prim::Log1p>() - of.b * u;
  return (w > 0.5).choose(plain, joined);
}

/// Where h reaches the depth, or not far beyond: where bounds of h do. With q = (a + b) x y they are
/// slope u + q (e^-u - 1 + u), where e^-u - 1 + u >= u^2 / (2 + u), and the asymptote a u + (a + b) log y; and at the
/// end is (a + b) log(1 + y (e^u - 1)) = depth + b u, whose right side is at most that of an end too large.
Expression beta_end(const BetaExponent& of, Expression power, Expression x, Expression y, const Precision& precision) {
  const double depth = precision.depth;
  const Expression square = (of.slope + of.total * x * y).of<prim::Max>(x.number(0)) * 0.5;
  const Expression near = root_at(precision, of.slope - depth / 2, square);
  // -log y <= x / sqrt(y)
  const Expression log_y = (y < 0.5).choose(y.of<prim::Log>(), -x / y.of<prim::Sqrt>());
  const Expression far = (depth - of.total * log_y) / power;
  const Expression end = near.of<prim::Min>(far).of<prim::Min>(x.number(700));
  // e^t - 1 and log(1 + v), about: also of small t and v.
  const Expression t = (depth + of.b * end) / of.total;
  const Expression v = (t.of<prim::Exp>() - 1.0).of<prim::Max>(t + t * t * 0.5) / y;
  return end.of<prim::Min>((v < 1e-3).choose(v, (1.0 + v).of<prim::Log>()));
}

Expression beta_value(Expression a_, Expression b_, Expression x_, DType accuracy, const Site& s) {
  const Precision precision =
      accuracy == DType::f64 ? Precision{36, 38, Digits::full} : Precision{16, 22, Digits::single};
  const BetaDomain in(a_, b_, x_);
  const Position at = position(in.a, in.b, in.x, precision.digits);
  // From the side on which the result is small. Of small parameters most of the distribution is near the end of the
  // smaller one, b: there I is small up to y = e^(-1 / b), and e^-h, which first grows by at most e, has no long tail
  // if y is not tiny.
  const Expression first = in.a >= in.b, in_y = 1.0 - in.x;
  const Expression smaller = first.choose(in.b, in.a), rest = first.choose(in_y, in.x);
  const Expression small_up_to =
      (first.choose(at.from_mean, -at.from_mean) <= rest) | ((smaller * rest.of<prim::Log>() >= -1.0) & (rest >= 1e-9));
  const Expression below = first == small_up_to;
  const Expression a = below.choose(in.a, in.b), b = below.choose(in.b, in.a);
  const Expression x = below.choose(in.x, in_y), y = below.choose(in_y, in.x);
  const Expression sum = a + b;
  const Expression slope = kBetaSteps * y - below.choose(at.from_mean, -at.from_mean);
  const Expression by_x = x <= 0.5;
  const BetaExponent of{by_x.choose(-x.number(1), x.number(1)), by_x.choose(x, y), slope, sum + kBetaSteps, b};
  const Expression end = beta_end(of, a + kBetaSteps, x, y, precision);
  const Expression middle = (x / y).of<prim::Log>().of<prim::Max>(0.25 * end).of<prim::Min>(0.75 * end);

  const Nodes nodes(precision.nodes, {middle, end}, s);
  const BetaExponent over{nodes.over(of.sign), nodes.over(of.z), nodes.over(of.slope), nodes.over(of.total),
                          nodes.over(of.b)};
  const Expression h = beta_exponent(over, nodes.positions(), precision.digits);
  const Expression integral = nodes.integral((-h).of<prim::Exp>());
  Expression steps = x * (sum + (kBetaSteps - 1.0)) * integral;
  for (int k = kBetaSteps - 1; k > 0; --k) {
    steps = (1.0 + steps) * (x * (sum + (k - 1.0)) / (a + static_cast<double>(k)));
  }
  const Expression side = at.factor * ((1.0 + steps) / a);

  const Expression inside = below.choose(side, 1.0 - side);
  const Expression valid = (a_ > 0.0) & (b_ > 0.0) & (a_ < kLargestParameter) & (b_ < kLargestParameter);
  const Expression edge = (x_ == 0.0).choose(x_, (x_ == 1.0).choose(x_, x_.number(kNaN)));
  return in.where.choose(inside, valid.choose(edge, x_.number(kNaN)));
}

/// The density x^(a - 1) y^(b - 1) / B(a, b) of the beta distribution.
Expression beta_density_value(Expression a_, Expression b_, Expression x_, Digits digits) {
  const BetaDomain in(a_, b_, x_);
  const Expression p = position(in.a, in.b, in.x, digits).factor / (in.x * (1.0 - in.x));
  const Expression valid = (a_ > 0.0) & (b_ > 0.0);
  // At 0 the density is b if a = 1; at 1 it is a if b = 1.
  const auto at_end = [&](Expression power, Expression other) {
    return (power < 1.0).choose(power.number(kInf), (power == 1.0).choose(other, power.number(0)));
  };
  const Expression end = (x_ == 0.0).choose(at_end(a_, b_), (x_ == 1.0).choose(at_end(b_, a_), x_.number(kNaN)));
  return in.where.choose(p, valid.choose(end, x_.number(kNaN)));
}

Expression refused(Expression e, const char* reason, const Site& s) {
  return {emit<prim::Captured>(s, {e}, {{"by", std::string()}, {"value", std::string(s.name) + ": " + reason}}), s};
}

struct BetaFunctions {
  TracedFunction density, distribution;
  const Site& s;
};

BetaFunctions beta_functions(std::span<const Expression> operands, DType accuracy, const Site& s) {
  const auto density = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    out.push_back(beta_density_value({in[0], s}, {in[1], s}, {in[2], s}, digits_of(accuracy)));
  };
  const auto distribution = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    out.push_back(beta_value({in[0], s}, {in[1], s}, {in[2], s}, accuracy, s));
  };
  return {{density, operands, s}, {distribution, operands, s}, s};
}

Expression beta_density(int orders, Expression a, Expression b, Expression x, const BetaFunctions& f) {
  const Expression operands[] = {a, b, x};
  if (orders == 0) return f.density.without_derivatives(operands);
  const auto rule = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    const Expression a_(in[0], f.s), b_(in[1], f.s), x_(in[2], f.s), dx(in[5], f.s);
    const Expression p = beta_density(orders - 1, a_, b_, x_, f);
    out.push_back(p);
    out.push_back(dx.of<prim::StrongMul>(p * ((a_ - 1.0) / x_ - (b_ - 1.0) / (1.0 - x_))));
  };
  return f.density.with_rule(operands, rule);
}

Expression beta_function(int orders, Expression a, Expression b, Expression x, const BetaFunctions& f) {
  const Expression operands[] = {a, b, x};
  if (orders == 0) return f.distribution.without_derivatives(operands);
  const auto rule = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    const Expression a_(in[0], f.s), b_(in[1], f.s), x_(in[2], f.s), dx(in[5], f.s);
    out.push_back(beta_function(orders - 1, a_, b_, x_, f));
    out.push_back(dx.of<prim::StrongMul>(beta_density(orders - 1, a_, b_, x_, f)));
  };
  return f.distribution.with_rule(operands, rule);
}

}  // namespace

Handle betainc(const Operand& a, const Operand& b, const Operand& x, Location at) {
  const Site s{"betainc", at};
  const Operand* all[] = {&a, &b, &x};
  const DType d = to_inexact(promoted_dtype(all, s));
  Handle xs[] = {ops::value(a, d, s), ops::value(b, d, s), ops::value(x, d, s)};
  if (is_complex(d)) reject(type(xs[0]), "real numbers", s);
  broadcast_together(xs, s);
  const auto in = [&](int i) -> Expression { return {convert(xs[i], DType::f64, s), s}; };
  constexpr const char* kReason = "has no derivatives by a and b; differentiate by x alone";
  const Expression operands[] = {refused(in(0), kReason, s), refused(in(1), kReason, s), in(2)};
  const BetaFunctions f = beta_functions(operands, d, s);
  return beta_function(kIncompleteOrders, operands[0], operands[1], operands[2], f).as(d);
}

}  // namespace calque::detail::ops
