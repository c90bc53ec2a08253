#pragma once
// User control over derivatives: rematerialization (checkpoint) and custom rules.
#include <type_traits>
#include <utility>

#include "calque/detail/transforms/rules.h"

namespace calque {

/// f with rematerialization: reverse mode keeps only the arguments and recomputes f's values in the backward pass
/// instead of keeping them as residuals.
///     grad(checkpoint([](auto x) { return sin(sin(x)); }))(0.0)  // 1.0
template <class F>
[[nodiscard("it returns a function: call it, as in checkpoint(f)(x)")]]
auto checkpoint(F&& function, Loc loc = Loc::current()) {
  return detail::make_transformation(detail::Checkpointed<std::decay_t<F>>{{std::forward<F>(function), loc}},
                                     "checkpoint");
}

/// f with a custom derivative rule: rule(primals, tangents), called with two tuples of the arguments, returns std::pair
/// of f's value and its tangent, both of the value's type (compile error) and shapes. The rule is differentiated for
/// derivatives of higher order and transposed in reverse mode, so it must be linear in the tangents. It has no
/// derivative by tracers that f or the rule captures. Throws ShapeError that names a leaf of another shape, GradError
/// that names the line of a captured value by which it is differentiated.
///     auto f = [](auto x) { return log(1.0 + exp(x)); };
///     auto rule = [=](auto primals, auto tangents) {
///       const auto x = std::get<0>(primals);
///       return std::pair{f(x), std::get<0>(tangents) * sigmoid(x)};
///     };
///     grad(custom_jvp(f, rule))(1000.0)  // 1.0
template <class F, class R>
[[nodiscard("it returns a function: call it, as in custom_jvp(f)(x)")]]
auto custom_jvp(F&& function, R&& rule, Loc loc = Loc::current()) {
  return detail::make_transformation(
      detail::WithJvp<std::decay_t<F>, std::decay_t<R>>{{std::forward<F>(function), loc}, std::forward<R>(rule)},
      "custom_jvp");
}

/// f with a custom rule for reverse mode: forward(args...) returns std::pair of f's value and residuals, any tree;
/// backward(residuals, cotangent of the value) returns a tuple with a cotangent for each argument, of its type (compile
/// error) and shapes. It has no derivative by tracers that the three functions capture. Throws ShapeError that names a
/// leaf of another shape, GradError in forward mode, which this rule does not define, and GradError that names the line
/// of a captured value by which it is differentiated.
///     auto f = [](auto x) { return x; };
///     auto forward = [=](auto x) { return std::pair{f(x), x}; };
///     auto backward = [](auto, auto ct) { return std::tuple{clip(ct, -1, 1)}; };
///     grad([=](auto x) { return 5.0 * custom_vjp(f, forward, backward)(x); })(2.0)  // 1.0
template <class F, class W, class B>
[[nodiscard("it returns a function: call it, as in custom_vjp(f)(x)")]]
auto custom_vjp(F&& function, W&& forward, B&& backward, Loc loc = Loc::current()) {
  return detail::make_transformation(
      detail::WithVjp<std::decay_t<F>, std::decay_t<W>, std::decay_t<B>>{
          {std::forward<F>(function), loc}, std::forward<W>(forward), std::forward<B>(backward)},
      "custom_vjp");
}

}  // namespace calque
