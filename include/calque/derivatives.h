#pragma once
// Derivatives: gradients, and the two linear maps that a function has at a point. All take and return functions of any
// trees and nest with each other, with vmap and with jit. On data they trace, compile and cache as jit does; with a
// Tracer among the arguments they become part of the running trace.
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "calque/detail/gradient.h"
#include "calque/detail/linear_function.h"

namespace calque {

/// The gradient of f by its first argument: a function of f's arguments that returns a tree like that argument. Its
/// leaves are floating or complex (GradError that names the leaf). f returns a real floating scalar (GradError with its
/// shape; a compile error for what is no array), or std::pair{value, aux}: aux is then dropped.
/// For a complex leaf z = x + iy of a real function it is df/dx - i df/dy.
template <class F>
[[nodiscard("it returns a function: call it, as in grad(f)(x)")]]
auto grad(F&& function, Loc loc = Loc::current()) {
  return detail::make_transformation(
      detail::Gradient<std::decay_t<F>, detail::WholeFirst, false>{{std::forward<F>(function), loc}}, "grad");
}
/// The gradients by the arguments of these positions, a tuple of trees like them (also for one position).
template <class F, int... I>
[[nodiscard("it returns a function: call it, as in grad(f)(x)")]]
auto grad(F&& function, argnums_t<I...>, Loc loc = Loc::current()) {
  return detail::make_transformation(
      detail::Gradient<std::decay_t<F>, argnums_t<I...>, false>{{std::forward<F>(function), loc}}, "grad");
}

/// std::pair of what f returns and its gradient. An f that returns std::pair{value, aux} has auxiliary results: the
/// first of the pair is then that pair. Requirements and errors as for `grad`.
template <class F>
[[nodiscard("it returns a function: call it, as in value_and_grad(f)(x)")]]
auto value_and_grad(F&& function, Loc loc = Loc::current()) {
  return detail::make_transformation(
      detail::Gradient<std::decay_t<F>, detail::WholeFirst, true>{{std::forward<F>(function), loc}}, "value_and_grad");
}
template <class F, int... I>
[[nodiscard("it returns a function: call it, as in value_and_grad(f)(x)")]]
auto value_and_grad(F&& function, argnums_t<I...>, Loc loc = Loc::current()) {
  return detail::make_transformation(
      detail::Gradient<std::decay_t<F>, argnums_t<I...>, true>{{std::forward<F>(function), loc}}, "value_and_grad");
}

/// The arguments as a tuple, also for a single argument that is itself a tuple.
template <class... X>
std::tuple<X...> args(const X&... x) {
  return std::tuple<X...>(x...);
}

/// Forward mode: std::pair of f(primals...) and its derivative in the direction of the tangents, a tree like the value.
/// Tangents have the types (compile error) and shapes (ShapeError that names the leaf) of their primals; those of
/// integer leaves are ignored, and integer results have tangents zero.
template <class F, class... X, class... D>
auto jvp(const F& function, const std::tuple<X...>& primals, const std::tuple<D...>& tangents,
         Loc loc = Loc::current()) {
  constexpr bool as_many = sizeof...(X) == sizeof...(D);
  static_assert(as_many, "calque: jvp: there must be one tangent for each primal; cq::args(t) makes one argument of t");
  if constexpr (as_many) {
    constexpr bool alike = (std::same_as<to_array_t<X>, to_array_t<D>> && ...);
    static_assert(alike, "calque: jvp: a tangent has another type than its primal");
    if constexpr (alike) {
      const detail::Tangent<F> transformed{{function, loc}};
      if constexpr ((holds_tracer<X> || ...) || (holds_tracer<D> || ...)) {
        return detail::inlined(transformed, primals, tangents);
      } else {
        return detail::make_transformation(transformed, "jvp")(primals, tangents);
      }
    }
  }
}

/// What `vjp` returns beside the value: called with a cotangent, a tree like the value, it returns a tuple of trees
/// like the arguments. Integer leaves of the cotangent are ignored, those of the arguments are zero. It can be called
/// any number of times, and keeps what it needs of the point where it was made. Made in a trace it lives as long as
/// that; made on data it can also be called with tracers.
template <class Y, class... X>
class Pullback : public detail::LinearFunction<Y, X...> {
  using Base = detail::LinearFunction<Y, X...>;

 public:
  using Base::Base;
  /// Throws ShapeError that names the leaf where the cotangent has another shape than the value.
  template <class B>
  auto operator()(const B& cotangent, Loc loc = Loc::current()) const {
    constexpr bool alike = std::same_as<to_array_t<B>, to_array_t<Y>>;
    static_assert(alike, "calque: vjp: the cotangent has another type than the value");
    if constexpr (alike) return this->transposed(cotangent, loc);
  }
};

/// Reverse mode: std::pair of f(x...) and the Pullback at x. `pullback.graph()` is its graph: first the values that are
/// kept of f (residuals), then the cotangents.
template <class F, class... X>
auto vjp(const F& function, const X&... x) {
  return detail::linearized<detail::LinearMode::reverse, Pullback>("vjp", function, x...);
}

/// What `linearize` returns beside the value: called with tangents of all arguments it returns the tangent of the
/// value.
template <class Y, class... X>
class Linear : public detail::LinearFunction<Y, X...> {
  using Base = detail::LinearFunction<Y, X...>;

 public:
  using Base::Base;
  /// Throws ShapeError that names the leaf where a tangent has another shape than its primal.
  template <class... D>
  auto operator()(const D&... tangents) const {
    constexpr bool as_many = sizeof...(D) == sizeof...(X);
    static_assert(as_many, "calque: linearize: there must be one tangent for each argument");
    if constexpr (as_many) {
      constexpr bool alike = (std::same_as<to_array_t<X>, to_array_t<D>> && ...);
      static_assert(alike, "calque: linearize: a tangent has another type than its argument");
      if constexpr (alike) return this->pushed_forward(tangents...);
    }
  }
};

/// The linear approximation: std::pair of f(x...) and its derivative at x as a function of tangents. Cheaper than `jvp`
/// where several directions are wanted at one point. `.graph()` of the latter is its graph.
template <class F, class... X>
auto linearize(const F& function, const X&... x) {
  return detail::linearized<detail::LinearMode::forward, Linear>("linearize", function, x...);
}

}  // namespace calque
