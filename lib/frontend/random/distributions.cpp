// Distributions that a formula makes of uniform numbers. 16-bit floats are computed in f32 and rounded once, except the
// uniform numbers themselves.
#include <algorithm>
#include <limits>
#include <optional>

#include "frontend/random/random.h"

namespace calque::detail::ops::random {
namespace {

/// The constants of a floating-point format that samplers use.
struct Limits {
  double epsilon, negative_epsilon, smallest_normal;
};

Limits limits_of(DType d) {
  switch (d) {
    case DType::f64:
      return {0x1p-52, 0x1p-53, 0x1p-1022};
    case DType::f32:
      return {0x1p-23, 0x1p-24, 0x1p-126};
    case DType::f16:
      return {0x1p-10, 0x1p-11, 0x1p-14};
    default:
      return {0x1p-7, 0x1p-8, 0x1p-126};  // bf16
  }
}

/// An expression of handles of one dtype and shape.
class Formula {
 public:
  Formula(Handle like, const Site& s) : type_(type(like)), s_(s) {}

  template <class P>
  Handle of(Handle x) const {
    return emit<P>(s_, {x});
  }
  template <class P>
  Handle of(Handle x, Handle y) const {
    return emit<P>(s_, {x, y});
  }
  Handle number(double x) const { return splat(x, type_, s_); }

