#include "primitives/shape/slice.h"

#include <algorithm>

#include <fmt/format.h>

#include "primitives/core/batched_axes.h"
#include "primitives/core/emit.h"
#include "primitives/core/lowering_helpers.h"
#include "primitives/shape/pad.h"

namespace calque::primitives {
namespace {

using List = std::vector<int64_t>;

}  // namespace

void Slice::infer(Typing& t) {
  const Type& x = t.operand(0);
  const List& start = t.ints("start");
  const List& limit = t.ints("limit");
  const List& stride = t.ints("stride");
  t.check_length("start", start, x.shape.size());
  t.check_length("limit", limit, x.shape.size());
  t.check_length("stride", stride, x.shape.size());
  List shape;
  for (size_t i = 0; i < x.shape.size(); ++i) {
    if (start[i] < 0 || start[i] > limit[i] || limit[i] > x.shape[i]) {
      t.shape_error(fmt::format("expects 0 <= start <= limit <= extent, got {}:{} in dimension {} of {}", start[i],
                                limit[i], i, to_string(x)));
    }
    if (stride[i] < 1) t.shape_error(fmt::format("expects a positive stride, got {}", to_text(stride)));
    const int64_t length = limit[i] - start[i];
    shape.push_back(length / stride[i] + (length % stride[i] != 0 ? 1 : 0));
  }
  t.result(x.dtype, shape);
}

void Slice::evaluate(Evaluation& e) {
  std::vector<int64_t> strides = row_major_strides(e.operands[0].shape());
  const auto& start = e.attributes.ints("start");
  const auto& stride = e.attributes.ints("stride");
  int64_t base = 0;
  for (size_t d = 0; d < strides.size(); ++d) {
    base += start[d] * strides[d];
    // A stride beyond the extent selects one element, index 0: clamping it avoids overflow.
    strides[d] *= std::min(stride[d], std::max<int64_t>(e.operands[0].shape()[d], 1));
  }
  copy_view(e, strides, base);
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

void Slice::jvp(Jvp& j) { jvp_same_view(j); }

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
  t.add(0, pad_with_zeros(t.writer, t.cotangents[0], start, std::move(high), std::move(interior)));
}

void Slice::batch(Batching& b) {
  b.result(b.emit<Slice>({b.operands[0]}, {{"limit", prepended(b.size, b.attributes().ints("limit"))},
                                           {"start", prepended(0, b.attributes().ints("start"))},
                                           {"stride", prepended(1, b.attributes().ints("stride"))}}));
}

}  // namespace calque::primitives
