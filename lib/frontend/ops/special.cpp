// Special functions that are compositions of others. 16-bit floats are computed in f32 and rounded once.
#include <string>

#include "frontend/ops/incomplete.h"
#include "trace/builder.h"

namespace calque::detail::ops {
namespace {

/// The operand as a float, integers and bool as f32. Throws DTypeError for complex numbers.
Handle real_float(const Operand& x, const Site& s) {
  const Handle v = value(x, to_inexact(operand_dtype(x, s)), s);
  if (is_complex(dtype(v))) reject(type(v), "real numbers", s);
  return v;
}

Expression widened(Handle v, const Site& s) { return {convert(v, wide(dtype(v)), s), s}; }

Expression infinity_like(Expression x) { return x.number(__builtin_inf()); }

}  // namespace

RealOperands real_operands(const Operand& x, const Operand& y, std::optional<DType> computed, const Site& s) {
  const DType d = to_inexact(promoted_dtype(x, y, s));
  Handle xs[] = {value(x, d, s), value(y, d, s)};
  if (is_complex(d)) reject(type(xs[0]), "real numbers", s);
  broadcast_together(xs, s);
  const auto in = [&](Handle h) -> Expression { return {convert(h, computed.value_or(wide(d)), s), s}; };
  return {in(xs[0]), in(xs[1]), d};
}

Handle logit(const Operand& x, Location at) {
  const Site s{"logit", at};
  const Handle v = real_float(x, s);
  const Expression p = widened(v, s);
  // log(p / (1 - p)); from 1/4 on log(1 + (2 p - 1) / (1 - p)), where 2 p - 1 is exact, so that the zero at 1/2 is
  // accurate. Each is evaluated at a point of its range where the other is chosen.
  const Expression low = p < 0.25;
  const Expression a = low.choose(p, p.number(0.125)), b = low.choose(p.number(0.5), p);
  const Expression below = (a / (1.0 - a)).of<prim::Log>();
  const Expression above = ((2.0 * b - 1.0) / (1.0 - b)).of<prim::Log1p>();
  return low.choose(below, above).as(dtype(v));
}

Handle entr(const Operand& x, Location at) {
  const Site s{"entr", at};
  const Handle v = real_float(x, s);
  const Expression p = widened(v, s);
  const Expression outside = p <= 0.0;
  const Expression inside = outside.choose(p.number(1), p);
  const Expression edge = (p == 0.0).choose(p.number(0), -infinity_like(p));
  return outside.choose(edge, -(inside * inside.of<prim::Log>()) + 0.0).as(dtype(v));
}

Handle xlog1py(const Operand& x, const Operand& y, Location at) {
  const Site s{"xlog1py", at};
  const auto [a, b, d] = real_operands(x, y, std::nullopt, s);
  // As xlogy: the product at x = 0 is replaced only where the logarithm is not finite.
  const Expression no_log = (b <= -1.0) | (b == infinity_like(b));
  const Expression trivial = (a == 0.0) & no_log;
  const Expression logarithm = trivial.choose(b.number(0), b).of<prim::Log1p>();
  return trivial.choose(a.number(0), a * logarithm + 0.0).as(d);
}

Handle betaln(const Operand& x, const Operand& y, Location at) {
  const Site s{"betaln", at};
  const auto [x_, y_, d] = real_operands(x, y, std::nullopt, s);
  // Three forms, since the terms of the plain one cancel where the larger operand is large. Each is evaluated at a
  // point of its range where another is chosen.
  const Expression swap = y_ < x_;
  const Expression a = swap.choose(y_, x_), b = swap.choose(x_, y_);
  const Expression large = (a > 0.0) & (b >= 10.0) & (b < infinity_like(b));
  const Expression one = a.number(1), ten = a.number(10);
  const Expression plain_a = large.choose(one, a), plain_b = large.choose(one, b);
  const Expression plain =
      plain_a.of<prim::Lgamma>() + (plain_b.of<prim::Lgamma>() - (plain_a + plain_b).of<prim::Lgamma>());
  // lgamma(b) - lgamma(a + b) = -(b - 1/2) log(1 + a / b) - a (log(a + b) - 1) + rest(b) - rest(a + b)
  const Expression u = large.choose(a, one), v = large.choose(b, ten), sum = u + v;
  const Expression grown = (v - 0.5) * (u / v).of<prim::Log1p>();
  const Expression rests = stirling_rest(v) - stirling_rest(sum);
  const Expression both = large & (a >= 10.0);
  const Expression small_u = both.choose(one, u), large_u = both.choose(u, ten);
  const Expression one_large = small_u.of<prim::Lgamma>() - (grown + (small_u * (sum.of<prim::Log>() - 1.0) - rests));
  constexpr double kHalfLog2Pi = 0.918938533204672741780329736406;
  const Expression two_large = kHalfLog2Pi + stirling_rest(large_u) + rests -
                               (grown + (0.5 * large_u.of<prim::Log>() + large_u * (v / large_u).of<prim::Log1p>()));
  return large.choose(both.choose(two_large, one_large), plain).as(d);
}

Handle polygamma(int64_t n, const Operand& x, Location at) {
  const Site s{"polygamma", at};
  // 171! overflows.
  if (n < 0 || n > 170)
    throw Error("polygamma: the order must be in [0, 170], got " + std::to_string(n) + where_text(user_location(at)));
  if (n == 0) return digamma(x, at);
  if (n == 1) return trigamma(x, at);
  const Handle v = real_float(x, s);
  // (-1)^(n + 1) n! zeta(n + 1, x). From n = 4 on, the product may be in the range of f32 where its factors are not.
  const Expression p(convert(v, n < 4 ? wide(dtype(v)) : DType::f64, s), s);
  double factor = n % 2 == 0 ? -1 : 1;
  for (int64_t k = 2; k <= n; ++k) factor *= static_cast<double>(k);
  return (factor * p.number(static_cast<double>(n + 1)).of<prim::Zeta>(p)).as(dtype(v));
}

}  // namespace calque::detail::ops
