#pragma once
// Linear algebra. Matrices are the last two dimensions of an array, [..., n, n]; the dimensions before them are batch
// dimensions, one matrix for each index. Elements are f32, f64 or complex; integers and bools count as f32. All
// functions are differentiable, to any order, and can be batched.
#include <concepts>
#include <optional>
#include <vector>

#include "calque/detail/apply.h"
#include "calque/detail/axes.h"

namespace calque::detail {

template <class... X>
[[nodiscard]] out_t<promoted_elem_t<X...>, X...> multi_dot_at(Location at, const X&... xs) {
  const auto f = [&](std::span<const Operand> o) { return ops::linalg::multi_dot(o, at); };
  return apply<out_t<promoted_elem_t<X...>, X...>>("linalg::multi_dot", at, f, xs...);
}

}  // namespace calque::detail

namespace calque::linalg {

/// What `triangular_solve` reads of its matrices.
struct TriangularOptions {
  /// The lower triangle, else the upper one.
  bool lower = true;
  /// Solves with the transposed triangle, which is not conjugated.
  bool transpose = false;
  /// Takes the elements of the diagonal to be 1 and does not read them.
  bool unit_diagonal = false;
};

/// The lower triangular l of a positive definite matrix a = l * adjoint(l), for each matrix of a [..., n, n]; of the
/// same shape, with zeros above the diagonal. It is that of (a + adjoint(a)) / 2, whatever a is. Where that is not
/// positive definite, or not finite enough to tell, the lower triangle of the result is NaN, that of this matrix alone.
/// The derivative is that of Murray, Differentiation of the Cholesky decomposition (arXiv:1602.07527, 2016). Throws
/// ShapeError for arrays that are not square matrices, DTypeError for 16-bit floats.
///     linalg::cholesky(D{{4, 2}, {2, 5}})  // [[2. 0.]
///                                          //  [1. 2.]]
template <ArrayLike A>
[[nodiscard]] out_t<inexact_t<elem_t<A>>, A> cholesky(const A& a, Loc loc = Loc::current()) {
  return detail::apply_unary<out_t<inexact_t<elem_t<A>>, A>>("linalg::cholesky", &detail::ops::linalg::cholesky, a,
                                                             loc);
}

/// The x with t * x = b, by substitution, where t is a triangle of a [..., n, n] (TriangularOptions), of which nothing
/// else is read. b is one vector [n], for all matrices, or matrices [..., n, k]; the batch dimensions broadcast. The
/// shape is [..., n] or [..., n, k], the element type the promoted one. A zero on the diagonal divides: the result has
/// infinities or NaN. Throws ShapeError when a is not square, b has another number of rows, or the batch dimensions do
/// not broadcast; DTypeError for 16-bit floats.
///     linalg::triangular_solve(D{{2, 0}, {1, 4}}, D{2, 9})  // [1. 2.]
template <OperandLike A, OperandLike B>
  requires(ArrayLike<A> || ArrayLike<B>)
[[nodiscard]] out_t<inexact_t<promoted_elem_t<A, B>>, A, B> triangular_solve(const A& a, const B& b,
                                                                             TriangularOptions options = {},
                                                                             Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) {
    return detail::ops::linalg::triangular_solve(o[0], o[1], options.lower, options.transpose, options.unit_diagonal,
                                                 loc);
  };
  return detail::apply<out_t<inexact_t<promoted_elem_t<A, B>>, A, B>>("linalg::triangular_solve", loc, f, a, b);
}

/// The x with a * x = b for a = l * adjoint(l): two triangular solves, with the lower triangle of l = cholesky(a). The
/// shapes, the element type and the errors are those of `triangular_solve`.
///     linalg::cho_solve(linalg::cho_factor(D{{4, 2}, {2, 5}}), D{8, 8})  // [1.5 1. ]
template <OperandLike L, OperandLike B>
  requires(ArrayLike<L> || ArrayLike<B>)
[[nodiscard]] out_t<inexact_t<promoted_elem_t<L, B>>, L, B> cho_solve(const L& l, const B& b,
                                                                      Loc loc = Loc::current()) {
  return detail::apply_binary<out_t<inexact_t<promoted_elem_t<L, B>>, L, B>>(
      "linalg::cho_solve", &detail::ops::linalg::cho_solve, l, b, loc);
}