 private:
  Type type_;
  const Site& s_;
};

/// A distribution of one parameter-free formula: `formula(u)` of uniform numbers in [low, high) of dtype d, in a dtype
/// of at least f32.
template <class F>
Handle of_uniform(const Operand& key, DType d, const Shape& shape, double low, double high, const Site& s,
                  const F& formula) {
  check_floating(d, s);
  const Key k = key_of(key, s);
  const bool unit = low == 0 && high == 1;
  const Handle drawn = unit ? uniform(k, d, shape, s) : uniform(k, d, shape, low, high, s);
  const Handle u = convert(drawn, wide(d), s);
  return convert(formula(u, Formula(u, s)), d, s);
}

Handle gumbel_of(const Key& k, DType d, const Shape& shape, const Site& s) {
  const Handle u = convert(uniform(k, d, shape, limits_of(d).smallest_normal, 1, s), wide(d), s);
  const Formula f(u, s);
  const Handle x = f.of<prim::Neg>(f.of<prim::Log>(f.of<prim::Neg>(f.of<prim::Log>(u))));
  return convert(x, d, s);
}

/// The least and the greatest value of an integer type.
struct Range {
  int64_t low;
  uint64_t high;
};
Range range_of(DType d) {
  const int bits = static_cast<int>(8 * size_of(d));
  const uint64_t all = ~uint64_t{0} >> (64 - bits);
  return is_signed_integer(d) ? Range{INT64_MIN >> (64 - bits), all >> 1} : Range{0, all};
}

Handle integer(uint64_t value, const Type& type, const Site& s) {
  return literal(make_literal(type.dtype, static_cast<int64_t>(value)), type, s.at);
}

/// x limited to the numbers of `to`, as a value of `to`.
Handle clipped(Handle x, DType to, const Site& s) {
  const Range own = range_of(dtype(x)), other = range_of(to);
  const auto low = static_cast<uint64_t>(std::max(own.low, other.low));
  const Type t = type(x);
  const Handle limited = emit<prim::Clamp>(s, {integer(low, t, s), x, integer(std::min(own.high, other.high), t, s)});
  return convert(limited, to, s);
}

/// A bound of randint: an integer of its own type; literals have 64 bits.
Handle bound(const Operand& x, const Site& s) {
  Handle h{};
  if (x.kind() == Operand::Kind::weak) {
    const WeakLiteral& w = x.weak();
    if (!w.is_integer()) s.dtype_error("the bounds must be integers");
    h = value(x, w.real > 9.3e18 ? DType::u64 : DType::i64, s);
  } else {
    h = value(x, s);
  }
  check_integer(dtype(h), s);
  return h;
}

}  // namespace

Handle normal(const Key& key, DType d, const Shape& shape, const Site& s) {
  return normal(key, d, counter_of(shape, s), s);
}

Handle normal(const Key& key, DType d, const Counter& counter, const Site& s) {
  const double low = -1 + limits_of(d).negative_epsilon;
  const Handle drawn = uniform(key, d, counter, splat(low, {d, {}}, s), splat(1, {d, {}}, s), s);
  const Handle u = convert(drawn, wide(d), s);
  const Formula f(u, s);
  return convert(f.of<prim::Mul>(f.number(1.4142135623730951), f.of<prim::ErfInv>(u)), d, s);
}

// ---- public

Handle normal(const Operand& key, DType d, const Shape& shape, Location at) {
  const Site s{"random::normal", at};
  if (!is_complex(d)) check_floating(d, s);
  const Key k = key_of(key, s);
  if (!is_complex(d)) return normal(k, d, shape, s);
  const auto part = [&](uint32_t i) {
    const Handle x = normal(derived(k, i, s), real_of(d), shape, s);
    return emit<prim::Div>(s, {x, splat(1.4142135623730951, type(x), s)});
  };
  return emit<prim::Complex>(s, {part(0), part(1)});
}

Handle exponential(const Operand& key, DType d, const Shape& shape, Location at) {
  return of_uniform(key, d, shape, 0, 1, {"random::exponential", at},
                    [](Handle u, const Formula& f) { return f.of<prim::Neg>(f.of<prim::Log1p>(f.of<prim::Neg>(u))); });
}

Handle gumbel(const Operand& key, DType d, const Shape& shape, Location at) {
  const Site s{"random::gumbel", at};
  check_floating(d, s);
  return gumbel_of(key_of(key, s), d, shape, s);
}

Handle laplace(const Operand& key, DType d, const Shape& shape, Location at) {
  const double low = -1 + limits_of(d).negative_epsilon;
  return of_uniform(key, d, shape, low, 1, {"random::laplace", at}, [](Handle u, const Formula& f) {
    return f.of<prim::Mul>(f.of<prim::Sign>(u), f.of<prim::Log1p>(f.of<prim::Neg>(f.of<prim::Abs>(u))));
  });
}

Handle logistic(const Operand& key, DType d, const Shape& shape, Location at) {
  const double low = limits_of(d).smallest_normal;
  return of_uniform(key, d, shape, low, 1, {"random::logistic", at}, [](Handle u, const Formula& f) {
    return f.of<prim::Sub>(f.of<prim::Log>(u), f.of<prim::Log1p>(f.of<prim::Neg>(u)));
  });
}

Handle cauchy(const Operand& key, DType d, const Shape& shape, Location at) {
  return of_uniform(key, d, shape, limits_of(d).epsilon, 1, {"random::cauchy", at}, [](Handle u, const Formula& f) {
    const Handle centered = f.of<prim::Sub>(u, f.number(0.5));
    return f.of<prim::Tan>(f.of<prim::Mul>(f.number(3.141592653589793), centered));
  });
}

Handle bernoulli(const Operand& key, const Operand& p, const Shape& shape, Location at) {
  const Site s{"random::bernoulli", at};
  const DType own = p.kind() == Operand::Kind::weak ? DType::f32 : to_inexact(operand_dtype(p, s));
  check_floating(own, s);
  const Handle probability = broadcast(value(p, own, s), shape, s);
  return emit<prim::Lt>(s, {uniform(key_of(key, s), own, shape, s), probability});
}

Handle rademacher(const Operand& key, DType d, const Shape& shape, Location at) {
  const Site s{"random::rademacher", at};
  if (is_bool(d) || is_unsigned_integer(d)) s.dtype_error("needs a type with -1, got " + std::string(name(d)));
  const Type t{DType::f32, shape};
  const Handle heads = emit<prim::Lt>(s, {uniform(key_of(key, s), DType::f32, shape, s), splat(0.5, t, s)});
  return select(heads, splat(1, {d, shape}, s), splat(-1, {d, shape}, s), s);
}

Handle truncated_normal(const Operand& key, const Operand& low, const Operand& high, DType d, const Shape& shape,
                        Location at) {
  const Site s{"random::truncated_normal", at};
  check_floating(d, s);
  const Key k = key_of(key, s);
  const Handle from = broadcast(value_fitting(low, d, s), shape, s);
  const Handle to = broadcast(value_fitting(high, d, s), shape, s);
  // In the dtype of the computation; the distribution function is between -1 and 1.
  const auto quantile = [&](Handle x) {
    const Handle w = convert(x, wide(d), s);
    const Formula f(w, s);
    return convert(f.of<prim::Erf>(f.of<prim::Div>(w, f.number(1.4142135623730951))), d, s);
  };
  const Handle u = convert(uniform(k, d, shape, quantile(from), quantile(to), s), wide(d), s);
  const Formula f(u, s);
  const Handle x = convert(f.of<prim::Mul>(f.number(1.4142135623730951), f.of<prim::ErfInv>(u)), d, s);
  // Rounding must not reach the bounds themselves.
  const auto inside = [&](Handle bound, double towards) {
    const Handle fixed = emit<prim::StopGradient>(s, {bound});
    return emit<prim::Nextafter>(s, {fixed, splat(towards, type(fixed), s)});
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return emit<prim::Clamp>(s, {inside(from, kInfinity), x, inside(to, -kInfinity)});
}

Handle randint(const Operand& key, const Operand& low, const Operand& high, DType d, const Shape& shape, Location at) {
  const Site s{"random::randint", at};
  check_integer(d, s);
  const Key k = key_of(key, s);
  Handle from = bound(low, s), to = bound(high, s);
  // 8 and 16 bits are drawn as 32, which makes the remainder less biased.
  const DType drawn = size_of(d) < 4 ? DType::i32 : d;
  if (drawn != d) {
    const Range range = range_of(d);
    const auto limited = [&](Handle x, uint64_t most) {
      const Handle wide = clipped(x, DType::i32, s);
      const Type t = type(wide);
      return emit<prim::Clamp>(s, {integer(static_cast<uint64_t>(range.low), t, s), wide, integer(most, t, s)});
    };
    from = limited(from, range.high);
    to = limited(to, range.high + 1);
  }
  // One more than the greatest number is a bound that the type cannot hold.
  const Range own = range_of(dtype(to)), range = range_of(drawn);
  const Handle greatest = integer(std::min(own.high, range.high), type(to), s);
  const Handle beyond = broadcast(emit<prim::Gt>(s, {to, greatest}), shape, s);
  from = broadcast(clipped(from, drawn, s), shape, s);
  to = broadcast(clipped(to, drawn, s), shape, s);

  const DType word = size_of(drawn) == 8 ? DType::u64 : DType::u32;
  const Type words{word, shape};
  const auto number = [&](int64_t x) { return literal(make_literal(word, x), words, s.at); };
  const auto rem = [&](Handle x, Handle y) { return emit<prim::Rem>(s, {x, y}); };
  const auto draw = [&](uint32_t i) {
    const Key part = derived(k, i, s);
    return word == DType::u64 ? bits64(part, shape, s) : bits32(part, shape, s);
  };
  // An empty range gives its lower bound. A span of 2^32 or 2^64 wraps to 0, and the remainder by 0 is the number.
  const Handle empty = emit<prim::Le>(s, {to, from});
  Handle span = convert(emit<prim::Sub>(s, {to, from}), word, s);
  span = select(empty, number(1), span, s);
  const Handle longer = emit<prim::And>(s, {beyond, emit<prim::Not>(s, {empty})});
  span = select(longer, emit<prim::Add>(s, {span, number(1)}), span, s);
  Handle multiplier = rem(number(int64_t{1} << (4 * size_of(word))), span);
  multiplier = rem(emit<prim::Mul>(s, {multiplier, multiplier}), span);
  const Handle upper = emit<prim::Mul>(s, {rem(draw(0), span), multiplier});
  const Handle offset = rem(emit<prim::Add>(s, {upper, rem(draw(1), span)}), span);
  return convert(emit<prim::Add>(s, {from, convert(offset, drawn, s)}), d, s);
}

Handle categorical(const Operand& key, const Operand& logits, const std::optional<Shape>& shape, int axis,
                   Location at) {
  const Site s{"random::categorical", at};
  const Handle x = value(logits, to_inexact(operand_dtype(logits, s)), s);
  const Type t = type(x);
  check_floating(t.dtype, s);
  const int along = normal_axis(axis, t.shape.rank(), t, s);
  Ints batch(t.shape.begin(), t.shape.end());
  const int64_t classes = batch[static_cast<size_t>(along)];
  if (classes == 0) s.shape_error("there is no class to draw, got logits of " + to_string(t));
  batch.erase(batch.begin() + along);
  const Shape draws = shape ? *shape : Shape(batch);
  const int extra = draws.rank() - static_cast<int>(batch.size());
  if (extra < 0) {
    s.shape_error("the shape must end with the " + std::to_string(batch.size()) + " other dimensions of " +
                  to_string(t));
  }
  Ints all(draws.begin(), draws.end());
  all.insert(all.begin() + extra + along, classes);
  const Shape full(all);
  const Handle noise = gumbel_of(key_of(key, s), t.dtype, full, s);
  return argmax(emit<prim::Add>(s, {noise, broadcast(x, full, s)}), extra + along, at);
}

}  // namespace calque::detail::ops::random
