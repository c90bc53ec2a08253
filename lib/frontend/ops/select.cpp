// Functions of three operands, casts, and integer functions of several primitives.
#include "frontend/ops/expression.h"

namespace calque::detail::ops {

Handle fma(const Operand& x, const Operand& y, const Operand& z, Location at) {
  const Site s{"fma", at};
  const Operand* all[] = {&x, &y, &z};
  const DType d = promoted_dtype(all, s);
  if (!is_floating(d)) return add(multiply(value(x, d, s), value(y, d, s), at), value(z, d, s), at);
  Handle xs[] = {value(x, d, s), value(y, d, s), value(z, d, s)};
  broadcast_together(xs, s);
  return emit<prim::Fma>(s, {xs[0], xs[1], xs[2]});
}

Handle hypot3(const Operand& x, const Operand& y, const Operand& z, Location at) {
  return hypot(hypot(x, y, at), z, at);
}

Handle lerp(const Operand& a, const Operand& b, const Operand& t, Location at) {
  const Site s{"lerp", at};
  const Operand* all[] = {&a, &b, &t};
  const DType d = to_inexact(promoted_dtype(all, s));
  if (is_complex(d)) reject(type(value(a, s)), "real numbers", s);
  Handle xs[] = {value(a, d, s), value(b, d, s), value(t, d, s)};
  broadcast_together(xs, s);
  const Expression from(xs[0], s), to(xs[1], s), by(xs[2], s);
  // Of numbers of different signs the difference may overflow, but no sum of products cancels. Else the difference is
  // added to the nearer end, so that both ends are exact.
  const Expression apart = ((from <= 0.0) & (to >= 0.0)) | ((from >= 0.0) & (to <= 0.0));
  const Expression difference = apart.choose(from.number(0), to - from);
  const Expression nearer = (by < 0.5).choose(from + by * difference, to - (1.0 - by) * difference);
  return apart.choose(by * to + (1.0 - by) * from, nearer);
}

Handle where(const Operand& condition, const Operand& x, const Operand& y, Location at) {
  const Site s{"where", at};
  const DType d = promoted_dtype(x, y, s);
  Handle xs[] = {value(condition, s), value(x, d, s), value(y, d, s)};
  if (!is_bool(dtype(xs[0]))) reject(type(xs[0]), "a condition of bools", s);
  broadcast_together(xs, s);
  return select(xs[0], xs[1], xs[2], s);
}

Handle clip(const Operand& x, const Operand& low, const Operand& high, Location at) {
  const Site s{"clip", at};
  const DType d = operand_dtype(x, s);
  Handle xs[] = {value_fitting(low, d, s), value(x, s), value_fitting(high, d, s)};
  if (is_bool(d) || is_complex(d)) reject(type(xs[1]), "real numbers", s);
  broadcast_together(xs, s);
  return emit<prim::Clamp>(s, {xs[0], xs[1], xs[2]});
}

// ---- casts

Handle cast(const Operand& x, DType to, Location at) {
  const Site s{"cast", at};
  // Not value(x, to), which rejects a weak literal that does not fit: a cast converts it. Of floats, a cast to their
  // own type rounds too: see docs/semantics.md.
  const Handle v = value(x, s);
  if (is_floating(to) && dtype(v) == to) return emit<prim::Convert>(s, {v}, {{"dtype", to}});
  return convert(v, to, s);
}

Handle bitcast(const Operand& x, DType to, Location at) {
  const Site s{"bitcast", at};
  const Handle v = value(x, s);
  const DType from = dtype(v);
  if (from == to) return v;
  if (size_of(from) != size_of(to) || is_bool(from) || is_bool(to) || is_complex(from) || is_complex(to)) {
    s.dtype_error("needs a type of the same width (no bool, no complex), got " + to_string(type(v)) + " and " +
                  std::string(name(to)));
  }
  return emit<prim::Bitcast>(s, {v}, {{"dtype", to}});
}

// ---- powers of two

namespace {

/// 2^exponent for exponents of normal numbers, by its bits.
Handle power_of_two(Handle exponent, DType d, const Site& s) {
  const bool single = d == DType::f32;
  const Type t = type(exponent);
  const Handle biased = emit<prim::Add>(s, {exponent, splat(single ? 127 : 1023, t, s)});
  const Handle bits = emit<prim::Shl>(s, {biased, splat(single ? 23 : 52, t, s)});
  return emit<prim::Bitcast>(s, {bits}, {{"dtype", d}});
}

}  // namespace

// Three factors, as in musl's scalbn: the first two leave a normal number, so that only the last one rounds.
Handle ldexp(const Operand& x, const Operand& exponent, Location at) {
  const Site s{"ldexp", at};
  Handle n = value(exponent, s);
  if (!is_integer(dtype(n))) reject(type(n), "an integer exponent", s);
  const DType result = to_inexact(operand_dtype(x, s)), d = wide(result);
  Handle xs[] = {convert(value(x, result, s), d, s), n};
  if (is_complex(d)) reject(type(xs[0]), "real numbers", s);
  broadcast_together(xs, s);
  n = xs[1];
  const DType own = dtype(n);
  constexpr int kLimit = 1 << 14;
  if (size_of(own) > 4 || own == DType::u32) {
    if (is_signed_integer(own)) n = emit<prim::Max>(s, {n, splat(-kLimit, type(n), s)});
    n = emit<prim::Min>(s, {n, splat(kLimit, type(n), s)});
  }
  const bool single = d == DType::f32;
  n = convert(n, single ? DType::i32 : DType::i64, s);
  const Type t = type(n);
  const int largest = single ? 127 : 1023, smallest = single ? -126 : -1022, step_down = single ? -102 : -969;
  Handle y = xs[0];
  for (int round = 0; round < 2; ++round) {
    const Handle low = select(emit<prim::Lt>(s, {n, splat(smallest, t, s)}), splat(step_down, t, s), splat(0, t, s), s);
    const Handle e = select(emit<prim::Gt>(s, {n, splat(largest, t, s)}), splat(largest, t, s), low, s);
    y = emit<prim::Mul>(s, {y, power_of_two(e, d, s)});
    n = emit<prim::Sub>(s, {n, e});
  }
  n = emit<prim::Clamp>(s, {splat(smallest, t, s), n, splat(largest, t, s)});
  return convert(emit<prim::Mul>(s, {y, power_of_two(n, d, s)}), result, s);
}

// ---- divisors

namespace {

/// Euclid's algorithm as a while loop over all elements.
Handle greatest_common_divisor(Handle x, Handle y, const Site& s) {
  const Type t = type(x);
  Graph condition, body;
  condition.set_name("gcd_condition");
  body.set_name("gcd_body");
  condition.add_input(t);
  const Value divisor = condition.add_input(t);
  const Value zero = condition.add_literal(Literal{}, t);
  condition.set_outputs({condition.append(prim::get<prim::Ne>(), {divisor, zero}, {}, {}, s.at).result()});
  const Value a = body.add_input(t), b = body.add_input(t);
  body.set_outputs({b, body.append(prim::get<prim::Rem>(), {a, b}, {}, {}, s.at).result()});
  std::vector<Graph> subgraphs;
  subgraphs.push_back(std::move(condition));
  subgraphs.push_back(std::move(body));
  std::vector<Handle> results;
  const Handle operands[] = {x, y};
  detail::emit(prim::get<prim::While>(), operands, {{"body_consts", int64_t{0}}, {"cond_consts", int64_t{0}}},
               std::move(subgraphs), s.at, results);
  return is_signed_integer(t.dtype) ? emit<prim::Abs>(s, {results[0]}) : results[0];
}

void promote_integers(const Operand& x, const Operand& y, Handle (&xs)[2], const Site& s) {
  const DType d = promoted_dtype(x, y, s);
  xs[0] = value(x, d, s);
  xs[1] = value(y, d, s);
  if (!is_integer(d)) reject(type(xs[0]), "integers", s);
  broadcast_together(xs, s);
}

}  // namespace

Handle gcd(const Operand& x, const Operand& y, Location at) {
  const Site s{"gcd", at};
  Handle xs[2];
  promote_integers(x, y, xs, s);
  return greatest_common_divisor(xs[0], xs[1], s);
}

Handle lcm(const Operand& x, const Operand& y, Location at) {
  const Site s{"lcm", at};
  Handle xs[2];
  promote_integers(x, y, xs, s);
  if (is_signed_integer(dtype(xs[0]))) {
    for (Handle& h : xs) h = emit<prim::Abs>(s, {h});
  }
  const Handle divisor = greatest_common_divisor(xs[0], xs[1], s);
  const Handle zero = splat(0, type(divisor), s), none = emit<prim::Eq>(s, {divisor, zero});
  const Handle one = splat(1, type(divisor), s);
  const Handle quotient = emit<prim::Div>(s, {xs[0], select(none, one, divisor, s)});
  return emit<prim::Mul>(s, {quotient, xs[1]});
}

}  // namespace calque::detail::ops
