#pragma once
// Products of matrices and vectors in the last dimensions, with NumPy's names; the dimensions before them broadcast.
#include "calque/detail/recorded.h"

namespace calque {

/// The matrices a [..., m, n] times the vectors x [..., n], of shape [..., m] and the promoted element type, as
/// numpy.matvec; 16-bit floats accumulate in f32. Throws ShapeError when ranks or extents do not fit.
///     matvec(D{{1, 2}, {3, 4}}, D{1, 10})  // [21. 43.]
template <ArrayLike A, ArrayLike X>
[[nodiscard]] out_t<promoted_elem_t<A, X>, A, X> matvec(const A& a, const X& x, Loc loc = Loc::current()) {
  return detail::apply_binary<out_t<promoted_elem_t<A, X>, A, X>>("matvec", &detail::ops::matvec, a, x, loc);
}
/// The conjugated vectors x [..., m] times the matrices a [..., m, n], of shape [..., n], as numpy.vecmat; otherwise as
/// `matvec`.
///     vecmat(D{1, 10}, D{{1, 2}, {3, 4}})  // [31. 42.]
template <ArrayLike X, ArrayLike A>
[[nodiscard]] out_t<promoted_elem_t<X, A>, X, A> vecmat(const X& x, const A& a, Loc loc = Loc::current()) {
  return detail::apply_binary<out_t<promoted_elem_t<X, A>, X, A>>("vecmat", &detail::ops::vecmat, x, a, loc);
}

}  // namespace calque