/// The Cholesky factor for `cho_solve`: as `cholesky`.
///     linalg::cho_factor(D{{4, 2}, {2, 5}})  // [[2. 0.]
///                                            //  [1. 2.]]
template <ArrayLike A>
[[nodiscard]] out_t<inexact_t<elem_t<A>>, A> cho_factor(const A& a, Loc loc = Loc::current()) {
  return cholesky(a, loc);
}

/// The x with t * x = b for a triangle t of a: as `triangular_solve`.
///     linalg::solve_triangular(D{{2, 0}, {1, 4}}, D{2, 9})  // [1. 2.]
template <OperandLike A, OperandLike B>
  requires(ArrayLike<A> || ArrayLike<B>)
[[nodiscard]] out_t<inexact_t<promoted_elem_t<A, B>>, A, B> solve_triangular(const A& a, const B& b,
                                                                             TriangularOptions options = {},
                                                                             Loc loc = Loc::current()) {
  return triangular_solve(a, b, options, loc);
}

/// (p, l, u) with a = p l u for each matrix of a [..., m, n]: p [..., m, m] is a permutation, of a's element type, l
/// [..., m, k] is lower triangular with ones on its diagonal, u [..., k, n] is upper triangular, k = min(m, n). Pivots
/// are the first of those of greatest magnitude in their columns, so that no element of l is greater than 1; of a
/// singular matrix pivots are 0. Throws ShapeError for rank 0 and 1, DTypeError for 16-bit floats.
///     linalg::lu(D{{1, 2}, {4, 4}})  // [[0. 1.]
///                                    //  [1. 0.]],
///                                    // [[1.   0.  ]
///                                    //  [0.25 1.  ]],
///                                    // [[4. 4.]
///                                    //  [0. 1.]]
template <ArrayLike A>
auto lu(const A& a, Loc loc = Loc::current()) {
  using X = out_t<inexact_t<elem_t<A>>, A>;
  return detail::apply_tuple<X, X, X>(
      "linalg::lu", loc, [&](std::span<const detail::Operand> o) { return detail::ops::linalg::lu(o[0], loc); }, a);
}

/// (packed, perm) of each matrix a [..., m, n]: packed, of a's shape, has u of `lu` on and above the diagonal and what
/// is below the diagonal of l; row i of l u is row perm[i] of a, where perm is int32 [..., m]. For `lu_solve`, whose
/// derivative goes through both: `solve` has a better one. The errors are those of `lu`.
///     linalg::lu_factor(D{{1, 2}, {4, 4}})  // [[4.   4.  ]
///                                           //  [0.25 1.  ]],
///                                           // [1 0]
template <ArrayLike A>
auto lu_factor(const A& a, Loc loc = Loc::current()) {
  using X = out_t<inexact_t<elem_t<A>>, A>;
  return detail::apply_tuple<X, out_t<int32_t, A>>(
      "linalg::lu_factor", loc,
      [&](std::span<const detail::Operand> o) { return detail::ops::linalg::lu_factor(o[0], loc); }, a);
}

/// The x with a * x = b, where `lu_factor(a)` gave (packed, perm); packed [..., n, n], perm [..., n]. The shapes of b
/// and x are those of `triangular_solve`. Throws ShapeError when they do not fit, DTypeError for 16-bit floats and a
/// perm that is not of integers.
///     const auto [packed, perm] = linalg::lu_factor(D{{1, 2}, {4, 4}});
///     linalg::lu_solve(packed, perm, D{5, 12})  // [1. 2.]
template <OperandLike A, OperandLike P, OperandLike B>
  requires(ArrayLike<A> && ArrayLike<P>)
auto lu_solve(const A& packed, const P& perm, const B& b, Loc loc = Loc::current()) {
  using X = out_t<inexact_t<promoted_elem_t<A, B>>, A, P, B>;
  return detail::apply<X>(
      "linalg::lu_solve", loc,
      [&](std::span<const detail::Operand> o) { return detail::ops::linalg::lu_solve(o[0], o[1], o[2], loc); }, packed,
      perm, b);
}

