// Transformation rules of elementwise primitives that are not derived from `tangent`.
#include <fmt/format.h>

#include "primitives/core/emit.h"

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

// ---- select

void Select::jvp(Jvp& j) {
  if (!j.active(1) && !j.active(2)) return;
  j.add(j.writer.select(j.primals[0], j.tangent_or_zero(1), j.tangent_or_zero(2)));
}

void Select::transpose(Transposition& t) {
  const Value ct = t.cotangents[0], zero = t.writer.zeros(t.result_type());
  if (t.linear(1)) t.add(1, t.writer.select(t.operands[0], ct, zero));
  if (t.linear(2)) t.add(2, t.writer.select(t.operands[0], zero, ct));
}

// ---- convert

void Convert::jvp(Jvp& j) { j.add(j.writer.convert(j.tangents[0], j.result_type().dtype)); }

void Convert::transpose(Transposition& t) { t.add(0, t.writer.convert(t.cotangents[0], t.operand_type(0).dtype)); }

// ---- bitcast

void Bitcast::jvp(Jvp& j) {
  if (j.operand_type(0) == j.result_type()) j.add(j.tangents[0]);
}

void Bitcast::transpose(Transposition& t) { t.add(0, t.cotangents[0]); }

// ---- optimization_barrier

void OptimizationBarrier::infer(Typing& t) { t.result(t.operand(0)); }
void OptimizationBarrier::evaluate(Evaluation& e) { e.results.push_back(e.operands[0]); }
Scalar OptimizationBarrier::lower(Lowering& l, const Equation&, size_t, std::span<const Scalar> index) {
  return l.operand(0, index);
}

void OptimizationBarrier::jvp(Jvp& j) {
  if (!j.active(0)) return;
  ValueList operands{j.tangents[0]};
  for (size_t i = 1; i < j.primals.size(); ++i) operands.push_back(j.primals[i]);
  j.add(j.emit<OptimizationBarrier>(std::move(operands)));
}

void OptimizationBarrier::transpose(Transposition& t) {
  if (t.linear(0)) t.add(0, t.cotangents[0]);
}

void OptimizationBarrier::batch(Batching& b) {
  ValueList operands;
  for (const Value v : b.operands) operands.push_back(v);
  b.result(b.emit<OptimizationBarrier>(std::move(operands)), b.batched[0]);
}

}  // namespace calque::primitives
