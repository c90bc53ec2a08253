// Transformations of views. All are linear: the tangent is the same view of the operand's tangent, and the transpose
// moves cotangents back to the operand's positions.
#include "primitives/core/batched_axes.h"
#include "primitives/core/emit.h"

namespace calque::primitives {
namespace {

using List = std::vector<int64_t>;

/// The tangent is the same view of the operand's tangent.
void same_view(Jvp& j) {
  const Equation& e = j.equation;
  j.add(j.writer.emit(e.id(), {j.tangents[0]}, e.attributes()));
}

/// Pads a value with zeros.
Value pad(const Writer& w, Value x, List low, List high, List interior) {
  const Value zero = w.zeros({w.dtype(x), {}});
  return w.emit(id_of<Pad>, {x, zero},
                {{"high", std::move(high)}, {"interior", std::move(interior)}, {"low", std::move(low)}});
}

}  // namespace

// ---- iota

void Iota::batch(Batching& b) {
  b.result(b.writer.emit(b.equation.id(), {}, b.attributes()), false);  // has no operands to be batched
}

// ---- broadcast

void Broadcast::jvp(Jvp& j) { same_view(j); }

void Broadcast::transpose(Transposition& t) {
  const List& axes = t.attributes().ints("axes");
  const Type& x = t.operand_type(0);
  const Shape& shape = t.result_type().shape;
  List summed;
  size_t next = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    const bool mapped = next < axes.size() && axes[next] == static_cast<int64_t>(d);
    if (!mapped || x.shape[next] != shape[d]) summed.push_back(static_cast<int64_t>(d));
    if (mapped) ++next;
  }
  t.add(0, t.writer.reshape(t.writer.reduce_sum(t.cotangents[0], std::move(summed)), x.shape));
}

void Broadcast::batch(Batching& b) {
  b.result(b.emit<Broadcast>({b.operands[0]}, {{"axes", prepended(0, shifted(b.attributes().ints("axes")))},
                                               {"shape", prepended(b.size, b.attributes().ints("shape"))}}));
}

// ---- reshape

void Reshape::jvp(Jvp& j) { same_view(j); }
void Reshape::transpose(Transposition& t) { t.add(0, t.writer.reshape(t.cotangents[0], t.operand_type(0).shape)); }
void Reshape::batch(Batching& b) {
  b.result(b.emit<Reshape>({b.operands[0]}, {{"shape", prepended(b.size, b.attributes().ints("shape"))}}));
}

// ---- transpose

void Transpose::jvp(Jvp& j) { same_view(j); }

void Transpose::transpose(Transposition& t) {
  const List& perm = t.attributes().ints("perm");
  List inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  t.add(0, t.writer.transpose(t.cotangents[0], std::move(inverse)));
}

void Transpose::batch(Batching& b) {
  b.result(b.emit<Transpose>({b.operands[0]}, {{"perm", prepended(0, shifted(b.attributes().ints("perm")))}}));
}

// ---- reverse

void Reverse::jvp(Jvp& j) { same_view(j); }
void Reverse::transpose(Transposition& t) { t.add(0, t.emit<Reverse>({t.cotangents[0]}, t.attributes())); }
void Reverse::batch(Batching& b) {
  b.result(b.emit<Reverse>({b.operands[0]}, {{"axes", shifted(b.attributes().ints("axes"))}}));
}

// ---- slice

void Slice::jvp(Jvp& j) { same_view(j); }

void Slice::transpose(Transposition& t) {
  const List& start = t.attributes().ints("start");
  const List& stride = t.attributes().ints("stride");
  const Shape& x = t.operand_type(0).shape;
  const Shape& taken = t.result_type().shape;
  List high, interior;
  for (size_t d = 0; d < x.size(); ++d) {
    // The last selected element is at start + (taken - 1) * stride.
    const int64_t span = taken[d] == 0 ? 0 : (taken[d] - 1) * stride[d] + 1;
    high.push_back(x[d] - start[d] - span);
    interior.push_back(taken[d] > 1 ? stride[d] - 1 : 0);  // with one element, the stride may be arbitrarily large
  }
  t.add(0, pad(t.writer, t.cotangents[0], start, std::move(high), std::move(interior)));
}

void Slice::batch(Batching& b) {
  b.result(b.emit<Slice>({b.operands[0]}, {{"limit", prepended(b.size, b.attributes().ints("limit"))},
                                           {"start", prepended(0, b.attributes().ints("start"))},
                                           {"stride", prepended(1, b.attributes().ints("stride"))}}));
}

// ---- diagonal

void Diagonal::jvp(Jvp& j) { same_view(j); }