/// The x with a * x = b, by LU with partial pivoting. a is [..., n, n]; b is one vector [n], for all matrices, or
/// matrices [..., n, k]; batch dimensions broadcast, and one matrix is factored once for all of b. The shape is [...,
/// n] or [..., n, k], the element type the promoted one. Of singular matrices infinities and NaN. The derivative is
/// that of the system, inverse(a) (db - da x), by the same factors. Throws ShapeError when a is not square, b has
/// another number of rows, or the batch dimensions do not broadcast; DTypeError for 16-bit floats.
///     linalg::solve(D{{1, 2}, {4, 4}}, D{5, 12})  // [1. 2.]
template <OperandLike A, OperandLike B>
  requires(ArrayLike<A> || ArrayLike<B>)
[[nodiscard]] out_t<inexact_t<promoted_elem_t<A, B>>, A, B> solve(const A& a, const B& b, Loc loc = Loc::current()) {
  return detail::apply_binary<out_t<inexact_t<promoted_elem_t<A, B>>, A, B>>("linalg::solve",
                                                                             &detail::ops::linalg::solve, a, b, loc);
}

/// The inverse of each matrix a [..., n, n]: `solve` with the identity, which is slower and less accurate than `solve`
/// with what it would be multiplied with. Of singular matrices infinities and NaN. Throws ShapeError for arrays that
/// are not square matrices, DTypeError for 16-bit floats.
///     linalg::inv(D{{1, 2}, {4, 4}})  // [[-1.    0.5 ]
///                                     //  [ 1.   -0.25]]
template <ArrayLike A>
[[nodiscard]] out_t<inexact_t<elem_t<A>>, A> inv(const A& a, Loc loc = Loc::current()) {
  return detail::apply_unary<out_t<inexact_t<elem_t<A>>, A>>("linalg::inv", &detail::ops::linalg::inv, a, loc);
}

/// The determinant [...] of each matrix a [..., n, n]: of up to 3 rows by cofactors, with differences of products that
/// do not cancel more than they must, of more by LU; 1 of 0 x 0. It overflows where `slogdet` does not. The gradient is
/// that of cofactors, which exists for singular matrices, too; above 3 rows it is NaN if more than one pivot is 0.
/// Throws ShapeError for arrays that are not square matrices, DTypeError for 16-bit floats.
///     linalg::det(D{{1, 2}, {3, 4}})  // -2.0
template <ArrayLike A>
[[nodiscard]] out_t<inexact_t<elem_t<A>>, A> det(const A& a, Loc loc = Loc::current()) {
  return detail::apply_unary<out_t<inexact_t<elem_t<A>>, A>>("linalg::det", &detail::ops::linalg::det, a, loc);
}

/// (sign, log): the determinant of each matrix a [..., n, n] is sign * exp(log), both [...]. sign is 1, -1 or 0, of
/// complex matrices of magnitude 1 or 0; log is real, -infinity for singular matrices. The derivative of log is the
/// trace of inverse(a) da. Throws ShapeError for arrays that are not square matrices, DTypeError for 16-bit floats.
///     linalg::slogdet(D{{1, 2}, {3, 4}})  // -1.0, 0.69314718
template <ArrayLike A>
auto slogdet(const A& a, Loc loc = Loc::current()) {
  using E = inexact_t<elem_t<A>>;
  return detail::apply_tuple<out_t<E, A>, out_t<real_t<E>, A>>(
      "linalg::slogdet", loc,
      [&](std::span<const detail::Operand> o) { return detail::ops::linalg::slogdet(o[0], loc); }, a);
}

/// (q, r) with a = q r for each matrix a [..., m, n]: q [..., m, k] has orthonormal columns, r [..., k, n] is upper
/// triangular, k = min(m, n); by Householder's reflections, with the signs of LAPACK. The derivative needs the first k
/// columns of a to be independent. Throws ShapeError for rank 0 and 1, DTypeError for 16-bit floats.
///     linalg::qr(D{{3, 1}, {4, 2}})  // [[-0.6 -0.8]
///                                    //  [-0.8  0.6]],
///                                    // [[-5.  -2.2]
///                                    //  [ 0.   0.4]]
template <ArrayLike A>
auto qr(const A& a, Loc loc = Loc::current()) {
  using X = out_t<inexact_t<elem_t<A>>, A>;
  return detail::apply_tuple<X, X>(
      "linalg::qr", loc, [&](std::span<const detail::Operand> o) { return detail::ops::linalg::qr(o[0], loc); }, a);
}

