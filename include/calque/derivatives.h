#pragma once
// Derivatives: gradients, Jacobian-vector products (jvp, linearize) and vector-Jacobian products (vjp). The functions
// and results are of any trees, and transformations nest with each other, with vmap and with jit. Called on data they
// trace, compile and cache as jit does; with a Tracer among the arguments they become part of the running trace.
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "calque/detail/transforms/gradient.h"
#include "calque/detail/transforms/linear_function.h"

namespace calque {

/// The gradient of f by its first argument: a function of f's arguments that returns a tree like that argument, whose
/// leaves must be floating or complex. f returns a real floating scalar, or std::pair{value, aux}, of which aux is
/// dropped. For a complex leaf z = x + iy the gradient is df/dx - i df/dy. Throws GradError that names a leaf of
/// another type, or with the type of a value that is not a real floating scalar (a compile error for one that is not an
/// array).
///     grad([](auto x) { return sum(x * x * x); })(D{1, 2})  // [ 3. 12.]
template <class F>
[[nodiscard("it returns a function: call it, as in grad(f)(x)")]]
auto grad(F&& function, Loc loc = Loc::current()) {
  return detail::make_transformation(
      detail::Gradient<std::decay_t<F>, detail::WholeFirst, false>{{std::forward<F>(function), loc}}, "grad");
}
/// The gradients by the arguments at these positions: a tuple of trees like them, also for a single position. Throws as
/// `grad` by the first argument.
///     grad([](auto x, auto y) { return x * y; }, argnums<0, 1>)(2.0, 3.0)  // 3.0, 2.0
template <class F, int... I>
[[nodiscard("it returns a function: call it, as in grad(f)(x)")]]
auto grad(F&& function, argnums_t<I...>, Loc loc = Loc::current()) {
  return detail::make_transformation(
      detail::Gradient<std::decay_t<F>, argnums_t<I...>, false>{{std::forward<F>(function), loc}}, "grad");
}

/// The gradient by the argument at this position, a tree like it, as `grad(f, 1)`. All arguments must be trees of one
/// type (compile error that names argnums). Throws GradError when there is no such argument, else as `grad`.
///     grad([](auto x, auto y) { return x * y * y; }, 1)(2.0, 3.0)  // 12.0
template <class F>
[[nodiscard("it returns a function: call it, as in grad(f, 1)(x, y)")]]
auto grad(F&& function, int position, Loc loc = Loc::current()) {
  return detail::make_transformation(detail::GradientAt<std::decay_t<F>>{{std::forward<F>(function), loc}, position},
                                     "grad");
}

/// The type of `cq::holomorphic`.
struct holomorphic_t {};
/// Asks for the derivative of a holomorphic function: `grad(f, cq::holomorphic)`.
inline constexpr holomorphic_t holomorphic;
/// The derivative df/dz of a function of complex numbers that returns a complex scalar and satisfies the Cauchy-Riemann
/// equations, which is not checked: a function of f's arguments that returns a tree like the first, whose leaves must
/// be complex. A value or a first argument that is a real array is a compile error.
///     grad([](auto z) { return z * z; }, holomorphic)(std::complex(1.0, 2.0))  // 2.+4.j
template <class F>
[[nodiscard("it returns a function: call it, as in grad(f, holomorphic)(z)")]]
auto grad(F&& function, holomorphic_t, Loc loc = Loc::current()) {
  // By these equations the gradient of the real part u, du/dx - i du/dy, is the derivative.
  return grad(
      [f = std::forward<F>(function)](const auto& first, const auto&... rest) {
        if constexpr (ArrayLike<std::remove_cvref_t<decltype(first)>>)
          static_assert(ComplexElem<elem_t<std::remove_cvref_t<decltype(first)>>>,
                        "calque: grad: the first argument of a holomorphic function is complex");
        const auto value = f(first, rest...);
        static_assert(ComplexElem<elem_t<std::remove_cvref_t<decltype(value)>>>,
                      "calque: grad: the value of a holomorphic function is complex");
        return real(value);
      },
      loc);
}

/// A function that returns std::pair of f's result and its gradient. If f returns std::pair{value, aux}, the first of
/// the pair is that pair. Requirements and errors as for `grad`.
///     value_and_grad([](auto x) { return exp(x); })(0.0)  // 1.0, 1.0
template <class F>
[[nodiscard("it returns a function: call it, as in value_and_grad(f)(x)")]]
auto value_and_grad(F&& function, Loc loc = Loc::current()) {
  return detail::make_transformation(
      detail::Gradient<std::decay_t<F>, detail::WholeFirst, true>{{std::forward<F>(function), loc}}, "value_and_grad");
}
/// The same with the gradients by the arguments at these positions, a tuple.
///     value_and_grad([](auto x, auto y) { return x * y; }, argnums<1>)(2.0, 3.0)  // 6.0, 2.0
template <class F, int... I>
[[nodiscard("it returns a function: call it, as in value_and_grad(f)(x)")]]
auto value_and_grad(F&& function, argnums_t<I...>, Loc loc = Loc::current()) {
  return detail::make_transformation(
      detail::Gradient<std::decay_t<F>, argnums_t<I...>, true>{{std::forward<F>(function), loc}}, "value_and_grad");
}

/// A tuple of the arguments, also for a single argument that is itself a tuple.
///     args(1.5, 2)  // 1.5, 2
template <class... X>
std::tuple<X...> args(const X&... x) {
  return std::tuple<X...>(x...);
}

/// Forward mode: std::pair of f(primals...) and its derivative in the direction of the tangents, a tree like the value.
/// Tangents have the types (compile error) and shapes of their primals; tangents of integer leaves are ignored, and
/// integer results have zero tangents. Throws ShapeError that names a tangent leaf of another shape.
///     jvp([](auto x) { return sin(x); }, args(0.0), args(2.0))  // 0.0, 2.0
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

/// The linear function returned by `vjp`: maps a cotangent, a tree like the value, to a tuple of trees like the
/// arguments. Integer leaves of the cotangent are ignored; those of the results are zero. It holds the residuals of the
/// point where it was made and can be called any number of times. One made in a trace is valid during that trace
/// (LeakedTracerError afterwards); one made on data can also be called with tracers.
template <class Y, class... X>
class Pullback : public detail::LinearFunction<Y, X...> {
  using Base = detail::LinearFunction<Y, X...>;

