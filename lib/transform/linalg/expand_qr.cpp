#include <algorithm>
#include <limits>

#include "primitives/linalg/matrix.h"
#include "primitives/list.h"
#include "transform/linalg/expansions.h"

namespace calque::transform {

using namespace primitives;

namespace {

/// A reflection I - tau v transposed(v) of the rows from k on; v has 1 in row k.
struct Reflection {
  int64_t k;
  std::vector<Term> below;  // of v, after row k
  Term tau;

  /// Multiplies column c of a from the left.
  void apply(TermMatrix& a, int64_t c) const {
    Term sum = a(k, c);
    for (size_t i = 0; i < below.size(); ++i) sum = sum + below[i] * at(a, i, c);
    sum = sum * tau;
    a(k, c) = a(k, c) - sum;
    for (size_t i = 0; i < below.size(); ++i) at(a, i, c) = at(a, i, c) - below[i] * sum;
  }
  Term& at(TermMatrix& a, size_t i, int64_t c) const { return a(k + 1 + static_cast<int64_t>(i), c); }
};

Term max(Term x, Term y) { return {x.writer, x.writer->emit(id_of<Max>, {x.value, y.value})}; }

/// The reflection after which column k has nothing below row k. Squares of numbers within `low` and `high` are numbers,
/// that do not vanish.
Reflection reflect_column(TermMatrix& a, int64_t k, double low, double high, double factor) {
  Term most = abs(a(k, k));
  for (int64_t i = k + 1; i < a.rows(); ++i) most = max(most, abs(a(i, k)));
  const Term one = constant(most, 1);
  const Term scale = select(most > constant(most, high), constant(most, 1 / factor),
                            select(most < constant(most, low), constant(most, factor), one));
  const Term alpha = a(k, k) * scale;
  std::vector<Term> x;
  Term squares = constant(most, 0);
  for (int64_t i = k + 1; i < a.rows(); ++i) {
    x.push_back(a(i, k) * scale);
    squares = squares + x.back() * x.back();
  }
  const Term is_null = squares == 0.0;
  const Term beta = -copysign(sqrt(alpha * alpha + squares), alpha);
  const Term zero = constant(most, 0);
  Reflection out{k, {}, select(is_null, zero, (beta - alpha) / select(is_null, one, beta))};
  const Term reciprocal = 1.0 / select(is_null, one, alpha - beta);
  for (const Term& element : x) out.below.push_back(select(is_null, zero, element * reciprocal));
  a(k, k) = select(is_null, a(k, k), beta / scale);
  for (int64_t i = k + 1; i < a.rows(); ++i) a(i, k) = zero;
  return out;
}

}  // namespace

QrFactors small_qr(const Writer& w, Value matrices, Known& known) {
  const Type type = w.type(matrices);
  const Elements from(w, matrices, known);
  const Shape batch = from.batch();
  TermMatrix a = from.all();
  const int64_t rows = a.rows(), columns = a.columns(), least = std::min(rows, columns);
  const bool is_f32 = type.dtype == DType::f32;
  const double low = is_f32 ? 0x1p-40 : 0x1p-400, high = is_f32 ? 0x1p60 : 0x1p500, factor = is_f32 ? 0x1p80 : 0x1p600;
  std::vector<Reflection> reflections;
  for (int64_t k = 0; k < std::min(least, rows - 1); ++k) {
    reflections.push_back(reflect_column(a, k, low, high, factor));
    for (int64_t c = k + 1; c < columns; ++c) reflections.back().apply(a, c);
  }
  TermMatrix q(rows, least), r(least, columns);
  const Term zero{&w, w.zeros({type.dtype, batch})}, one = constant(zero, 1);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < least; ++j) q(i, j) = i == j ? one : zero;
  // Columns before k are those of the identity when the reflection of step k is applied.
  for (size_t k = reflections.size(); k-- > 0;)
    for (auto c = static_cast<int64_t>(k); c < least; ++c) reflections[k].apply(q, c);
  for (int64_t i = 0; i < least; ++i)
    for (int64_t j = 0; j < columns; ++j) r(i, j) = j < i ? zero : a(i, j);
  return {assemble(w, q, batch, known), assemble(w, r, batch, known)};
}

}  // namespace calque::transform
