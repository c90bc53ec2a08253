#pragma once
// Robust losses for fitting: functions rho of a squared residual s >= 0 with rho(0) = 0 and rho'(0) = 1, which grow
// less than s does, so that outliers count less. Formulas, names and the order of parameters are those of Ceres
// (http://ceres-solver.org/nnls_modeling.html#lossfunction). Values and derivatives of all orders are finite at s = 0.
//
// s and the scales a and b > 0 are arrays, tracers or numbers and broadcast; the result is of the promoted type, which
// is floating (compile error).
#include <tuple>
#include <type_traits>
#include <utility>

#include "calque/derivatives.h"
#include "calque/functions.h"

namespace calque {
namespace detail {

template <class... X>
constexpr bool check_loss() {
  constexpr bool floating = is_floating(dtype_of<promoted_elem_t<X...>>);
  static_assert(floating, "calque: losses are of floating-point numbers");
  return floating;
}

}  // namespace detail

/// The loss of Huber: s up to a^2, from there 2 a sqrt(s) - a^2, linear in the residual.
///     huber(D{0, 1, 9}, 2.0)  // [0. 1. 8.]
template <OperandLike S, OperandLike A>
  requires(ArrayLike<S> || ArrayLike<A>)
[[nodiscard]] auto huber(const S& s, const A& a, Loc loc = Loc::current()) {
  static_assert(detail::check_loss<S, A>());
  const auto inside = s <= a * a;
  // The root's argument is not 0 where the root is not selected, so that its derivative there is finite.
  return where(inside, s, 2 * a * sqrt(where(inside, a * a, s, loc), loc) - a * a, loc);
}

/// 2 a^2 (sqrt(1 + s / a^2) - 1): a smooth form of `huber`.
///     soft_l1(D{0, 3, 15}, 1.0)  // [0. 2. 6.]
template <OperandLike S, OperandLike A>
  requires(ArrayLike<S> || ArrayLike<A>)
[[nodiscard]] auto soft_l1(const S& s, const A& a, Loc loc = Loc::current()) {
  static_assert(detail::check_loss<S, A>());
  return 2 * s / (1 + sqrt(1 + s / (a * a), loc));  // without the cancellation of a root and 1
}

/// The loss of Cauchy: a^2 log(1 + s / a^2).
///     cauchy(D{0, 1}, 1.0)  // [0.         0.69314718]
template <OperandLike S, OperandLike A>
  requires(ArrayLike<S> || ArrayLike<A>)
[[nodiscard]] auto cauchy(const S& s, const A& a, Loc loc = Loc::current()) {
  static_assert(detail::check_loss<S, A>());
  return a * a * log1p(s / (a * a), loc);
}

/// a atan(s / a), which stays below a pi / 2.
///     arctan(D{0, 1}, 1.0)  // [0.         0.78539816]
template <OperandLike S, OperandLike A>
  requires(ArrayLike<S> || ArrayLike<A>)
[[nodiscard]] auto arctan(const S& s, const A& a, Loc loc = Loc::current()) {
  static_assert(detail::check_loss<S, A>());
  return a * atan(s / a, loc);
}

/// The loss of Tukey: a^2 / 3 (1 - (1 - s / a^2)^3) up to a^2, from there a^2 / 3, so that outliers do not count.
///     tukey(D{0, 1, 100}, 1.0)  // [0.         0.33333333 0.33333333]
template <OperandLike S, OperandLike A>
  requires(ArrayLike<S> || ArrayLike<A>)
[[nodiscard]] auto tukey(const S& s, const A& a, Loc loc = Loc::current()) {
  static_assert(detail::check_loss<S, A>());
  // a^2 / 3 (1 - (1 - u)^3) = s (1 - u + u^2 / 3), without cancellation for small u.
  const auto u = s / (a * a);
  const auto inside = s <= a * a;
  return where(inside, s * (1 - u + square(u, loc) / 3), a * a / 3, loc);
}

/// b log(1 + exp((s - a) / b)) - b log(1 + exp(-a / b)): nearly 0 up to a, then nearly s - a; b is the width of the
/// transition. (Its derivative at 0 is not 1.)
///     tolerant(D{0, 100}, 1.0, 0.5)  // [ 0.         98.93653599]
template <OperandLike S, OperandLike A, OperandLike B>
  requires(ArrayLike<S> || ArrayLike<A> || ArrayLike<B>)
[[nodiscard]] auto tolerant(const S& s, const A& a, const B& b, Loc loc = Loc::current()) {
  static_assert(detail::check_loss<S, A, B>());
  using Out = out_t<promoted_elem_t<S, A, B>, S, A, B>;
  // One sum of the operands, so that the difference is 0 at s = 0.
  const auto softplus = [&](const auto& x) { return logaddexp(x, 0, loc); };
  const Out at_zero = (s * 0 - a) / b;
  return b * (softplus((s - a) / b) - softplus(at_zero));
}

/// The residuals r and Jacobians J of a term whose cost is rho(|r|^2) / 2, scaled so that Gauss-Newton on them sees the
/// gradient and the Hessian of that cost: Triggs' correction, with the formulas of Ceres
/// (http://ceres-solver.org/nnls_solving.html, "corrector"): of r' = sqrt(rho') / (1 - alpha) r and
/// J' = sqrt(rho') (J - alpha r r^T J / |r|^2), where alpha is 0 if rho'' <= 0, else the root below 1 of
/// alpha^2 / 2 - alpha - rho'' |r|^2 / rho' = 0. `loss` is a function of one number, `[](auto s) { return cq::huber(s,
/// 1.0); }`. r has shape [R], each J [R, n], as `residuals_and_jacobians` returns them; the result is like it a
/// std::pair of r' and a std::tuple of each J'. Throws ShapeError when shapes do not fit.
///     const auto loss = [](auto s) { return cauchy(s, 1.0); };
///     corrected(loss, D{1, 0}, std::tuple{D{{2}, {0}}}).first  // [0.70710678 0.        ]
template <class Loss, ArrayLike R, ArrayLike... J>
[[nodiscard]] auto corrected(const Loss& loss, const R& residuals, const std::tuple<J...>& jacobians,
                             Loc loc = Loc::current()) {
  static_assert(is_floating(dtype_of<elem_t<R>>), "calque: corrected: residuals are of floating-point numbers");
  const auto slope = grad(loss, loc);
  const R s = sum(square(residuals, loc), {}, {}, loc);
  const R first = slope(s), second = grad(slope, loc)(s);
  const R root = sqrt(first, loc);
  // Where there is nothing to correct, the quotients are of ones.
  const auto curved = (second > 0) & (s > 0) & (first > 0);
  const R ratio = where(curved, s * second, 0, loc) / where(curved, first, 1, loc);
  const R alpha = 1 - sqrt(1 + 2 * ratio, loc);
  const R weight = alpha / where(s > 0, s, 1, loc);
  const auto correct = [&](const auto& jacobian) {
    const auto along = matmul(residuals, jacobian, loc);
    return std::remove_cvref_t<decltype(jacobian)>(root * (jacobian - outer(residuals, weight * along, loc)));
  };
  return std::pair(R(root / (1 - alpha) * residuals),
                   std::apply([&](const auto&... j) { return std::tuple<J...>(correct(j)...); }, jacobians));
}

}  // namespace calque
