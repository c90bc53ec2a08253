#include <limits>
#include <optional>

#include "primitives/linalg/matrix.h"
#include "transform/linalg/expansions.h"

namespace calque::transform {

using namespace primitives;

Value small_cholesky(const Writer& w, Value a, Known& known) {
  const Type type = w.type(a);
  const int64_t n = num_rows(type.shape);
  if (type.shape.num_elements() == 0) return w.zeros(type);
  const Elements from(w, a, known);
  TermMatrix l(n, n);
  std::optional<Term> is_definite;
  const bool is_complex_matrix = is_complex(type.dtype);
  const auto adjoint = [&](Term x) { return is_complex_matrix ? conj(x) : x; };
  const auto whole = [&](Term x) { return is_complex_matrix ? complex(x, constant(x, 0)) : x; };
  for (int64_t j = 0; j < n; ++j) {
    const auto remaining = [&](int64_t i) {
      Term sum = from.at(i, j);
      for (int64_t k = 0; k < j; ++k) sum = sum - l(i, k) * adjoint(l(j, k));
      return sum;
    };
    const Term pivot = is_complex_matrix ? real(remaining(j)) : remaining(j);
    const Term is_positive = pivot > constant(pivot, 0);
    is_definite = is_definite ? *is_definite & is_positive : is_positive;
    const Term diagonal = sqrt(pivot);
    l(j, j) = whole(diagonal);
    const Term reciprocal = whole(1.0 / diagonal);
    for (int64_t i = j + 1; i < n; ++i) l(i, j) = remaining(i) * reciprocal;
  }
  const Term zero{&w, w.zeros({type.dtype, from.batch()})};
  const Term nan = constant(zero, std::numeric_limits<double>::quiet_NaN());
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) l(i, j) = j > i ? zero : select(*is_definite, l(i, j), nan);
  return assemble(w, l, from.batch(), known);
}

}  // namespace calque::transform
