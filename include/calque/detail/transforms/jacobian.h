#pragma once
// jacfwd and jacrev as function objects on trees of tracers, and the types of Jacobians.
#include <cstdlib>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "calque/detail/transforms/gradient.h"

namespace calque::detail {

/// The element type of the derivative of a T by a U.
template <class T, class U>
using derivative_t = std::conditional_t<ComplexElem<U> && !ComplexElem<T>, U, T>;

/// Maps each leaf to the derivative of a T by that leaf.
template <class T>
struct ToDerivative {
  static constexpr bool numbers = false;
  using any_leaf = AnyTracer;
  template <class X, class U>
  using leaf = Tracer<derivative_t<T, U>>;
};
/// Maps each leaf to a tree like In of derivatives.
template <class In>
struct ToJacobian {
  static constexpr bool numbers = false;
  using any_leaf = AnyTracer;
  template <class X, class T>
  using leaf = remap_t<ToDerivative<T>, In>;
};
template <class... X>
constexpr bool check_shapes_change() {
  constexpr bool change = !(fixed_shapes<X>() || ...);
  static_assert(change,
                "calque: jacfwd, jacrev and hessian: a struct with Eigen members cannot hold a Jacobian; ravel it "
                "first: auto [flat, unravel] = cq::ravel(s)");
  return change;
}

/// N: WholeFirst or argnums.
template <class F, class N, bool Forward>
struct Jacobian : Transformed<F> {
  const char* name = Forward ? "jacfwd" : "jacrev";

  template <class... A>
  using value_t = body_t<F, seen_t<A>...>;
  /// A function, since g++ 12 cannot mangle the type as an alias in a signature.
  template <class... A>
  static auto result_type() {
    using By = typename chosen_of<N, seen_t<A>...>::type;
    if constexpr (check_shapes_change<By, value_t<A...>>()) {
      return std::type_identity<remap_t<ToJacobian<By>, value_t<A...>>>{};
    } else {
      return std::type_identity<Tracer<float>>{};
    }
  }
  template <class... A>
  using jacobian_t = typename decltype(result_type<A...>())::type;

  template <class... A>
  jacobian_t<A...> operator()(const A&... arguments) const {
    if constexpr (check_chosen<N, seen_t<A>...>() &&
                  !(fixed_shapes<typename chosen_of<N, seen_t<A>...>::type>() || fixed_shapes<value_t<A...>>())) {
      return differentiate<jacobian_t<A...>, value_t<A...>>(seen(arguments)...);
    } else {
      std::abort();  // an assertion has failed
    }
  }

 private:
  template <class To, class R, class... X>
  To differentiate(const X&... x) const {
    const FlatArguments flat(x...);
    TracedResult<R> result;
    const FunctionBody<R, F, X...> function(this->function, result, x...);
    std::vector<std::string> results;
    const auto body = [&](std::span<const Handle> inputs, std::vector<Handle>& outputs) {
      function(inputs, outputs);
      results = leaf_paths(result.tree(), "the result");
    };
    const std::vector<Handle> handles = emit_jacobian(Forward, body, flat.handles, flat.leaves_of(positions<N>::list),
                                                      results, {name, this->location, flat.paths});
    std::span<const Handle> rest(handles);
    const auto& by = chosen_of<N, X...>::pick(x...);
    auto inner = [&]<class L>(const auto&) {
      const Handle handle = rest.front();
      rest = rest.subspan(1);
      return L(handle);
    };
    auto outer = [&]<class In>(const auto&) { return map_leaves<In>(by, inner); };
    return map_leaves<To>(result.tree(), outer);
  }
};

template <class N, bool Forward, class F>
auto make_jacobian(F&& function, const char* name, Location location) {
  return make_transformation(Jacobian<std::decay_t<F>, N, Forward>{{std::forward<F>(function), location}, name}, name);
}

}  // namespace calque::detail
