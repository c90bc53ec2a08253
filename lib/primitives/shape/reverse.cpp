#include "primitives/shape/reverse.h"

#include "primitives/core/batched_axes.h"
#include "primitives/core/emit.h"
#include "primitives/core/lowering_helpers.h"

namespace calque::primitives {

void Reverse::infer(Typing& t) {
  const Type& x = t.operand(0);
  t.check_axes("axes", t.ints("axes"), x.shape.rank(), /*sorted=*/true);
  t.result(x);
}

void Reverse::evaluate(Evaluation& e) {
  const Shape& shape = e.operands[0].shape();
  std::vector<int64_t> strides = row_major_strides(shape);
  int64_t base = 0;
  for (int64_t axis : e.attributes.ints("axes")) {
    const auto d = static_cast<size_t>(axis);
    base += (shape[d] - 1) * strides[d];
    strides[d] = -strides[d];
  }
  copy_view(e, strides, base);
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

void Reverse::jvp(Jvp& j) { jvp_same_view(j); }

void Reverse::transpose(Transposition& t) { t.add(0, t.emit<Reverse>({t.cotangents[0]}, t.attributes())); }

void Reverse::batch(Batching& b) {
  b.result(b.emit<Reverse>({b.operands[0]}, {{"axes", shifted(b.attributes().ints("axes"))}}));
}

}  // namespace calque::primitives
