// The regularized incomplete gamma functions, P(a, x) and Q(a, x) = 1 - P(a, x). With D = x^a e^-x / gamma(a),
//
//   Q = D (integral of exp((a - x) u - x (e^u - 1 - u)) for u from 0 to infinity),          t = x e^u
//   P = D (integral of exp(-(a - x) u - x (e^-u - 1 + u)) for u from 0 to infinity),     t = x e^-u
//
// the first for x > a and the second for x <= a, where the integrands fall, and where what is computed is not near 1.
// P is that of a + 4, which falls fast where a and x are small too, and steps of the recurrence P(a) = D(a) / a + P(a +
// 1), D(a + 1) = D(a) x / a. For small a and x, where Q may be small on either side: with g = x^a / gamma(a + 1),
// Q = (1 - g) - g a S, S a power series.
#include <numbers>
#include <optional>
#include <span>

#include "frontend/ops/incomplete.h"

namespace calque::detail::ops {
namespace {

/// The operands with 1 instead of those that are at or beyond the ends of the domain.
struct GammaDomain {
  Expression where, a, x;

  GammaDomain(Expression a_, Expression x_)
      : where((a_ > 0.0) & (a_ < kLargestParameter) & (x_ > 0.0) & (x_ < kInf)),
        a(where.choose(a_, a_.number(1))),
        x(where.choose(x_, x_.number(1))) {}
};

/// x^a e^-x / gamma(a)
Expression prefactor(Expression a, Expression x, Digits digits) {
  if (digits == Digits::single) {
    // By Lanczos, (x / s)^a e^(s - x) with s = a + c is the exponential of a log(1 + w) - s w with w = (x - s) / s.
    const Expression s = a + kLanczosShift, w = ((x - a) - kLanczosShift) / s;
    const Expression exponent = -(a * log_remainder(w, x / s, digits) + kLanczosShift * w);
    return exponent.of<prim::Exp>() * ((s * (0.5 / std::numbers::pi)).of<prim::Sqrt>() / lanczos(a));
  }
  const ExactPair d = exact_sum(x, -a);
  const Expression root = (a * (0.5 / std::numbers::pi)).of<prim::Sqrt>();
  return exp_of(log_deviance(a, {x, x.number(0)}, d)) * (root / scaled_gamma(a));
}

/// The integral of t^(a - 1) (e^(-x t) - 1) for t from 0 to 1, of x <= 1.5: e^-z - 1 is a polynomial of least relative
/// error on [0, 1.5], 6e-11 or 1e-18.
Expression power_series(Expression a, Expression x, Digits digits) {
  constexpr double kSingle[] = {-0.999999999942351733,     0.4999999941293107927,    -0.1666665665750307033,
                                0.04166600085602124954,    -0.008331087831912875151, 0.001384579217398150129,
                                -0.0001934693789210054003, 2.139940925754114364e-5,  -1.408723883205222796e-6};
  constexpr double kFull[] = {-1,
                              0.4999999999999997094,
                              -0.1666666666666545027,
                              0.04166666666646495815,
                              -0.008333333331579129746,
                              0.00138888887970911988,
                              -0.0001984126671583370326,
                              2.480151475629311407e-5,
                              -2.755613996764901639e-6,
                              2.754373133905618175e-7,
                              -2.494127202567580391e-8,
                              2.024693761305581174e-9,
                              -1.365431134885738735e-10,
                              5.708961719574338233e-12};
  const std::span<const double> terms = digits == Digits::full ? std::span<const double>(kFull) : kSingle;
  size_t n = terms.size();
  Expression sum = terms[n - 1] / (a + static_cast<double>(n));
  while (--n > 0) sum = sum * x + terms[n - 1] / (a + static_cast<double>(n));
  return sum * x;
}

/// -log(gamma(1 + x)) / x of x in [0, 1], to 1.4e-10.
Expression log_gamma_ratio(Expression x) {
  constexpr double kTerms[] = {0.577215664767178001,   -0.822466994607963455,  0.400683754729730443,
                               -0.270544672804194226,  0.207020742138049379,   -0.16733709737920937,
                               0.135221307178849727,   -0.101312403779293234,  0.0636991566233263701,
                               -0.0298664873255976019, 0.00894155143396035115, -0.00125452104541113198};
  Expression sum = x.number(kTerms[11]);
  for (int k = 11; k-- > 0;) sum = sum * x + kTerms[k];
  return sum;
}

/// Q of a < 1 and x <= 1.5.
Expression upper_of_small(Expression a, Expression x, Digits digits) {
  const Expression series = a * power_series(a, x, digits);
  if (digits == Digits::single) {
    const Expression log_g = a * (x.of<prim::Log>() + log_gamma_ratio(a));
    const Exponential g = exponential(log_g, digits);
    return -(log_g + g.remainder) - g.value * series;
  }
  const Expression less_one = reciprocal_gamma_less_one(a);
  const Expression g = x.of<prim::Pow>(a) * (1.0 + less_one);
  const Expression log_g = a * x.of<prim::Log>() + less_one.of<prim::Log1p>();
  return -log_g.of<prim::Expm1>() - g * series;
}

/// Steps of the recurrence to the P that is an integral.
constexpr int kGammaSteps = 4;

enum class Tail : uint8_t { lower, upper };

Expression gamma_value(Expression a_, Expression x_, Tail tail, DType accuracy, const Site& s) {
  const Precision precision =
      accuracy == DType::f64 ? Precision{24, 38, Digits::full} : Precision{12, 22, Digits::single};
  const double depth = precision.depth;
  const GammaDomain in(a_, x_);
  const Expression a = in.a, x = in.x, one = a.number(1);
  const Expression small = (a < 1.0) & (x <= 1.5);
  // The integral of a + 4 falls for small a and x, too.
  const Expression below = tail == Tail::lower ? (x <= a) | small : x <= a;

  const Expression sign = below.choose(-one, one);
  const Expression slope = below.choose((a - x) + kGammaSteps, x - a);
  // The first is e^-u - 1 + u >= u^2 / (2 + u), the second e^u - 1 - u >= u^2 / 2.
  const Expression root = root_at(precision, below.choose(slope - depth / 2, slope), below.choose(slope + x, x) * 0.5);
  const Expression end = below.choose(root, log_one_more((depth + a * root) / x, precision.digits));
  const Nodes nodes(precision.nodes, {end}, s);
  const Expression u = nodes.positions();
  const Expression remainder = exponential(nodes.over(sign) * u, precision.digits).remainder;
  const Expression exponent = -(nodes.over(slope) * u + nodes.over(x) * remainder);
  const Expression integral = nodes.integral(exponent.of<prim::Exp>());
  const Expression factor = prefactor(a, x, precision.digits);
  Expression steps = x * integral;
  for (int k = kGammaSteps - 1; k > 0; --k) steps = (1.0 + steps) * (x / (a + static_cast<double>(k)));
  const Expression side = factor * below.choose((1.0 + steps) / a, integral);

  // At the ends and beyond: infinite x comes after infinite a.
  const Expression left = (x_ == 0.0) | (x_ < a_), right = (a_ == 0.0) | (x_ > a_);
  const Expression none = (left & right) | !((a_ >= 0.0) & (x_ >= 0.0)) | ((a_ == kInf) & (x_ == kInf));
  const auto edge = [&](double of_left, double of_right) {
    const Expression inside = right.choose(a_.number(of_right), a_.number(0.5));
    return none.choose(a_.number(kNaN), left.choose(a_.number(of_left), inside));
  };
  if (tail == Tail::lower) return in.where.choose(below.choose(side, 1.0 - side), edge(0, 1));
  const Expression of_small = upper_of_small(small.choose(a, one), small.choose(x, one), precision.digits);
  return in.where.choose(small.choose(of_small, below.choose(1.0 - side, side)), edge(1, 0));
}

/// The density x^(a - 1) e^-x / gamma(a) of the gamma distribution.
Expression gamma_density_value(Expression a_, Expression x_, Digits digits) {
  const GammaDomain in(a_, x_);
  const Expression at_zero = (a_ < 1.0).choose(a_.number(kInf), (a_ == 1.0).choose(a_.number(1), a_.number(0)));
  const Expression valid = (a_ > 0.0) & (x_ >= 0.0);
  const Expression edge = (x_ == 0.0).choose(at_zero, a_.number(0));
  return in.where.choose(prefactor(in.a, in.x, digits) / in.x, valid.choose(edge, a_.number(kNaN)));
}

/// The density and one of the distribution functions, or neither.
struct GammaFunctions {
  TracedFunction density;
  std::optional<TracedFunction> distribution;
  Tail tail = Tail::lower;
  DType accuracy;
  const Site& s;
};

TracedFunction traced_density(std::span<const Expression> operands, DType accuracy, const Site& s) {
  const auto body = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    out.push_back(gamma_density_value({in[0], s}, {in[1], s}, digits_of(accuracy)));
  };
  return {body, operands, s};
}

TracedFunction traced_distribution(std::span<const Expression> operands, Tail tail, DType accuracy, const Site& s) {
  const auto body = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    out.push_back(gamma_value({in[0], s}, {in[1], s}, tail, accuracy, s));
  };
  return {body, operands, s};
}

