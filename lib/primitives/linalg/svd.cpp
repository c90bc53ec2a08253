#include "primitives/linalg/svd.h"

#include "primitives/core/emit.h"
#include "primitives/linalg/jacobi_svd.h"
#include "primitives/list.h"

namespace calque::primitives {

uint32_t Svd::routine_flags(const Attributes& attributes) { return has_vectors(attributes) ? RoutineFlag::vectors : 0; }

void Svd::infer(Typing& t) {
  if (is_paired(t.attributes())) return infer_paired(t, id_of<Svd>);
  check_matrices(t, 0);
  const Type& a = t.operand(0);
  const size_t rank = a.shape.size();
  const int64_t least = std::min(num_rows(a.shape), num_columns(a.shape));
  const Type values{real_of(a.dtype), a.shape.without(rank - 1).with(rank - 2, least)};
  if (!has_vectors(t.attributes())) return t.result(values);
  t.result({a.dtype, a.shape.with(rank - 1, least)});
  t.result(values);
  t.result({a.dtype, a.shape.with(rank - 2, least)});
}

void Svd::evaluate(Evaluation& e) {
  if (is_paired(e.attributes)) return evaluate_paired(e, id_of<Svd>);
  const AnyArray& a = e.operands[0];
  const bool with_vectors = has_vectors(e.attributes);
  for (const Type& type : e.result_types) e.results.push_back(make_array(type));
  const auto rows = static_cast<size_t>(num_rows(a.shape())), columns = static_cast<size_t>(num_columns(a.shape()));
  const size_t least = std::min(rows, columns);
  visit_dtype(a.dtype(), [&]<class T>() {
    if constexpr (contains(kMatrix, dtype_of<T>)) {
      using R = RealPart<T>;
      constexpr R kNaN = std::numeric_limits<R>::quiet_NaN();
      const T* from = a.data_as<T>();
      T* to_u = with_vectors ? static_cast<T*>(e.results[0].mutable_data()) : nullptr;
      R* to_s = static_cast<R*>(e.results[with_vectors ? 1 : 0].mutable_data());
      T* to_vh = with_vectors ? static_cast<T*>(e.results[2].mutable_data()) : nullptr;
      for (int64_t m = num_matrices(a.shape()); m > 0; --m, from += rows * columns) {
        JacobiSvd<Wide<T>> f;
        const bool succeeded = jacobi_svd(from, rows, columns, f);
        for (size_t k = 0; k < least; ++k) *to_s++ = succeeded ? static_cast<R>(f.s[k]) : kNaN;
        if (!with_vectors) continue;
        for (size_t i = 0; i < rows; ++i)
          for (size_t k = 0; k < least; ++k) *to_u++ = succeeded ? static_cast<T>(f.u[k][i]) : T(kNaN);
        for (size_t k = 0; k < least; ++k)
          for (size_t i = 0; i < columns; ++i) *to_vh++ = succeeded ? static_cast<T>(conjugate(f.v[k][i])) : T(kNaN);
      }
    }
  });
}

/// With c = adjoint(u) da v and f_ij = 1 / (s_j^2 - s_i^2), 0 on the diagonal: ds is the real part of c's diagonal,
/// du = u (f * (c s + s adjoint(c)) + i im(diagonal of c) / s) and dv = v (f * (s c + adjoint(c) s)), and what da has
/// outside of the columns of u or v, where those do not span the space (Townsend, Differentiating the singular value
/// decomposition, 2016; Wan and Zhang, Automatic differentiation for complex valued SVD, arXiv:1909.02659, 2019). The
/// phases of complex vectors follow the component of v that is real. 1 / s is 0 where s is.
void Svd::jvp(Jvp& j) {
  const Writer& w = j.writer;
  const Shape shape = j.operand_type(0).shape;
  if (shape.num_elements() == 0) return;
  const bool with_vectors = has_vectors(j.attributes());
  std::vector<Value> results = j.results;
  if (!with_vectors) {
    const Equation& e = w.append(id_of<Svd>, {j.primals[0]}, {{"vectors", true}});
    results.assign(e.results().begin(), e.results().end());
  }
  const Value u = results[0], s = results[1], vh = results[2], da = j.tangents[0];
  const bool is_complex_matrix = is_complex(w.dtype(u));
  const auto adjoint = [&](Value x) { return conjugated(w, transposed(w, x)); };
  const auto real_part_of = [&](Value x) { return is_complex_matrix ? real(Term{&w, x}).value : x; };
  const Value uh = adjoint(u), uda = product_of(w, uh, da);
  j.add(sum_over_columns(w, real_part_of(w.mul(uda, conjugated(w, vh)))), with_vectors ? 1 : 0);
  if (!with_vectors) return;

  const Value v = adjoint(vh), c = product_of(w, uda, v), ch = adjoint(c);
  const Shape square = w.shape(c);
  const Term columns{&w, as_columns(w, s, square)}, rows{&w, as_rows(w, s, square)};
  const Value f = reciprocal_off_diagonal(w, ((columns - rows) * (columns + rows)).value);
  const auto off_diagonal = [&](Term left, Term right) {
    return scaled_by(w, w.add(scaled_by(w, c, left.value), scaled_by(w, ch, right.value)), f);
  };
  const Term size{&w, s};
  const Value inverse = where(size > Term{&w, w.zeros(w.type(s))}, 1.0 / nonzero(size)).value;
  Value du = product_of(w, u, off_diagonal(columns, rows)), dv = product_of(w, v, off_diagonal(rows, columns));
  if (is_complex_matrix) {
    const Value turns = (imag(Term{&w, diagonal_of(w, c)}) * Term{&w, inverse}).value;
    du = w.add(du, scaled_by_imaginary(w, u, as_columns(w, turns, w.shape(u))));
  }
  const int64_t m = num_rows(shape), n = num_columns(shape);
  /// (I - x adjoint(x)) y / s.
  const auto outside = [&](Value x, Value y) {
    const Value rest = w.emit(id_of<Sub>, {y, product_of(w, x, product_of(w, adjoint(x), y))});
    return scaled_by(w, rest, as_columns(w, inverse, w.shape(rest)));
  };
  if (m > n) du = w.add(du, outside(u, product_of(w, da, v)));
  if (n > m) dv = w.add(dv, outside(v, product_of(w, adjoint(da), u)));
  if (is_complex_matrix) {
    const Value rates = phase_rates(w, v, dv);
    const auto rotated = [&](Value x, Value dx) {
      return w.emit(id_of<Sub>, {dx, scaled_by_imaginary(w, x, as_columns(w, rates, w.shape(x)))});
    };
    du = rotated(u, du);
    dv = rotated(v, dv);
  }
  j.add(du, 0);
  j.add(adjoint(dv), 2);
}

void Svd::batch(Batching& b) {
  const Equation& e = b.writer.append(id_of<Svd>, {b.operands[0]}, b.attributes());
  const std::vector<Value> results(e.results().begin(), e.results().end());
  for (const Value v : results) b.result(v);
}

}  // namespace calque::primitives
