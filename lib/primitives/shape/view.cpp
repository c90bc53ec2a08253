#include "primitives/shape/view.h"

#include "primitives/core/index_walk.h"

namespace calque::primitives {

void copy_view(Evaluation& e, std::span<const int64_t> strides, int64_t base) {
  AnyArray& out = e.add_result();
  copy_strided(out.mutable_data(), e.operands[0].data(), size_of(out.dtype()), out.shape().dims(), strides, base);
}

void jvp_same_view(Jvp& j) {
  const Equation& e = j.equation;
  j.add(j.writer.emit(e.id(), {j.tangents[0]}, e.attributes()));
}

}  // namespace calque::primitives