Expression gamma_density(int orders, Expression a, Expression x, const GammaFunctions& f) {
  const Expression operands[] = {a, x};
  if (orders == 0) return f.density.without_derivatives(operands);
  const auto rule = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    const Expression a_(in[0], f.s), x_(in[1], f.s), da(in[2], f.s), dx(in[3], f.s);
    const Expression p = gamma_density(orders - 1, a_, x_, f);
    const Expression none = x_ == 0.0, some = none.choose(x_.number(1), x_);
    // At zero, (a - 1) p / x is a limit, by a: 0 from 2 on, infinite below except at 1.
    const Expression limit = (a_ == 1.0).choose(
        a_.number(-1), (a_ == 2.0).choose(a_.number(1), (a_ > 2.0).choose(a_.number(0), (a_ - 1.0) * kInf)));
    const Expression by_x = none.choose(limit, p * ((a_ - 1.0) / some - 1.0));
    const Expression by_a = none.choose(x_.number(0), p * (some.of<prim::Log>() - a_.of<prim::Digamma>()));
    out.push_back(p);
    out.push_back(da.of<prim::StrongMul>(by_a) + dx.of<prim::StrongMul>(by_x));
  };
  return f.density.with_rule(operands, rule);
}

/// The derivative of P(a, x) by a: -D d log x / da.
Expression slope_by_a(int orders, Expression a_, Expression x_, const GammaFunctions& f) {
  const GammaDomain in(a_, x_);
  const Expression derivative =
      log_derivative_of_sample(in.a, in.x.of<prim::Log>(), in.x, derivative_precision(f.accuracy), f.s);
  const Expression inside = -(in.x * gamma_density(orders, in.a, in.x, f) * derivative);
  const Expression valid = (a_ > 0.0) & (x_ >= 0.0);
  return in.where.choose(inside, valid.choose(a_.number(0), a_.number(kNaN)));
}