/// Repeats the cotangents, padded to the extent of axis1, along axis2, and keeps those on the diagonal.
void Diagonal::transpose(Transposition& t) {
  const Type& x = t.operand_type(0);
  const DiagonalRange range(t.attributes(), x.shape);
  const Writer& w = t.writer;
  const size_t last = w.shape(t.cotangents[0]).size() - 1;
  List low(last + 1, 0), high(last + 1, 0), axes;
  low[last] = range.first1;
  high[last] = x.shape[range.axis1] - range.first1 - range.length;
  const Value padded = pad(w, t.cotangents[0], std::move(low), std::move(high), List(last + 1, 0));
  for (size_t d = 0; d < x.shape.size(); ++d) {
    if (d != range.axis2) axes.push_back(static_cast<int64_t>(d));
  }
  const Value rows = w.move_axis(padded, last, range.axis1 - (range.axis2 < range.axis1 ? 1 : 0));
  const auto along = [&](size_t axis, int64_t first) {
    const Value index = w.iota(DType::i64, x.shape, static_cast<int64_t>(axis));
    return w.add(index, w.splat(-static_cast<double>(first), w.type(index)));
  };
  const Value on = w.emit(id_of<Eq>, {along(range.axis1, range.first1), along(range.axis2, range.first2)});
  t.add(0, w.select(on, w.broadcast(rows, x.shape, std::move(axes)), w.zeros(x)));
}

void Diagonal::batch(Batching& b) {
  const Attributes& a = b.attributes();
  b.result(b.emit<Diagonal>(
      {b.operands[0]},
      {{"axis1", a.integer("axis1") + 1}, {"axis2", a.integer("axis2") + 1}, {"offset", a.integer("offset")}}));
}

// ---- pad

void Pad::jvp(Jvp& j) { j.add(j.emit<Pad>({j.tangent_or_zero(0), j.tangent_or_zero(1)}, j.attributes())); }

void Pad::transpose(Transposition& t) {
  const List& low = t.attributes().ints("low");
  const List& high = t.attributes().ints("high");
  const List& interior = t.attributes().ints("interior");
  const Type& x = t.operand_type(0);
  const Writer& w = t.writer;
  // Cotangent of x: remove the padding (where the padding was negative, insert zeros for the removed elements).
  List crop_low, crop_high;
  for (size_t d = 0; d < low.size(); ++d) {
    crop_low.push_back(-low[d]);
    crop_high.push_back(-high[d]);
  }
  const List none(low.size(), 0);
  Value inner = pad(w, t.cotangents[0], std::move(crop_low), std::move(crop_high), none);
  for (size_t d = 0; d < low.size(); ++d) {
    if (interior[d] > 0) inner = w.slice(inner, d, 0, w.shape(inner)[d], interior[d] + 1);
  }
  if (t.linear(0)) t.add(0, inner);
  if (!t.linear(1)) return;
  // Cotangent of the padding value: the sum of all cotangents except those of x, which are masked to zero.
  const Value mask_inside = w.emit(id_of<Pad>, {w.splat(0, x), w.splat(1, {x.dtype, {}})}, t.attributes());
  List all;
  for (size_t d = 0; d < low.size(); ++d) all.push_back(static_cast<int64_t>(d));
  const Value outside = w.emit(id_of<Ne>, {mask_inside, w.zeros(w.type(mask_inside))});
  t.add(1, w.reduce_sum(w.select(outside, t.cotangents[0], w.zeros(t.result_type())), std::move(all)));
}

void Pad::batch(Batching& b) {
  const auto with_batch = [&](std::string_view name) { return prepended(0, b.attributes().ints(name)); };
  const Attributes attributes{
      {"high", with_batch("high")}, {"interior", with_batch("interior")}, {"low", with_batch("low")}};
  const Writer& w = b.writer;
  const Value x = b.batched_operand(0);
  if (!b.batched[1]) {
    b.result(w.emit(id_of<Pad>, {x, b.operands[1]}, attributes));
    return;
  }
  // A padding value per example: pad with zeros and a mask, then select the value where the mask is set.
  const Type& type = b.operand_type(0);
  const Value padded = w.emit(id_of<Pad>, {x, w.zeros({type.dtype, {}})}, attributes);
  const Value outside =
      w.emit(id_of<Pad>, {w.splat(0, {DType::bool_, w.shape(x)}), w.splat(1, {DType::bool_, {}})}, attributes);
  b.result(w.select(outside, w.broadcast(b.operands[1], w.shape(padded), {0}), padded));
}

// ---- concatenate

void Concatenate::jvp(Jvp& j) {
  ValueList tangents;
  for (size_t i = 0; i < j.primals.size(); ++i) tangents.push_back(j.tangent_or_zero(i));
  j.add(j.emit<Concatenate>(std::move(tangents), j.attributes()));
}

void Concatenate::transpose(Transposition& t) {
  const auto axis = static_cast<size_t>(t.attributes().integer("axis"));
  int64_t at = 0;
  for (size_t i = 0; i < t.operands.size(); ++i) {
    const int64_t extent = t.operand_type(i).shape[axis];
    if (t.linear(i)) t.add(i, t.writer.slice(t.cotangents[0], axis, at, at + extent));
    at += extent;
  }
}

void Concatenate::batch(Batching& b) {
  ValueList operands;
  for (size_t i = 0; i < b.operands.size(); ++i) operands.push_back(b.batched_operand(i));
  b.result(b.emit<Concatenate>(std::move(operands), {{"axis", b.attributes().integer("axis") + 1}}));
}

}  // namespace calque::primitives
