// The derivative of a sample of the gamma distribution by its parameter a: that of the quantile which the sample is
// (Figurnov, Mohamed and Mnih: Implicit Reparameterization Gradients, 2018). With F the distribution function and p the
// density, dx/da = -(dF/da) / p. Since d log p / da = log x - psi(a), and the integral of that times p is zero,
//
//   d log x / da = 1 / (x p(x)) * (integral of (log t - psi(a)) p(t) for t from x to infinity),
//
// with t = x e^u:   integral of (log x - psi(a) + u) exp(a u - x (e^u - 1)) for u from 0 to infinity,
//
// which has no cancellation where log x > psi(a). Below, the same integral from 0 to x is taken, of a + 1, which keeps
// the integrand from reaching far when a and x are small; F(a, x) - F(a + 1, x) = x p(x) / a leads back to a. Both are
// integrals of a smooth function over the interval in which it is not negligible, which is known: a fixed number of
// Gauss-Legendre nodes gives every digit that a and log x determine, for all a and x alike, and so does its derivative.
#include <cmath>
#include <numbers>
#include <vector>

#include "calque/detail/transforms/transform.h"

#include "frontend/ops/expression.h"
#include "frontend/random/gamma.h"

namespace calque::detail::ops::random {
namespace {

/// Nodes and weights of Gauss and Legendre on [0, 1].
struct Quadrature {
  std::vector<double> nodes, weights;

