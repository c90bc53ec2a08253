#pragma once
// Whole derivatives: an argument's tree in the place of each leaf of the result.
#include <type_traits>
#include <utility>

#include "calque/detail/jacobian.h"

namespace calque {

/// The Jacobian of f by its first argument (by those of argnums: a tuple), column by column: the argument's tree in the
/// place of each leaf of f's result, each leaf of shape result.shape + argument.shape, of the result's element type.
/// Cheaper than `jacrev` where the argument has fewer elements than the result. Leaves of the argument must be
/// floating, those of the result floating or complex (GradError that names the leaf).
template <class F>
[[nodiscard("it returns a function: call it, as in jacfwd(f)(x)")]]
auto jacfwd(F&& function, Loc loc = Loc::current()) {
  return detail::make_jacobian<detail::WholeFirst, true>(std::forward<F>(function), "jacfwd", loc);
}
template <class F, int... I>
[[nodiscard("it returns a function: call it, as in jacfwd(f)(x)")]]
auto jacfwd(F&& function, argnums_t<I...>, Loc loc = Loc::current()) {
  return detail::make_jacobian<argnums_t<I...>, true>(std::forward<F>(function), "jacfwd", loc);
}

/// The same, row by row: cheaper where the result has fewer elements than the argument. Leaves of the result must be
/// floating, those of the argument floating or complex (the result's leaf is then complex too).
template <class F>
[[nodiscard("it returns a function: call it, as in jacrev(f)(x)")]]
auto jacrev(F&& function, Loc loc = Loc::current()) {
  return detail::make_jacobian<detail::WholeFirst, false>(std::forward<F>(function), "jacrev", loc);
}
template <class F, int... I>
[[nodiscard("it returns a function: call it, as in jacrev(f)(x)")]]
auto jacrev(F&& function, argnums_t<I...>, Loc loc = Loc::current()) {
  return detail::make_jacobian<argnums_t<I...>, false>(std::forward<F>(function), "jacrev", loc);
}

/// Second derivatives, jacfwd of jacrev: for a function of one array that returns a number, an array of shape
/// argument.shape + argument.shape.
template <class F>
[[nodiscard("it returns a function: call it, as in hessian(f)(x)")]]
auto hessian(F&& function, Loc loc = Loc::current()) {
  auto rows = detail::make_jacobian<detail::WholeFirst, false>(std::forward<F>(function), "hessian", loc);
  return detail::make_jacobian<detail::WholeFirst, true>(std::move(rows), "hessian", loc);
}
template <class F, int... I>
[[nodiscard("it returns a function: call it, as in hessian(f)(x)")]]
auto hessian(F&& function, argnums_t<I...>, Loc loc = Loc::current()) {
  auto rows = detail::make_jacobian<argnums_t<I...>, false>(std::forward<F>(function), "hessian", loc);
  return detail::make_jacobian<argnums_t<I...>, true>(std::move(rows), "hessian", loc);
}

}  // namespace calque
