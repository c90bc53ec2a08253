#include "primitives/shape/broadcast.h"

#include <fmt/format.h>

#include "primitives/core/batched_axes.h"
#include "primitives/core/emit.h"
#include "primitives/core/lowering_helpers.h"

namespace calque::primitives {
namespace {

using List = std::vector<int64_t>;

}  // namespace

void Broadcast::infer(Typing& t) {
  const Type& x = t.operand(0);
  const List& shape = t.ints("shape");
  const List& axes = t.ints("axes");
  t.check_length("axes", axes, x.shape.size());
  t.check_axes("axes", axes, static_cast<int>(shape.size()), /*sorted=*/true);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t to = shape[static_cast<size_t>(axes[i])];
    if (x.shape[i] != 1 && x.shape[i] != to) {
      t.shape_error(fmt::format("{} does not broadcast to {}, dimension {} has extent {} and not {}", to_string(x),
                                to_text(shape), i, x.shape[i], to));
    }
  }
  t.result(x.dtype, shape);
}

void Broadcast::evaluate(Evaluation& e) {
  const Shape& from = e.operands[0].shape();
  const auto from_strides = row_major_strides(from);
  std::vector<int64_t> strides(e.result_types[0].shape.size(), 0);
  const auto& axes = e.attributes.ints("axes");
  for (size_t i = 0; i < axes.size(); ++i) {
    if (from[i] != 1) strides[static_cast<size_t>(axes[i])] = from_strides[i];
  }
  copy_view(e, strides);
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

void Broadcast::jvp(Jvp& j) { jvp_same_view(j); }

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

}  // namespace calque::primitives
