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
#include "frontend/ops/incomplete.h"

namespace calque::detail::ops {
namespace {

/// psi(x) of x >= 1; of single digits to 1e-10, by Stirling's series at x + 4.
Expression digamma(Expression x, Digits digits) {
  if (digits == Digits::full) return x.of<prim::Digamma>();
  // 1 / x + ... + 1 / (x + 3), of the pairs x (x + 3) and (x + 1) (x + 2)
  const Expression outer = x * (x + 3), inner = outer + 2;
  const Expression steps = (2 * x + 3) * (outer + inner) / (outer * inner);
  // B_2n / 2n
  constexpr double kTerms[] = {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760};
  const Expression y = x + 4, r = 1 / y, square = r * r;
  Expression series = x.number(kTerms[5]);
  for (int k = 5; k-- > 0;) series = series * square + kTerms[k];
  return y.of<prim::Log>() - (r * 0.5 + series * square + steps);
}

/// log x - psi(b), also where both are large and near each other.
Expression log_ratio(Expression log_x, Expression x, Expression b, Expression psi, Digits digits) {
  const Expression difference = x - b;
  const Expression near = (b >= 100) & (difference.of<prim::Abs>() <= 0.5 * b);
  const Expression relative = near.choose(difference / b, b.number(0));
  // log b - psi(b) = 1 / 2b + sum of B_2n / (2n b^2n), n from 1.
  const Expression r = near.choose(1 / b, b.number(0)), rr = r * r;
  const Expression series = r * 0.5 + rr * (1.0 / 12 - rr * (1.0 / 120 - rr * (1.0 / 252)));
  return near.choose(log_one_more(relative, digits) + series, log_x - psi);
}

}  // namespace

// Relative errors of the integral: 2e-9 of f32, 5e-16 of f64.
Precision derivative_precision(DType d) {
  return d == DType::f64 ? Precision{40, 38, Digits::full} : Precision{20, 22, Digits::single};
}

Expression log_derivative_of_sample(Expression a, Expression log_x, Expression x, const Precision& precision,
                                    const Site& s) {
  const double depth = precision.depth;
  const Expression psi_above = digamma(a + 1, precision.digits);
  const Expression lower = log_x <= psi_above;
  const Expression b = lower.choose(a + 1, a);
  const Expression sign = lower.choose(a.number(-1), a.number(1));
  const Expression distance =
      sign * log_ratio(log_x, x, b, lower.choose(psi_above, psi_above - 1 / a), precision.digits);

  // The logarithm of the integrand's second factor is -(slope u + x k(u)) with k(u) = e^u - 1 - u >= u^2 / 2 above and
  // k(u) = u - 1 + e^-u >= u^2 / (2 + u) below: where it reaches -depth.
  const Expression slope = sign * (x - b);
  const Expression root = root_at(precision, lower.choose(slope - depth / 2, slope), lower.choose(slope + x, x) * 0.5);
  const Expression end_above = log_one_more((depth + a * root) / x, precision.digits);
  const Expression end = lower.choose(root, end_above).fixed();

  const Nodes nodes(precision.nodes, {end}, s);
  const Expression u = nodes.positions();
  const Expression exponent =
      -(nodes.over(slope) * u + nodes.over(x) * exponential(nodes.over(sign) * u, precision.digits).remainder);
  const Expression integral = nodes.integral((nodes.over(distance) + u) * exponent.of<prim::Exp>());
  return lower.choose((x * integral + distance) / a, integral);
}

}  // namespace calque::detail::ops
