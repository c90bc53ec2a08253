#include "primitives/linalg/qr.h"

#include <cmath>

#include "primitives/core/emit.h"
#include "primitives/linalg/matrix.h"
#include "primitives/linalg/triangular_solve.h"
#include "primitives/list.h"

namespace calque::primitives {
namespace {

/// A matrix, row by row.
template <class W>
struct Dense {
  size_t rows, columns;
  std::vector<W> elements = std::vector<W>(rows * columns);
  W& operator()(size_t i, size_t j) { return elements[i * columns + j]; }
};

/// A reflection h = I - tau v adjoint(v), where v is 0 before row k and 1 in it.
template <class W>
struct Reflection {
  size_t k;
  std::vector<W> v;
  W tau;

  /// Multiplies the columns of a from `first` on by h, or by adjoint(h), from the left.
  void apply(Dense<W>& a, size_t first, bool adjoint) const {
    for (size_t c = first; c < a.columns; ++c) {
      W sum(0);
      for (size_t i = k; i < a.rows; ++i) sum += conjugate(v[i]) * a(i, c);
      sum *= adjoint ? conjugate(tau) : tau;
      for (size_t i = k; i < a.rows; ++i) a(i, c) -= v[i] * sum;
    }
  }
};

/// The reflection after which column k of a has nothing below row k, and a real number there, beta. The sign of that is
/// the one with which nothing cancels (Golub and Van Loan, Matrix Computations, 5.1).
template <class W>
Reflection<W> reflection_of(Dense<W>& a, size_t k) {
  using R = decltype(real_part(W{}));
  Reflection<W> h{k, std::vector<W>(a.rows, W(0)), W(0)};
  h.v[k] = W(1);
  const W alpha = a(k, k);
  R below = 0;
  for (size_t i = k + 1; i < a.rows; ++i) below += square_of(a(i, k));
  R size = square_of(alpha) + below;
  bool is_real = true;
  if constexpr (is_wide_complex<W>) is_real = alpha.imag() == 0;
  if (below == 0 && is_real) return h;
  const R beta = -std::copysign(std::sqrt(size), real_part(alpha));
  h.tau = (W(beta) - alpha) / W(beta);
  for (size_t i = k + 1; i < a.rows; ++i) h.v[i] = a(i, k) / (alpha - W(beta));
  return h;
}

}  // namespace

void Qr::infer(Typing& t) {
  check_matrices(t, 0);
  const Type& a = t.operand(0);
  const int64_t least = std::min(num_rows(a.shape), num_columns(a.shape));
  t.result({a.dtype, a.shape.with(a.shape.size() - 1, least)});
  t.result({a.dtype, a.shape.with(a.shape.size() - 2, least)});
}

void Qr::evaluate(Evaluation& e) {
  const AnyArray& a = e.operands[0];
  AnyArray q = e.add_result();
  AnyArray r = e.add_result();
  const auto rows = static_cast<size_t>(num_rows(a.shape())), columns = static_cast<size_t>(num_columns(a.shape()));
  const size_t least = std::min(rows, columns);
  visit_dtype(a.dtype(), [&]<class T>() {
    if constexpr (contains(kMatrix, dtype_of<T>)) {
      using W = Wide<T>;
      const T* from = a.data_as<T>();
      T* to_q = static_cast<T*>(q.mutable_data());
      T* to_r = static_cast<T*>(r.mutable_data());
      for (int64_t m = num_matrices(a.shape()); m > 0; --m, from += rows * columns) {
        Dense<W> reduced{rows, columns};
        std::copy_n(from, rows * columns, reduced.elements.begin());
        std::vector<Reflection<W>> reflections;
        for (size_t k = 0; k < least; ++k) {
          reflections.push_back(reflection_of(reduced, k));
          reflections.back().apply(reduced, k, true);
        }
        Dense<W> unit{rows, least};
        for (size_t i = 0; i < least; ++i) unit(i, i) = W(1);
        for (size_t k = least; k-- > 0;) reflections[k].apply(unit, 0, false);
        for (const W& x : unit.elements) *to_q++ = static_cast<T>(x);
        for (size_t i = 0; i < least; ++i)
          for (size_t c = 0; c < columns; ++c) *to_r++ = c < i ? T(0) : static_cast<T>(reduced(i, c));
      }
    }
  });
  e.results = {std::move(q), std::move(r)};
}

/// With x = da inverse(r), c = adjoint(q) x and the skew-Hermitian s that has c below its diagonal and i im(c) on it:
/// dq = q (s - c) + x and dr = (c - s) r. Of a wide matrix that is the derivative of its first, square part (a1, r1);
/// the rest r2 = adjoint(q) a2 follows (Walter and Lehmann, Algorithmic differentiation of linear algebra functions,
/// arXiv:1001.1654, 2010; Roberts and Roberts, QR and LQ decomposition matrix backpropagation algorithms,
/// arXiv:2009.10071, 2020).
void Qr::jvp(Jvp& j) {
  const Writer& w = j.writer;
  const Shape shape = j.operand_type(0).shape;
  const int64_t rows = num_rows(shape), columns = num_columns(shape);
  const Value q = j.results[0], r = j.results[1], da = j.tangents[0];
  const bool wide = columns > rows;
  const auto adjoint = [&](Value x) { return conjugated(w, transposed(w, x)); };
  const Value r1 = columns_of(w, r, std::min(rows, columns)), da1 = columns_of(w, da, std::min(rows, columns));
  // x r1 = da1 is transposed(r1) transposed(x) = transposed(da1).
  const Value x = transposed(w, emit_triangular_solve(w, r1, transposed(w, da1), {false, true, false}));
  const Value c = product_of(w, adjoint(q), x);
  const Value below = triangle_of(w, c, {.lower = true, .diagonal = false});
  Value s = w.emit(id_of<Sub>, {below, adjoint(below)});
  if (is_complex(w.dtype(c))) {
    const Term all{&w, c}, imaginary = complex(imag(all) - imag(all), imag(all));
    s = w.select(on_diagonal(w, w.shape(c)), imaginary.value, s);
  }
  const Value rest = w.emit(id_of<Sub>, {c, s});
  const Value dq = w.emit(id_of<Sub>, {x, product_of(w, q, rest)});
  // (c - s) r1 is upper triangular; what rounding leaves below its diagonal is not.
  Value dr = triangle_of(w, product_of(w, rest, r1), {.lower = false, .diagonal = true});
  if (wide) {
    const size_t axis = shape.size() - 1;
    const Value a2 = w.slice(j.primals[0], axis, rows, columns), da2 = w.slice(da, axis, rows, columns);
    const Value dr2 = w.add(product_of(w, adjoint(dq), a2), product_of(w, adjoint(q), da2));
    dr = w.concatenate({dr, dr2}, static_cast<int64_t>(axis));
  }
  j.add(dq, 0);
  j.add(dr, 1);
}

void Qr::batch(Batching& b) {
  const Equation& e = b.writer.append(id_of<Qr>, {b.operands[0]});
  const Value q = e.result(0), r = e.result(1);
  b.result(q);
  b.result(r);
}

}  // namespace calque::primitives
