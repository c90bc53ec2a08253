#include "primitives/shape/transpose.h"

#include "primitives/core/batched_axes.h"
#include "primitives/core/emit.h"
#include "primitives/core/lowering_helpers.h"

namespace calque::primitives {
namespace {

using List = std::vector<int64_t>;

}  // namespace

void Transpose::infer(Typing& t) {
  const Type& x = t.operand(0);
  const List& perm = t.ints("perm");
  t.check_length("perm", perm, x.shape.size());
  t.check_axes("perm", perm, x.shape.rank(), /*sorted=*/false);
  List shape;
  for (int64_t p : perm) shape.push_back(x.shape[static_cast<size_t>(p)]);
  t.result(x.dtype, shape);
}

void Transpose::evaluate(Evaluation& e) {
  const auto from_strides = row_major_strides(e.operands[0].shape());
  std::vector<int64_t> strides;
  for (int64_t p : e.attributes.ints("perm")) strides.push_back(from_strides[static_cast<size_t>(p)]);
  copy_view(e, strides);
}

Scalar Transpose::lower(Lowering& l, const Equation& e, size_t, std::span<const Scalar> index) {
  const auto& perm = e.attributes().ints("perm");
  Indices in(perm.size(), Scalar{});
  for (size_t d = 0; d < perm.size(); ++d) in[static_cast<size_t>(perm[d])] = index[d];
  return l.operand(0, in);
}

void Transpose::jvp(Jvp& j) { jvp_same_view(j); }

void Transpose::transpose(Transposition& t) {
  const List& perm = t.attributes().ints("perm");
  List inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  t.add(0, t.writer.transpose(t.cotangents[0], std::move(inverse)));
}

void Transpose::batch(Batching& b) {
  b.result(b.emit<Transpose>({b.operands[0]}, {{"perm", prepended(0, shifted(b.attributes().ints("perm")))}}));
}

}  // namespace calque::primitives
