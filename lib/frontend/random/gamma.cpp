// The gamma distribution and those made of it. 16-bit floats are drawn and computed as f32, and rounded once.
#include "frontend/random/gamma.h"

#include <limits>

#include "calque/detail/control/control.h"

#include "frontend/ops/expression.h"

namespace calque::detail::ops::random {
namespace {

/// A parameter of a distribution: of the dtype of the computation, for each element of the shape.
Expression parameter(const Operand& x, DType d, const Shape& shape, const Site& s) {
  return {broadcast(convert(value_fitting(x, d, s), wide(d), s), shape, s), s};
}

/// What an element proposes: v^3 of v = 1 + c x with a normal x. Some v are not positive, and of the others some are
/// rejected.
struct Proposal {
  Expression cube, positive, accepted;
};

/// Marsaglia and Tsang: A Simple Method for Generating Gamma Variables, 2000, of a >= 1 with d = a - 1/3.
class Proposals {
 public:
  Proposals(Expression d, const Site& s)
      : s_(s), d_(d), c_((1.0 / 3) / d.of<prim::Sqrt>()), first_(first_of(shape(d), s)) {}

  /// With one key for x and one for the uniform number by which it is accepted.
  Proposal operator()(const Key& of_x, const Key& of_u) const {
    const DType type = dtype(d_);
    const Expression x(normal(of_x, type, first_, s_), s_), u(uniform(of_u, type, first_, s_), s_);
    const Expression v = 1 + x * c_, square = x * x, cube = v * v * v;
    const Expression inside = u < 1 - 0.0331 * (square * square);
    const Expression below = u.of<prim::Log>() < square * 0.5 + d_ * (1 - cube + cube.of<prim::Log>());
    const Expression positive = v > 0;
    return {cube, positive, positive & (inside | below)};
  }

 private:
  const Site& s_;
  Expression d_, c_;
  Counter first_;
};

/// The accepted v^3, of which d times it is the sample. Every element loops for itself. A key is split in three: the
/// next key, that of x and that of u; the key of x is split in two for as long as v is not positive.
Expression accepted_cube(const Key& keys, Expression d, const Site& s) {
  const Proposals proposals(d, s);
  const Key of_x = derived(keys, 1, s);
  const Proposal early = proposals(derived(of_x, 1, s), derived(keys, 2, s));
  // Carry: key, key of x, v^3, whether v was positive and whether it was accepted.
  const TraceBody rejected = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    out.push_back(!Expression(in[6], s));
  };
  const TraceBody propose = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    const Expression positive(in[5], s);
    const auto either = [&](const Key& x, const Key& y) {
      const auto word = [&](Handle a, Handle b) { return positive.choose({a, s}, {b, s}).handle(); };
      return Key{word(x.k0, y.k0), word(x.k1, y.k1)};
    };
    const Key before{in[0], in[1]}, x_before{in[2], in[3]};
    const Key key = either(derived(before, 0, s), before);
    const Key x = either(derived(key, 1, s), derived(x_before, 0, s));
    const Proposal p = proposals(derived(x, 1, s), derived(key, 2, s));
    for (const Handle h : {key.k0, key.k1, x.k0, x.k1, p.cube.handle(), p.positive.handle(), p.accepted.handle()}) {
      out.push_back(h);
    }
  };
  const Handle start[] = {keys.k0, keys.k1, of_x.k0, of_x.k1, early.cube, early.positive, early.accepted};
  return {while_loop(rejected, propose, start, {s.at, {}}, true)[4], s};
}