 public:
  using Base::Base;
  /// The cotangents of the arguments. Throws ShapeError that names a leaf of the cotangent whose shape is not the
  /// value's.
  template <class B>
  auto operator()(const B& cotangent, Loc loc = Loc::current()) const {
    constexpr bool alike = std::same_as<to_array_t<B>, to_array_t<Y>>;
    static_assert(alike, "calque: vjp: the cotangent has another type than the value");
    if constexpr (alike) return this->transposed(cotangent, loc);
  }
};

/// Reverse mode: std::pair of f(x...) and the Pullback at x. `pullback.graph()` is its graph, whose inputs are the
/// residuals, then the cotangents. Throws ShapeError for an empty array, ConcretizationError when f captures a tracer
/// but all arguments are data.
///     auto [value, pullback] = vjp([](auto x, auto y) { return x * y; }, 2.0, 3.0);
///     std::tuple{value, pullback(1.0)}  // 6.0, 3.0, 2.0
template <class F, class... X>
auto vjp(const F& function, const X&... x) {
  return detail::linearized<detail::LinearMode::reverse, Pullback>("vjp", function, x...);
}

/// The linear function returned by `linearize`: maps tangents of all arguments to the tangent of the value. Valid as a
/// Pullback is.
template <class Y, class... X>
class Linear : public detail::LinearFunction<Y, X...> {
  using Base = detail::LinearFunction<Y, X...>;

 public:
  using Base::Base;
  /// The tangent of the value. Throws ShapeError that names a leaf of a tangent whose shape is not its primal's.
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

/// The linear approximation: std::pair of f(x...) and its derivative at x as a function of tangents (Linear), whose
/// graph is `.graph()`. Faster than repeated `jvp` for several directions at one point. Throws as `vjp`.
///     auto [value, linear] = linearize([](auto x) { return x * x; }, 3.0);
///     std::tuple{value, linear(1.0), linear(2.0)}  // 9.0, 6.0, 12.0
template <class F, class... X>
auto linearize(const F& function, const X&... x) {
  return detail::linearized<detail::LinearMode::forward, Linear>("linearize", function, x...);
}

}  // namespace calque
