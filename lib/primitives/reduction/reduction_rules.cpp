// Transformations of reductions, cumulative operations and contractions.
#include <algorithm>
#include <numeric>

#include "primitives/core/emit.h"

namespace calque::primitives {
namespace {

using List = std::vector<int64_t>;

/// The dimensions that are not reduced.
List kept_axes(const Shape& shape, const List& axes) {
  List kept;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (!has_axis(axes, d)) kept.push_back(d);
  }
  return kept;
}

/// Broadcasts a reduced value back to the shape of the operand.
Value broadcast_back(const Writer& w, Value reduced, const Shape& shape, const List& axes) {
  return w.broadcast(reduced, shape, kept_axes(shape, axes));
}

/// The elements that equal the extremum share its tangent.
void jvp_extremum(Jvp& j) {
  const List& axes = j.attributes().ints("axes");
  const Writer& w = j.writer;
  const Type& x = j.operand_type(0);
  if (x.shape.num_elements() == 0) return;  // the extremum of an empty array is a constant
  const Value at = w.emit(id_of<Eq>, {j.primals[0], broadcast_back(w, j.results[0], x.shape, axes)});
  const Value ones = w.convert(at, x.dtype);
  const Value sum = w.reduce_sum(w.mul(j.tangents[0], ones), axes);
  j.add(w.emit(id_of<Div>, {sum, w.reduce_sum(ones, axes)}));
}

/// x shifted by one along `axis` toward the end (the start if `reverse`), with `first` shifted in.
Value shifted(const Writer& w, Value x, size_t axis, bool reverse, double first) {
  const Shape shape = w.shape(x);
  if (shape[axis] == 0) return x;
  const Value edge = w.splat(first, {w.dtype(x), shape.with(axis, 1)});
  if (shape[axis] == 1) return edge;
  if (reverse) return w.concatenate({w.slice(x, axis, 1, shape[axis]), edge}, static_cast<int64_t>(axis));
  return w.concatenate({edge, w.slice(x, axis, 0, shape[axis] - 1)}, static_cast<int64_t>(axis));
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
  const Value before = shifted(w, j.results[0], axis, reverse, 0);
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

Value cumulative(const Writer& w, PrimitiveId id, Value x, int64_t axis, bool reverse) {
  return w.emit(id, {x}, {{"axis", axis}, {"reverse", reverse}});
}

}  // namespace

void batch_reduction(Batching& b) {
  List axes = b.attributes().ints("axes");
  for (int64_t& a : axes) ++a;
  b.result(b.writer.emit(b.equation.id(), {b.operands[0]}, {{"axes", std::move(axes)}}));
}

void batch_along_axis(Batching& b) {
  Attributes attributes = b.attributes();
  attributes.set("axis", b.attributes().integer("axis") + 1);
  b.result(b.writer.emit(b.equation.id(), {b.operands[0]}, std::move(attributes)));
}

// ---- reductions

void ReduceSum::jvp(Jvp& j) { j.add(j.emit<ReduceSum>({j.tangents[0]}, j.attributes())); }

void ReduceSum::transpose(Transposition& t) {
  t.add(0, broadcast_back(t.writer, t.cotangents[0], t.operand_type(0).shape, t.attributes().ints("axes")));
}

/// The derivative is the product of all other elements, computed from cumulative products from both sides: no division
/// by zero.
void ReduceProd::jvp(Jvp& j) {
  const Writer& w = j.writer;
  const List& axes = j.attributes().ints("axes");
  const Shape& shape = j.operand_type(0).shape;
  if (axes.empty()) {
    j.add(j.tangents[0]);
    return;
  }
  List perm = kept_axes(shape, axes);
  const size_t kept = perm.size();
  perm.insert(perm.end(), axes.begin(), axes.end());
  const Shape& reduced = j.result_type().shape;
  int64_t count = 1;
  for (const int64_t a : axes) count *= shape[static_cast<size_t>(a)];
  const Shape rows = reduced.with_inserted(kept, count);
  const auto as_rows = [&](Value v) { return w.reshape(w.transpose(v, perm), rows); };
  const Value x = as_rows(j.primals[0]);
  const auto axis = static_cast<int64_t>(kept);
  const Value left = cumulative(w, id_of<Cumprod>, shifted(w, x, kept, false, 1), axis, false);
  const Value right = cumulative(w, id_of<Cumprod>, shifted(w, x, kept, true, 1), axis, true);
  j.add(w.reduce_sum(w.mul(as_rows(j.tangents[0]), w.mul(left, right)), {axis}));
}

void ReduceMax::jvp(Jvp& j) { jvp_extremum(j); }
void ReduceMin::jvp(Jvp& j) { jvp_extremum(j); }

// ---- cumulative operations

void Cumsum::jvp(Jvp& j) { j.add(j.emit<Cumsum>({j.tangents[0]}, j.attributes())); }

void Cumsum::transpose(Transposition& t) {
  t.add(0, cumulative(t.writer, id_of<Cumsum>, t.cotangents[0], t.attributes().integer("axis"),
                      !t.attributes().get<bool>("reverse")));
}

/// dy[i] = x[i] dy[i - 1] + y[i - 1] dx[i].
void Cumprod::jvp(Jvp& j) {
  const Writer& w = j.writer;
  const auto axis = static_cast<size_t>(j.attributes().integer("axis"));
  const bool reverse = j.attributes().get<bool>("reverse");
  if (j.operand_type(0).shape[axis] == 0) return;
  const Value before = shifted(w, j.results[0], axis, reverse, 1);
  j.add(linear_recurrence(w, j.primals[0], w.mul(before, j.tangents[0]), axis, reverse));
}

void Cummax::jvp(Jvp& j) { jvp_running_extremum(j, id_of<Gt>); }
void Cummin::jvp(Jvp& j) { jvp_running_extremum(j, id_of<Lt>); }

// ---- dot_general

void DotGeneral::jvp(Jvp& j) {
  if (j.active(0)) j.add(j.emit<DotGeneral>({j.tangents[0], j.primals[1]}, j.attributes()));
  if (j.active(1)) j.add(j.emit<DotGeneral>({j.primals[0], j.tangents[1]}, j.attributes()));
}

namespace {

/// The dimensions of an operand of dot_general: batch, contracted, free.
struct DotAxes {
  List batch, contract, free;
};

DotAxes dot_axes(const Equation& e, const Shape& shape, bool lhs) {
  DotAxes axes{e.attributes().ints(lhs ? "lhs_batch" : "rhs_batch"),
               e.attributes().ints(lhs ? "lhs_contract" : "rhs_contract"),
               {}};
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (!has_axis(axes.batch, d) && !has_axis(axes.contract, d)) axes.free.push_back(d);
  }
  return axes;
}

List range(int64_t first, size_t count) {
  List list(count);
  std::iota(list.begin(), list.end(), first);
  return list;
}

/// The cotangent of one operand: the result's cotangent contracted with the other operand over the other's free
/// dimensions, then transposed to the operand's order of dimensions.
Value transposed_operand(Transposition& t, bool lhs) {
  const size_t mine = lhs ? 0 : 1, others = lhs ? 1 : 0;
  const DotAxes my = dot_axes(t.equation, t.operand_type(mine).shape, lhs);
  const DotAxes other = dot_axes(t.equation, t.operand_type(others).shape, !lhs);
  const size_t batch = my.batch.size();
  // The positions of the other's free dimensions in the result: after the batch and, for the rhs, the lhs' free ones.
  const List ct_contract = range(static_cast<int64_t>(batch + (lhs ? my.free.size() : 0)), other.free.size());
  Attributes attributes{{"lhs_batch", range(0, batch)},
                        {"lhs_contract", ct_contract},
                        {"rhs_batch", other.batch},
                        {"rhs_contract", other.free}};
  const Value product = t.emit<DotGeneral>({t.cotangents[0], t.operands[others]}, std::move(attributes));
  // Dimensions of the product: batch, this operand's free ones, the other's contracted ones in the other's order.
  List order = my.batch;
  order.insert(order.end(), my.free.begin(), my.free.end());
  List contracted = other.contract;
  std::sort(contracted.begin(), contracted.end());
  for (const int64_t c : contracted) {
    const auto k = std::find(other.contract.begin(), other.contract.end(), c) - other.contract.begin();
    order.push_back(my.contract[static_cast<size_t>(k)]);
  }
  List perm(order.size());
  for (size_t i = 0; i < order.size(); ++i) perm[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return t.writer.transpose(product, std::move(perm));
}

}  // namespace

void DotGeneral::transpose(Transposition& t) {
  if (t.linear(0) && t.linear(1)) refuse(t.equation, NotLinear::reason);
  const bool lhs = t.linear(0);
  t.add(lhs ? 0 : 1, transposed_operand(t, lhs));
}

void DotGeneral::batch(Batching& b) {
  const auto moved = [&](size_t i, std::string_view name) {
    List axes = b.attributes().ints(name);
    for (int64_t& a : axes) a += b.batched[i] ? 1 : 0;
    return axes;
  };
  List lhs_batch = moved(0, "lhs_batch"), rhs_batch = moved(1, "rhs_batch");
  const size_t batch = lhs_batch.size();
  if (b.batched[0] && b.batched[1]) {
    lhs_batch.insert(lhs_batch.begin(), 0);
    rhs_batch.insert(rhs_batch.begin(), 0);
  }
  const Value product =
      b.emit<DotGeneral>({b.operands[0], b.operands[1]}, {{"lhs_batch", std::move(lhs_batch)},
                                                          {"lhs_contract", moved(0, "lhs_contract")},
                                                          {"rhs_batch", std::move(rhs_batch)},
                                                          {"rhs_contract", moved(1, "rhs_contract")}});
  // If only one operand is batched, the batch is the first free dimension of that operand.
  size_t at = 0;
  if (!b.batched[1]) at = batch;
  if (!b.batched[0]) at = batch + dot_axes(b.equation, b.operand_type(0).shape, true).free.size();
  b.result(b.writer.move_axis(product, at, 0));
}

}  // namespace calque::primitives
