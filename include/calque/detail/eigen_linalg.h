#pragma once
// The functions of linalg.h for Eigen matrices of tracers.
#include <cstdint>
#include <optional>
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

/// The vector of the k values S, eigenvalues or singular values, of a matrix E.
template <class E, class S>
using ValuesOf = Eigen::Matrix<S, FactorsOf<E>::k, 1, 0, FactorsOf<E>::max_k, 1>;

/// Of a system whose matrix A may also be a tracer or an array: the solution, of elements S, for the right-hand side B,
/// and the vector of the singular values.
template <class A>
struct AnySystem {
  static constexpr int columns = Eigen::Dynamic, max_columns = Eigen::Dynamic, values = Eigen::Dynamic,
                       max_values = Eigen::Dynamic;
};
template <EigenDense A>
struct AnySystem<A> {
  static constexpr int columns = A::ColsAtCompileTime, max_columns = A::MaxColsAtCompileTime,
                       values = least_extent<A::RowsAtCompileTime, A::ColsAtCompileTime>,
                       max_values = least_maximum<A::MaxRowsAtCompileTime, A::MaxColsAtCompileTime>;
};
template <class A, class B, class S>
using SolutionOf =
    LikeMatrix<B, S, AnySystem<A>::columns, B::ColsAtCompileTime, AnySystem<A>::max_columns, B::MaxColsAtCompileTime>;
template <class A, class S>
using ValuesOfSystem = Eigen::Matrix<S, AnySystem<A>::values, 1, 0, AnySystem<A>::max_values, 1>;

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