Expression gamma_function(int orders, Expression a, Expression x, const GammaFunctions& f) {
  const Expression operands[] = {a, x};
  if (orders == 0) return f.distribution->without_derivatives(operands);
  const auto rule = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    const Expression a_(in[0], f.s), x_(in[1], f.s), da(in[2], f.s), dx(in[3], f.s);
    const Expression by_a = slope_by_a(orders - 1, a_, x_, f);
    const Expression by_x = gamma_density(orders - 1, a_, x_, f);
    const Expression slope = da.of<prim::StrongMul>(by_a) + dx.of<prim::StrongMul>(by_x);
    out.push_back(gamma_function(orders - 1, a_, x_, f));
    out.push_back(f.tail == Tail::lower ? slope : -slope);
  };
  return f.distribution->with_rule(operands, rule);
}

Handle incomplete_gamma(const Operand& a, const Operand& x, Tail tail, const Site& s) {
  const RealOperands in = real_operands(a, x, DType::f64, s);
  const Expression operands[] = {in.x, in.y};
  const GammaFunctions f{traced_density(operands, in.dtype, s), traced_distribution(operands, tail, in.dtype, s), tail,
                         in.dtype, s};
  return gamma_function(kIncompleteOrders, in.x, in.y, f).as(in.dtype);
}

}  // namespace

Handle igamma(const Operand& a, const Operand& x, Location at) {
  return incomplete_gamma(a, x, Tail::lower, {"igamma", at});
}

Handle igammac(const Operand& a, const Operand& x, Location at) {
  return incomplete_gamma(a, x, Tail::upper, {"igammac", at});
}

Handle igamma_grad_a(const Operand& a, const Operand& x, Location at) {
  const Site s{"igamma_grad_a", at};
  const RealOperands in = real_operands(a, x, DType::f64, s);
  const Expression operands[] = {in.x, in.y};
  const GammaFunctions f{traced_density(operands, in.dtype, s), {}, {}, in.dtype, s};
  return slope_by_a(kIncompleteOrders, in.x, in.y, f).as(in.dtype);
}

Handle random_gamma_grad(const Operand& a, const Operand& sample, Location at) {
  const Site s{"random_gamma_grad", at};
  const RealOperands operands = real_operands(a, sample, DType::f64, s);
  const GammaDomain in(operands.x, operands.y);
  const Expression slope =
      in.x * log_derivative_of_sample(in.a, in.x.of<prim::Log>(), in.x, derivative_precision(operands.dtype), s);
  const Expression none = (operands.y == 0.0) & (operands.x > 0.0);
  const Expression edge = none.choose(in.a.number(0), in.a.number(kNaN));
  return in.where.choose(slope, edge).as(operands.dtype);
}

}  // namespace calque::detail::ops
