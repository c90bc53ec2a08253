// Distributions of vectors and matrices by the factors of linear algebra.
#include "frontend/linalg/systems.h"
#include "frontend/random/random.h"

namespace calque::detail::ops::random {
namespace {

/// The dimensions but for the last `count`.
Shape without_last(const Shape& shape, size_t count) {
  return Shape(Ints(shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(count)));
}

Shape with_last(const Shape& shape, std::initializer_list<int64_t> more) {
  Ints dims(shape.begin(), shape.end());
  dims.insert(dims.end(), more);
  return Shape(dims);
}

}  // namespace

Handle multivariate_normal(const Operand& key, const Operand& mean, const Operand& cov,
                           const std::optional<Shape>& shape, Location at) {
  const Site s{"random::multivariate_normal", at};
  const Key k = key_of(key, s);
  const Type tm = type(value(mean, s)), tc = type(value(cov, s));
  linalg::check_square(tc, s);
  const int64_t n = tc.shape[tc.shape.size() - 1];
  if (tm.shape.rank() == 0 || tm.shape[tm.shape.size() - 1] != n) {
    s.shape_error("mean [..., n] and covariance [..., n, n] do not fit, got " + to_string(tm) + " and " +
                  to_string(tc));
  }
  const DType promoted = promoted_dtype(mean, cov, s);
  const DType d = linalg::matrix_dtype(promoted, promoted == tm.dtype ? tm : tc, s);
  check_floating(d, s);
  bool fits = true;
  const Shape batch = broadcast_shapes(without_last(tm.shape, 1), without_last(tc.shape, 2), fits);
  const Shape draws = shape.value_or(batch);
  if (!fits || broadcast_shapes(draws, batch, fits) != draws || !fits) {
    s.shape_error("mean and covariance do not broadcast to the shape " + to_string(draws) + ", got " + to_string(tm) +
                  " and " + to_string(tc));
  }
  const Handle l = linalg::cholesky(Operand(value(cov, d, s)), at);
  const Handle z = normal(k, d, with_last(draws, {n}), s);
  // One product for all draws with one factor; else each has its own.
  Handle x;
  if (tc.shape.rank() == 2) {
    const Handle rows = reshape(z, Shape{draws.num_elements(), n}, s);
    x = reshape(linalg::product(rows, linalg::transposed(l, s), s), with_last(draws, {n}), s);
  } else {
    const Handle factors = broadcast(l, with_last(draws, {n, n}), s);
    x = reshape(linalg::product(factors, reshape(z, with_last(draws, {n, 1}), s), s), with_last(draws, {n}), s);
  }
  return linalg::add(broadcast(value(mean, d, s), with_last(draws, {n}), s), x, s);
}

Handle orthogonal(const Operand& key, int64_t n, DType d, const Shape& shape, Location at) {
  const Site s{"random::orthogonal", at};
  const Key k = key_of(key, s);
  if (linalg::matrix_dtype(d, {d, {}}, s) != d) reject({d, {}}, "f32 or f64", s);
  check_floating(d, s);
  if (n < 0) s.shape_error("the number of rows must not be negative, got " + std::to_string(n));
  const Handle z = normal(k, d, with_last(shape, {n, n}), s);
  const std::vector<Handle> factors = linalg::emit_all<prim::Qr>(s, {z});
  // Columns with the signs of r's diagonal: the distribution is then Haar's (Mezzadri, How to generate random matrices
  // from the classical compact groups, Notices of the AMS 54, 2007).
  const int rank = shape.rank();
  const Handle diagonal_of_r = diagonal(factors[1], 0, rank, rank + 1, s);
  const Type t = type(diagonal_of_r);
  const Handle is_negative = emit<prim::Lt>(s, {diagonal_of_r, splat(0, t, s)});
  const Handle signs = select(is_negative, splat(-1, t, s), splat(1, t, s), s);
  Ints axes;
  for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  axes.push_back(rank + 1);
  return emit<prim::Mul>(s, {factors[0], broadcast_in(signs, with_last(shape, {n, n}), axes, s)});
}

}  // namespace calque::detail::ops::random
