#pragma once
// Linear algebra. Matrices are the last two dimensions of an array, [..., n, n]; the dimensions before them are batch
// dimensions, one matrix for each index. Elements are f32, f64 or complex; integers and bools count as f32. All
// functions are differentiable, to any order, and can be batched.
#include "calque/detail/apply.h"

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
template <ArrayLike A>
out_t<inexact_t<elem_t<A>>, A> cholesky(const A& a, Loc loc = Loc::current()) {
  return detail::apply_unary<out_t<inexact_t<elem_t<A>>, A>>("linalg::cholesky", &detail::ops::linalg::cholesky, a,
                                                             loc);
}

/// The x with t * x = b, by substitution, where t is a triangle of a [..., n, n] (TriangularOptions), of which nothing
/// else is read. b is one vector [n], for all matrices, or matrices [..., n, k]; the batch dimensions broadcast. The
/// shape is [..., n] or [..., n, k], the element type the promoted one. A zero on the diagonal divides: the result has
/// infinities or NaN. Throws ShapeError when a is not square, b has another number of rows, or the batch dimensions do
/// not broadcast; DTypeError for 16-bit floats.
template <OperandLike A, OperandLike B>
  requires(ArrayLike<A> || ArrayLike<B>)
out_t<inexact_t<promoted_elem_t<A, B>>, A, B> triangular_solve(const A& a, const B& b, TriangularOptions options = {},
                                                               Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) {
    return detail::ops::linalg::triangular_solve(o[0], o[1], options.lower, options.transpose, options.unit_diagonal,
                                                 loc);
  };
  return detail::apply<out_t<inexact_t<promoted_elem_t<A, B>>, A, B>>("linalg::triangular_solve", loc, f, a, b);
}

/// The x with a * x = b for a = l * adjoint(l): two triangular solves, with the lower triangle of l = cholesky(a). The
/// shapes, the element type and the errors are those of `triangular_solve`.
template <OperandLike L, OperandLike B>
  requires(ArrayLike<L> || ArrayLike<B>)
out_t<inexact_t<promoted_elem_t<L, B>>, L, B> cho_solve(const L& l, const B& b, Loc loc = Loc::current()) {
  return detail::apply_binary<out_t<inexact_t<promoted_elem_t<L, B>>, L, B>>(
      "linalg::cho_solve", &detail::ops::linalg::cho_solve, l, b, loc);
}

}  // namespace calque::linalg
