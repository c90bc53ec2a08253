#pragma once
// What a function's derivative is, said by the user: computed again instead of kept, or by a rule of one's own.
#include <type_traits>
#include <utility>

#include "calque/detail/rules.h"

namespace calque {

/// f, whose values derivatives compute again in the backward pass instead of keeping them.
template <class F>
[[nodiscard("it returns a function: call it, as in checkpoint(f)(x)")]]
auto checkpoint(F&& function, Loc loc = Loc::current()) {
  return detail::make_transformation(detail::Checkpointed<std::decay_t<F>>{{std::forward<F>(function), loc}},
                                     "checkpoint");
}

/// f with a rule for its derivative: rule(primals, tangents), two tuples of the arguments, returns std::pair of f's
/// value and its tangent, both of the value's type (compile error) and shapes (ShapeError that names the leaf). The
/// rule is differentiated itself for derivatives of higher order, and run backwards in reverse mode, so it must be
/// linear in the tangents. Tracers that f or the rule captures are constants.
template <class F, class R>
[[nodiscard("it returns a function: call it, as in custom_jvp(f)(x)")]]
auto custom_jvp(F&& function, R&& rule, Loc loc = Loc::current()) {
  return detail::make_transformation(
      detail::WithJvp<std::decay_t<F>, std::decay_t<R>>{{std::forward<F>(function), loc}, std::forward<R>(rule)},
      "custom_jvp");
}

/// f with a rule for reverse mode: forward(args...) returns std::pair of f's value and residuals, any tree;
/// backward(residuals, cotangent of the value) returns a tuple with a cotangent for each argument, of its type (compile
/// error) and shapes (ShapeError that names the leaf). f has no forward derivative then (GradError). Tracers that the
/// three capture are constants.
template <class F, class W, class B>
[[nodiscard("it returns a function: call it, as in custom_vjp(f)(x)")]]
auto custom_vjp(F&& function, W&& forward, B&& backward, Loc loc = Loc::current()) {
  return detail::make_transformation(
      detail::WithVjp<std::decay_t<F>, std::decay_t<W>, std::decay_t<B>>{
          {std::forward<F>(function), loc}, std::forward<W>(forward), std::forward<B>(backward)},
      "custom_vjp");
}

}  // namespace calque
