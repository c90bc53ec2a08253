#include "primitives/linalg/lu_solve.h"

#include <algorithm>

#include <fmt/format.h>

#include "primitives/core/emit.h"
#include "primitives/linalg/matrix.h"
#include "primitives/list.h"

namespace calque::primitives {

Value emit_lu_solve(const Writer& w, Value a, const LuFactors& factors, Value b, bool transpose) {
  return w.emit(id_of<LuSolve>, {a, factors.packed, factors.perm, b}, {{"transpose", transpose}});
}

void LuSolve::infer(Typing& t) {
  const Type& a = t.operand(0);
  const Type& b = t.operand(3);
  check_square(t, 0);
  if (t.operand(1) != a) {
    t.shape_error(fmt::format("the packed factors of {} have its type, got {}", to_string(a), to_string(t.operand(1))));
  }
  const Type order{DType::i32, a.shape.without(a.shape.size() - 1)};
  if (t.operand(2) != order) {
    t.shape_error(fmt::format("the order of the rows of {} is {}, got {}", to_string(a), to_string(order),
                              to_string(t.operand(2))));
  }
  if (b.dtype != a.dtype) t.dtype_error(fmt::format("dtypes differ, got {} and {}", to_string(a), to_string(b)));
  check_sides(t, a, b);
  t.result(b);
}

void LuSolve::evaluate(Evaluation& e) {
  const AnyArray& factors = e.operands[1];
  const AnyArray& b = e.operands[3];
  const auto* order = static_cast<const int32_t*>(e.operands[2].data());
  const bool transpose = e.attributes.get<bool>("transpose");
  AnyArray& out = e.add_result();
  if (out.size() == 0) return;
  const auto n = static_cast<size_t>(num_rows(b.shape())), columns = static_cast<size_t>(num_columns(b.shape()));
  visit_dtype(b.dtype(), [&]<class T>() {
    if constexpr (contains(kMatrix, dtype_of<T>)) {
      using W = Wide<T>;
      const T* lu = factors.data_as<T>();
      const T* from = b.data_as<T>();
      T* to = static_cast<T*>(out.mutable_data());
      std::vector<W> x(n);
      const auto at = [&](size_t i, size_t k) { return static_cast<W>(transpose ? lu[k * n + i] : lu[i * n + k]); };
      const auto row = [&](size_t i) {
        return static_cast<size_t>(std::clamp<int64_t>(order[i], 0, static_cast<int64_t>(n) - 1));
      };
      for (int64_t m = num_matrices(b.shape()); m > 0; --m, lu += n * n, order += n, from += n * columns) {
        // Of an order that names a row twice, another row has no value.
        std::fill_n(to, n * columns, T(0));
        for (size_t c = 0; c < columns; ++c) {
          for (size_t i = 0; i < n; ++i) x[i] = static_cast<W>(from[(transpose ? i : row(i)) * columns + c]);
          // Of l u the first factor is lower triangular with ones on the diagonal, of its transpose the second one.
          for (size_t i = 0; i < n; ++i) {
            for (size_t k = 0; k < i; ++k) x[i] -= at(i, k) * x[k];
            if (transpose) x[i] /= at(i, i);
          }
          for (size_t i = n; i-- > 0;) {
            for (size_t k = n - 1; k > i; --k) x[i] -= at(i, k) * x[k];
            if (!transpose) x[i] /= at(i, i);
          }
          for (size_t i = 0; i < n; ++i) to[(transpose ? row(i) : i) * columns + c] = static_cast<T>(x[i]);
        }
        to += n * columns;
      }
    }
  });
}

/// With op(a) x = b: dx = inverse(op(a)) (db - op(da) x). The factors are those of a, whose tangent says all.
void LuSolve::jvp(Jvp& j) {
  const Writer& w = j.writer;
  const bool transpose = j.attributes().get<bool>("transpose");
  Value side = j.active(3) ? j.tangents[3] : Value{};
  if (j.active(0)) {
    const Value da = transpose ? transposed(w, j.tangents[0]) : j.tangents[0];
    const Value product = product_of(w, da, j.results[0]);
    side = side.valid() ? w.emit(id_of<Sub>, {side, product}) : w.neg(product);
  }
  if (!side.valid()) return;
  j.add(emit_lu_solve(w, j.primals[0], {j.primals[1], j.primals[2]}, side, transpose));
}

/// Linear in b alone.
void LuSolve::transpose(Transposition& t) {
  if (t.linear(0) || t.linear(1)) refuse(t.equation, NotLinear::reason);
  const bool transpose = t.attributes().get<bool>("transpose");
  t.add(3, emit_lu_solve(t.writer, t.operands[0], {t.operands[1], t.operands[2]}, t.cotangents[0], !transpose));
}

void LuSolve::batch(Batching& b) {
  const Writer& w = b.writer;
  const bool transpose = b.attributes().get<bool>("transpose");
  if (b.batched[0] || b.batched[1] || b.batched[2]) {
    const LuFactors factors{b.batched_operand(1), b.batched_operand(2)};
    return b.result(emit_lu_solve(w, b.batched_operand(0), factors, b.batched_operand(3), transpose));
  }
  b.result(with_examples_as_columns(b, 3, [&](Value columns) {
    return emit_lu_solve(w, b.operands[0], {b.operands[1], b.operands[2]}, columns, transpose);
  }));
}

}  // namespace calque::primitives
