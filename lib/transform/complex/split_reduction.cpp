#include <algorithm>

#include "primitives/list.h"
#include "transform/complex/split_equations.h"

namespace calque::transform {

using namespace primitives;
using Ints = std::vector<int64_t>;

namespace {

void split_sum(const ComplexEquation& s) {
  const Parts x = s.parts(0);
  const auto sum = [&](Value v) { return s.w.emit(s.e.id(), {v}, s.e.attributes()); };
  const Value re = sum(x.re);
  s.values.set_parts(s.e.result(), {re, sum(x.im)});
}

/// Products of halves, of their halves ...: see ReduceProd.
void split_product_of_all(const ComplexEquation& s) {
  const Writer& w = s.w;
  const Shape shape = s.type(0).shape;
  const Ints axes = s.e.attributes().ints("axes");
  const Shape kept = s.result_type().shape;
  Ints perm;
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) perm.push_back(d);
  perm.insert(perm.end(), axes.begin(), axes.end());
  int64_t count = 1;
  for (const int64_t a : axes) count *= shape[static_cast<size_t>(a)];
  const Parts given = s.parts(0);
  if (count == 0) {
    const Type type{w.dtype(given.re), kept};
    return s.values.set_parts(s.e.result(), {w.splat(1, type), w.zeros(type)});
  }
  const size_t last = kept.size();
  const Shape rows = kept.with_inserted(last, count);
  Parts x{w.reshape(w.transpose(given.re, perm), rows), w.reshape(w.transpose(given.im, perm), rows)};
  const auto range = [&](int64_t from, int64_t to) -> TermParts {
    return {{&w, w.slice(x.re, last, from, to)}, {&w, w.slice(x.im, last, from, to)}};
  };
  while (count > 1) {
    const int64_t half = count / 2;
    const TermParts p = complex_numbers::product(range(0, half), range(half, 2 * half));
    Parts next{p.re.value, p.im.value};
    if (count % 2 != 0) {
      const TermParts odd = range(2 * half, count);
      const auto axis = static_cast<int64_t>(last);
      next = {w.concatenate({next.re, odd.re.value}, axis), w.concatenate({next.im, odd.im.value}, axis)};
    }
    x = next;
    count -= half;
  }
  s.values.set_parts(s.e.result(), {w.reshape(x.re, kept), w.reshape(x.im, kept)});
}

/// One scan.
void split_cumulative_product(const ComplexEquation& s) {
  const Writer& w = s.w;
  const auto axis = static_cast<size_t>(s.e.attributes().integer("axis"));
  const bool reverse = s.e.attributes().get<bool>("reverse");
  const Parts x = s.parts(0);
  const Shape shape = w.shape(x.re);
  const int64_t n = shape[axis];
  if (n <= 1) return s.values.set_parts(s.e.result(), x);
  const Type row{w.dtype(x.re), shape.without(axis)};
  const auto first = [&](Value v) { return w.slice(v, axis, reverse ? n - 1 : 0, reverse ? n : 1); };
  const auto rest = [&](Value v) {
    return w.move_axis(w.slice(v, axis, reverse ? 0 : 1, reverse ? n - 1 : n), axis, 0);
  };
  Graph body;
  const Value carry_re = body.add_input(row), carry_im = body.add_input(row);
  const Value re = body.add_input(row), im = body.add_input(row);
  const Writer inner(body, w.location());
  const TermParts p =
      complex_numbers::product<Term>({{&inner, carry_re}, {&inner, carry_im}}, {{&inner, re}, {&inner, im}});
  body.set_outputs({p.re.value, p.im.value, p.re.value, p.im.value});
  std::vector<Graph> bodies;
  bodies.push_back(std::move(body));
  const Value start_re = w.reshape(first(x.re), row.shape), start_im = w.reshape(first(x.im), row.shape);
  ValueList operands{start_re, start_im, rest(x.re), rest(x.im)};
  const Equation& scan = w.append(
      id_of<Scan>, std::move(operands),
      {{"carry", int64_t{2}}, {"consts", int64_t{0}}, {"length", n - 1}, {"reverse", reverse}, {"unroll", int64_t{1}}},
      std::move(bodies));
  const Value products_re = scan.result(2), products_im = scan.result(3);
  const auto whole = [&](Value start, Value products) {
    const Value others = w.move_axis(products, 0, axis);
    const auto at = static_cast<int64_t>(axis);
    return reverse ? w.concatenate({others, start}, at) : w.concatenate({start, others}, at);
  };
  const Value all_re = whole(first(x.re), products_re);
  s.values.set_parts(s.e.result(), {all_re, whole(first(x.im), products_im)});
}

}  // namespace

bool split_reduction(const ComplexEquation& s) {
  switch (s.e.id()) {
    case id_of<ReduceSum>:
    case id_of<Cumsum>:
      split_sum(s);
      return true;
    case id_of<ReduceProd>:
      split_product_of_all(s);
      return true;
    case id_of<Cumprod>:
      split_cumulative_product(s);
      return true;
    default:
      return false;
  }
}

}  // namespace calque::transform
