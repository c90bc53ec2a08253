// The Poisson distribution, draw for draw as JAX: every element loops for itself, on keys that all elements share, with
// its own numbers of each key.
#include <cstdint>
#include <limits>

#include "calque/detail/control/control.h"

#include "frontend/ops/expression.h"
#include "frontend/random/random.h"

namespace calque::detail::ops::random {
namespace {

/// Parts of the keys of a loop.
Key part(std::span<const Handle> carry, uint32_t i, const Site& s) { return derived({carry[0], carry[1]}, i, s); }

/// The steps after which a loop gives up.
double most_steps(DType d) {
  switch (d) {
    case DType::i8:
      return INT8_MAX;
    case DType::u8:
      return UINT8_MAX;
    case DType::i16:
      return INT16_MAX;
    case DType::u16:
      return UINT16_MAX;
    default:
      return INT32_MAX;
  }
}

/// Knuth: the number of uniform numbers whose product is above e^-rate, less one. Of dtype i32.
Expression by_product(const Key& keys, const Counter& counter, Expression rate, double most, const Site& s) {
  const Expression none(splat(0, {DType::i32, shape(rate)}, s), s);
  // Carry: key, the number and the logarithm of the product.
  const TraceBody running = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    const Expression k(in[2], s), log_product(in[3], s);
    out.push_back((log_product > -rate) & (k < most));
  };
  const TraceBody step = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    const Expression k(in[2], s), log_product(in[3], s);
    const Key next = part(in, 0, s);
    const Expression u(uniform(part(in, 1, s), DType::f32, counter, s), s);
    for (const Handle h : {next.k0, next.k1, (k + 1).handle(), (log_product + u.of<prim::Log>()).handle()}) {
      out.push_back(h);
    }
  };
  const Handle start[] = {keys.k0, keys.k1, none, rate.number(0)};
  return Expression(while_loop(running, step, start, {s.at, {}}, true)[2], s) - 1;
}

/// Hoermann's transformed rejection (PTRS) of rates of at least 10.
class Rejection {
 public:
  Rejection(Expression rate, const Counter& counter, const Site& s)
      : rate_(rate),
        log_rate_(rate.of<prim::Log>()),
        b_(0.931 + 2.53 * rate.of<prim::Sqrt>()),
        a_(-0.059 + 0.02483 * b_),
        inverse_alpha_(1.1239 + 1.1328 / (b_ - 3.4)),
        v_r_(0.9277 - 3.6224 / (b_ - 2)),
        counter_(counter),
        s_(s) {}

  struct Proposal {
    Expression number, accepted;
  };
  Proposal propose(std::span<const Handle> carry) const {
    const Expression u = Expression(uniform(part(carry, 1, s_), DType::f32, counter_, s_), s_) - 0.5;
    const Expression v(uniform(part(carry, 2, s_), DType::f32, counter_, s_), s_);
    const Expression us = 0.5 - u.of<prim::Abs>();
    const Expression k = ((2 * a_ / us + b_) * u + rate_ + 0.43).of<prim::Floor>();
    const Expression left = (v * inverse_alpha_ / (a_ / (us * us) + b_)).of<prim::Log>();
    const Expression right = -rate_ + k * log_rate_ - (k + 1).of<prim::Lgamma>();
    const Expression inside = (us >= 0.07) & (v <= v_r_);
    const Expression outside = (k < 0) | ((us < 0.013) & (v > us));
    return {k, inside | ((left <= right) & !outside)};
  }

 private:
  Expression rate_, log_rate_, b_, a_, inverse_alpha_, v_r_;
  const Counter& counter_;
  const Site& s_;
};

