#pragma once
// Comparisons with tolerances, tests of elements and choices between arrays, with NumPy's names. Operands broadcast.
#include "calque/detail/recorded.h"

namespace calque {

/// The tolerances of `isclose`: |x - y| <= atol + rtol |y|.
struct IscloseOptions {
  double rtol = 1e-5, atol = 1e-8;
  /// NaN is close to NaN.
  bool equal_nan = false;
};
/// Whether elements are equal within tolerances, as numpy.isclose; an infinity is close to itself alone. Throws
/// ShapeError when the operands do not broadcast.
///     isclose(D{1, 2}, D{1.000001, 2.1})  // [ True False]
template <OperandLike X, OperandLike Y>
  requires(ArrayLike<X> || ArrayLike<Y>)
[[nodiscard]] out_t<bool, X, Y> isclose(const X& x, const Y& y, IscloseOptions options = {}, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::isclose(o[0], o[1], options.rtol, options.atol, options.equal_nan, loc);
  };
  return detail::recorded<bool>("isclose", loc, f, x, y);
}
/// Whether all elements are close, a scalar of the trace. (Of two arrays `allclose` is a C++ bool.) Throws ShapeError
/// when the operands do not broadcast.
///     jit([](Tracer<double> x) { return allclose(x, 1.0); })(D{1, 1 + 1e-9})  // True
template <OperandLike X, OperandLike Y>
  requires(TracerLike<X> || TracerLike<Y>)
[[nodiscard]] Tracer<bool> allclose(const X& x, const Y& y, IscloseOptions options = {}, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::allclose(o[0], o[1], options.rtol, options.atol, options.equal_nan, loc);
  };
  return detail::recorded<bool>("allclose", loc, f, x, y);
}
/// Whether shapes and all elements are equal, a scalar of the trace. (Of two arrays `array_equal` is a C++ bool.)
///     jit([](Tracer<double> x) { return array_equal(x, D{1, 2}); })(D{1, 2})  // True
template <OperandLike X, OperandLike Y>
  requires(TracerLike<X> || TracerLike<Y>)
[[nodiscard]] Tracer<bool> array_equal(const X& x, const Y& y, bool equal_nan = false, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::array_equal(o[0], o[1], equal_nan, loc); };
  return detail::recorded<bool>("array_equal", loc, f, x, y);
}
/// Whether all elements are equal after broadcasting; false when the operands do not broadcast. A scalar.
///     array_equiv(D{{1, 2}, {1, 2}}, D{1, 2})  // True
template <OperandLike X, OperandLike Y>
  requires(ArrayLike<X> || ArrayLike<Y>)
[[nodiscard]] out_t<bool, X, Y> array_equiv(const X& x, const Y& y, Loc loc = Loc::current()) {
  return detail::apply_binary<out_t<bool, X, Y>>("array_equiv", &detail::ops::array_equiv, x, y, loc);
}

/// Options of `isin`.
struct IsinOptions {
  /// Whether elements are not in the list.
  bool invert = false;
};
/// Whether each element of x equals any of `elements`, of x's shape, as numpy.isin; NaN equals nothing. Few
/// elements are compared with each, many are sorted and searched.
///     isin(I{1, 2, 3}, I{3, 1})  // [ True False  True]
template <ArrayLike X, ArrayLike E>
[[nodiscard]] out_t<bool, X, E> isin(const X& x, const E& elements, IsinOptions options = {},
                                     Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::isin(o[0], o[1], options.invert, loc); };
  return detail::recorded<bool>("isin", loc, f, x, elements);
}

