#pragma once
// Products that sum over dimensions, with NumPy's shapes. 16-bit floats accumulate in f32, integers wrap; for bools the
// product is a logical and, the sum a logical or.
#include <string>

#include "calque/detail/apply.h"
#include "calque/detail/axes.h"

namespace calque {

#define CALQUE_PRODUCT(f)                                                                                \
  template <OperandLike A, OperandLike B>                                                                \
    requires(ArrayLike<A> || ArrayLike<B>)                                                               \
  [[nodiscard]] out_t<promoted_elem_t<A, B>, A, B> f(const A& a, const B& b, Loc loc = Loc::current()) { \
    return detail::apply_binary<out_t<promoted_elem_t<A, B>, A, B>>(#f, &detail::ops::f, a, b, loc);     \
  }

/// The matrix product [..., m, k] x [..., k, n] -> [..., m, n], of the promoted element type; batch dimensions
/// broadcast. An array of rank 1 is a row [k] on the left and a column [k] on the right, and its dimension is dropped
/// from the result. 16-bit floats accumulate in f32, integers wrap. Throws ShapeError for rank 0, when the inner
/// dimensions differ, or when the batch dimensions do not broadcast.
///     matmul(D{{1, 2}, {3, 4}}, D{1, 10})  // [21. 43.]
CALQUE_PRODUCT(matmul)
/// The sum over the last dimension of a [..., k] and the last but one of b ([k] or [..., k, n]), as numpy.dot: the
/// shape is that of a without k followed by that of b without k. With a scalar operand, the elementwise product. Of the
/// promoted element type; 16-bit floats accumulate in f32. Throws ShapeError when the extents differ.
///     dot(D{1, 2}, D{3, 4})  // 11.0
CALQUE_PRODUCT(dot)
/// The outer product a[i] b[j] of the flattened arrays, of shape [size of a, size of b] and the promoted element type.
///     outer(D{1, 2}, D{3, 4})  // [[3. 4.]
///                              //  [6. 8.]]
CALQUE_PRODUCT(outer)
/// The sum over the last dimension of both arrays, as numpy.inner: the shape is that of a without it followed by that
/// of b without it. With a scalar operand, the elementwise product. Of the promoted element type; 16-bit floats
/// accumulate in f32. Throws ShapeError when the extents differ.
///     inner(D{{1, 2}, {3, 4}}, D{1, 10})  // [21. 43.]
CALQUE_PRODUCT(inner)
/// The scalar sum of conj(a[i]) b[i] over all elements of the flattened arrays, as numpy.vdot, of the promoted element
/// type; 16-bit floats accumulate in f32. Throws ShapeError when the arrays differ in their number of elements.
///     vdot(D{{1, 2}, {3, 4}}, D{{1, 1}, {1, 1}})  // 10.0
CALQUE_PRODUCT(vdot)
/// The sum of conj(a) b over the last dimension, as numpy.vecdot; the dimensions before it broadcast. Of the promoted
/// element type; 16-bit floats accumulate in f32. Throws ShapeError for rank 0, when the extents differ, or when the
/// other dimensions do not broadcast.
///     vecdot(D{{1, 2}, {3, 4}}, D{1, 10})  // [21. 43.]
CALQUE_PRODUCT(vecdot)
/// The cross product of the vectors along the last dimension, of 3 elements; the dimensions before it broadcast. Of the
/// promoted element type. Throws ShapeError when the last dimension is not 3 (2 neither, which NumPy deprecates) or the
/// others do not broadcast, DTypeError for bools.
///     cross(D{1, 0, 0}, D{0, 1, 0})  // [0. 0. 1.]
CALQUE_PRODUCT(cross)
/// The Kronecker product, as numpy.kron: blocks a[i, j] * b, for any ranks, of which the smaller gets leading
/// dimensions of extent 1. Dimension d of the result has the extent of that of a times that of b. Of the promoted
/// element type. Throws ShapeError when the result is too large.
///     kron(D{1, 10}, D{1, 2})  // [ 1.  2. 10. 20.]
CALQUE_PRODUCT(kron)
#undef CALQUE_PRODUCT

/// The text of an einsum and the line where it was written.
struct EinsumSpec {
  std::string text;
  Location location;

  EinsumSpec(const char* spec, Loc loc = Loc::current()) : text(spec), location(loc) {}
  EinsumSpec(std::string spec, Loc loc = Loc::current()) : text(std::move(spec)), location(loc) {}
};

/// Einstein summation as in NumPy: `einsum("bij,bjk->bik", a, b)`. Each letter labels a dimension; letters that are not
/// in the output are summed over; a letter repeated in one array takes its diagonal; `...` stands for the other
/// dimensions, which broadcast; without `->` the output is `...` followed by the letters that occur once, sorted. Of
/// the promoted element type; 16-bit floats accumulate in f32. Throws ParseError for malformed text, ShapeError when it
/// does not fit the arrays.
///     einsum("ij,j->i", D{{1, 2}, {3, 4}}, D{1, 10})  // [21. 43.]
template <ArrayLike... X>
  requires(sizeof...(X) > 0)
[[nodiscard]] out_t<promoted_elem_t<X...>, X...> einsum(EinsumSpec spec, const X&... xs) {
  const auto f = [&](std::span<const detail::Operand> o) { return detail::ops::einsum(spec.text, o, spec.location); };
  return detail::apply<out_t<promoted_elem_t<X...>, X...>>("einsum", spec.location, f, xs...);
}

/// The sum of products over the pairs a_axes[i], b_axes[i] of axes. The shape is that of the other axes of a, then of
/// b; the element type is the promoted one; 16-bit floats accumulate in f32. Throws ShapeError when the numbers of axes
/// or their extents differ, or for an axis out of range or given twice.
///     tensordot(D{{1, 2}, {3, 4}}, D{1, 10}, 0, 0)  // [31. 42.]
template <ArrayLike A, ArrayLike B>
[[nodiscard]] out_t<promoted_elem_t<A, B>, A, B> tensordot(const A& a, const B& b, Axes a_axes, Axes b_axes,
                                                           Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) {
    return detail::ops::tensordot(o[0], o[1], a_axes.list, b_axes.list, loc);
  };
  return detail::apply<out_t<promoted_elem_t<A, B>, A, B>>("tensordot", loc, f, a, b);
}
/// The sum of products over the last `count` axes of a and the first `count` axes of b, as above. Throws ShapeError
/// also when an array has fewer axes.
///     tensordot(D{{1, 2}, {3, 4}}, D{{1, 0}, {0, 1}}, 2)  // 5.0
template <ArrayLike A, ArrayLike B>
[[nodiscard]] out_t<promoted_elem_t<A, B>, A, B> tensordot(const A& a, const B& b, int count,
                                                           Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) { return detail::ops::tensordot(o[0], o[1], count, loc); };
  return detail::apply<out_t<promoted_elem_t<A, B>, A, B>>("tensordot", loc, f, a, b);
}

/// Cross-correlation of x [N, spatial..., C] with w [spatial..., C / groups, O] -> [N, out..., O], for any number of
/// spatial dimensions: out[n, p, o] = sum over k, c of x[n, p * stride + k * dilation - low, c] w[k, c, o]. Output
/// channels are divided into `groups` equal groups, each of which reads its group of input channels. Of the promoted
/// element type; 16-bit floats accumulate in f32. Throws ShapeError when ranks or channels do not fit, or for options
/// of the wrong length or below 1.
///     conv(D{1, 2, 3}.reshape({1, 3, 1}), D{1, 10}.reshape({2, 1, 1})).reshape({2})  // [21. 32.]
template <ArrayLike X, ArrayLike W>
[[nodiscard]] out_t<promoted_elem_t<X, W>, X, W> conv(const X& x, const W& w, ConvOptions options = {},
                                                      Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) { return detail::ops::conv(o[0], o[1], options, loc); };
  return detail::apply<out_t<promoted_elem_t<X, W>, X, W>>("conv", loc, f, x, w);
}

}  // namespace calque
