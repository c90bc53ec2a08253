// Index maps of the views. Only reshapes that split dimensions at unaligned boundaries need division and remainder.
#include <algorithm>

#include "primitives/core/lowering_helpers.h"
#include "primitives/shape/shape.h"

namespace calque::primitives {
namespace {

using Indices = calque::detail::InlineVector<Scalar, 5>;

/// The row-major linear index of `index` within the dimensions [begin, end) of a shape.
Scalar linearize(Lowering& l, const Shape& shape, size_t begin, size_t end, std::span<const Scalar> index) {
  Scalar sum = l.index(0);
  bool zero = true;
  for (size_t d = begin; d < end; ++d) {
    if (shape[d] == 1) continue;
    sum = zero ? index[d] : l.add(l.mul(sum, shape[d]), index[d]);
    zero = false;
  }
  return sum;
}

}  // namespace

Scalar Iota::lower(Lowering& l, const Equation& e, size_t, std::span<const Scalar> index) {
  const Scalar i = index[static_cast<size_t>(e.attributes().integer("axis"))];
  const DType dtype = e.attributes().get<DType>("dtype");
  return dtype == DType::i64 ? i : l.op(id_of<Convert>, dtype, {i});
}

Scalar Broadcast::lower(Lowering& l, const Equation& e, size_t, std::span<const Scalar> index) {
  const Shape& from = l.graph().shape(e.operand(0));
  const auto& axes = e.attributes().ints("axes");
  Indices in;
  for (size_t i = 0; i < axes.size(); ++i) {
    in.push_back(from[i] == 1 ? l.index(0) : index[static_cast<size_t>(axes[i])]);
  }
  return l.operand(0, in);
}

Scalar Reshape::lower(Lowering& l, const Equation& e, size_t result, std::span<const Scalar> index) {
  const Shape& from = l.graph().shape(e.operand(0));
  const Shape& to = l.graph().shape(e.result(result));
  Indices in(from.size(), l.index(0));
  if (from.num_elements() == 0) return l.operand(0, in);
  // Maps the shortest runs of dimensions with equal products of extents on both sides to each other.
  size_t i = 0;
  size_t o = 0;
  while (i < from.size() || o < to.size()) {
    const size_t i0 = i;
    const size_t o0 = o;
    int64_t a = i < from.size() ? from[i++] : 1;
    int64_t b = o < to.size() ? to[o++] : 1;
    while (a != b) {
      if (a < b) {
        a *= from[i++];
      } else {
        b *= to[o++];
      }
    }
    if (a == 1) continue;  // only extents of 1: the index is 0
    const Scalar linear = linearize(l, to, o0, o, index);
    int64_t below = a;
    for (size_t d = i0; d < i; ++d) {
      below /= from[d];
      if (from[d] == 1) continue;
      Scalar s = below == 1 ? linear : l.div(linear, below);
      if (below * from[d] != a) s = l.mod(s, from[d]);
      in[d] = s;
    }
  }
  return l.operand(0, in);
}

Scalar Transpose::lower(Lowering& l, const Equation& e, size_t, std::span<const Scalar> index) {
  const auto& perm = e.attributes().ints("perm");
  Indices in(perm.size(), Scalar{});
  for (size_t d = 0; d < perm.size(); ++d) in[static_cast<size_t>(perm[d])] = index[d];
  return l.operand(0, in);
}

Scalar Reverse::lower(Lowering& l, const Equation& e, size_t, std::span<const Scalar> index) {
  const Shape& shape = l.graph().shape(e.operand(0));
  Indices in(index);
  for (int64_t axis : e.attributes().ints("axes")) {
    const auto d = static_cast<size_t>(axis);
    in[d] = l.sub(l.index(shape[d] - 1), in[d]);
  }
  return l.operand(0, in);
}

Scalar Slice::lower(Lowering& l, const Equation& e, size_t, std::span<const Scalar> index) {
  const auto& start = e.attributes().ints("start");
  const auto& stride = e.attributes().ints("stride");
  const Shape& from = l.graph().shape(e.operand(0));
  Indices in;
  for (size_t d = 0; d < index.size(); ++d) {
    // A stride beyond the extent is only multiplied by index 0: clamping it avoids overflow.
    const int64_t step = std::min(stride[d], std::max<int64_t>(from[d], 1));
    const Scalar scaled = step == 1 ? index[d] : l.mul(index[d], step);
    in.push_back(start[d] == 0 ? scaled : l.add(scaled, l.index(start[d])));
  }
  return l.operand(0, in);
}

Scalar Pad::lower(Lowering& l, const Equation& e, size_t result, std::span<const Scalar> index) {
  const Shape& from = l.graph().shape(e.operand(0));
  const Shape& to = l.graph().shape(e.result(result));
  const auto& low = e.attributes().ints("low");
  const auto& interior = e.attributes().ints("interior");
  const Scalar value = l.operand(1, {});
  if (from.num_elements() == 0) return value;
  Predicate inside(l);
  Indices in;
  for (size_t d = 0; d < index.size(); ++d) {
    const int64_t step = interior[d] + 1;
    const int64_t last = (from[d] - 1) * step;  // position of the last element, relative to low
    const Scalar p = low[d] == 0 ? index[d] : l.sub(index[d], l.index(low[d]));
    if (from[d] == 1 && to[d] > 1) {
      inside.equal(p, 0);
      in.push_back(l.index(0));
      continue;
    }
    if (low[d] > 0) inside.at_least(p, 0);
    if (to[d] - 1 - low[d] > last) inside.at_most(p, last);
    if (step == 1) {
      in.push_back(p);
      continue;
    }
    // p is shifted up by whole steps before the division, so that it is not negative in the low padding.
    const int64_t up = low[d] > 0 ? (low[d] + step - 1) / step : 0;
    const Scalar moved = up == 0 ? p : l.add(p, l.index(up * step));
    inside.equal(l.mod(moved, step), 0);
    const Scalar quotient = l.div(moved, step);
    in.push_back(up == 0 ? quotient : l.sub(quotient, l.index(up)));
  }
  return inside.guard([&] { return l.operand(0, in); }, value);
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

Scalar Concatenate::lower(Lowering& l, const Equation& e, size_t result, std::span<const Scalar> index) {
  const auto axis = static_cast<size_t>(e.attributes().integer("axis"));
  const int64_t total = l.graph().shape(e.result(result))[axis];
  Scalar value = l.constant(l.graph().dtype(e.result(result)), Literal{});
  int64_t begin = 0;
  for (size_t k = 0; k < e.operands().size(); ++k) {
    const int64_t extent = l.graph().shape(e.operand(k))[axis];
    if (extent == 0) continue;
    const int64_t end = begin + extent;
    Predicate inside(l);
    if (begin > 0) inside.at_least(index[axis], begin);
    if (end < total) inside.at_most(index[axis], end - 1);
    Indices in(index);
    if (begin > 0) in[axis] = l.sub(index[axis], l.index(begin));
    value = inside.guard([&] { return l.operand(k, in); }, value);
    begin = end;
  }
  return value;
}

}  // namespace calque::primitives
