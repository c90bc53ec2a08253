#include "primitives/linalg/cholesky.h"

#include <cmath>

#include "primitives/core/emit.h"
#include "primitives/linalg/batched_cholesky.h"
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

namespace {

/// The tangent is l phi(x) with x = inverse(l) da adjoint(inverse(l)), where phi takes the lower triangle and half of
/// the diagonal (Murray, Differentiation of the Cholesky decomposition, arXiv:1602.07527, 2016). da is the Hermitian
/// matrix of which the tangent's lower triangle is read.
Value tangent_of_factor(const Writer& w, Value l, Value da) {
  const Type type = w.type(l);
  const Value diagonal = on_diagonal(w, type.shape);
  const auto solve = [&](Value b) { return emit_triangular_solve(w, l, b, {}); };
  // inverse(l) adjoint(inverse(l) da) = inverse(l) da adjoint(inverse(l)), since da is Hermitian.
  const Value x = solve(conjugated(w, transposed(w, solve(hermitian_of(w, da)))));
  const Value half = w.mul(w.select(diagonal, w.splat(0.5, type), w.splat(1, type)), x);
  return product_of(w, l, triangle_of(w, half, {.lower = true, .diagonal = true}));
}

bool adds_transpose(const Attributes& attributes) { return attributes.get<bool>("add_transpose"); }

}  // namespace

void Cholesky::jvp(Jvp& j) { j.add(tangent_of_factor(j.writer, j.results[0], j.tangents[0])); }

void Cholesky::batch(Batching& b) { b.result(b.emit<Cholesky>({b.operands[0]})); }

void BatchedCholesky::infer(Typing& t) {
  check_square(t, 0);
  t.accept(0, kMatrix & kReal);
  if (t.operand(0).shape.rank() != 3) t.shape_error("expects matrices [b, n, n], got " + to_string(t.operand(0)));
  t.result(t.operand(0));
}

void BatchedCholesky::evaluate(Evaluation& e) {
  if (!adds_transpose(e.attributes)) return Cholesky::evaluate(e);
  const AnyArray& a = e.operands[0];
  std::array operands{make_array(a.type())};
  const auto n = static_cast<size_t>(num_rows(a.shape()));
  visit_dtype(a.dtype(), [&]<class T>() {
    if constexpr (contains(kMatrix, dtype_of<T>)) {
      const T* const from = a.data_as<T>();
      T* const to = static_cast<T*>(operands[0].mutable_data());
      for (size_t i = 0; i < static_cast<size_t>(a.shape().num_elements()); ++i) {
        const size_t matrix = i / (n * n) * n * n, row = i / n % n, column = i % n;
        to[i] = from[i] + from[matrix + column * n + row];
      }
    }
  });
  Evaluation of_sums{e.attributes, e.subgraphs, operands, e.result_types, e.call, {}};
  of_sums.results.reserve(1);
  Cholesky::evaluate(of_sums);
  e.results.push_back(of_sums.results[0]);
}

void BatchedCholesky::jvp(Jvp& j) {
  const Writer& w = j.writer;
  const Value da = j.tangents[0];
  const Value sum = adds_transpose(j.attributes()) ? w.add(da, transposed(w, da)) : da;
  j.add(tangent_of_factor(w, j.results[0], sum));
}

void BatchedCholesky::batch(Batching& b) {
  const Writer& w = b.writer;
  const Value a = b.operands[0];
  const Shape shape = w.shape(a);
  const int64_t n = num_rows(shape);
  const Value all = w.reshape(a, Shape{shape[0] * shape[1], n, n});
  b.result(w.reshape(w.emit(id_of<BatchedCholesky>, {all}, b.attributes()), shape));
}

}  // namespace calque::primitives
