// Collectives among processes: sums, and what moves elements, are those of the joined numbers.
#include "primitives/list.h"
#include "transform/complex/split_complex.h"
#include "transform/complex/split_equations.h"

namespace calque::transform {

using namespace primitives;

bool split_collective(const ComplexEquation& s) {
  const Equation& e = s.e;
  const Graph& from = s.values.from();
  std::vector<Type> operands, results;
  for (const Value v : e.operands()) operands.push_back(from.type(v));
  for (const Value v : e.results()) results.push_back(from.type(v));
  const auto call = collective_call(e.id(), e.attributes(), operands, results, e.location());
  if (!call || call->op != ReduceOp::sum) return false;
  Attributes attributes(e.attributes());
  if (call->kind == Collective::receive) attributes.set("results", std::vector<Type>{joined_type(call->result)});
  ValueList joined;
  for (size_t i = 0; i < operands.size(); ++i) joined.push_back(s.joined(i));
  const Equation& made = s.w.append(e.id(), std::move(joined), std::move(attributes));
  for (size_t i = 0; i < results.size(); ++i) s.values.set_joined(e.result(i), made.result(i));
  return true;
}

}  // namespace calque::transform
