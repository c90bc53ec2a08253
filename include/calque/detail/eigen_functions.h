#pragma once
// Replacements for Eigen functions that branch on values, which tracers do not have. They also accept matrices of
// numbers, so that a lambda can be called with either.
#include "calque/detail/eigen_linalg.h"
#include "calque/eigen.h"
#include "calque/linalg.h"

namespace calque {
namespace detail {

/// b where the condition holds, else c, for tracers and numbers.
template <class C, class S>
S choose(const C& condition, const S& b, const S& c) {
  if constexpr (TracerLike<S>) {
    return where(condition, b, c);
  } else {
    return condition ? b : c;
  }
}

/// The matrix with the rows of A and the columns of B.
template <class A, class B>
using ProductOf = Eigen::Matrix<typename A::Scalar, A::RowsAtCompileTime, B::ColsAtCompileTime>;

template <class Out, class... E>
Out multi_dot_of_matrices(Loc loc, const E&... e) {
  using S = typename Out::Scalar;
  // Vectors are packed without the dimension of extent 1, which says whether they are rows or columns.
  const std::vector<S> matrices = {
      reshape(dense<E>::pack(e, loc), std::vector<int64_t>{int64_t{e.rows()}, int64_t{e.cols()}}, loc)...};
  const S product = linalg::multi_dot(matrices, loc);
  if constexpr (dense<Out>::vector) {
    return dense<Out>::make(reshape(product, {-1}, loc), loc);
  } else {
    return dense<Out>::make(product, loc);
  }
}

}  // namespace detail

/// v / |v|, or v if |v|^2 is 0 (Eigen: `v.normalized()`), for a vector or matrix of numbers or tracers.
template <detail::EigenMatrix E>
typename E::PlainObject normalized(const E& v) {
  using S = typename E::Scalar;
  const typename E::PlainObject value(v);
  const S square = value.squaredNorm();
  using std::sqrt;
  // The root's argument is replaced by 1 where it is 0, so that value and derivative of the unused branch are not NaN.
  const S safe = detail::choose(square > S(0), square, S(1));
  return value * (S(1) / sqrt(safe));
}

/// x / |x| along the last axis, and x where |x| is 0; of x's shape and floating type. Throws ShapeError for rank 0.
template <ArrayLike X>
  requires InexactElem<elem_t<X>>
X normalized(const X& x, Loc loc = Loc::current()) {
  const auto square = sum(x * x, {-1}, keepdims, loc);
  return x / sqrt(where(square > 0, square, 1, loc), loc);
}

/// The elements of `a` where the condition holds, else of `b` (Eigen: `condition.select(a, b)`). The condition is a
/// scalar or has the shape of the matrices; Eigen's comparisons give C++ bools, so compare arrays, as in `Tracer<T>(m)
/// > 0`. Throws ShapeError when sizes differ.
template <detail::EigenDense A, detail::EigenDense B>
  requires(std::same_as<typename A::Scalar, typename B::Scalar> && TracerLike<typename A::Scalar>)
typename A::PlainObject where(const Tracer<bool>& condition, const A& a, const B& b, Loc loc = Loc::current()) {
  using S = typename A::Scalar;
  if (a.rows() != b.rows() || a.cols() != b.cols()) {
    throw ShapeError("where: the matrices differ in size" + where_text(loc));
  }
  const S chosen = where(condition, dense<A>::pack(a, loc), dense<B>::pack(b, loc), loc);
  return dense<typename A::PlainObject>::make(chosen, loc);
}

/// A scalar: true when the matrices have one size and all elements are equal (Eigen: `a == b`).
template <detail::EigenDense A, detail::EigenDense B>
  requires TracerLike<typename A::Scalar>
Tracer<bool> equal(const A& a, const B& b, Loc loc = Loc::current()) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return Tracer<bool>(false, loc);
  const typename A::PlainObject x(a);
  const typename B::PlainObject y(b);
  Tracer<bool> result(true, loc);
  for (Eigen::Index j = 0; j < x.cols(); ++j) {
    for (Eigen::Index i = 0; i < x.rows(); ++i) result = result & (x(i, j) == y(i, j));
  }
  return result;
}

namespace linalg {

/// The norm of linalg.h of this order, of a vector if it is one at compile time, else of a matrix (Eigen:
/// `a.cwiseAbs().colwise().sum().maxCoeff()` for `ord::one`). Throws as that does.
template <TracedMatrix A>
norm_t<typename A::Scalar> norm(const A& a, ord order, Loc loc = Loc::current()) {
  return norm(dense<A>::pack(a, loc), order, {}, {}, loc);
}

/// The product of two to four matrices in the order that takes the fewest multiplications (Eigen: `a * b * c`, from the
/// left). Throws ShapeError when inner dimensions differ.
template <TracedMatrix A, TracedMatrix B>
  requires std::same_as<typename A::Scalar, typename B::Scalar>
auto multi_dot(const A& a, const B& b, Loc loc = Loc::current()) {
  return detail::multi_dot_of_matrices<detail::ProductOf<A, B>>(loc, a, b);
}
template <TracedMatrix A, TracedMatrix B, TracedMatrix C>
  requires(std::same_as<typename A::Scalar, typename B::Scalar> && std::same_as<typename A::Scalar, typename C::Scalar>)
auto multi_dot(const A& a, const B& b, const C& c, Loc loc = Loc::current()) {
  return detail::multi_dot_of_matrices<detail::ProductOf<A, C>>(loc, a, b, c);
}
template <TracedMatrix A, TracedMatrix B, TracedMatrix C, TracedMatrix D>
  requires(std::same_as<typename A::Scalar, typename B::Scalar> &&
           std::same_as<typename A::Scalar, typename C::Scalar> && std::same_as<typename A::Scalar, typename D::Scalar>)
auto multi_dot(const A& a, const B& b, const C& c, const D& d, Loc loc = Loc::current()) {
  return detail::multi_dot_of_matrices<detail::ProductOf<A, D>>(loc, a, b, c, d);
}

}  // namespace linalg

/// Spherical interpolation between unit quaternions along the shorter arc (Eigen: `a.slerp(t, b)`).
template <class S>
Eigen::Quaternion<S> slerp(const S& t, const Eigen::Quaternion<S>& a, const Eigen::Quaternion<S>& b) {
  using std::abs;
  using std::acos;
  using std::sin;
  const S cosine = a.dot(b);
  const S magnitude = abs(cosine);
  // Almost parallel quaternions are interpolated linearly; the cosine is replaced there to keep the other branch
  // finite.
  const auto apart = magnitude < S(1) - Eigen::NumTraits<S>::epsilon();
  const S angle = acos(detail::choose(apart, magnitude, S(0)));
  const S sine = sin(angle);
  const S from = detail::choose(apart, S(sin((S(1) - t) * angle) / sine), S(S(1) - t));
  const S to = detail::choose(apart, S(sin(t * angle) / sine), t);
  return Eigen::Quaternion<S>(from * a.coeffs() + detail::choose(cosine < S(0), S(-to), to) * b.coeffs());
}

}  // namespace calque
