#include "primitives/linalg/triangular_solve.h"

#include "primitives/core/emit.h"
#include "primitives/linalg/matrix.h"
#include "primitives/list.h"

namespace calque::primitives {

TriangularForm::TriangularForm(const Attributes& attributes)
    : lower(attributes.get<bool>("lower")),
      transpose(attributes.get<bool>("transpose")),
      unit_diagonal(attributes.get<bool>("unit_diagonal")) {}

Attributes TriangularForm::attributes() const {
  return {{"lower", lower}, {"transpose", transpose}, {"unit_diagonal", unit_diagonal}};
}

Value emit_triangular_solve(const Writer& w, Value a, Value b, const TriangularForm& form) {
  return w.emit(id_of<TriangularSolve>, {a, b}, form.attributes());
}

void TriangularSolve::infer(Typing& t) {
  if (is_paired(t.attributes())) return infer_paired(t, id_of<TriangularSolve>);
  const Type& a = t.operand(0);
  const Type& b = t.operand(1);
  check_square(t, 0);
  t.same_dtype();
  check_sides(t, a, b);
  t.result(b);
}

void TriangularSolve::evaluate(Evaluation& e) {
  if (is_paired(e.attributes)) return evaluate_paired(e, id_of<TriangularSolve>);
  const AnyArray& a = e.operands[0];
  const AnyArray& b = e.operands[1];
  const TriangularForm form(e.attributes);
  AnyArray& out = e.add_result();
  if (out.size() == 0) return;
  const auto n = static_cast<size_t>(num_rows(b.shape())), columns = static_cast<size_t>(num_columns(b.shape()));
  visit_dtype(a.dtype(), [&]<class T>() {
    if constexpr (contains(kMatrix, dtype_of<T>)) {
      using W = Wide<T>;
      const T* t = a.data_as<T>();
      const T* from = b.data_as<T>();
      T* to = static_cast<T*>(out.mutable_data());
      std::vector<W> x(n);
      for (int64_t m = num_matrices(b.shape()); m > 0; --m, t += n * n, from += n * columns, to += n * columns) {
        for (size_t c = 0; c < columns; ++c) {
          for (size_t step = 0; step < n; ++step) {
            const size_t i = form.forward() ? step : n - 1 - step;
            auto sum = static_cast<W>(from[i * columns + c]);
            for (size_t before = 0; before < step; ++before) {
              const size_t k = form.forward() ? before : n - 1 - before;
              sum -= static_cast<W>(form.transpose ? t[k * n + i] : t[i * n + k]) * x[k];
            }
            x[i] = form.unit_diagonal ? sum : sum / static_cast<W>(t[i * n + i]);
            to[i * columns + c] = static_cast<T>(x[i]);
          }
        }
      }
    }
  });
}

/// With t x = b: dx = inverse(t) (db - dt x), where dt is what is read of the tangent of a. With more columns than
/// rows, inverse(t) dt comes first, which has fewer columns.
void TriangularSolve::jvp(Jvp& j) {
  const Writer& w = j.writer;
  const TriangularForm form(j.attributes());
  const Value a = j.primals[0], x = j.results[0];
  const auto solve = [&](Value b) { return emit_triangular_solve(w, a, b, form); };
  if (!j.active(0)) return j.add(solve(j.tangents[1]));
  Value dt = triangle_of(w, j.tangents[0], {.lower = form.lower, .diagonal = !form.unit_diagonal});
  if (form.transpose) dt = transposed(w, dt);
  const Shape& shape = j.operand_type(1).shape;
  if (num_columns(shape) > num_rows(shape)) {
    j.add(w.neg(product_of(w, solve(dt), x)));
    if (j.active(1)) j.add(solve(j.tangents[1]));
    return;
  }
  const Value product = product_of(w, dt, x);
  j.add(solve(j.active(1) ? w.emit(id_of<Sub>, {j.tangents[1], product}) : w.neg(product)));
}

/// Linear in b alone.
void TriangularSolve::transpose(Transposition& t) {
  if (t.linear(0)) refuse(t.equation, NotLinear::reason);
  TriangularForm form(t.attributes());
  form.transpose = !form.transpose;
  t.add(1, emit_triangular_solve(t.writer, t.operands[0], t.cotangents[0], form));
}

void TriangularSolve::batch(Batching& b) {
  const Writer& w = b.writer;
  const TriangularForm form(b.attributes());
  if (b.batched[0]) {
    return b.result(emit_triangular_solve(w, b.operands[0], b.batched_operand(1), form));
  }
  b.result(with_examples_as_columns(
      b, 1, [&](Value columns) { return emit_triangular_solve(w, b.operands[0], columns, form); }));
}

}  // namespace calque::primitives