/// The numbers, as f32, where `wanted`. JAX runs all elements until the last one has accepted and keeps the last number
/// that each accepts. One loop counts these steps. The last accepted number is nearly always of the last few of them:
/// these are made first, and the others only for elements that accept none of the few.
Expression by_rejection(const Key& keys, const Counter& counter, Expression rate, Expression wanted, double most,
                        const Site& s) {
  constexpr double kFew = 3;
  const Shape each = shape(rate);
  Ints axes;
  for (int i = 0; i < each.rank(); ++i) axes.push_back(i);
  const auto greatest = [&](Expression x) {
    if (axes.empty()) return x;
    return Expression(broadcast(emit<prim::ReduceMax>(s, {x}, {{"axes", axes}}), each, s), s);
  };
  const ControlSite site{s.at, {}};
  const Rejection rejection(rate, counter, s);
  const Expression none(splat(0, {DType::i32, each}, s), s);
  const Expression any = greatest(wanted.as(DType::i32)) > 0;
  // Carry: key, steps made, accepted.
  const TraceBody rejected = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    out.push_back(any & (!Expression(in[3], s)) & (Expression(in[2], s) < most));
  };
  const TraceBody step = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    const Key next = part(in, 0, s);
    const Handle steps = Expression(in[2], s) + 1;
    for (const Handle h : {next.k0, next.k1, steps, rejection.propose(in).accepted.handle()}) out.push_back(h);
  };
  const Handle start[] = {keys.k0, keys.k1, none, none > 0};
  const Expression steps = greatest({while_loop(rejected, step, start, site, true)[2], s});
  const Expression early = steps - kFew;

  // Carry: key, steps made.
  const TraceBody is_early = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    out.push_back(wanted & (Expression(in[2], s) < early));
  };
  const TraceBody skip = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    const Key next = part(in, 0, s);
    for (const Handle h : {next.k0, next.k1, (Expression(in[2], s) + 1).handle()}) out.push_back(h);
  };
  const Handle first[] = {keys.k0, keys.k1, none};
  const std::vector<Handle> late = while_loop(is_early, skip, first, site, true);
  // Carry: key, steps made, the number, which is -1 before one is accepted.
  const auto last_accepted = [&](const Key& key, Expression made, Expression end, Expression number, Expression runs) {
    const TraceBody running = [&](std::span<const Handle> in, std::vector<Handle>& out) {
      out.push_back(runs & (Expression(in[2], s) < end));
    };
    const TraceBody keep = [&](std::span<const Handle> in, std::vector<Handle>& out) {
      const Key next = part(in, 0, s);
      const Rejection::Proposal p = rejection.propose(in);
      const Handle after = Expression(in[2], s) + 1, kept = p.accepted.choose(p.number, Expression(in[3], s));
      for (const Handle h : {next.k0, next.k1, after, kept}) out.push_back(h);
    };
    const Handle from[] = {key.k0, key.k1, made, number};
    return Expression(while_loop(running, keep, from, site, true)[3], s);
  };
  const Expression number = last_accepted({late[0], late[1]}, {late[2], s}, steps, rate.number(-1), wanted);
  return last_accepted(keys, none, early, number, wanted & (number < 0));
}

}  // namespace

Handle poisson(const Operand& key, const Operand& rate, DType d, const Shape& shape, Location at) {
  const Site s{"random::poisson", at};
  check_integer(d, s);
  const Key k = key_of(key, s);
  const DType own = operand_dtype(rate, s);
  if (is_complex(own)) s.dtype_error("the rate must be real, got " + std::string(name(own)));
  const Expression x = Expression(broadcast(value(rate, DType::f32, s), shape, s), s).fixed();
  if (shape.num_elements() == 0) return splat(0, {d, shape}, s);
  const Key keys = repeated(k, shape, s);
  const Counter counter = counter_of(shape, s);
  const double most = most_steps(d);
  const Expression small = !(x >= 10);  // NaN is among them
  const Expression counted = by_product(keys, counter, small.choose(x, x.number(0)), most, s);
  const Expression drawn = by_rejection(keys, counter, small.choose(x.number(1e5), x), !small, most, s);
  const Expression infinite = x == std::numeric_limits<double>::infinity();
  const Handle zero = splat(0, {d, shape}, s);
  return (x == 0).choose({zero, s}, small.choose(counted.as(d), infinite.choose(x, drawn).as(d)));
}

}  // namespace calque::detail::ops::random
