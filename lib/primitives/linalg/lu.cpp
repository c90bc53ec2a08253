#include "primitives/linalg/lu.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "primitives/core/emit.h"
#include "primitives/linalg/factor_lu.h"
#include "primitives/linalg/matrix.h"
#include "primitives/linalg/triangular_solve.h"
#include "primitives/list.h"

namespace calque::primitives {

LuFactors emit_lu(const Writer& w, Value a) {
  const Equation& e = w.append(id_of<Lu>, {a});
  return {e.result(0), e.result(1)};
}

Value emit_lower_solve(const Writer& w, Value packed, Value b, bool transpose) {
  return emit_triangular_solve(w, packed, b, {true, transpose, true});
}

Value emit_upper_solve(const Writer& w, Value packed, Value b, bool transpose) {
  return emit_triangular_solve(w, packed, b, {false, transpose, false});
}

void Lu::infer(Typing& t) {
  if (is_paired(t.attributes())) return infer_paired(t, id_of<Lu>);
  check_matrices(t, 0);
  const Type& a = t.operand(0);
  t.result(a);
  t.result(DType::i32, a.shape.without(a.shape.size() - 1));
}

void Lu::evaluate(Evaluation& e) {
  if (is_paired(e.attributes)) return evaluate_paired(e, id_of<Lu>);
  const AnyArray& a = e.operands[0];
  AnyArray packed = e.add_result();
  AnyArray perm = e.add_result();
  const auto rows = static_cast<size_t>(num_rows(a.shape())), columns = static_cast<size_t>(num_columns(a.shape()));
  visit_dtype(a.dtype(), [&]<class T>() {
    if constexpr (contains(kMatrix, dtype_of<T>)) {
      const T* from = a.data_as<T>();
      T* to = static_cast<T*>(packed.mutable_data());
      auto* order = static_cast<int32_t*>(perm.mutable_data());
      for (int64_t m = num_matrices(a.shape()); m > 0; --m, from += rows * columns, to += rows * columns) {
        std::vector<Wide<T>> wide(from, from + rows * columns);
        const std::vector<int32_t> is = factor_lu(wide, rows, columns);
        for (size_t i = 0; i < wide.size(); ++i) to[i] = static_cast<T>(wide[i]);
        order = std::copy(is.begin(), is.end(), order);
      }
    }
  });
  e.results = {std::move(packed), std::move(perm)};
}

/// With a = l u, where l and u are made square by columns and rows of the identity, and x = inverse(l) da inverse(u):
/// the tangent is l below(x) + rest(x) u, where below(x) is strictly below the diagonal (de Hoog, Anderssen and Lukas,
/// Differentiation of matrix functionals using triangular factorization, Mathematics of Computation 80, 2011). da has
/// its rows in the order of a's.
void Lu::jvp(Jvp& j) {
  const Writer& w = j.writer;
  const Shape shape = j.operand_type(0).shape;
  const Value packed = j.results[0];
  const Value da = rows_in_order(w, j.tangents[0], j.results[1]);
  const int64_t rows = num_rows(shape), columns = num_columns(shape), least = std::min(rows, columns);
  const Value square_l = with_identity(w, columns_of(w, packed, least), rows, rows);
  const Value square_u = with_identity(w, rows_of(w, packed, least), columns, columns);
  const Value lower = emit_lower_solve(w, square_l, da);
  // x u = lower is transposed(u) transposed(x) = transposed(lower).
  const Value x = transposed(w, emit_upper_solve(w, square_u, transposed(w, lower), true));
  const Value l = unit_lower_of(w, square_l);
  const Value u = triangle_of(w, square_u, {.lower = false, .diagonal = true});
  j.add(w.add(product_of(w, l, triangle_of(w, x, {.lower = true, .diagonal = false})),
              product_of(w, triangle_of(w, x, {.lower = false, .diagonal = true}), u)));
}

void Lu::batch(Batching& b) {
  const LuFactors f = emit_lu(b.writer, b.operands[0]);
  b.result(f.packed);
  b.result(f.perm);
}

}  // namespace calque::primitives
