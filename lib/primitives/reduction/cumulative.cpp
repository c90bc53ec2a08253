#include "primitives/reduction/cumulative.h"

#include "primitives/core/emit.h"
#include "primitives/core/index_walk.h"
#include "primitives/elementwise/numbers.h"

namespace calque::primitives {
namespace {

template <DTypeSet Accepted, class F>
void accumulate(Evaluation& e, F f) {
  const AnyArray& x = e.operands[0];
  const auto axis = static_cast<size_t>(e.attributes.integer("axis"));
  const bool reverse = e.attributes.get<bool>("reverse");
  const int64_t extent = x.shape()[axis];
  AnyArray& out = e.add_result();
  if (out.size() == 0) return;
  visit_dtype(x.dtype(), [&]<class T>() {
    if constexpr (contains(Accepted, dtype_of<T>)) {
      using C = Compute<T>;
      const T* from = x.data_as<T>();
      T* to = static_cast<T*>(out.mutable_data());
      for_each_line(x.shape(), axis, [&](int64_t base, int64_t stride) {
        if (reverse) {
          base += (extent - 1) * stride;
          stride = -stride;
        }
        auto sum = static_cast<C>(from[base]);
        to[base] = from[base];
        for (int64_t i = 1; i < extent; ++i) {
          sum = f(sum, static_cast<C>(from[base + i * stride]));
          to[base + i * stride] = static_cast<T>(sum);
        }
      });
    }
  });
}

/// y[i] = a[i] y[i - 1] + b[i] along `axis`, from the end if `reverse`, starting from zero: one scan.
Value linear_recurrence(const Writer& w, Value a, Value b, size_t axis, bool reverse) {
  const Type type = w.type(a);
  const Type row{type.dtype, type.shape.without(axis)};
  Graph body;
  const Value y = body.add_input(row), factor = body.add_input(row), term = body.add_input(row);
  const Writer inner(body, w.location());
  const Value next = inner.add(inner.mul(factor, y), term);
  body.set_outputs({next, next});
  std::vector<Graph> bodies;
  bodies.push_back(std::move(body));
  const Equation& scan = w.append(id_of<Scan>, {w.zeros(row), w.move_axis(a, axis, 0), w.move_axis(b, axis, 0)},
                                  {{"carry", int64_t{1}},
                                   {"consts", int64_t{0}},
                                   {"length", type.shape[axis]},
                                   {"reverse", reverse},
                                   {"unroll", int64_t{1}}},
                                  std::move(bodies));
  return w.move_axis(scan.result(1), 0, axis);
}

/// Where x replaces the running extremum, the tangent is that of x; where the extremum stays, the tangent stays; where
/// both are equal, it is the mean of the two.
void jvp_running_extremum(Jvp& j, PrimitiveId better) {
  const Writer& w = j.writer;
  const auto axis = static_cast<size_t>(j.attributes().integer("axis"));
  const bool reverse = j.attributes().get<bool>("reverse");
  const Type& type = j.operand_type(0);
  if (type.shape[axis] == 0) return;
  const Value x = j.primals[0];
  const Value before = shift_along(w, j.results[0], axis, reverse, 0);
  const Value share = w.select(w.emit(better, {x, before}), w.splat(1, type),
                               w.select(w.emit(id_of<Eq>, {x, before}), w.splat(0.5, type), w.zeros(type)));
  // The first element has no predecessor.
  const Value index = w.iota(DType::i64, type.shape, static_cast<int64_t>(axis));
  const Value first =
      w.emit(id_of<Eq>, {index, w.splat(reverse ? static_cast<double>(type.shape[axis] - 1) : 0, w.type(index))});
  const Value mine = w.select(first, w.splat(1, type), share);
  const Value kept = w.emit(id_of<Sub>, {w.splat(1, type), mine});
  j.add(linear_recurrence(w, kept, w.mul(mine, j.tangents[0]), axis, reverse));
}

}  // namespace

void infer_cumulative(Typing& t, DTypeSet accepted) {
  t.accept(0, accepted);
  t.check_axis("axis", t.integer("axis"), t.operand(0).shape.rank());
  t.result(t.operand(0));
}

void Cumsum::evaluate(Evaluation& e) {
  accumulate<accepted>(e, [](auto x, auto y) { return scalar::add(x, y); });
}

void Cumprod::evaluate(Evaluation& e) {
  accumulate<accepted>(e, [](auto x, auto y) { return scalar::mul(x, y); });
}

void Cummax::evaluate(Evaluation& e) {
  accumulate<accepted>(e, [](auto x, auto y) { return scalar::max(x, y); });
}

void Cummin::evaluate(Evaluation& e) {
  accumulate<accepted>(e, [](auto x, auto y) { return scalar::min(x, y); });
}

void Cumsum::jvp(Jvp& j) { j.add(j.emit<Cumsum>({j.tangents[0]}, j.attributes())); }

void Cumsum::transpose(Transposition& t) {
  t.add(0, emit_cumulative(t.writer, id_of<Cumsum>, t.cotangents[0], t.attributes().integer("axis"),
                           !t.attributes().get<bool>("reverse")));
}

/// dy[i] = x[i] dy[i - 1] + y[i - 1] dx[i].
void Cumprod::jvp(Jvp& j) {
  const Writer& w = j.writer;
  const auto axis = static_cast<size_t>(j.attributes().integer("axis"));
  const bool reverse = j.attributes().get<bool>("reverse");
  if (j.operand_type(0).shape[axis] == 0) return;
  const Value before = shift_along(w, j.results[0], axis, reverse, 1);
  j.add(linear_recurrence(w, j.primals[0], w.mul(before, j.tangents[0]), axis, reverse));
}

void Cummax::jvp(Jvp& j) { jvp_running_extremum(j, id_of<Gt>); }

void Cummin::jvp(Jvp& j) { jvp_running_extremum(j, id_of<Lt>); }

Value shift_along(const Writer& w, Value x, size_t axis, bool reverse, double first) {
  const Shape shape = w.shape(x);
  if (shape[axis] == 0) return x;
  const Value edge = w.splat(first, {w.dtype(x), shape.with(axis, 1)});
  if (shape[axis] == 1) return edge;
  if (reverse) return w.concatenate({w.slice(x, axis, 1, shape[axis]), edge}, static_cast<int64_t>(axis));
  return w.concatenate({edge, w.slice(x, axis, 0, shape[axis] - 1)}, static_cast<int64_t>(axis));
}

Value emit_cumulative(const Writer& w, PrimitiveId id, Value x, int64_t axis, bool reverse) {
  return w.emit(id, {x}, {{"axis", axis}, {"reverse", reverse}});
}

}  // namespace calque::primitives