/// (w, v): the eigenvalues w [..., n], real and ascending, and in the columns of v [..., n, n] the eigenvectors of each
/// Hermitian (or symmetric) matrix a [..., n, n]: a v = v diag(w), v is unitary. They are those of (a + adjoint(a)) /
/// 2, whatever a is. In each vector the component of greatest magnitude, the first of equal ones, is real and positive.
/// Infinities and NaN in a matrix give NaN in all its results, in those alone. The derivative (Giles, 2008) of v is NaN
/// where values are equal, as their vectors are any basis; that of w is not. Throws ShapeError for arrays that are not
/// square matrices, DTypeError for 16-bit floats.
///     linalg::eigh(D{{2, 1}, {1, 2}})  // [1. 3.],
///                                      // [[ 0.70710678  0.70710678]
///                                      //  [-0.70710678  0.70710678]]
template <ArrayLike A>
auto eigh(const A& a, Loc loc = Loc::current()) {
  using E = inexact_t<elem_t<A>>;
  return detail::apply_tuple<out_t<real_t<E>, A>, out_t<E, A>>(
      "linalg::eigh", loc, [&](std::span<const detail::Operand> o) { return detail::ops::linalg::eigh(o[0], loc); }, a);
}

/// The eigenvalues [..., n] alone, as `eigh`: their derivative needs no values apart from each other.
///     linalg::eigvalsh(D{{2, 1}, {1, 2}})  // [1. 3.]
template <ArrayLike A>
[[nodiscard]] out_t<real_t<inexact_t<elem_t<A>>>, A> eigvalsh(const A& a, Loc loc = Loc::current()) {
  return detail::apply_unary<out_t<real_t<inexact_t<elem_t<A>>>, A>>("linalg::eigvalsh", &detail::ops::linalg::eigvalsh,
                                                                     a, loc);
}

/// (w, v): the eigenvalues w [..., n] and in the columns of v [..., n, n] eigenvectors of each square matrix a [..., n,
/// n]: a v = v diag(w). Both are complex, std::complex<double> of double and complex<double>, else complex<float>. The
/// values are in no order; of a real matrix those that are not real are pairs of conjugates, the one with the positive
/// imaginary part first, and vectors of real ones are real. Each vector has norm 1, and its component of greatest
/// magnitude, the first of equal ones, is real and positive. Infinities and NaN in a matrix give NaN in all its
/// results, in those alone. The derivative of w is the diagonal of inverse(v) da v; that of v is NaN where values are
/// equal. Matrices with fewer than n independent vectors have neither. Use `eigh` for Hermitian matrices. Throws
/// ShapeError for arrays that are not square matrices, DTypeError for 16-bit floats.
///     linalg::eig(D{{2, 0}, {0, 3}})  // [2.+0.j 3.+0.j],
///                                     // [[1.+0.j 0.+0.j]
///                                     //  [0.+0.j 1.+0.j]]
template <ArrayLike A>
auto eig(const A& a, Loc loc = Loc::current()) {
  using X = out_t<complex_t<inexact_t<elem_t<A>>>, A>;
  return detail::apply_tuple<X, X>(
      "linalg::eig", loc, [&](std::span<const detail::Operand> o) { return detail::ops::linalg::eig(o[0], loc); }, a);
}

/// The eigenvalues [..., n] alone, as `eig`: their derivative needs no values apart from each other.
///     linalg::eigvals(D{{0, -1}, {1, 0}})  // [0.+1.j 0.-1.j]
template <ArrayLike A>
[[nodiscard]] out_t<complex_t<inexact_t<elem_t<A>>>, A> eigvals(const A& a, Loc loc = Loc::current()) {
  return detail::apply_unary<out_t<complex_t<inexact_t<elem_t<A>>>, A>>("linalg::eigvals",
                                                                        &detail::ops::linalg::eigvals, a, loc);
}

