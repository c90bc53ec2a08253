#include "primitives/shape/concatenate.h"

#include <cstring>

#include <fmt/format.h>

#include "primitives/core/emit.h"
#include "primitives/core/lowering_helpers.h"

namespace calque::primitives {
namespace {

using List = std::vector<int64_t>;

}  // namespace

void Concatenate::infer(Typing& t) {
  const Type& first = t.operand(0);
  const int64_t axis = t.integer("axis");
  t.check_axis("axis", axis, first.shape.rank());
  t.same_dtype();
  int64_t extent = 0;
  for (size_t i = 0; i < t.num_operands(); ++i) {
    const Shape& shape = t.operand(i).shape;
    bool fits = shape.rank() == first.shape.rank();
    for (size_t d = 0; fits && d < shape.size(); ++d) {
      fits = shape[d] == first.shape[d] || d == static_cast<size_t>(axis);
    }
    if (!fits) {
      t.shape_error(fmt::format("operands differ in shape besides axis {}, got {} and {}", axis, to_string(first),
                                to_string(t.operand(i))));
    }
    if (__builtin_add_overflow(extent, shape[static_cast<size_t>(axis)], &extent)) {
      t.shape_error("the result has too many elements");
    }
  }
  List shape(first.shape.begin(), first.shape.end());
  shape[static_cast<size_t>(axis)] = extent;
  t.result(first.dtype, shape);
}

void Concatenate::evaluate(Evaluation& e) {
  AnyArray& out = e.add_result();
  const auto axis = static_cast<size_t>(e.attributes.integer("axis"));
  size_t outer = 1;
  for (size_t d = 0; d < axis; ++d) outer *= static_cast<size_t>(out.shape()[d]);
  if (out.size() == 0) return;
  const size_t row = out.bytes() / outer;
  auto* to = static_cast<char*>(out.mutable_data());
  for (const AnyArray& x : e.operands) {
    const size_t x_row = x.bytes() / outer;
    for (size_t o = 0; x_row != 0 && o < outer; ++o) {
      std::memcpy(to + o * row, bytes_of(x) + o * x_row, x_row);
    }
    to += x_row;
  }
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