#define CALQUE_TEST(f)                                                       \
  template <ArrayLike X>                                                     \
  [[nodiscard]] out_t<bool, X> f(const X& x, Loc loc = Loc::current()) {     \
    return detail::apply_unary<out_t<bool, X>>(#f, &detail::ops::f, x, loc); \
  }
/// Whether elements are +infinity; false for integers. Throws DTypeError for complex numbers.
///     isposinf(D{INFINITY, -INFINITY, 0})  // [ True False False]
CALQUE_TEST(isposinf)
/// Whether elements are -infinity; false for integers. Throws DTypeError for complex numbers.
///     isneginf(D{INFINITY, -INFINITY, 0})  // [False  True False]
CALQUE_TEST(isneginf)
/// Whether the imaginary part is 0; true for real numbers.
///     isreal(Array<std::complex<double>>{1, std::complex(0.0, 1.0)})  // [ True False]
CALQUE_TEST(isreal)
/// Whether the imaginary part is not 0; false for real numbers.
///     iscomplex(Array<std::complex<double>>{1, std::complex(0.0, 1.0)})  // [False  True]
CALQUE_TEST(iscomplex)
#undef CALQUE_TEST

/// Whether exactly one of the elements is not 0. Throws ShapeError when the operands do not broadcast.
///     logical_xor(I{0, 0, 3}, I{0, 1, 2})  // [False  True False]
template <OperandLike X, OperandLike Y>
  requires(ArrayLike<X> || ArrayLike<Y>)
[[nodiscard]] out_t<bool, X, Y> logical_xor(const X& x, const Y& y, Loc loc = Loc::current()) {
  return detail::apply_binary<out_t<bool, X, Y>>("logical_xor", &detail::ops::logical_xor, x, y, loc);
}

/// The choice of the first condition that holds, elsewhere `otherwise`, as numpy.select:
/// `cq::select(std::vector{x < 0, x > 1}, std::vector{-x, x * x}, 0)`. Of the promoted type. Throws ShapeError unless
/// there are as many choices as conditions, at least one, or when the operands do not broadcast.
///     D x = {-2, 0, 3};
///     select(std::vector{x < 0, x > 1}, std::vector{-x, x * x}, 5)  // [2. 5. 9.]
template <ArrayLike C, ArrayLike X, OperandLike D = int>
  requires(std::same_as<elem_t<C>, bool>)
[[nodiscard]] out_t<promoted_elem_t<X, D>, C, X, D> select(const std::vector<C>& conditions,
                                                           const std::vector<X>& choices, const D& otherwise = 0,
                                                           Loc loc = Loc::current()) {
  std::vector<detail::Operand> all = detail::operands_of(conditions.data(), conditions.size(), loc);
  if (conditions.size() != choices.size()) {
    throw ShapeError("select: needs a choice for each condition, got " + std::to_string(conditions.size()) + " and " +
                     std::to_string(choices.size()));
  }
  for (const X& x : choices) all.push_back(detail::operand_of(x, loc));
  all.push_back(detail::operand_of(otherwise, loc));
  const auto f = [&](detail::Operands o) { return detail::ops::select_of(o, loc); };
  return detail::apply_to<out_t<promoted_elem_t<X, D>, C, X, D>>("select", loc, all, f);
}

/// choices[i] of each element i of the indices, as numpy.choose; indices out of bounds choose the nearest, or modulo
/// their number with `mode::wrap`. Throws ShapeError without choices or when the operands do not broadcast, DTypeError
/// for indices that are not integers.
///     choose(I{1, 0, 1}, std::vector{D{1, 2, 3}, D{10, 20, 30}})  // [10.  2. 30.]
template <ArrayLike I, ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, I, X> choose(const I& indices, const std::vector<X>& choices,
                                            mode out_of_bounds = mode::clip, Loc loc = Loc::current()) {
  std::vector<detail::Operand> all{detail::operand_of(indices, loc)};
  for (const X& x : choices) all.push_back(detail::operand_of(x, loc));
  const auto f = [&](detail::Operands o) { return detail::ops::choose(o, out_of_bounds, loc); };
  return detail::apply_to<out_t<elem_t<X>, I, X>>("choose", loc, all, f);
}

}  // namespace calque