/// (u, s, vh) with a = u diag(s) vh for each matrix a [..., m, n]: the k = min(m, n) singular values s [..., k], real
/// and descending, u [..., m, k] with orthonormal columns and vh [..., k, n] with orthonormal rows, the adjoint of the
/// right vectors. In each row of vh the component of greatest magnitude, the first of equal ones, is real and positive.
/// Infinities and NaN in a matrix give NaN in all its results, in those alone. The derivatives of u and vh (Townsend,
/// 2016) are NaN where singular values are equal; those of s are not. Throws ShapeError for rank 0 and 1, DTypeError
/// for 16-bit floats.
///     linalg::svd(D{{3}, {4}})  // [[0.6]
///                               //  [0.8]],
///                               // [5.],
///                               // [[1.]]
template <ArrayLike A>
auto svd(const A& a, Loc loc = Loc::current()) {
  using E = inexact_t<elem_t<A>>;
  using X = out_t<E, A>;
  return detail::apply_tuple<X, out_t<real_t<E>, A>, X>(
      "linalg::svd", loc, [&](std::span<const detail::Operand> o) { return detail::ops::linalg::svd(o[0], loc); }, a);
}

/// The singular values [..., min(m, n)] alone, as `svd`: their derivative needs no values apart from each other.
///     linalg::svdvals(D{{0, 2}, {1, 0}})  // [2. 1.]
template <ArrayLike A>
[[nodiscard]] out_t<real_t<inexact_t<elem_t<A>>>, A> svdvals(const A& a, Loc loc = Loc::current()) {
  return detail::apply_unary<out_t<real_t<inexact_t<elem_t<A>>>, A>>("linalg::svdvals", &detail::ops::linalg::svdvals,
                                                                     a, loc);
}

/// The pseudo-inverse [..., n, m] of each matrix a [..., m, n], by its singular values: those of at most rcond times
/// the greatest count as 0; without rcond, 10 max(m, n) eps. The derivative (Golub and Pereyra, 1973) is that at
/// constant rank, and exists for equal singular values, too. NaN of matrices with infinities or NaN. Throws ShapeError
/// for rank 0 and 1, DTypeError for 16-bit floats.
///     linalg::pinv(D{{2, 0}, {0, 0}, {0, 0}})  // [[0.5 0.  0. ]
///                                              //  [0.  0.  0. ]]
template <ArrayLike A>
[[nodiscard]] out_t<inexact_t<elem_t<A>>, A> pinv(const A& a, std::optional<double> rcond = {},
                                                  Loc loc = Loc::current()) {
  return detail::apply<out_t<inexact_t<elem_t<A>>, A>>(
      "linalg::pinv", loc,
      [&](std::span<const detail::Operand> o) { return detail::ops::linalg::pinv(o[0], rcond, loc); }, a);
}

/// (x, residuals, rank, s): of the x [..., n, k] for which |a x - b| is least, for each column of b, those of least
/// norm; a is [..., m, n], of any rank. residuals [..., k] are the sums of squares of b - a x. rank, int32 [...], is
/// the number of singular values s [..., min(m, n)] that are greater than rcond times the greatest, as which the others
/// count 0; without rcond, max(m, n) eps. b is one vector [m], for all matrices, which gives x [..., n] and residuals
/// [..., 1], or matrices [..., m, k]; batch dimensions broadcast. The derivative is that of `pinv`. Throws ShapeError
/// when the numbers of rows differ or the batch dimensions do not broadcast, DTypeError for 16-bit floats.
///     linalg::lstsq(D{{2}, {0}}, D{2, 3})  // [1.], [9.], 1, [2.]
template <OperandLike A, OperandLike B>
  requires(ArrayLike<A> || ArrayLike<B>)
auto lstsq(const A& a, const B& b, std::optional<double> rcond = {}, Loc loc = Loc::current()) {
  using E = inexact_t<promoted_elem_t<A, B>>;
  using R = out_t<real_t<E>, A, B>;
  return detail::apply_tuple<out_t<E, A, B>, R, out_t<int32_t, A, B>, R>(
      "linalg::lstsq", loc,
      [&](std::span<const detail::Operand> o) { return detail::ops::linalg::lstsq(o[0], o[1], rcond, loc); }, a, b);
}

/// The number of singular values of each matrix a [..., m, n] that are greater than rcond times the greatest; without
/// rcond, max(m, n) eps. int32 [...]. Throws ShapeError for rank 0 and 1, DTypeError for 16-bit floats.
///     linalg::matrix_rank(D{{1, 2}, {2, 4}})  // 1
template <ArrayLike A>
[[nodiscard]] out_t<int32_t, A> matrix_rank(const A& a, std::optional<double> rcond = {}, Loc loc = Loc::current()) {
  return detail::apply<out_t<int32_t, A>>(
      "linalg::matrix_rank", loc,
      [&](std::span<const detail::Operand> o) { return detail::ops::linalg::matrix_rank(o[0], rcond, loc); }, a);
}

