#include "primitives/core/scalar_term.h"

#include <vector>

#include "primitives/registry.h"

namespace calque::primitives {

ScalarTerm apply(ScalarOp op, std::initializer_list<ScalarTerm> operands) {
  std::vector<Scalar> scalars;
  for (const ScalarTerm& x : operands) scalars.push_back(x.value);
  const ScalarTerm& last = *(operands.end() - 1);
  const DType result = is_comparison(op) ? DType::bool_ : last.dtype();
  return {last.lowering, last.lowering->op(primitive_of(op), result, scalars)};
}

ScalarTerm constant(ScalarTerm x, double number) {
  return {x.lowering, x.lowering->constant(x.dtype(), make_literal(x.dtype(), number))};
}

ScalarTerm bits(ScalarTerm x) {
  const size_t width = size_of(x.dtype());
  const DType integer = width == 2 ? DType::i16 : width == 4 ? DType::i32 : DType::i64;
  return {x.lowering, x.lowering->op(id_of<Bitcast>, integer, {x.value})};
}

}  // namespace calque::primitives
