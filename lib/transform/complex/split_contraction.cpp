#include "primitives/list.h"
#include "transform/complex/split_equations.h"

namespace calque::transform {

using namespace primitives;
using Ints = std::vector<int64_t>;

namespace {

/// For each element the matrix [re, im; -im, re], in two further dimensions: (re, im) of the other factor times it is
/// the complex product.
Value matrices(const Writer& w, Value joined, const Parts& parts) {
  const Shape shape = w.shape(joined);
  const size_t rank = shape.size() - 1;
  const Shape row = shape.with_inserted(rank, 1);
  const Value rotated = join(w, {w.neg(parts.im), parts.re});
  return w.concatenate({w.reshape(joined, row), w.reshape(rotated, row)}, static_cast<int64_t>(rank));
}

Ints with_last(Ints list, int64_t last) {
  list.push_back(last);
  return list;
}

}  // namespace

bool split_contraction(const ComplexEquation& s) {
  if (s.e.id() != id_of<DotGeneral>) return false;
  const Attributes& a = s.e.attributes();
  const auto rank_of = [&](size_t operand) { return s.type(operand).shape.rank(); };
  const auto contracted = [&](bool lhs) { return a.ints(lhs ? "lhs_contract" : "rhs_contract"); };
  const auto batch = [&](bool lhs) { return a.ints(lhs ? "lhs_batch" : "rhs_batch"); };
  // The second factor has twice the elements; where the first has no dimensions of its own, the result is the same with
  // the two exchanged.
  const bool exchanged = static_cast<size_t>(rank_of(0)) == contracted(true).size() + batch(true).size();
  const size_t left = exchanged ? 1 : 0, right = exchanged ? 0 : 1;
  const Value x = s.joined(left);
  const Value y_joined = s.joined(right);
  const Value y = matrices(s.w, y_joined, s.parts(right));
  const Value out = s.w.emit(id_of<DotGeneral>, {x, y},
                             {{"lhs_batch", batch(!exchanged)},
                              {"lhs_contract", with_last(contracted(!exchanged), rank_of(left))},
                              {"rhs_batch", batch(exchanged)},
                              {"rhs_contract", with_last(contracted(exchanged), rank_of(right))}});
  s.values.set_joined(s.e.result(), out);
  return true;
}

}  // namespace calque::transform
