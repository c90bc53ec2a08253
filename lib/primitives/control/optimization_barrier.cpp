#include "primitives/control/optimization_barrier.h"

#include "primitives/core/emit.h"

namespace calque::primitives {

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
