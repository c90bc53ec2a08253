// Samples of the gamma distribution as differentiable values.
#include "calque/detail/transforms/transform.h"

#include "frontend/ops/incomplete.h"
#include "frontend/random/gamma.h"

namespace calque::detail::ops::random {
namespace {

/// The derivative of a sample, in its type.
Expression derivative(Expression a, Expression sample, GammaScale scale, const Site& s) {
  const DType d = dtype(a);
  const Expression wide_a = a.as(DType::f64), wide_sample = sample.as(DType::f64);
  if (scale == GammaScale::logarithmic) {
    return log_derivative_of_sample(wide_a, wide_sample, wide_sample.of<prim::Exp>(), derivative_precision(d), s).as(d);
  }
  // A sample that is too small for its type has a derivative that is.
  const Expression vanished = wide_sample == 0, some = vanished.choose(wide_a.number(1), wide_sample);
  const Expression slope =
      some * log_derivative_of_sample(wide_a, some.of<prim::Log>(), some, derivative_precision(d), s);
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
