#include "primitives/linalg/matrix.h"
#include "transform/linalg/expansions.h"

namespace calque::transform {

using namespace primitives;

namespace {

/// The rows of x, from the first that is known to the last.
template <class Side, class Coefficient>
std::vector<Term> substitute(int64_t n, const TriangularForm& form, const Side& side, const Coefficient& coefficient) {
  std::vector<Term> x(static_cast<size_t>(n));
  const auto row = [&](int64_t step) { return form.forward() ? step : n - 1 - step; };
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = row(step);
    Term sum = side(i);
    for (int64_t before = 0; before < step; ++before) {
      const int64_t k = row(before);
      sum = sum - coefficient(i, k) * x[static_cast<size_t>(k)];
    }
    x[static_cast<size_t>(i)] = form.unit_diagonal ? sum : sum / coefficient(i, i);
  }
  return x;
}

}  // namespace

Value small_triangular_solve(const Writer& w, Value a, Value b, const TriangularForm& form, Known& known) {
  const Type type = w.type(b);
  if (type.shape.num_elements() == 0) return w.zeros(type);
  const int64_t n = num_rows(type.shape), columns = num_columns(type.shape);
  const Elements matrices(w, a, known), sides(w, b, known);
  const auto element = [&](int64_t i, int64_t k) { return form.transpose ? matrices.at(k, i) : matrices.at(i, k); };
  if (by_elements(w, b, known)) {
    TermMatrix x(n, columns);
    for (int64_t c = 0; c < columns; ++c) {
      const std::vector<Term> column = substitute(n, form, [&](int64_t i) { return sides.at(i, c); }, element);
      for (int64_t i = 0; i < n; ++i) x(i, c) = column[static_cast<size_t>(i)];
    }
    return assemble(w, x, matrices.batch(), known);
  }
  const Shape space = type.shape.without(type.shape.size() - 2);
  std::vector<int64_t> axes;
  for (int64_t d = 0; d + 1 < space.rank(); ++d) axes.push_back(d);
  const std::vector<Term> rows = substitute(
      n, form, [&](int64_t i) { return sides.row(i); },
      [&](int64_t i, int64_t k) { return Term{&w, w.broadcast(element(i, k).value, space, axes)}; });
  return assemble_rows(w, rows, known);
}

}  // namespace calque::transform
