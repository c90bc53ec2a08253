#include "primitives/elementwise/compare_logic.h"

#include <cstring>

#include <fmt/format.h>

#include "primitives/elementwise/elementwise_evaluation.h"
#include "primitives/registration.h"

namespace calque::primitives {

template void register_family<CompareLogicList>(std::span<const Registration>);

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

}  // namespace calque::primitives
