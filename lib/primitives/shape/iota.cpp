#include "primitives/shape/iota.h"

#include <fmt/format.h>

#include "primitives/core/index_walk.h"
#include "primitives/core/lowering_helpers.h"
#include "primitives/elementwise/numbers.h"

namespace calque::primitives {
namespace {

using List = std::vector<int64_t>;

}  // namespace

void Iota::infer(Typing& t) {
  const DType dtype = t.attributes().get<DType>("dtype");
  if (!contains(kNumber, dtype)) t.dtype_error(fmt::format("expects a dtype of numbers, got {}", calque::name(dtype)));
  const List& shape = t.ints("shape");
  t.check_axis("axis", t.integer("axis"), static_cast<int>(shape.size()));
  t.result(dtype, shape);
}

void Iota::evaluate(Evaluation& e) {
  AnyArray& out = e.add_result();
  const auto axis = static_cast<size_t>(e.attributes.integer("axis"));
  visit_dtype(out.dtype(), [&]<class T>() {
    T* to = static_cast<T*>(out.mutable_data());
    IndexWalk walk(out.shape().dims());
    for (int64_t i = 0, n = out.size(); i < n; ++i, walk.next()) to[i] = convert_element<T>(walk[axis]);
  });
}

Scalar Iota::lower(Lowering& l, const Equation& e, size_t, std::span<const Scalar> index) {
  const Scalar i = index[static_cast<size_t>(e.attributes().integer("axis"))];
  const DType dtype = e.attributes().get<DType>("dtype");
  return dtype == DType::i64 ? i : l.op(id_of<Convert>, dtype, {i});
}

void Iota::batch(Batching& b) {
  b.result(b.writer.emit(b.equation.id(), {}, b.attributes()), false);  // has no operands to be batched
}

}  // namespace calque::primitives
