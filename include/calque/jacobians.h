#pragma once
// Jacobians: a tree of the result's structure in which each leaf is a tree of the argument's structure.
#include <type_traits>
#include <utility>

#include "calque/detail/transforms/jacobian.h"

namespace calque {

/// The Jacobian of f by its first argument, column by column (forward mode): f's result with each leaf replaced by a
/// tree like the argument, whose leaves have shape result.shape + argument.shape and the result's element type. Faster
/// than `jacrev` if the argument has fewer elements than the result. Throws GradError that names a leaf of the argument
/// that is not real floating or a leaf of the result that is not floating or complex.
///     jacfwd([](auto x) { return x * x; })(D{1, 2})  // [[2. 0.]
///                                                    //  [0. 4.]]
template <class F>
[[nodiscard("it returns a function: call it, as in jacfwd(f)(x)")]]
auto jacfwd(F&& function, Loc loc = Loc::current()) {
  return detail::make_jacobian<detail::WholeFirst, true>(std::forward<F>(function), "jacfwd", loc);
}
/// The Jacobians by the arguments at these positions: each leaf is replaced by a tuple of trees like them.
///     jacfwd([](auto x, auto y) { return x * y; }, argnums<1>)(D{1, 2}, 3.0)  // [1. 2.]
template <class F, int... I>
[[nodiscard("it returns a function: call it, as in jacfwd(f)(x)")]]
auto jacfwd(F&& function, argnums_t<I...>, Loc loc = Loc::current()) {
  return detail::make_jacobian<argnums_t<I...>, true>(std::forward<F>(function), "jacfwd", loc);
}

/// The Jacobian as of `jacfwd`, row by row (reverse mode): faster if the result has fewer elements than the argument.
/// For a complex leaf of the argument the derivative is complex. Throws GradError that names a leaf of the result that
/// is not real floating or a leaf of the argument that is not floating or complex.
///     jacrev([](auto x) { return x * sum(x); })(D{1, 2})  // [[4. 1.]
///                                                         //  [2. 5.]]
template <class F>
[[nodiscard("it returns a function: call it, as in jacrev(f)(x)")]]
auto jacrev(F&& function, Loc loc = Loc::current()) {
  return detail::make_jacobian<detail::WholeFirst, false>(std::forward<F>(function), "jacrev", loc);
}
/// The Jacobians by the arguments at these positions: each leaf is replaced by a tuple of trees like them.
///     jacrev([](auto x, auto y) { return x * y; }, argnums<1>)(D{1, 2}, 3.0)  // [1. 2.]
template <class F, int... I>
[[nodiscard("it returns a function: call it, as in jacrev(f)(x)")]]
auto jacrev(F&& function, argnums_t<I...>, Loc loc = Loc::current()) {
  return detail::make_jacobian<argnums_t<I...>, false>(std::forward<F>(function), "jacrev", loc);
}

/// Second derivatives, jacfwd of jacrev: for a function of one array that returns a scalar, an array of shape
/// argument.shape + argument.shape. Throws GradError as both do: leaves must be real floating.
///     hessian([](auto x) { return x[0] * x[0] * x[1]; })(D{1, 2})  // [[4. 2.]
///                                                                  //  [2. 0.]]
template <class F>
[[nodiscard("it returns a function: call it, as in hessian(f)(x)")]]
auto hessian(F&& function, Loc loc = Loc::current()) {
  auto rows = detail::make_jacobian<detail::WholeFirst, false>(std::forward<F>(function), "hessian", loc);
  return detail::make_jacobian<detail::WholeFirst, true>(std::move(rows), "hessian", loc);
}
/// The second derivatives by the arguments at these positions, as tuples of tuples.
///     hessian([](auto x, auto y) { return x * x * y; }, argnums<0, 1>)(2.0, 3.0)  // 6.0, 4.0, 4.0, 0.0
template <class F, int... I>
[[nodiscard("it returns a function: call it, as in hessian(f)(x)")]]
auto hessian(F&& function, argnums_t<I...>, Loc loc = Loc::current()) {
  auto rows = detail::make_jacobian<argnums_t<I...>, false>(std::forward<F>(function), "hessian", loc);
  return detail::make_jacobian<argnums_t<I...>, true>(std::move(rows), "hessian", loc);
}

}  // namespace calque
