#include "primitives/elementwise/compare_logic.h"

#include <cstring>

#include <fmt/format.h>

#include "primitives/elementwise/elementwise_evaluation.h"
#include "primitives/registration.h"

namespace calque::primitives {

void Select::infer(Typing& t) {
  t.accept(0, kBool);
  t.same_dtype(1);
  t.same_shape(0);
  t.result(t.operand(1));
}

void Select::evaluate(Evaluation& e) {
  AnyArray& out = e.add_result();
  const size_t width = size_of(out.dtype());
  const bool* pred = e.operands[0].data_as<bool>();
  const auto* yes = bytes_of(e.operands[1]);
  const auto* no = bytes_of(e.operands[2]);
  auto* to = static_cast<char*>(out.mutable_data());
  for (size_t i = 0, n = static_cast<size_t>(out.size()); i < n; ++i) {
    std::memcpy(to + i * width, (pred[i] ? yes : no) + i * width, width);
  }
}

void Select::jvp(Jvp& j) {
  if (!j.active(1) && !j.active(2)) return;
  j.add(j.writer.select(j.primals[0], j.tangent_or_zero(1), j.tangent_or_zero(2)));
}

void Select::transpose(Transposition& t) {
  const Value ct = t.cotangents[0], zero = t.writer.zeros(t.result_type());
  if (t.linear(1)) t.add(1, t.writer.select(t.operands[0], ct, zero));
  if (t.linear(2)) t.add(2, t.writer.select(t.operands[0], zero, ct));
}

template void register_family<CompareLogicList>(std::span<const Registration>);

}  // namespace calque::primitives