/// Samples for each element of a, without derivatives, of f32 or f64. Of a < 1: that of a + 1 times u^(1/a).
Expression gamma_samples(const Key& key, Expression a, GammaScale scale, const Site& s) {
  const Expression valid = a > 0, safe = valid.choose(a, a.number(1));
  const Expression one = a.number(1), plain = safe >= 1, alpha = plain.choose(safe, safe + 1);
  const Expression d = alpha - 1.0 / 3;
  const Key keys = each_of(key, shape(a), s);
  const Expression cube = accepted_cube(derived(keys, 0, s), d, s);
  const Expression u(uniform(derived(keys, 1, s), dtype(a), first_of(shape(a), s), s), s);
  const auto sample = [&]() -> Expression {
    if (scale == GammaScale::linear) {
      return d * cube * plain.choose(one, (1 - u).of<prim::Pow>(1 / safe));
    }
    const Expression log_u = (-u).of<prim::Log1p>(), none = plain | (log_u == 0);
    return d.of<prim::Log>() + cube.of<prim::Log>() + none.choose(a.number(0), log_u * (1 / safe));
  };
  return valid.choose(sample(), a.number(std::numeric_limits<double>::quiet_NaN()));
}

Expression gamma(const Key& key, Expression a, GammaScale scale, const Site& s) {
  const Expression samples = gamma_samples(key, a.fixed(), scale, s);
  return {with_gamma_derivative(a, samples, scale, s), s};
}

Handle gamma(const Operand& key, const Operand& a, DType d, const Shape& shape, GammaScale scale, const Site& s) {
  check_floating(d, s);
  const Key k = key_of(key, s);
  return gamma(k, parameter(a, d, shape, s), scale, s).as(d);
}

}  // namespace

Handle gamma(const Operand& key, const Operand& a, DType d, const Shape& shape, Location at) {
  return gamma(key, a, d, shape, GammaScale::linear, {"random::gamma", at});
}

Handle loggamma(const Operand& key, const Operand& a, DType d, const Shape& shape, Location at) {
  return gamma(key, a, d, shape, GammaScale::logarithmic, {"random::loggamma", at});
}

Handle beta(const Operand& key, const Operand& a, const Operand& b, DType d, const Shape& shape, Location at) {
  const Site s{"random::beta", at};
  check_floating(d, s);
  const Key k = key_of(key, s);
  const auto log_gamma = [&](uint32_t i, const Operand& of) {
    return gamma(derived(k, i, s), parameter(of, d, shape, s), GammaScale::logarithmic, s);
  };
  const Expression x = log_gamma(0, a), y = log_gamma(1, b), top = x.of<prim::Max>(y).fixed();
  const Expression scaled = (x - top).of<prim::Exp>();
  return (scaled / (scaled + (y - top).of<prim::Exp>())).as(d);
}

Handle dirichlet(const Operand& key, const Operand& alpha, DType d, const Shape& shape, Location at) {
  const Site s{"random::dirichlet", at};
  check_floating(d, s);
  const Key k = key_of(key, s);
  const Type t = type(value_fitting(alpha, d, s));
  if (t.shape.rank() == 0) s.shape_error("the last dimension of alpha counts the classes, got " + to_string(t));
  const Shape all = shape.with_inserted(static_cast<size_t>(shape.rank()), t.shape[t.shape.rank() - 1]);
  const Expression logs = gamma(k, parameter(alpha, d, all, s), GammaScale::logarithmic, s);
  return convert(softmax(Operand(logs.handle()), -1, at), d, s);
}

Handle chisquare(const Operand& key, const Operand& df, DType d, const Shape& shape, Location at) {
  const Site s{"random::chisquare", at};
  check_floating(d, s);
  const Key k = key_of(key, s);
  const Expression half = parameter(df, d, shape, s) / 2.0;
  return (gamma(k, half, GammaScale::logarithmic, s).of<prim::Exp>() * 2).as(d);
}

Handle t(const Operand& key, const Operand& df, DType d, const Shape& shape, Location at) {
  const Site s{"random::t", at};
  check_floating(d, s);
  const Key k = key_of(key, s);
  const Expression half = parameter(df, d, shape, s) / 2.0;
  const Expression n(normal(derived(k, 0, s), wide(d), shape, s), s);
  return (n * (half / gamma(derived(k, 1, s), half, GammaScale::linear, s)).of<prim::Sqrt>()).as(d);
}

}  // namespace calque::detail::ops::random
