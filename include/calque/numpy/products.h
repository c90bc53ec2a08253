#pragma once
// Products of matrices and vectors in the last dimensions, with NumPy's names; the dimensions before them broadcast.
#include <optional>

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

/// `vecdot` over another axis of both arrays. Throws ShapeError also when the axis is out of range of one.
///     vecdot(D{{1, 2}, {3, 4}}, D{{1, 1}, {10, 10}}, 0)  // [31. 42.]
template <ArrayLike A, ArrayLike B>
[[nodiscard]] out_t<promoted_elem_t<A, B>, A, B> vecdot(const A& a, const B& b, int axis, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::vecdot_along(o[0], o[1], axis, loc); };
  return detail::recorded<promoted_elem_t<A, B>>("vecdot", loc, f, a, b);
}
/// The axes of the vectors of `cross`: of a, of b and of the result.
struct CrossOptions {
  int axisa = -1, axisb = -1, axisc = -1;
  /// In place of all three.
  std::optional<int> axis{};
};
/// `cross` of vectors along other axes. Throws ShapeError also when one is out of range.
///     cross(D{{1}, {0}, {0}}, D{{0}, {1}, {0}}, {.axis = 0})  // [[0.]
///                                                             //  [0.]
///                                                             //  [1.]]
template <ArrayLike A, ArrayLike B>
[[nodiscard]] out_t<promoted_elem_t<A, B>, A, B> cross(const A& a, const B& b, CrossOptions options,
                                                       Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::cross_along(o[0], o[1], options.axis.value_or(options.axisa),
                                    options.axis.value_or(options.axisb), options.axis.value_or(options.axisc), loc);
  };
  return detail::recorded<promoted_elem_t<A, B>>("cross", loc, f, a, b);
}

}  // namespace calque
