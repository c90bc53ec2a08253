#include "primitives/linalg/pinv.h"

#include "primitives/core/emit.h"
#include "primitives/linalg/jacobi_svd.h"
#include "primitives/list.h"

namespace calque::primitives {

void Pinv::infer(Typing& t) {
  check_matrices(t, 0);
  const Type& a = t.operand(0);
  const size_t rank = a.shape.size();
  t.result({a.dtype, a.shape.with(rank - 2, num_columns(a.shape)).with(rank - 1, num_rows(a.shape))});
}

void Pinv::evaluate(Evaluation& e) {
  const AnyArray& a = e.operands[0];
  AnyArray& out = e.add_result();
  const double rcond = e.attributes.get<double>("rcond");
  const auto rows = static_cast<size_t>(num_rows(a.shape())), columns = static_cast<size_t>(num_columns(a.shape()));
  visit_dtype(a.dtype(), [&]<class T>() {
    if constexpr (contains(kMatrix, dtype_of<T>)) {
      using W = Wide<T>;
      const T* from = a.data_as<T>();
      T* to = static_cast<T*>(out.mutable_data());
      for (int64_t m = num_matrices(a.shape()); m > 0; --m, from += rows * columns, to += rows * columns) {
        JacobiSvd<W> f;
        if (!jacobi_svd(from, rows, columns, f)) {
          std::fill_n(to, rows * columns, T(std::numeric_limits<RealPart<T>>::quiet_NaN()));
          continue;
        }
        std::vector<W> sum(rows * columns);
        for (size_t k = 0; k < f.s.size() && f.s[k] > static_cast<RealPart<W>>(rcond) * f.s[0]; ++k)
          for (size_t i = 0; i < columns; ++i)
            for (size_t r = 0; r < rows; ++r) sum[i * rows + r] += f.v[k][i] * conjugate(f.u[k][r]) / f.s[k];
        for (size_t i = 0; i < sum.size(); ++i) to[i] = static_cast<T>(sum[i]);
      }
    }
  });
}

/// With p = pinv(a), of matrices of constant rank: dp = -p da p + p pᴴ daᴴ (I - a p) + (I - p a) daᴴ pᴴ p (Golub and
/// Pereyra, The differentiation of pseudo-inverses and nonlinear least squares problems whose variables separate, SIAM
/// J. Numer. Anal. 10, 1973).
void Pinv::jvp(Jvp& j) {
  const Writer& w = j.writer;
  const Value a = j.primals[0], p = j.results[0], da = j.tangents[0];
  if (j.operand_type(0).shape.num_elements() == 0) return;
  const auto adjoint = [&](Value x) { return conjugated(w, transposed(w, x)); };
  const auto product = [&](Value x, Value y) { return product_of(w, x, y); };
  const auto minus = [&](Value x, Value y) { return w.emit(id_of<Sub>, {x, y}); };
  const Value dah = adjoint(da), ph = adjoint(p);
  const Value outside_of_columns = minus(dah, product(product(dah, a), p));
  const Value left = product(product(p, ph), outside_of_columns);
  const Value inside_of_rows = product(product(dah, ph), p);
  const Value right = minus(inside_of_rows, product(p, product(a, inside_of_rows)));
  j.add(minus(w.add(left, right), product(product(p, da), p)));
}

void Pinv::batch(Batching& b) { b.result(b.emit<Pinv>({b.operands[0]}, b.attributes())); }

Value pinv_of(const Writer& w, Value u, Value s, Value vh, double rcond) {
  const Shape shape = w.shape(s);
  const size_t last = shape.size() - 1;
  if (shape[last] == 0) {
    const Shape rows = w.shape(u), columns = w.shape(vh);
    return w.zeros({w.dtype(u), columns.with(last, columns[last + 1]).with(last + 1, rows[last])});
  }
  std::vector<int64_t> axes;
  for (int64_t d = 0; d < shape.rank(); ++d) axes.push_back(d);
  const Term value{&w, s}, greatest{&w, w.broadcast(w.slice(s, last, 0, 1), shape, axes)};
  const Value inverse = where(value > rcond * greatest, 1.0 / nonzero(value)).value;
  const Value v = conjugated(w, transposed(w, vh)), uh = conjugated(w, transposed(w, u));
  return product_of(w, scaled_by(w, v, as_columns(w, inverse, w.shape(v))), uh);
}

}  // namespace calque::primitives
