#include "primitives/linalg/cholesky.h"

#include <cmath>

#include "primitives/core/emit.h"
#include "primitives/linalg/matrix.h"
#include "primitives/linalg/triangular_solve.h"
#include "primitives/list.h"

namespace calque::primitives {
namespace {

/// Factors one matrix a into l, whose elements are zero before, column by column. False if it is not positive definite.
template <class T, class W>
bool factor(const T* a, std::vector<W>& l, size_t n) {
  for (size_t j = 0; j < n; ++j) {
    auto pivot = real_part(static_cast<W>(a[j * n + j]));
    for (size_t k = 0; k < j; ++k) pivot -= square_of(l[j * n + k]);
    if (!(pivot > 0)) return false;
    const auto root = std::sqrt(pivot);
    l[j * n + j] = W(root);
    for (size_t i = j + 1; i < n; ++i) {
      auto sum = static_cast<W>(a[i * n + j]);
      for (size_t k = 0; k < j; ++k) sum -= l[i * n + k] * conjugate(l[j * n + k]);
      l[i * n + j] = sum / root;
    }
  }
  return true;
}

}  // namespace

void Cholesky::infer(Typing& t) {
  if (is_paired(t.attributes())) return infer_paired(t, id_of<Cholesky>);
  check_square(t, 0);
  t.result(t.operand(0));
}

void Cholesky::evaluate(Evaluation& e) {
  if (is_paired(e.attributes)) return evaluate_paired(e, id_of<Cholesky>);
  const AnyArray& a = e.operands[0];
  AnyArray& out = e.add_result();
  const auto n = static_cast<size_t>(num_rows(a.shape()));
  visit_dtype(a.dtype(), [&]<class T>() {
    if constexpr (contains(kMatrix, dtype_of<T>)) {
      using W = Wide<T>;
      constexpr auto kNaN = std::numeric_limits<decltype(real_part(W{}))>::quiet_NaN();
      const T* from = a.data_as<T>();
      T* to = static_cast<T*>(out.mutable_data());
      for (int64_t m = num_matrices(a.shape()); m > 0; --m, from += n * n, to += n * n) {
        std::vector<W> l(n * n);
        if (!factor(from, l, n)) {
          for (size_t i = 0; i < n; ++i) std::fill_n(l.begin() + static_cast<std::ptrdiff_t>(i * n), i + 1, W(kNaN));
        }
        for (size_t i = 0; i < n * n; ++i) to[i] = static_cast<T>(l[i]);
      }
    }
  });
}

/// The tangent is l phi(x) with x = inverse(l) da adjoint(inverse(l)), where phi takes the lower triangle and half of
/// the diagonal (Murray, Differentiation of the Cholesky decomposition, arXiv:1602.07527, 2016). da is the Hermitian
/// matrix of which the tangent's lower triangle is read.
void Cholesky::jvp(Jvp& j) {
  const Writer& w = j.writer;
  const Type type = j.operand_type(0);
  const Value da = j.tangents[0], l = j.results[0];
  const Value below = triangle_of(w, da, {.lower = true, .diagonal = false});
  const Value diagonal = on_diagonal(w, type.shape);
  Value on = da;
  if (is_complex(type.dtype)) {
    const Term real_part = real({&w, da});
    on = complex(real_part, constant(real_part, 0)).value;
  }
  const Value hermitian =
      w.add(w.add(below, conjugated(w, transposed(w, below))), w.select(diagonal, on, w.zeros(type)));
  const auto solve = [&](Value b) { return emit_triangular_solve(w, l, b, {}); };
  // inverse(l) adjoint(inverse(l) da) = inverse(l) da adjoint(inverse(l)), since da is Hermitian.
  const Value x = solve(conjugated(w, transposed(w, solve(hermitian))));
  const Value half = w.mul(w.select(diagonal, w.splat(0.5, type), w.splat(1, type)), x);
  j.add(product_of(w, l, triangle_of(w, half, {.lower = true, .diagonal = true})));
}

void Cholesky::batch(Batching& b) { b.result(b.emit<Cholesky>({b.operands[0]})); }

}  // namespace calque::primitives
