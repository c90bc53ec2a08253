#include "primitives/linalg/eig.h"

#include "primitives/core/emit.h"
#include "primitives/linalg/lu_solve.h"
#include "primitives/linalg/schur.h"
#include "primitives/list.h"

namespace calque::primitives {
namespace {

bool has_paired_results(const Attributes& attributes) {
  return attributes.has(kPairedResultsAttribute.name) && attributes.get<bool>(kPairedResultsAttribute.name);
}

/// 1 / (w_j - w_i), NaN where those are equal: vectors of equal values have no derivative; 0 on the diagonals.
Value reciprocal_differences(const Writer& w, Value values, const Shape& square) {
  const Type type{w.dtype(values), square};
  const Term d = Term{&w, as_columns(w, values, square)} - Term{&w, as_rows(w, values, square)};
  const Term none{&w, w.splat(std::numeric_limits<double>::quiet_NaN(), type)}, one = constant(d, 1);
  const Term on{&w, on_diagonal(w, square)}, equal = d == constant(d, 0);
  return select(on, {&w, w.zeros(type)}, select(equal, none, one / select(equal, one, d))).value;
}

}  // namespace

uint32_t Eig::routine_flags(const Attributes& attributes) { return has_vectors(attributes) ? RoutineFlag::vectors : 0; }

void Eig::infer(Typing& t) {
  if (is_paired(t.attributes())) return infer_paired(t, id_of<Eig>);
  check_square(t, 0);
  const Type& a = t.operand(0);
  const bool pairs = has_paired_results(t.attributes());
  if (pairs) t.accept(0, set_of(DType::f32) | set_of(DType::f64));
  const auto result = [&](const Shape& shape) {
    if (pairs) return t.result({a.dtype, shape.with_inserted(shape.size(), 2)});
    t.result({real_of(a.dtype) == DType::f64 ? DType::c128 : DType::c64, shape});
  };
  result(a.shape.without(a.shape.size() - 1));
  if (has_vectors(t.attributes())) result(a.shape);
}

void Eig::evaluate(Evaluation& e) {
  if (is_paired(e.attributes)) return evaluate_paired(e, id_of<Eig>);
  const AnyArray& a = e.operands[0];
  const bool with_vectors = has_vectors(e.attributes);
  for (const Type& type : e.result_types) e.results.push_back(make_array(type));
  const auto n = static_cast<size_t>(num_rows(a.shape()));
  visit_dtype(a.dtype(), [&]<class T>() {
    if constexpr (contains(kMatrix, dtype_of<T>)) {
      using W = Wide<T>;
      using C = std::complex<RealPart<T>>;
      using WideC = std::complex<RealPart<W>>;
      constexpr RealPart<T> kNaN = std::numeric_limits<RealPart<T>>::quiet_NaN();
      const T* from = a.data_as<T>();
      C* to_w = static_cast<C*>(e.results[0].mutable_data());
      C* to_v = with_vectors ? static_cast<C*>(e.results[1].mutable_data()) : nullptr;
      for (int64_t m = num_matrices(a.shape()); m > 0; --m, from += n * n, to_w += n) {
        std::vector<WideC> values;
        std::vector<std::vector<WideC>> columns;
        const bool succeeded = is_all_finite(from, n * n) && eigen_decomposition<T, W>(from, n, values, columns);
        for (size_t k = 0; k < n; ++k) to_w[k] = succeeded ? static_cast<C>(values[k]) : C(kNaN, kNaN);
        if (!with_vectors) continue;
        for (size_t i = 0; i < n; ++i)
          for (size_t k = 0; k < n; ++k) *to_v++ = succeeded ? static_cast<C>(columns[k][i]) : C(kNaN, kNaN);
      }
    }
  });
}

/// With m = inverse(v) da v: dw is m's diagonal and dv = v (f * m + diag(c)), where f_ij = 1 / (w_j - w_i) and 0 on the
/// diagonal, and c keeps the columns' norms 1 and their greatest components real.
void Eig::jvp(Jvp& j) {
  const Writer& w = j.writer;
  if (j.operand_type(0).shape.num_elements() == 0) return;
  const bool with_vectors = has_vectors(j.attributes());
  const Value v = with_vectors ? j.results[1] : w.append(id_of<Eig>, {j.primals[0]}, {{"vectors", true}}).result(1);
  const Value da = j.tangents[0];
  const auto product_with = [&](Term part) { return Term{&w, product_of(w, da, part.value)}; };
  const Term z{&w, v};
  const Value dav =
      is_complex(w.dtype(da)) ? product_of(w, da, v) : complex(product_with(real(z)), product_with(imag(z))).value;
  const Value m = emit_lu_solve(w, v, emit_lu(w, v), dav);
  j.add(diagonal_of(w, m), 0);
  if (!with_vectors) return;
  const Shape square = w.shape(v);
  const Value dv = product_of(w, v, w.mul(m, reciprocal_differences(w, j.results[0], square)));
  const Term dz{&w, dv};
  const Value growth = sum_over_rows(w, (real(z) * real(dz) + imag(z) * imag(dz)).value);
  const Term grown{&w, scaled_by(w, v, as_columns(w, growth, square))};
  const Term rotated{&w, scaled_by_imaginary(w, v, as_columns(w, phase_rates(w, v, dv), square))};
  j.add((dz - grown - rotated).value, 1);
}

void Eig::batch(Batching& b) {
  const Equation& e = b.writer.append(id_of<Eig>, {b.operands[0]}, b.attributes());
  const std::vector<Value> results(e.results().begin(), e.results().end());
  for (const Value v : results) b.result(v);
}

}  // namespace calque::primitives
