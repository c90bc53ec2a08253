#include "primitives/core/transformation.h"

#include <fmt/format.h>

namespace calque::primitives {

void refuse(const Equation& equation, std::string_view reason) {
  std::string line = to_string(equation.location());
  throw GradError(fmt::format("{}: {}{}", equation.primitive(), reason, line.empty() ? "" : " (" + line + ")"));
}

void batch_elementwise(Batching& b) {
  ValueList operands;
  for (size_t i = 0; i < b.operands.size(); ++i) operands.push_back(b.batched_operand(i));
  b.result(b.writer.emit(b.equation.id(), std::move(operands), b.attributes()));
}

void batch_same(Batching& b) { b.result(b.writer.emit(b.equation.id(), {b.operands[0]}, b.attributes())); }

void batch_along_axis(Batching& b) {
  Attributes attributes = b.attributes();
  attributes.set("axis", b.attributes().integer("axis") + 1);
  b.result(b.writer.emit(b.equation.id(), {b.operands[0]}, std::move(attributes)));
}

}  // namespace calque::primitives
