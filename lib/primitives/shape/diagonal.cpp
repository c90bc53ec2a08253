#include "primitives/shape/diagonal.h"

#include <algorithm>

#include <fmt/format.h>

#include "primitives/core/emit.h"
#include "primitives/core/lowering_helpers.h"
#include "primitives/shape/pad.h"

namespace calque::primitives {
namespace {

using List = std::vector<int64_t>;

}  // namespace

DiagonalRange::DiagonalRange(const Attributes& attributes, const Shape& shape)
    : axis1(static_cast<size_t>(attributes.integer("axis1"))), axis2(static_cast<size_t>(attributes.integer("axis2"))) {
  // An offset outside the array gives an empty diagonal wherever it is: clamping avoids overflow.
  const int64_t offset = std::clamp(attributes.integer("offset"), -shape[axis1], shape[axis2]);
  first1 = std::max<int64_t>(-offset, 0);
  first2 = std::max<int64_t>(offset, 0);
  length = std::min(shape[axis1] - first1, shape[axis2] - first2);
}

void Diagonal::infer(Typing& t) {
  const Type& x = t.operand(0);
  const int64_t axis1 = t.integer("axis1"), axis2 = t.integer("axis2");
  t.check_axis("axis1", axis1, x.shape.rank());
  t.check_axis("axis2", axis2, x.shape.rank());
  if (axis1 == axis2) t.shape_error(fmt::format("expects two axes, got axis {} twice", axis1));
  List shape;
  for (int64_t d = 0; d < x.shape.rank(); ++d) {
    if (d != axis1 && d != axis2) shape.push_back(x.shape[static_cast<size_t>(d)]);
  }
  shape.push_back(DiagonalRange(t.attributes(), x.shape).length);
  t.result(x.dtype, shape);
}

void Diagonal::evaluate(Evaluation& e) {
  const Shape& shape = e.operands[0].shape();
  const DiagonalRange range(e.attributes, shape);
  const std::vector<int64_t> from = row_major_strides(shape);
  std::vector<int64_t> strides;
  for (size_t d = 0; d < from.size(); ++d) {
    if (d != range.axis1 && d != range.axis2) strides.push_back(from[d]);
  }
  strides.push_back(from[range.axis1] + from[range.axis2]);
  copy_view(e, strides, range.first1 * from[range.axis1] + range.first2 * from[range.axis2]);
}

Scalar Diagonal::lower(Lowering& l, const Equation& e, size_t, std::span<const Scalar> index) {
  const Shape& from = l.graph().shape(e.operand(0));
  const DiagonalRange range(e.attributes(), from);
  const auto along = [&](int64_t first) { return first == 0 ? index.back() : l.add(index.back(), l.index(first)); };
  Indices in;
  size_t next = 0;
  for (size_t d = 0; d < from.size(); ++d) {
    in.push_back(d == range.axis1 ? along(range.first1) : d == range.axis2 ? along(range.first2) : index[next++]);
  }
  return l.operand(0, in);
}

void Diagonal::jvp(Jvp& j) { jvp_same_view(j); }

/// Repeats the cotangents, padded to the extent of axis1, along axis2, and keeps those on the diagonal.
void Diagonal::transpose(Transposition& t) {
  const Type& x = t.operand_type(0);
  const DiagonalRange range(t.attributes(), x.shape);
  const Writer& w = t.writer;
  const size_t last = w.shape(t.cotangents[0]).size() - 1;
  List low(last + 1, 0), high(last + 1, 0), axes;
  low[last] = range.first1;
  high[last] = x.shape[range.axis1] - range.first1 - range.length;
  const Value padded = pad_with_zeros(w, t.cotangents[0], std::move(low), std::move(high), List(last + 1, 0));
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

}  // namespace calque::primitives