/// The x of least squares with matrices of full rank, by QR, with the sizes of a's columns and b's.
template <class A, class B>
auto least_squares(const A& a, const B& b, Loc at) {
  const auto x = [&](const auto& matrix, const auto& sides) {
    using M = std::remove_cvref_t<decltype(matrix)>;
    using Sides = std::remove_cvref_t<decltype(sides)>;
    return apply<out_t<inexact_t<promoted_elem_t<M, Sides>>, M, Sides>>(
        "linalg::lstsq", at, [&](std::span<const Operand> o) { return ops::linalg::least_squares(o[0], o[1], at); },
        matrix, sides);
  }(matrix_of(a, at), matrix_of(b, at));
  return eigen_of<SolutionOf<A, B, std::remove_cvref_t<decltype(x)>>>(x, at);
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
/// (w, v): the eigenvalues of a Hermitian matrix, ascending, and its eigenvectors in the columns of v, of a's type
/// (Eigen: `SelfAdjointEigenSolver`).
template <TracedMatrix A>
auto eigh(const A& a, Loc loc = Loc::current()) {
  const auto [w, v] = eigh(detail::matrix_of(a, loc), loc);
  using Values = detail::ValuesOf<A, std::remove_cvref_t<decltype(w)>>;
  return std::tuple{detail::eigen_of<Values>(w, loc), detail::eigen_of<typename A::PlainObject>(v, loc)};
}
/// The eigenvalues of a Hermitian matrix, ascending.
template <TracedMatrix A>
auto eigvalsh(const A& a, Loc loc = Loc::current()) {
  const auto w = eigvalsh(detail::matrix_of(a, loc), loc);
  return detail::eigen_of<detail::ValuesOf<A, std::remove_cvref_t<decltype(w)>>>(w, loc);
}
/// (w, v): the eigenvalues of a square matrix and its eigenvectors in the columns of v, both complex (Eigen:
/// `EigenSolver`).
template <TracedMatrix A>
auto eig(const A& a, Loc loc = Loc::current()) {
  const auto [w, v] = eig(detail::matrix_of(a, loc), loc);
  using C = std::remove_cvref_t<decltype(w)>;
  using Extents = detail::FactorsOf<A>;
  using Vectors = detail::LikeMatrix<A, C, Extents::m, Extents::m, Extents::max_m, Extents::max_m>;
  return std::tuple{detail::eigen_of<detail::ValuesOf<A, C>>(w, loc), detail::eigen_of<Vectors>(v, loc)};
}
/// The eigenvalues of a square matrix, complex.
template <TracedMatrix A>
auto eigvals(const A& a, Loc loc = Loc::current()) {
  const auto w = eigvals(detail::matrix_of(a, loc), loc);
  return detail::eigen_of<detail::ValuesOf<A, std::remove_cvref_t<decltype(w)>>>(w, loc);
}
/// (u, s, vh) with a = u diag(s) vh, with the sizes at compile time that a's imply (Eigen: `jacobiSvd`).
template <TracedMatrix A>
auto svd(const A& a, Loc loc = Loc::current()) {
  using Factors = detail::FactorsOf<A>;
  const auto [u, s, vh] = svd(detail::matrix_of(a, loc), loc);
  using Values = detail::ValuesOf<A, std::remove_cvref_t<decltype(s)>>;
  return std::tuple{detail::eigen_of<typename Factors::left>(u, loc), detail::eigen_of<Values>(s, loc),
                    detail::eigen_of<typename Factors::right>(vh, loc)};
}
/// The singular values, descending.
template <TracedMatrix A>
auto svdvals(const A& a, Loc loc = Loc::current()) {
  const auto s = svdvals(detail::matrix_of(a, loc), loc);
  return detail::eigen_of<detail::ValuesOf<A, std::remove_cvref_t<decltype(s)>>>(s, loc);
}
/// The pseudo-inverse, with the sizes of a's transpose (Eigen: `completeOrthogonalDecomposition().pseudoInverse()`).
template <TracedMatrix A>
auto pinv(const A& a, std::optional<double> rcond = {}, Loc loc = Loc::current()) {
  using X = detail::LikeMatrix<A, typename A::Scalar, A::ColsAtCompileTime, A::RowsAtCompileTime,
                               A::MaxColsAtCompileTime, A::MaxRowsAtCompileTime>;
  return detail::eigen_of<X>(pinv(detail::matrix_of(a, loc), rcond, loc), loc);
}
/// The rank, a scalar of int32.
template <TracedMatrix A>
auto matrix_rank(const A& a, std::optional<double> rcond = {}, Loc loc = Loc::current()) {
  return matrix_rank(detail::matrix_of(a, loc), rcond, loc);
}
/// The condition number, a scalar.
template <TracedMatrix A>
auto cond(const A& a, ord order = ord::two, Loc loc = Loc::current()) {
  return cond(detail::matrix_of(a, loc), order, loc);
}
/// (x, residuals, rank, s) of least squares: x has as many rows as a has columns, and the columns of b; the residuals
/// are a vector with one for each column, s one of a's singular values (Eigen: `a.bdcSvd().solve(b)`). Tracers if b is
/// a tracer or an array.
template <BesideTracedMatrix A, BesideTracedMatrix B>
  requires(TracedMatrix<A> || TracedMatrix<B>)
auto lstsq(const A& a, const B& b, std::optional<double> rcond = {}, Loc loc = Loc::current()) {
  if constexpr (detail::EigenDense<B>) {
    const auto [x, residuals, rank, s] = lstsq(detail::matrix_of(a, loc), detail::matrix_of(b, loc), rcond, loc);
    using X = std::remove_cvref_t<decltype(x)>;
    using R = std::remove_cvref_t<decltype(residuals)>;
    return std::tuple{
        detail::eigen_of<detail::SolutionOf<A, B, X>>(x, loc),
        detail::eigen_of<Eigen::Matrix<R, B::ColsAtCompileTime, 1, 0, B::MaxColsAtCompileTime, 1>>(residuals, loc),
        rank, detail::eigen_of<detail::ValuesOfSystem<A, R>>(s, loc)};
  } else {
    return lstsq(detail::matrix_of(a, loc), b, rcond, loc);
  }
}

}  // namespace linalg
}  // namespace calque
