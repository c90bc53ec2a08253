#pragma once
// The functions of linalg.h for Eigen matrices of tracers.
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "calque/eigen.h"
#include "calque/linalg.h"

namespace calque {
namespace linalg {

/// Matrices and vectors of tracers whose elements can be factored and solved.
template <class E>
concept TracedMatrix =
    detail::EigenDense<E> && TracerLike<typename E::Scalar> && InexactElem<elem_t<typename E::Scalar>>;

/// What can stand beside a matrix of tracers: another one, Eigen matrices of numbers, tracers and arrays.
template <class E>
concept BesideTracedMatrix =
    TracedMatrix<E> || ArrayLike<E> ||
    (detail::EigenDense<E> && !TracerLike<typename E::Scalar> && detail::EigenElement<typename E::Scalar>);

}  // namespace linalg

namespace detail {

/// The elements as one tracer, or as an array if they are numbers, of rank 1 for vectors.
template <class E>
auto elements_of(const E& e, Loc at) {
  if constexpr (ArrayLike<E>) {
    return e;
  } else if constexpr (TracerLike<typename E::Scalar>) {
    return dense<E>::pack(e, at);
  } else {
    return dense<E>::copy(e).template as<typename dense<E>::scalar>();
  }
}
/// The same of rank 2: Eigen's vectors are matrices of one column or one row.
template <class E>
auto matrix_of(const E& e, Loc at) {
  if constexpr (ArrayLike<E>) {
    return e;
  } else if constexpr (dense<E>::vector) {
    return elements_of(Eigen::Matrix<typename E::Scalar, Eigen::Dynamic, Eigen::Dynamic>(e.matrix()), at);
  } else {
    return elements_of(e, at);
  }
}
/// The right-hand side of a system with `rows` rows: a vector if it is one, also as a row, which of a system of one row
/// is a matrix.
template <class B>
auto right_side_of(const B& b, Eigen::Index rows, Loc at) {
  if constexpr (EigenDense<B>) {
    if constexpr (B::RowsAtCompileTime == 1 && B::ColsAtCompileTime != 1) {
      if (rows == 1) return matrix_of(b, at);
    }
  }
  return elements_of(b, at);
}
template <class E>
Eigen::Index rows_of(const E& e) {
  if constexpr (EigenDense<E>) {
    return e.rows();
  } else {
    return Eigen::Dynamic;
  }
}

/// The Eigen object with the elements of a tracer of rank 2, or of rank 1 for vectors.
template <class Out>
Out eigen_of(const typename Out::Scalar& elements, Loc at) {
  if constexpr (dense<Out>::vector) {
    return dense<Out>::make(elements.rank() == 1 ? elements : reshape(elements, {-1}, at), at);
  } else {
    return dense<Out>::make(elements, at);
  }
}

/// A matrix of elements S with the storage order of E where it is no vector.
template <class E, class S, int Rows, int Columns, int MaxRows = Rows, int MaxColumns = Columns>
using LikeMatrix = Eigen::Matrix<S, Rows, Columns,
                                 Rows == 1 && Columns != 1    ? Eigen::RowMajor
                                 : Columns == 1 && Rows != 1  ? Eigen::ColMajor
                                 : E::PlainObject::IsRowMajor ? Eigen::RowMajor
                                                              : Eigen::ColMajor,
                                 MaxRows, MaxColumns>;
/// The lesser of two extents at compile time.
template <int M, int N>
inline constexpr int least_extent = M == Eigen::Dynamic || N == Eigen::Dynamic ? Eigen::Dynamic : (M < N ? M : N);
template <int M, int N>
inline constexpr int least_maximum = M == Eigen::Dynamic   ? N
                                     : N == Eigen::Dynamic ? M
                                                           : (M < N ? M : N);
/// The types of the factors of a matrix E [m, n], with k = min(m, n).
template <class E>
struct FactorsOf {
  using S = typename E::Scalar;
  static constexpr int m = E::RowsAtCompileTime, n = E::ColsAtCompileTime, k = least_extent<m, n>;
  static constexpr int max_m = E::MaxRowsAtCompileTime, max_n = E::MaxColsAtCompileTime,
                       max_k = least_maximum<max_m, max_n>;
  using square = LikeMatrix<E, S, m, m, max_m, max_m>;
  using left = LikeMatrix<E, S, m, k, max_m, max_k>;
  using right = LikeMatrix<E, S, k, n, max_k, max_n>;
};

/// The result of a function of a system's matrix and right-hand side: an Eigen object with the sizes of b if that is
/// one, else a tracer.
template <class A, class B, class F>
auto solved(const A& a, const B& b, const F& f, Loc at) {
  const auto x = f(matrix_of(a, at), right_side_of(b, rows_of(a), at));
  if constexpr (EigenDense<B>) {
    return eigen_of<typename dense<B>::template over<std::remove_cvref_t<decltype(x)>>>(x, at);
  } else {
    return x;
  }
}

}  // namespace detail

namespace linalg {

// Each is the function of linalg.h for one matrix, and one vector or matrix as right-hand side, and throws what that
// throws. Beside a matrix of tracers the other operand may be an Eigen matrix of numbers, a tracer or an array; where
// the right-hand side is one of the last two, so is the result, and a tracer.

/// The lower triangular Cholesky factor, of a's type, as that of arrays (Eigen: `a.llt().matrixL()`).
template <TracedMatrix A>
typename A::PlainObject cholesky(const A& a, Loc loc = Loc::current()) {
  return detail::eigen_of<typename A::PlainObject>(cholesky(detail::matrix_of(a, loc), loc), loc);
}
/// As `cholesky`.
template <TracedMatrix A>
typename A::PlainObject cho_factor(const A& a, Loc loc = Loc::current()) {
  return cholesky(a, loc);
}
/// The x with t x = b for the triangle t of a (Eigen: `a.triangularView<Mode>().solve(b)`).
template <BesideTracedMatrix A, BesideTracedMatrix B>
  requires(TracedMatrix<A> || TracedMatrix<B>)
auto triangular_solve(const A& a, const B& b, TriangularOptions options = {}, Loc loc = Loc::current()) {
  return detail::solved(a, b, [&](const auto& x, const auto& y) { return triangular_solve(x, y, options, loc); }, loc);
}
/// As `triangular_solve`.
template <BesideTracedMatrix A, BesideTracedMatrix B>
  requires(TracedMatrix<A> || TracedMatrix<B>)
auto solve_triangular(const A& a, const B& b, TriangularOptions options = {}, Loc loc = Loc::current()) {
  return triangular_solve(a, b, options, loc);
}
/// The x with a x = b, of what `cholesky` gave of a (Eigen: `a.llt().solve(b)`).
template <BesideTracedMatrix L, BesideTracedMatrix B>
  requires(TracedMatrix<L> || TracedMatrix<B>)
auto cho_solve(const L& l, const B& b, Loc loc = Loc::current()) {
  return detail::solved(l, b, [&](const auto& x, const auto& y) { return cho_solve(x, y, loc); }, loc);
}
/// The x with a x = b (Eigen: `a.partialPivLu().solve(b)`).
template <BesideTracedMatrix A, BesideTracedMatrix B>
  requires(TracedMatrix<A> || TracedMatrix<B>)
auto solve(const A& a, const B& b, Loc loc = Loc::current()) {
  return detail::solved(a, b, [&](const auto& x, const auto& y) { return solve(x, y, loc); }, loc);
}
/// The inverse, of a's type (Eigen: `a.inverse()`).
template <TracedMatrix A>
typename A::PlainObject inv(const A& a, Loc loc = Loc::current()) {
  return detail::eigen_of<typename A::PlainObject>(inv(detail::matrix_of(a, loc), loc), loc);
}
/// The determinant, a scalar (Eigen: `a.determinant()`).
template <TracedMatrix A>
typename A::Scalar det(const A& a, Loc loc = Loc::current()) {
  return det(detail::matrix_of(a, loc), loc);
}
/// (sign, logarithm of the magnitude) of the determinant, two scalars.
template <TracedMatrix A>
auto slogdet(const A& a, Loc loc = Loc::current()) {
  return slogdet(detail::matrix_of(a, loc), loc);
}
/// The product of n factors a, of a's type; for a negative n, of the inverse.
template <TracedMatrix A>
typename A::PlainObject matrix_power(const A& a, int64_t n, Loc loc = Loc::current()) {
  return detail::eigen_of<typename A::PlainObject>(matrix_power(detail::matrix_of(a, loc), n, loc), loc);
}
/// The matrix exponential, of a's type (Eigen: `a.exp()` of its unsupported modules).
template <TracedMatrix A>
typename A::PlainObject expm(const A& a, Loc loc = Loc::current()) {
  return detail::eigen_of<typename A::PlainObject>(expm(detail::matrix_of(a, loc), loc), loc);
}

/// (p, l, u) with a = p l u, with the sizes at compile time that a's imply.
template <TracedMatrix A>
auto lu(const A& a, Loc loc = Loc::current()) {
  using Factors = detail::FactorsOf<A>;
  const auto [p, l, u] = lu(detail::matrix_of(a, loc), loc);
  return std::tuple{detail::eigen_of<typename Factors::square>(p, loc),
                    detail::eigen_of<typename Factors::left>(l, loc),
                    detail::eigen_of<typename Factors::right>(u, loc)};
}
/// (packed, perm): packed is of a's type, perm a vector of int32 tracers.
template <TracedMatrix A>
auto lu_factor(const A& a, Loc loc = Loc::current()) {
  const auto [packed, perm] = lu_factor(detail::matrix_of(a, loc), loc);
  using Order = Eigen::Matrix<Tracer<int32_t>, A::RowsAtCompileTime, 1, 0, A::MaxRowsAtCompileTime, 1>;
  return std::tuple{detail::eigen_of<typename A::PlainObject>(packed, loc), detail::eigen_of<Order>(perm, loc)};
}
/// The x with a x = b, where `lu_factor(a)` gave (packed, perm); perm may also be a tracer of rank 1.
template <TracedMatrix A, class P, BesideTracedMatrix B>
  requires(detail::EigenDense<P> || ArrayLike<P>)
auto lu_solve(const A& packed, const P& perm, const B& b, Loc loc = Loc::current()) {
  const auto order = detail::elements_of(perm, loc);
  return detail::solved(packed, b, [&](const auto& x, const auto& y) { return lu_solve(x, order, y, loc); }, loc);
}
/// (q, r) with a = q r, with the sizes at compile time that a's imply (Eigen: `a.householderQr()`).
template <TracedMatrix A>
auto qr(const A& a, Loc loc = Loc::current()) {
  using Factors = detail::FactorsOf<A>;
  const auto [q, r] = qr(detail::matrix_of(a, loc), loc);
  return std::tuple{detail::eigen_of<typename Factors::left>(q, loc),
                    detail::eigen_of<typename Factors::right>(r, loc)};
}
/// (x, residuals) of least squares: x has as many rows as a has columns, and the columns of b; the residuals are a
/// vector with one for each column (Eigen: `a.householderQr().solve(b)`). Tracers if b is a tracer or an array.
template <BesideTracedMatrix A, BesideTracedMatrix B>
  requires(TracedMatrix<A> || TracedMatrix<B>)
auto lstsq(const A& a, const B& b, Loc loc = Loc::current()) {
  if constexpr (detail::EigenDense<B>) {
    const auto [x, residuals] = lstsq(detail::matrix_of(a, loc), detail::matrix_of(b, loc), loc);
    using S = std::remove_cvref_t<decltype(x)>;
    using R = std::remove_cvref_t<decltype(residuals)>;
    constexpr int columns = B::ColsAtCompileTime, max_columns = B::MaxColsAtCompileTime;
    constexpr int rows = [] {
      if constexpr (detail::EigenDense<A>) return static_cast<int>(A::ColsAtCompileTime);
      return Eigen::Dynamic;
    }();
    constexpr int max_rows = [] {
      if constexpr (detail::EigenDense<A>) return static_cast<int>(A::MaxColsAtCompileTime);
      return Eigen::Dynamic;
    }();
    return std::tuple{detail::eigen_of<detail::LikeMatrix<B, S, rows, columns, max_rows, max_columns>>(x, loc),
                      detail::eigen_of<Eigen::Matrix<R, columns, 1, 0, max_columns, 1>>(residuals, loc)};
  } else {
    return lstsq(detail::matrix_of(a, loc), b, loc);
  }
}

}  // namespace linalg
}  // namespace calque
