#include <algorithm>

#include "primitives/list.h"
#include "transform/complex/split_equations.h"

namespace calque::transform {

using namespace primitives;
using Ints = std::vector<int64_t>;

namespace {

/// For each element the matrix [re, im; -im, re]: (re, im) of the other factor times it is the complex product. Its
/// columns are the last dimension, its rows a new one before dimension `at`.
Value matrices(const Writer& w, Value joined, const Parts& parts, size_t at) {
  const Shape row = w.shape(joined).with_inserted(at, 1);
  const Value rotated = join(w, {w.neg(parts.im), parts.re});
  return w.concatenate({w.reshape(joined, row), w.reshape(rotated, row)}, static_cast<int64_t>(at));
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
  // The rows follow the contracted dimensions: of the right factor [K, N] a row-major matrix [2K, 2N] is made.
  Ints of_y = contracted(exchanged), batch_of_y = batch(exchanged);
  const int64_t at = of_y.empty() ? rank_of(right) : *std::max_element(of_y.begin(), of_y.end()) + 1;
  const auto shift = [&](Ints& axes) {
    for (int64_t& axis : axes) axis += axis >= at ? 1 : 0;
  };
  shift(of_y);
  shift(batch_of_y);
  const Value y = matrices(s.w, y_joined, s.parts(right), static_cast<size_t>(at));
  const Value out = s.w.emit(id_of<DotGeneral>, {x, y},
                             {{"lhs_batch", batch(!exchanged)},
                              {"lhs_contract", with_last(contracted(!exchanged), rank_of(left))},
                              {"rhs_batch", std::move(batch_of_y)},
                              {"rhs_contract", with_last(std::move(of_y), at)}});
  s.values.set_joined(s.e.result(), out);
  return true;
}

}  // namespace calque::transform
