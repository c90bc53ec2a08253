#include "primitives/linalg/eigh.h"

#include <numeric>

#include "primitives/core/emit.h"
#include "primitives/list.h"

namespace calque::primitives {
namespace {

/// Makes a, n x n and Hermitian, diagonal by rotations in the cyclic order (Golub and Van Loan, Matrix Computations,
/// 8.5), of which the columns of v are the product. False if that does not converge.
template <class W>
bool diagonalize(std::vector<W>& a, std::vector<std::vector<W>>& v, size_t n) {
  using R = RealPart<W>;
  R squares = 0;
  for (const W& x : a) squares += square_of(x);
  const R least = std::numeric_limits<R>::epsilon() * std::sqrt(squares) / static_cast<R>(n);
  for (int round = 0; round < kMostRounds; ++round) {
    bool rotated = false;
    for (size_t p = 0; p < n; ++p) {
      for (size_t q = p + 1; q < n; ++q) {
        const W coupling = a[p * n + q];
        const R size = std::abs(coupling);
        if (size <= least) continue;
        rotated = true;
        const Rotation<W> r(real_part(a[p * n + p]), real_part(a[q * n + q]), coupling, size);
        for (size_t i = 0; i < n; ++i) r.apply(a[i * n + p], a[i * n + q], r.phase);
        for (size_t i = 0; i < n; ++i) r.apply(a[p * n + i], a[q * n + i], conjugate(r.phase));
        for (size_t i = 0; i < n; ++i) r.apply(v[p][i], v[q][i], r.phase);
        a[p * n + q] = a[q * n + p] = W(0);
      }
    }
    if (!rotated) return true;
  }
  return false;
}

}  // namespace

uint32_t Eigh::routine_flags(const Attributes& attributes) {
  return has_vectors(attributes) ? RoutineFlag::vectors : 0;
}

void Eigh::infer(Typing& t) {
  if (is_paired(t.attributes())) return infer_paired(t, id_of<Eigh>);
  check_square(t, 0);
  const Type& a = t.operand(0);
  t.result({real_of(a.dtype), a.shape.without(a.shape.size() - 1)});
  if (has_vectors(t.attributes())) t.result(a);
}

void Eigh::evaluate(Evaluation& e) {
  if (is_paired(e.attributes)) return evaluate_paired(e, id_of<Eigh>);
  const AnyArray& a = e.operands[0];
  const bool with_vectors = has_vectors(e.attributes);
  AnyArray values = make_array(e.result_types[0]);
  const auto n = static_cast<size_t>(num_rows(a.shape()));
  AnyArray vectors = make_array(a.type());
  visit_dtype(a.dtype(), [&]<class T>() {
    if constexpr (contains(kMatrix, dtype_of<T>)) {
      using W = Wide<T>;
      using R = RealPart<T>;
      const T* from = a.data_as<T>();
      R* w = static_cast<R*>(values.mutable_data());
      T* v = static_cast<T*>(vectors.mutable_data());
      for (int64_t m = num_matrices(a.shape()); m > 0; --m, from += n * n, w += n, v += n * n) {
        std::vector<W> full(n * n);
        std::vector<std::vector<W>> columns(n, std::vector<W>(n));
        bool finite = true;
        for (size_t i = 0; i < n; ++i) {
          finite = finite && is_all_finite(from + i * n, i + 1);
          columns[i][i] = W(1);
          full[i * n + i] = W(real_part(static_cast<W>(from[i * n + i])));
          for (size_t k = 0; k < i; ++k) {
            full[i * n + k] = static_cast<W>(from[i * n + k]);
            full[k * n + i] = conjugate(full[i * n + k]);
          }
        }
        if (!finite || !diagonalize(full, columns, n)) {
          constexpr R kNaN = std::numeric_limits<R>::quiet_NaN();
          std::fill_n(w, n, kNaN);
          std::fill_n(v, n * n, T(kNaN));
          continue;
        }
        const auto value = [&](size_t i) { return real_part(full[i * n + i]); };
        std::vector<size_t> order(n);
        std::iota(order.begin(), order.end(), size_t{0});
        std::sort(order.begin(), order.end(),
                  [&](size_t i, size_t k) { return value(i) < value(k) || (value(i) == value(k) && i < k); });
        for (size_t k = 0; k < n; ++k) {
          std::vector<W>& column = columns[order[k]];
          normalize_phase<T>(column);
          w[k] = static_cast<R>(value(order[k]));
          for (size_t i = 0; i < n; ++i) v[i * n + k] = static_cast<T>(column[i]);
        }
      }
    }
  });
  e.results.push_back(std::move(values));
  if (with_vectors) e.results.push_back(std::move(vectors));
}

/// With m = adjoint(v) da v: dw is m's diagonal and dv = v (f * m), where f_ij = 1 / (w_j - w_i) and 0 on the diagonal
/// (Giles, Collected matrix derivative results for forward and reverse mode algorithmic differentiation, 2008). The
/// phase of a complex vector follows the component that is real.
void Eigh::jvp(Jvp& j) {
  const Writer& w = j.writer;
  if (j.operand_type(0).shape.num_elements() == 0) return;
  const bool with_vectors = has_vectors(j.attributes());
  const Value v = with_vectors ? j.results[1] : w.append(id_of<Eigh>, {j.primals[0]}, {{"vectors", true}}).result(1);
  const Value dav = product_of(w, hermitian_of(w, j.tangents[0]), v);
  const Value parts = w.mul(conjugated(w, v), dav);
  j.add(sum_over_rows(w, is_complex(w.dtype(v)) ? real(Term{&w, parts}).value : parts), 0);
  if (!with_vectors) return;
  const Value m = product_of(w, conjugated(w, transposed(w, v)), dav);
  const Shape square = w.shape(m);
  const Value differences = w.emit(id_of<Sub>, {as_columns(w, j.results[0], square), as_rows(w, j.results[0], square)});
  Value dv = product_of(w, v, scaled_by(w, m, reciprocal_off_diagonal(w, differences)));
  if (is_complex(w.dtype(v))) {
    const Value rates = as_columns(w, phase_rates(w, v, dv), square);
    dv = w.emit(id_of<Sub>, {dv, scaled_by_imaginary(w, v, rates)});
  }
  j.add(dv, 1);
}

void Eigh::batch(Batching& b) {
  const Equation& e = b.writer.append(id_of<Eigh>, {b.operands[0]}, b.attributes());
  const std::vector<Value> results(e.results().begin(), e.results().end());
  for (const Value v : results) b.result(v);
}

}  // namespace calque::primitives