/// a * a * ... * a, n factors, for each matrix a [..., n, n], by repeated squaring; the identity for n = 0, a power of
/// the inverse for negative n. Throws ShapeError for arrays that are not square matrices, DTypeError for 16-bit floats.
///     linalg::matrix_power(D{{1, 1}, {0, 1}}, 5)  // [[1. 5.]
///                                                 //  [0. 1.]]
template <ArrayLike A>
[[nodiscard]] out_t<inexact_t<elem_t<A>>, A> matrix_power(const A& a, int64_t n, Loc loc = Loc::current()) {
  return detail::apply<out_t<inexact_t<elem_t<A>>, A>>(
      "linalg::matrix_power", loc,
      [&](std::span<const detail::Operand> o) { return detail::ops::linalg::matrix_power(o[0], n, loc); }, a);
}

/// exp(a) = I + a + a a / 2 + ... for each matrix a [..., n, n], by scaling and squaring with diagonal Padé
/// approximants (Higham, SIAM J. Matrix Anal. Appl. 26, 2005): of degree 13, of f32 and c64 of degree 7. NaN for
/// matrices whose 1-norm is above 2e10, 1.6e10 in f32. Throws ShapeError for arrays that are not square matrices,
/// DTypeError for 16-bit floats.
///     linalg::expm(D{{0, 1}, {0, 0}})  // [[1. 1.]
///                                      //  [0. 1.]]
template <ArrayLike A>
[[nodiscard]] out_t<inexact_t<elem_t<A>>, A> expm(const A& a, Loc loc = Loc::current()) {
  return detail::apply_unary<out_t<inexact_t<elem_t<A>>, A>>("linalg::expm", &detail::ops::linalg::expm, a, loc);
}

// ---- norms

/// The type of a norm of X: the real one of its elements.
template <class X>
using norm_t = out_t<real_t<inexact_t<elem_t<X>>>, X>;

/// The norm of a vector [n], the root of the sum of |x|^2, or the Frobenius norm of each matrix of x [..., m, n], or
/// |x| of a scalar. With one axis, that of the vectors along it; with two, the Frobenius norm of the matrices that they
/// are the rows and columns of. The axes are dropped, or kept with extent 1 by `cq::keepdims`. Of the real type of x
/// (integers and bool: f32); 16-bit floats accumulate in f32. The derivative at 0 is 0 (in JAX: NaN). Throws ShapeError
/// for an axis out of range or given twice, or more than two.
///     linalg::norm(D{{3, 4}, {6, 8}}, {1})  // [ 5. 10.]
template <ArrayLike X>
norm_t<X> norm(const X& x, Axes axes = {}, KeepDims keep = {}, Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) {
    return detail::ops::linalg::norm(o[0], std::nullopt, axes, keep.value, loc);
  };
  return detail::apply<norm_t<X>>("linalg::norm", loc, f, x);
}
/// The norm of this order. Of vectors: `one` is the sum of |x|, `two` as above, `inf` the greatest |x|, `minus_inf` the
/// least, `minus_one` and `minus_two` the root of the sum of |x|^p for p = -1 and -2. Of matrices: `fro` as above,
/// `one` the greatest sum of |x| of a column and `minus_one` the least, `inf` and `minus_inf` those of rows. Axes,
/// types and derivatives at 0 are as above; ties share the derivative of a maximum or minimum equally. Of singular
/// values `nuc` is the sum, `two` the greatest and `minus_two` the least; where they are 0, the derivative is one of
/// those of `nuc` or `two` in a direction. No elements have the norm 0. Throws ShapeError as above, and for a scalar,
/// `fro` or `nuc` of vectors, and a least of no elements.
///     linalg::norm(D{{1, -2}, {3, 4}}, linalg::ord::inf)  // 7.0
template <ArrayLike X>
norm_t<X> norm(const X& x, ord order, Axes axes = {}, KeepDims keep = {}, Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) {
    return detail::ops::linalg::norm(o[0], order, axes, keep.value, loc);
  };
  return detail::apply<norm_t<X>>("linalg::norm", loc, f, x);
}
/// Of vectors the p-norm, the sum of |x|^p to the power of 1 / p; for p = 0, how many elements are not 0. Of matrices
/// and for p = 1, 2, infinity and their negatives, the order of that name. For 0 < p < 1 the derivative at vectors with
/// some elements 0 is infinite or NaN. Throws as above, ShapeError for another p of matrices. (A deduced type, so that
/// `{0}` is a list of axes.)
///     linalg::norm(D{1, 2, 2}, 3)  // 2.57128159
template <ArrayLike X, class P>
  requires(std::is_arithmetic_v<P> && !std::same_as<P, bool>)
