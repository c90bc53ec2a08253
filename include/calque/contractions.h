#pragma once
// Products that sum over dimensions: NumPy's shapes. 16-bit floats accumulate in f32, integers wrap; of bools, product
// is and, sum is or. Errors: ShapeError where extents differ.
#include <string>

#include "calque/axes.h"
#include "calque/detail/apply.h"

namespace calque {

#define CALQUE_PRODUCT(f)                                                                   \
  template <OperandLike A, OperandLike B>                                                   \
    requires(ArrayLike<A> || ArrayLike<B>)                                                  \
  out_t<join_t<A, B>, A, B> f(const A& a, const B& b, Loc loc = Loc::current()) {           \
    return detail::apply_binary<out_t<join_t<A, B>, A, B>>(#f, &detail::ops::f, a, b, loc); \
  }

/// The matrix product of the last two dimensions, the others broadcast; arrays of rank 1 are a row on the left, a
/// column on the right.
CALQUE_PRODUCT(matmul)
/// The sum over the last dimension of a and the last but one of b; with a scalar the product.
CALQUE_PRODUCT(dot)
/// a[i] b[j] of the flattened arrays.
CALQUE_PRODUCT(outer)
#undef CALQUE_PRODUCT

/// The text of an einsum and the line where it stands.
struct EinsumSpec {
  std::string text;
  Location location;

  EinsumSpec(const char* spec, Loc loc = Loc::current()) : text(spec), location(loc) {}
  EinsumSpec(std::string spec, Loc loc = Loc::current()) : text(std::move(spec)), location(loc) {}
};

/// Einstein's summation: `einsum("bij,bjk->bik", a, b)`. A letter is a dimension; letters that the output lacks are
/// summed over; a letter twice in one array is its diagonal; `...` are the dimensions not named, which broadcast as in
/// NumPy; without `->` the output has `...` and the letters that occur once, sorted. ParseError for malformed text,
/// ShapeError where it does not fit the arrays.
template <ArrayLike... X>
  requires(sizeof...(X) > 0)
out_t<join_t<X...>, X...> einsum(EinsumSpec spec, const X&... xs) {
  const auto f = [&](std::span<const detail::Operand> o) { return detail::ops::einsum(spec.text, o, spec.location); };
  return detail::apply<out_t<join_t<X...>, X...>>("einsum", spec.location, f, xs...);
}

/// The sum over pairs of axes; the other axes of a, then those of b.
template <ArrayLike A, ArrayLike B>
out_t<join_t<A, B>, A, B> tensordot(const A& a, const B& b, Axes a_axes, Axes b_axes, Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) {
    return detail::ops::tensordot(o[0], o[1], a_axes.list, b_axes.list, loc);
  };
  return detail::apply<out_t<join_t<A, B>, A, B>>("tensordot", loc, f, a, b);
}
/// The sum over the last `count` axes of a and the first of b.
template <ArrayLike A, ArrayLike B>
out_t<join_t<A, B>, A, B> tensordot(const A& a, const B& b, int count, Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) { return detail::ops::tensordot(o[0], o[1], count, loc); };
  return detail::apply<out_t<join_t<A, B>, A, B>>("tensordot", loc, f, a, b);
}

/// Cross-correlation of x [N, spatial..., C] with w [spatial..., C / groups, O], for any number of spatial dimensions:
/// out[n, p, o] = sum over k, c of x[n, p * stride + k * dilation - low, c] w[k, c, o]. Output channels fall into
/// `groups` equal parts, each of which sees its part of the input channels.
template <ArrayLike X, ArrayLike W>
out_t<join_t<X, W>, X, W> conv(const X& x, const W& w, ConvOptions options = {}, Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) { return detail::ops::conv(o[0], o[1], options, loc); };
  return detail::apply<out_t<join_t<X, W>, X, W>>("conv", loc, f, x, w);
}

}  // namespace calque
