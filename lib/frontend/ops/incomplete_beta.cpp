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
#include <array>
#include <numbers>

#include "calque/detail/transforms/transform.h"

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

/// How far x is from the mean: x (a + b) - a as a pair, and with it x (a + b) and y (a + b).
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

/// x^a y^b / B(a, b)
Expression prefactor(Expression a, Expression b, const Distance& at) {
  const ExactPair exponent = log_deviance(a, at.x_sum, at.from_mean) + log_deviance(b, at.y_sum, -at.from_mean);
  // a b / (a + b) without overflow
  const Expression root = (a / (a + b) * b * (0.5 / std::numbers::pi)).of<prim::Sqrt>();
  return exp_of(exponent) * (root * scaled_gamma(a + b) / (scaled_gamma(a) * scaled_gamma(b)));
}

/// w - log(1 + w)
Expression log1p_remainder(Expression w) {
  const Expression small = w.of<prim::Abs>() < 0.3, inside = small.choose(w, w.number(0));
  // s = w / (2 + w): w - 2 s = w s, log(1 + w) = 2 s + 2 s^3 / 3 + ...
  const Expression s = inside / (inside + 2.0), z = s * s;
  Expression series = w.number(1.0 / 25);
  for (int k = 10; k >= 0; --k) series = series * z + 1.0 / (2 * k + 3);
  return small.choose(s * (inside - 2.0 * (z * series)), w - w.of<prim::Log1p>());
}

/// Steps of the recurrence to the function that is an integral.
constexpr int kBetaSteps = 4;

Expression beta_value(Expression a_, Expression b_, Expression x_, DType accuracy, const Site& s) {
  const Precision precision = accuracy == DType::f64 ? Precision{28, 38} : Precision{14, 22};
  const double depth = precision.depth;
  const BetaDomain in(a_, b_, x_);
  const Distance distance(in.a, in.b, in.x);
  const Expression n = distance.from_mean.high;
  // From the side on which the result is small. Of small parameters most of the distribution is near the end of the
  // smaller one, b: there I is small up to y = e^(-1 / b), and e^-h, which first grows by at most e, has no long tail
  // if y is not tiny.
  const auto small_up_to = [](Expression from_mean, Expression other, Expression rest) {
    return (from_mean <= rest) | ((other * rest.of<prim::Log>() >= -1.0) & (rest >= 1e-9));
  };
  const Expression rest = 1.0 - in.x;
  const Expression below = (in.a >= in.b).choose(small_up_to(n, in.b, rest), !small_up_to(-n, in.a, in.x));
  const Expression a = below.choose(in.a, in.b), b = below.choose(in.b, in.a);
  const Expression x = below.choose(in.x, rest), y = below.choose(rest, in.x);
  const Expression sum = a + b;
  const Expression slope = kBetaSteps * y - below.choose(n, -n);

  // The end, from the asymptote on by Newton's steps, which decrease: h is convex.
  const Expression power = a + kBetaSteps, total = sum + kBetaSteps;
  Expression end = (depth - total * (-x).of<prim::Log1p>()) / power;
  end = end.of<prim::Min>(end.number(700));
  for (int step = 0; step < 8; ++step) {
    const Expression less = (-end).of<prim::Expm1>();
    const Expression h = power * end + total * (x * less).of<prim::Log1p>();
    const Expression derivative = power - total * (x * (1.0 + less) / (1.0 + x * less));
    const Expression next = end - (h - depth) / derivative;
    // Rounding errors end the decrease.
    end = ((next > 0.0) & (next < end)).choose(next, end);
  }
  const Expression middle = (x / y).of<prim::Log>().of<prim::Max>(0.25 * end).of<prim::Min>(0.75 * end);

  const Expression by_x = x <= 0.5;
  const Nodes nodes(precision.nodes, {middle, end - middle}, s);
  const Expression u = nodes.positions();
  const Expression sign = nodes.over(by_x.choose(-x.number(1), x.number(1)));
  const Expression z = nodes.over(by_x.choose(x, y)), factor = nodes.over(total);
  const Expression signed_u = sign * u, w = z * signed_u.of<prim::Expm1>();
  const Expression joined = nodes.over(slope) * u + factor * (z * exp_remainder(signed_u) - log1p_remainder(w));
  const Expression plain = factor * w.of<prim::Log1p>() - nodes.over(b) * u;
  const Expression integral = nodes.integral((-(w > 0.5).choose(plain, joined)).of<prim::Exp>());
  Expression steps = x * (sum + (kBetaSteps - 1.0)) * integral;
  for (int k = kBetaSteps - 1; k > 0; --k) {
    steps = (1.0 + steps) * (x * (sum + (k - 1.0)) / (a + static_cast<double>(k)));
  }
  const Expression side = prefactor(in.a, in.b, distance) * ((1.0 + steps) / a);

  const Expression inside = below.choose(side, 1.0 - side);
  const Expression valid = (a_ > 0.0) & (b_ > 0.0) & (a_ < kLargestParameter) & (b_ < kLargestParameter);
  const Expression edge = (x_ == 0.0).choose(x_, (x_ == 1.0).choose(x_, x_.number(kNaN)));
  return in.where.choose(inside, valid.choose(edge, x_.number(kNaN)));
}

/// The density x^(a - 1) y^(b - 1) / B(a, b) of the beta distribution.
Expression beta_density_value(Expression a_, Expression b_, Expression x_) {
  const BetaDomain in(a_, b_, x_);
  const Expression p = prefactor(in.a, in.b, Distance(in.a, in.b, in.x)) / (in.x * (1.0 - in.x));
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

Expression beta_density(int orders, Expression a, Expression b, Expression x, const Site& s) {
  if (orders == 0) return beta_density_value(a, b, refused(x, "has derivatives of order one and two", s));
  const TraceBody body = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    out.push_back(beta_density_value({in[0], s}, {in[1], s}, {in[2], s}));
  };
  const TraceBody rule = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    const Expression a_(in[0], s), b_(in[1], s), x_(in[2], s), dx(in[5], s);
    const Expression p = beta_density(orders - 1, a_, b_, x_, s);
    out.push_back(p);
    out.push_back(dx.of<prim::StrongMul>(p * ((a_ - 1.0) / x_ - (b_ - 1.0) / (1.0 - x_))));
  };
  const Handle operands[] = {a, b, x};
  return {emit_custom_jvp(body, rule, operands, {}, {s.name, s.at, {}}).front(), s};
}

Expression beta_function(int orders, Expression a, Expression b, Expression x, DType accuracy, const Site& s) {
  if (orders == 0) return beta_value(a, b, refused(x, "has derivatives of order one and two", s), accuracy, s);
  const TraceBody body = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    out.push_back(beta_value({in[0], s}, {in[1], s}, {in[2], s}, accuracy, s));
  };
  const TraceBody rule = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    const Expression a_(in[0], s), b_(in[1], s), x_(in[2], s), dx(in[5], s);
    out.push_back(beta_function(orders - 1, a_, b_, x_, accuracy, s));
    out.push_back(dx.of<prim::StrongMul>(beta_density(orders - 1, a_, b_, x_, s)));
  };
  const Handle operands[] = {a, b, x};
  return {emit_custom_jvp(body, rule, operands, {}, {s.name, s.at, {}}).front(), s};
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
  return beta_function(kIncompleteOrders, refused(in(0), kReason, s), refused(in(1), kReason, s), in(2), d, s).as(d);
}

}  // namespace calque::detail::ops
