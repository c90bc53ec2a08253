#pragma once
// The rules by which complex equations become real ones, by kind of equation. Each writes the equations that stand for
// `e` and sets the forms of its results.
#include "transform/complex/split_values.h"

namespace calque::transform {

struct ComplexEquation {
  const Equation& e;
  SplitValues& values;
  Writer w;

  Parts parts(size_t operand) const { return values.parts(w, e.operand(operand)); }
  TermParts terms(size_t operand) const { return values.terms(w, e.operand(operand)); }
  Value joined(size_t operand) const { return values.joined(w, e.operand(operand)); }
  bool is_complex(size_t operand) const { return values.is_complex(e.operand(operand)); }
  /// An operand that is not complex.
  Value real(size_t operand) const { return values.real(e.operand(operand)); }
  const Type& type(size_t operand) const { return values.from().type(e.operand(operand)); }
  const Type& result_type() const { return values.from().type(e.result()); }
};

// Each returns false for equations of other primitives.
bool split_elementwise(const ComplexEquation& s);
bool split_view(const ComplexEquation& s);
bool split_reduction(const ComplexEquation& s);
bool split_scatter_mul(const ComplexEquation& s);
bool split_contraction(const ComplexEquation& s);
bool split_linalg(const ComplexEquation& s);
bool split_fft(const ComplexEquation& s);
bool split_control(const ComplexEquation& s);
bool split_collective(const ComplexEquation& s);
/// Host functions, and all equations that the others do not know, as host calls of the reference evaluator.
void split_by_host(const ComplexEquation& s);

/// The inputs in the given forms (of real inputs the form is ignored), the outputs in `outputs`.
Graph split_subgraph(const Graph& graph, const std::vector<Form>& inputs, Form outputs);

}  // namespace calque::transform
