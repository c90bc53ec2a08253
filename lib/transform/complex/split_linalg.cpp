// Factorizations and solves that the runtime's routines compute of complex matrices in memory.
#include "primitives/linalg/paired.h"
#include "primitives/list.h"
#include "transform/complex/split_equations.h"

namespace calque::transform {

using namespace primitives;

bool split_linalg(const ComplexEquation& s) {
  switch (s.e.id()) {
    case id_of<Cholesky>:
    case id_of<TriangularSolve>:
    case id_of<Lu>:
    case id_of<Eigh>:
    case id_of<Svd>:
    case id_of<Eig>:
      break;
    default:
      return false;
  }
  ValueList operands;
  Attributes attributes = s.e.attributes();
  if (s.e.id() == id_of<Eig> && !s.is_complex(0)) {
    operands.push_back(s.real(0));
    attributes.set(kPairedResultsAttribute.name, true);
  } else {
    for (size_t i = 0; i < s.e.operands().size(); ++i) operands.push_back(s.joined(i));
    attributes.set(kPairedAttribute.name, true);
  }
  const Equation& paired = s.w.append(s.e.id(), std::move(operands), std::move(attributes));
  for (size_t i = 0; i < s.e.results().size(); ++i) {
    const Value v = s.e.result(i), to = paired.result(i);
    s.values.is_complex(v) ? s.values.set_joined(v, to) : s.values.set_real(v, to);
  }
  return true;
}

}  // namespace calque::transform