norm_t<X> norm(const X& x, P p, Axes axes = {}, KeepDims keep = {}, Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) {
    return detail::ops::linalg::norm(o[0], static_cast<double>(p), axes, keep.value, loc);
  };
  return detail::apply<norm_t<X>>("linalg::norm", loc, f, x);
}

/// The condition number [...] of each matrix a [..., m, n]: its norm times that of its inverse; of `two` and
/// `minus_two` the quotient of the greatest and the least singular value, or the reverse, of matrices of any shape.
/// Infinite where the least singular value is 0; rounding leaves most singular matrices another, so that theirs is
/// great, about 1 / eps. With other orders than those it may be NaN, too. Of the real type of a.
/// Throws ShapeError for a matrix without elements, for other orders for matrices that are not square, and DTypeError
/// for 16-bit floats.
///     linalg::cond(D{{4, 0}, {0, 2}})  // 2.0
template <ArrayLike A>
[[nodiscard]] norm_t<A> cond(const A& a, ord order = ord::two, Loc loc = Loc::current()) {
  return detail::apply<norm_t<A>>(
      "linalg::cond", loc,
      [&](std::span<const detail::Operand> o) { return detail::ops::linalg::cond(o[0], order, loc); }, a);
}

// ---- products

/// The product of two or more matrices, computed in the order that takes the fewest multiplications. The first array
/// may be a vector, which is a row, and the last one, which is a column; their dimensions are dropped from the result.
/// Of the promoted type; 16-bit floats accumulate in f32, and each product is rounded. Throws ShapeError for other
/// ranks or when inner dimensions differ. Batches by `vmap`.
///     linalg::multi_dot(D{1, 2}, D{{1, 2}, {3, 4}}, D{1, 10})  // 107.0
template <ArrayLike A, ArrayLike B>
[[nodiscard]] out_t<promoted_elem_t<A, B>, A, B> multi_dot(const A& a, const B& b, Loc loc = Loc::current()) {
  return detail::multi_dot_at(loc, a, b);
}
template <ArrayLike A, ArrayLike B, ArrayLike C>
[[nodiscard]] out_t<promoted_elem_t<A, B, C>, A, B, C> multi_dot(const A& a, const B& b, const C& c,
                                                                 Loc loc = Loc::current()) {
  return detail::multi_dot_at(loc, a, b, c);
}
template <ArrayLike A, ArrayLike B, ArrayLike C, ArrayLike D>
[[nodiscard]] out_t<promoted_elem_t<A, B, C, D>, A, B, C, D> multi_dot(const A& a, const B& b, const C& c, const D& d,
                                                                       Loc loc = Loc::current()) {
  return detail::multi_dot_at(loc, a, b, c, d);
}
/// As above, of more arrays; equations and errors have no line.
///     D a = {{1, 1}, {0, 1}};
///     linalg::multi_dot(a, a, a, a, a)  // [[1. 5.]
///                                       //  [0. 1.]]
template <ArrayLike... X>
  requires(sizeof...(X) > 4)
[[nodiscard]] out_t<promoted_elem_t<X...>, X...> multi_dot(const X&... xs) {
  return detail::multi_dot_at(Location(), xs...);
}
/// As above, of any number of arrays of one type. Throws ShapeError also for less than two.
///     D a = {{1, 1}, {0, 1}};
///     linalg::multi_dot(std::vector{a, a, a})  // [[1. 3.]
///                                              //  [0. 1.]]
template <ArrayLike X>
X multi_dot(const std::vector<X>& xs, Loc loc = Loc::current()) {
  std::vector<detail::Operand> operands;
  for (const X& x : xs) operands.push_back(detail::operand_of(x, loc));
  const auto f = [&](std::span<const detail::Operand> o) { return detail::ops::linalg::multi_dot(o, loc); };
  return detail::apply_to<X>("linalg::multi_dot", loc, operands, f);
}

}  // namespace calque::linalg