  explicit Quadrature(int n) {
    for (int k = n; k-- > 0;) {
      long double x = std::cos(std::numbers::pi * (k + 0.75) / (n + 0.5)), slope = 1;
      for (int step = 0; step < 6; ++step) {  // Newton's, on the polynomial by its recurrence
        long double before = 1, p = x;
        for (int i = 2; i <= n; ++i) {
          const long double next = ((2 * i - 1) * x * p - (i - 1) * before) / i;
          before = p;
          p = next;
        }
        slope = n * (x * p - before) / (x * x - 1);
        x -= p / slope;
      }
      nodes.push_back(static_cast<double>((1 + x) / 2));
      weights.push_back(static_cast<double>(1 / ((1 - x * x) * slope * slope)));
    }
  }
};

/// What an element type asks: the number of nodes, and how far below its maximum the logarithm of the integrand is
/// where it is cut off. Relative errors of the integral: 2e-7 of f32, 1e-12 of f64.
struct Precision {
  const Quadrature& quadrature;
  double depth;
};
Precision precision_of(DType d) {
  static const Quadrature low(16), high(32);
  return d == DType::f64 ? Precision{high, 38} : Precision{low, 22};
}

/// log x - psi(b), also where both are large and near each other.
Expression log_ratio(Expression log_x, Expression x, Expression b, Expression psi) {
  const Expression difference = x - b;
  const Expression near = (b >= 100) & (difference.of<prim::Abs>() <= 0.5 * b);
  const Expression relative = near.choose(difference / b, b.number(0));
  // log b - psi(b) = 1 / 2b + sum of B_2n / (2n b^2n), n from 1.
  const Expression r = near.choose(1 / b, b.number(0)), rr = r * r;
  const Expression series = r * 0.5 + rr * (1.0 / 12 - rr * (1.0 / 120 - rr * (1.0 / 252)));
  return near.choose(relative.of<prim::Log1p>() + series, log_x - psi);
}

/// e^w - 1 - w.
Expression exp_remainder(Expression w) {
  const Expression small = w.of<prim::Abs>() < 0.3, inside = small.choose(w, w.number(0));
  constexpr double kReciprocals[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,       1.0 / 120,
                                     1.0 / 720,     1.0 / 5040,     1.0 / 40320,    1.0 / 362880,
                                     1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600};
  Expression series = w.number(kReciprocals[10]);
  for (int n = 10; n-- > 0;) series = series * inside + kReciprocals[n];
  return small.choose(series * (inside * inside), w.of<prim::Expm1>() - w);
}

/// d log x / da of a sample x, all f64.
Expression log_derivative(Expression a, Expression log_x, Expression x, const Precision& precision, const Site& s) {
  const double depth = precision.depth;
  const Expression psi_above = (a + 1).of<prim::Digamma>();
  const Expression lower = log_x <= psi_above;
  const Expression b = lower.choose(a + 1, a);
  const Expression sign = lower.choose(a.number(-1), a.number(1));
  const Expression distance = sign * log_ratio(log_x, x, b, lower.choose(psi_above, psi_above - 1 / a));

  // The logarithm of the integrand's second factor is -(slope u + x k(u)) with k(u) = e^u - 1 - u >= u^2 / 2 above and
  // k(u) = u - 1 + e^-u >= u^2 / (2 + 2u / 3) below: where it reaches -depth.
  const Expression slope = sign * (x - b);
  const auto root = [&](Expression p, Expression q) {  // of q u^2 + p u - depth
    const Expression r = (4 * depth * q).of<prim::Sqrt>();
    return 2 * depth / (p + p.of<prim::Hypot>(r));
  };
  const Expression end_below = root(slope - depth / 3, slope / 3.0 + x * 0.5), end_of_square = root(slope, x * 0.5);
  const Expression end_above = ((depth + a * end_of_square) / x).of<prim::Log1p>();
  const Expression end = lower.choose(end_below, end_above).fixed();

  const auto n = static_cast<int64_t>(precision.quadrature.nodes.size());
  const Shape each = shape(a);
  const Shape all = each.with_inserted(static_cast<size_t>(each.rank()), n);
  const auto along = [&](const std::vector<double>& values) {
    const AnyArray array = AnyArray::from(std::span<const double>(values), {n});
    return Expression(broadcast_in(constant(array, s.at), all, {each.rank()}, s), s);
  };
  Ints axes;
  for (int i = 0; i < each.rank(); ++i) axes.push_back(i);
  const auto over = [&](Expression e) { return Expression(broadcast_in(e, all, axes, s), s); };
  const Expression u = over(end) * along(precision.quadrature.nodes);
  const Expression exponent = -(over(slope) * u + over(x) * exp_remainder(over(sign) * u));
  const Expression terms = (over(distance) + u) * exponent.of<prim::Exp>() * along(precision.quadrature.weights);
  const Handle sum = emit<prim::ReduceSum>(s, {terms}, {{"axes", Ints{each.rank()}}});
  const Expression integral = end * Expression(sum, s);
  return lower.choose((x * integral + distance) / a, integral);
}

/// The derivative of a sample, in its type.
Expression derivative(Expression a, Expression sample, GammaScale scale, const Site& s) {
  const DType d = dtype(a);
  const Expression wide_a = a.as(DType::f64), wide_sample = sample.as(DType::f64);
  if (scale == GammaScale::logarithmic) {
    return log_derivative(wide_a, wide_sample, wide_sample.of<prim::Exp>(), precision_of(d), s).as(d);
  }
  // A sample that is too small for its type has a derivative that is.
  const Expression vanished = wide_sample == 0, some = vanished.choose(wide_a.number(1), wide_sample);
  const Expression slope = some * log_derivative(wide_a, some.of<prim::Log>(), some, precision_of(d), s);
  return vanished.choose(wide_a.number(0), slope).as(d);
}

/// `sample` itself, whose derivative by `a` is an error. The branch that depends on a is taken where it gives the same.
Expression beyond(Expression a, Expression sample, const Site& s) {
  const Handle refused = emit<prim::Captured>(
      s, {a},
      {{"by", std::string()}, {"value", std::string(s.name) + ": samples have derivatives of order one and two"}});
  return (sample == sample).choose(sample, Expression(refused, s) * sample);
}

Expression with_derivatives(int orders, Expression a, Expression samples, GammaScale scale, const Site& s) {
  if (orders == 0) return beyond(a, samples, s);
  const TraceBody body = [](std::span<const Handle> in, std::vector<Handle>& out) { out.push_back(in[1]); };
  const TraceBody rule = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    const Expression at(in[0], s), tangent(in[2], s);
    const Expression y = with_derivatives(orders - 1, at, Expression(in[1], s), scale, s);
    out.push_back(y);
    out.push_back(tangent * derivative(at, y, scale, s));
  };
  const Handle operands[] = {a, samples};
  return {emit_custom_jvp(body, rule, operands, {}, {s.name, s.at, {}}).front(), s};
}

}  // namespace

Handle with_gamma_derivative(Handle a, Handle samples, GammaScale scale, const Site& s) {
  return with_derivatives(2, Expression(a, s), Expression(samples, s).fixed(), scale, s);
}

}  // namespace calque::detail::ops::random
