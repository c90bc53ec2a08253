#include "primitives/linalg/determinant.h"

#include "primitives/core/emit.h"
#include "primitives/linalg/factor_lu.h"
#include "primitives/linalg/lu_solve.h"
#include "primitives/linalg/matrix.h"
#include "primitives/list.h"

namespace calque::primitives {
namespace {

/// Calls f(pivots, odd) for each matrix, whose element type is T.
template <class T, class F>
void for_each_factored(const AnyArray& a, const F& f) {
  const auto n = static_cast<size_t>(num_rows(a.shape()));
  const T* from = a.data_as<T>();
  for (int64_t m = num_matrices(a.shape()); m > 0; --m, from += n * n) {
    std::vector<Wide<T>> wide(from, from + n * n);
    const bool odd = is_odd(factor_lu(wide, n, n));
    std::vector<Wide<T>> pivots(n);
    for (size_t i = 0; i < n; ++i) pivots[i] = wide[i * n + i];
    f(pivots, odd);
  }
}

/// The axes 0, 1, ... but for the last `count` of `rank`.
std::vector<int64_t> leading_axes(size_t rank, size_t count) {
  std::vector<int64_t> axes(rank - count);
  std::iota(axes.begin(), axes.end(), int64_t{0});
  return axes;
}

/// x [..., n] along the rows (which == 0) or the columns (which == 1) of [..., n, n].
Value along(const Writer& w, Value x, size_t which) {
  const Shape shape = w.shape(x);
  const Shape square = shape.with_inserted(shape.size(), shape[shape.size() - 1]);
  std::vector<int64_t> axes = leading_axes(square.size(), 2);
  axes.push_back(static_cast<int64_t>(square.size() - 2 + which));
  return w.broadcast(x, square, std::move(axes));
}

Value reduce(const Writer& w, PrimitiveId how, Value x, int64_t count) {
  const int64_t rank = w.shape(x).rank();
  std::vector<int64_t> axes;
  for (int64_t d = rank - count; d < rank; ++d) axes.push_back(d);
  return w.emit(how, {x}, {{"axes", std::move(axes)}});
}

Value trace_of(const Writer& w, Value matrices) { return reduce(w, id_of<ReduceSum>, diagonal_of(w, matrices), 1); }

}  // namespace

Value sign_of_order(const Writer& w, Value perm, DType dtype) {
  const Value rows = along(w, perm, 0), columns = along(w, perm, 1);
  const Shape square = w.shape(rows);
  const Value before =
      w.emit(id_of<Lt>, {w.iota(DType::i32, square, square.rank() - 2), w.iota(DType::i32, square, square.rank() - 1)});
  const Value inverted = w.emit(id_of<And>, {before, w.emit(id_of<Gt>, {rows, columns})});
  const Value count = reduce(w, id_of<ReduceSum>, w.convert(inverted, DType::i32), 2);
  const Type counts = w.type(count);
  const Value odd = w.emit(id_of<And>, {count, w.splat(1, counts)});
  const Type result{dtype, counts.shape};
  return w.select(w.emit(id_of<Eq>, {odd, w.splat(1, counts)}), w.splat(-1, result), w.splat(1, result));
}

void Det::infer(Typing& t) {
  check_square(t, 0);
  const Type& a = t.operand(0);
  t.result(a.dtype, batch_of(a.shape));
}

void Det::evaluate(Evaluation& e) {
  const AnyArray& a = e.operands[0];
  AnyArray& out = e.add_result();
  visit_dtype(a.dtype(), [&]<class T>() {
    if constexpr (contains(kMatrix, dtype_of<T>)) {
      T* to = static_cast<T*>(out.mutable_data());
      for_each_factored<T>(a, [&](const auto& pivots, bool odd) {
        Wide<T> product(odd ? -1 : 1);
        for (const auto& pivot : pivots) product *= pivot;
        *to++ = static_cast<T>(product);
      });
    }
  });
}

/// The tangent is tr(adj(a) da), where adj(a) = det(a) inverse(a) exists for singular matrices, too. With the pivots d
/// of a, d_k the first of least magnitude, and y = inverse(l) da: if d_k is not 0, adj(a) da = (product of the others)
/// d_k inverse(u) y. If it is, let v be u with 1 for d_k: u = v - e_k transposed(e_k) has the null vector r =
/// inverse(v) e_k, and adj(u) = (product of the others) r transposed(e_k) inverse(v). So the cofactors of a matrix of
/// rank n - 1 are right; with two pivots that are 0 they are NaN.
void Det::jvp(Jvp& j) {
  const Writer& w = j.writer;
  const Value a = j.primals[0];
  const Type type = w.type(a);
  if (num_rows(type.shape) == 0) return;
  const LuFactors factors = emit_lu(w, a);
  const Term d{&w, diagonal_of(w, factors.packed)};
  const Type pivots = w.type(d.value);
  const int64_t last = pivots.shape.rank() - 1;
  const DType real = real_of(type.dtype);
  const Value least = w.emit(id_of<Argmin>, {abs(d).value}, {{"axis", last}, {"dtype", DType::i32}});
  const Value number = w.broadcast(least, pivots.shape, leading_axes(pivots.shape.size(), 1));
  const Term chosen{&w, w.emit(id_of<Eq>, {w.iota(DType::i32, pivots.shape, last), number})};
  const Term one = constant(d, 1), zero = constant(d, 0);
  const Term pivot{&w, reduce(w, id_of<ReduceSum>, select(chosen, d, zero).value, 1)};
  const Term others{&w, reduce(w, id_of<ReduceProd>, select(chosen, one, d).value, 1)};
  Term sign{&w, sign_of_order(w, factors.perm, real)};
  if (is_complex(type.dtype)) sign = complex(sign, constant(sign, 0));
  const Term is_singular = pivot == constant(pivot, 0);
  // v = u, with 1 for d_k if that is 0.
  const Value everywhere = w.broadcast(is_singular.value, pivots.shape, leading_axes(pivots.shape.size(), 1));
  const Term replaced = chosen & Term{&w, everywhere};
  const Value at = w.emit(id_of<And>, {along(w, replaced.value, 0), on_diagonal(w, type.shape)});
  const Value v = w.select(at, w.splat(1, type), factors.packed);
  const Value y = emit_lower_solve(w, factors.packed, rows_in_order(w, j.tangents[0], factors.perm));
  const Value x = emit_upper_solve(w, v, y);
  // Row k of x, and the null vector.
  const Value row = w.reduce_sum(w.select(along(w, chosen.value, 0), x, w.zeros(type)), {last});
  const Value unit = w.reshape(select(chosen, one, zero).value, type.shape.with(type.shape.size() - 1, 1));
  const Term null{&w, w.reshape(emit_upper_solve(w, v, unit), pivots.shape)};
  const Term singular_trace{&w, reduce(w, id_of<ReduceSum>, (null * Term{&w, row}).value, 1)};
  const Term trace{&w, trace_of(w, x)};
  j.add((sign * others * select(is_singular, singular_trace, pivot * trace)).value);
}

void Det::batch(Batching& b) { b.result(b.emit<Det>({b.operands[0]})); }

void SlogDet::infer(Typing& t) {
  check_square(t, 0);
  const Type& a = t.operand(0);
  t.result(a.dtype, batch_of(a.shape));
  t.result(real_of(a.dtype), batch_of(a.shape));
}

void SlogDet::evaluate(Evaluation& e) {
  const AnyArray& a = e.operands[0];
  AnyArray signs = e.add_result();
  AnyArray logs = e.add_result();
  visit_dtype(a.dtype(), [&]<class T>() {
    if constexpr (contains(kMatrix, dtype_of<T>)) {
      using R = decltype(std::abs(T{}));
      T* sign = static_cast<T*>(signs.mutable_data());
      R* log = static_cast<R*>(logs.mutable_data());
      for_each_factored<T>(a, [&](const auto& pivots, bool odd) {
        using W = Wide<T>;
        W product(odd ? -1 : 1);
        decltype(std::abs(W{})) sum = 0;
        for (const W& pivot : pivots) {
          const auto size = std::abs(pivot);
          product *= size == 0 ? W(0) : pivot / size;
          sum += std::log(size);
        }
        *sign++ = static_cast<T>(product);
        *log++ = static_cast<R>(sum);
      });
    }
  });
  e.results = {std::move(signs), std::move(logs)};
}

/// That of the logarithm is the trace of inverse(a) da, of complex matrices its real part; the sign turns by the
/// imaginary one.
void SlogDet::jvp(Jvp& j) {
  const Writer& w = j.writer;
  const Value a = j.primals[0];
  const Term trace{&w, trace_of(w, emit_lu_solve(w, a, emit_lu(w, a), j.tangents[0]))};
  if (!is_complex(w.dtype(a))) return j.add(trace.value, 1);
  j.add(real(trace).value, 1);
  const Term turn = imag(trace);
  j.add((j.result(0) * complex(constant(turn, 0), turn)).value, 0);
}

void SlogDet::batch(Batching& b) {
  const Equation& e = b.writer.append(id_of<SlogDet>, {b.operands[0]});
  const Value sign = e.result(0), log = e.result(1);
  b.result(sign);
  b.result(log);
}

}  // namespace calque::primitives
