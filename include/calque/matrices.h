#pragma once
// Triangles and diagonals of matrices, and matrices made of vectors and of other matrices, with NumPy's names. Elements
// outside a triangle or diagonal are 0, whatever is there.
#include <optional>
#include <vector>

#include "calque/detail/apply.h"

namespace calque {

/// Of a vector x [n] the matrix [n + |k|, n + |k|] with x on diagonal k and zeros elsewhere; of a matrix its diagonal
/// k, empty when that is outside. Diagonal k starts k columns right of the first element, or -k rows below it. Of x's
/// type. Throws ShapeError for other ranks and when the result is too large.
///     diag(D{1, 2})  // [[1. 0.]
///                    //  [0. 2.]]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> diag(const X& x, int64_t k = 0, Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) { return detail::ops::diag(o[0], k, loc); };
  return detail::apply<out_t<elem_t<X>, X>>("diag", loc, f, x);
}

#define CALQUE_TRIANGLE(f)                                                                                \
  template <ArrayLike X>                                                                                  \
  [[nodiscard]] out_t<elem_t<X>, X> f(const X& x, int64_t k = 0, Loc loc = Loc::current()) {              \
    const auto erased = [&](std::span<const detail::Operand> o) { return detail::ops::f(o[0], k, loc); }; \
    return detail::apply<out_t<elem_t<X>, X>>(#f, loc, erased, x);                                        \
  }
/// The matrices [..., m, n] with zeros above diagonal k. Of x's shape and type. Throws ShapeError for a rank below 2.
///     tril(D{{1, 2}, {3, 4}})  // [[1. 0.]
///                              //  [3. 4.]]
CALQUE_TRIANGLE(tril)
/// The matrices [..., m, n] with zeros below diagonal k. Of x's shape and type. Throws ShapeError for a rank below 2.
///     triu(D{{1, 2}, {3, 4}})  // [[1. 2.]
///                              //  [0. 4.]]
CALQUE_TRIANGLE(triu)
#undef CALQUE_TRIANGLE

/// The Vandermonde matrix [size of x, n] of a vector: the columns are the powers n - 1 to 0 of x, or 0 to n - 1 if
/// increasing; n is the size of x by default. Of x's type (bool: i32); integers wrap, powers of 16-bit floats are
/// computed in f32. Throws ShapeError when x is not a vector, for a negative n, or when the result is too large.
///     vander(D{1, 2, 3})  // [[1. 1. 1.]
///                         //  [4. 2. 1.]
///                         //  [9. 3. 1.]]
template <ArrayLike X>
[[nodiscard]] out_t<sum_t<elem_t<X>>, X> vander(const X& x, std::optional<int64_t> n = {}, bool increasing = false,
                                                Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) { return detail::ops::vander(o[0], n, increasing, loc); };
  return detail::apply<out_t<sum_t<elem_t<X>>, X>>("vander", loc, f, x);
}

/// The matrix [size of c, size of c] with constant diagonals whose first column is c and whose first row is conj(c), as
/// scipy.linalg.toeplitz: symmetric for real c. Of c's type. Throws ShapeError when c is not a vector.
///     toeplitz(D{1, 2, 3})  // [[1. 2. 3.]
///                           //  [2. 1. 2.]
///                           //  [3. 2. 1.]]
template <ArrayLike C>
[[nodiscard]] out_t<elem_t<C>, C> toeplitz(const C& c, Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) { return detail::ops::toeplitz(o[0], loc); };
  return detail::apply<out_t<elem_t<C>, C>>("toeplitz", loc, f, c);
}
/// The matrix [size of c, size of r] with constant diagonals whose first column is c and whose first row is r, of which
/// the first element is ignored. Of the promoted type. Throws ShapeError when c or r is not a vector.
///     toeplitz(D{1, 2}, D{1, 8, 9})  // [[1. 8. 9.]
///                                    //  [2. 1. 8.]]
template <ArrayLike C, ArrayLike R>
[[nodiscard]] out_t<promoted_elem_t<C, R>, C, R> toeplitz(const C& c, const R& r, Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) { return detail::ops::toeplitz(o[0], o[1], loc); };
  return detail::apply<out_t<promoted_elem_t<C, R>, C, R>>("toeplitz", loc, f, c, r);
}

namespace detail {
template <class... X>
[[nodiscard]] out_t<promoted_elem_t<X...>, X...> block_diag_at(Location at, const X&... xs) {
  const auto f = [&](std::span<const Operand> o) { return ops::block_diag(o, at); };
  return apply<out_t<promoted_elem_t<X...>, X...>>("block_diag", at, f, xs...);
}
template <class... X>
concept SomeArrayLike = (OperandLike<X> && ...) && (ArrayLike<X> || ...);
}  // namespace detail

/// The matrix with these blocks along its diagonal and zeros elsewhere, as scipy.linalg.block_diag: its extents are the
/// sums of theirs. A vector is a row, a scalar a matrix of one element; at least one argument is an array. Of the
/// promoted type. Throws ShapeError for ranks above 2 and when the result is too large.
///     block_diag(D{1, 2}, 3.0)  // [[1. 2. 0.]
///                               //  [0. 0. 3.]]
template <ArrayLike A>
[[nodiscard]] out_t<elem_t<A>, A> block_diag(const A& a, Loc loc = Loc::current()) {
  return detail::block_diag_at(loc, a);
}
template <class A, class B>
  requires detail::SomeArrayLike<A, B>
[[nodiscard]] out_t<promoted_elem_t<A, B>, A, B> block_diag(const A& a, const B& b, Loc loc = Loc::current()) {
  return detail::block_diag_at(loc, a, b);
}
template <class A, class B, class C>
  requires detail::SomeArrayLike<A, B, C>
[[nodiscard]] out_t<promoted_elem_t<A, B, C>, A, B, C> block_diag(const A& a, const B& b, const C& c,
                                                                  Loc loc = Loc::current()) {
  return detail::block_diag_at(loc, a, b, c);
}
/// As above, for more blocks; equations and errors have no line.
///     block_diag(1.0, 2.0, 3.0, D{4.0})  // [[1. 0. 0. 0.]
///                                        //  [0. 2. 0. 0.]
///                                        //  [0. 0. 3. 0.]
///                                        //  [0. 0. 0. 4.]]
template <class... X>
  requires(sizeof...(X) > 3 && detail::SomeArrayLike<X...>)
[[nodiscard]] out_t<promoted_elem_t<X...>, X...> block_diag(const X&... xs) {
  return detail::block_diag_at(Location(), xs...);
}
/// As above, for any number of blocks of one type. Throws ShapeError also when there is none.
///     block_diag(std::vector{D{1, 2}, D{3}})  // [[1. 2. 0.]
///                                             //  [0. 0. 3.]]
template <ArrayLike X>
X block_diag(const std::vector<X>& xs, Loc loc = Loc::current()) {
  std::vector<detail::Operand> operands;
  for (const X& x : xs) operands.push_back(detail::operand_of(x, loc));
  const auto f = [&](std::span<const detail::Operand> o) { return detail::ops::block_diag(o, loc); };
  return detail::apply_to<X>("block_diag", loc, operands, f);
}

}  // namespace calque
