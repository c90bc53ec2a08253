#pragma once
// Trees in a trace, the lists of their leaves' values, and the call of a lambda with them.
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "calque/detail/trace.h"
#include "calque/detail/trees/fit.h"
#include "calque/detail/trees/leaves.h"

namespace calque::detail {

/// Any leaf as the leaf To of the innermost trace: data become constants.
template <class To, class X>
To trace_leaf(const X& x, Location location) {
  static_assert(!is_spec<X>, "calque: spec<T>(shape) serves trace and lower only");
  if constexpr (std::same_as<X, To>) {
    return x;
  } else if constexpr (dense<To>::value) {
    if constexpr (dense<X>::of_tracers) {
      return To(x);
    } else if constexpr (TracerLike<X>) {
      return dense<To>::make(x, location);
    } else {
      return dense<To>::lift(x);
    }
  } else if constexpr (dense<X>::of_tracers) {
    return dense<X>::pack(x, location);
  } else if constexpr (ScalarLeaf<X>) {
    using T = elem_t<To>;
    return To(literal(calque::Literal::of<T>(static_cast<T>(x)), Type{dtype_of<T>, Shape{}}, location));
  } else {
    return To(constant(leaf_array(x, location), location));
  }
}

template <class Rule, class X>
remap_t<Rule, X> in_trace(const X& x, Location location) {
  using To = remap_t<Rule, X>;
  if constexpr (!check_tree<X>()) {
    return To();
  } else if constexpr (std::same_as<X, To> && TracerLike<X>) {
    return x;
  } else {
    auto leaf = [&]<class T>(const auto& part) { return trace_leaf<T>(part, location); };
    return map_leaves<To>(x, leaf);
  }
}
/// The tree with every leaf a Tracer of the innermost trace.
template <class X>
to_tracer_t<X> traced(const X& x, Location location = {}) {
  return in_trace<ToTracer>(x, location);
}
/// The same as a carry of control flow: Eigen objects are Eigen objects of tracers.
template <class X>
to_carry_t<X> carried(const X& x, Location location = {}) {
  return in_trace<ToCarry>(x, location);
}

/// A visitor that ignores static values and paths.
struct LeafVisitor {
  template <class V>
  void value(const V&) {}
  void enter_index(size_t) {}
  template <class K>
  void enter_key(const K&) {}
  template <class V, size_t I>
  void enter_field() {}
  void leave() {}
};

/// Collects the values of the visited leaves.
struct HandleCollector : LeafVisitor {
  std::vector<Handle>& handles;
  explicit HandleCollector(std::vector<Handle>& list) : handles(list) {}
  template <class To>
  void leaf(const To& x) {
    handles.push_back(leaf_handle(x));
  }
};

/// The values of the leaves of a tree in a trace, in order.
template <class X>
void append_handles(const X& x, std::vector<Handle>& handles) {
  HandleCollector collector(handles);
  walk_tree<X>(x, collector);
}
template <class X>
std::vector<Handle> flatten_handles(const X& x) {
  std::vector<Handle> handles;
  append_handles(x, handles);
  return handles;
}

/// Makes leaves from a list of values, which advances.
struct FromHandles {
  std::span<const Handle>& handles;
  template <class To, class X>
  To operator()(const X&) {
    const Handle handle = handles.front();
    handles = handles.subspan(1);
    return leaf_from<To>(handle);
  }
};
/// The tree To in a trace with the structure and static values of `x` and the given leaves; `handles` advances.
template <class To, class X>
To rebuild_as(const X& x, std::span<const Handle>& handles) {
  FromHandles leaf{handles};
  return map_leaves<To>(x, leaf);
}
template <class X>
to_tracer_t<X> rebuild_handles(const X& x, std::span<const Handle>& handles) {
  return rebuild_as<to_tracer_t<X>>(x, handles);
}
template <class X>
to_tracer_t<X> rebuild_from(const X& x, const std::vector<Handle>& handles) {
  std::span<const Handle> rest(handles);
  return rebuild_handles(x, rest);
}

/// The parameter types of a lambda or function without templates, a detail::types, and the result's type.
template <class M>
struct parameters_of {
  using type = void;
};
template <class R, class... P>
struct parameters_of<R (*)(P...)> {
  using type = types<P...>;
  using result = R;
};
template <class R, class... P>
struct parameters_of<R (*)(P...) noexcept> : parameters_of<R (*)(P...)> {};
template <class R, class C, class... P>
struct parameters_of<R (C::*)(P...) const> : parameters_of<R (*)(P...)> {};
template <class R, class C, class... P>
struct parameters_of<R (C::*)(P...) const noexcept> : parameters_of<R (*)(P...)> {};
template <class F>
constexpr auto parameter_types() {
  if constexpr (std::is_pointer_v<F>) {
    return parameters_of<F>{};
  } else if constexpr (requires { &F::operator(); }) {
    return parameters_of<decltype(&F::operator())>{};
  } else {
    return parameters_of<void>{};
  }
}

/// True for std::vector<Tracer<T>> from Tracer<T>, of rank 1.
template <class To, class From>
inline constexpr bool unpacks = false;
template <class T, class A>
inline constexpr bool unpacks<std::vector<Tracer<T>, A>, Tracer<T>> = true;

template <class To, class X>
To convert(const X& x, Location location);
/// What the parameter P is given: the argument, or where that does not convert to it what the tree becomes, as for
/// containers of Eigen objects and vectors of tracers.
template <class P, class X>
decltype(auto) parameter_from(X&& x) {
  using From = std::remove_cvref_t<X>;
  using To = std::remove_cvref_t<P>;
  if constexpr (std::convertible_to<X&&, P>) {
    return std::forward<X>(x);
  } else if constexpr (unpacks<To, From>) {
    return leaf_from<To>(x.handle());
  } else {
    return convert<To>(x, {});
  }
}
template <class P, class X>
constexpr bool fits_parameter() {
  using To = std::remove_cvref_t<P>;
  if constexpr (std::convertible_to<X&&, P>) {
    return true;
  } else if constexpr (!std::convertible_to<To&&, P>) {
    return false;  // a reference that can be written through
  } else {
    return unpacks<To, std::remove_cvref_t<X>> || fits<To, std::remove_cvref_t<X>>() == Fit::yes;
  }
}
/// A function without templates, called with trees that convert to its parameters.
template <class F, class Parameters>
struct Converting;
template <class F, class... P>
struct Converting<F, types<P...>> {
  const F& function;
  template <class... A>
  static constexpr bool takes() {
    if constexpr (sizeof...(A) == sizeof...(P)) {
      return (fits_parameter<P, A>() && ...);
    } else {
      return false;
    }
  }
  template <class... A>
    requires(takes<A...>())
  decltype(auto) operator()(A&&... arguments) const {
    return function(parameter_from<P>(std::forward<A>(arguments))...);
  }
};

/// True for a functor that writes its results through pointers, `bool operator()(const T* a, ..., T* residuals)` with T
/// as its only template parameter. (Given T, the first parameter of a lambda with `auto` parameters is no pointer, so
/// that its body is not instantiated.)
template <class T, class F, class... P>
constexpr bool has_pointer_call() {
  return requires { static_cast<bool (F::*)(P..., T*) const>(&F::template operator()<T>); } ||
         requires { static_cast<void (F::*)(P..., T*) const>(&F::template operator()<T>); };
}
template <class A, class T>
using pointer_for = const T*;
template <class F, class... A>
constexpr bool is_cost_functor() {
  if constexpr (std::is_class_v<F>) {
    using T = Tracer<double>;
    return has_pointer_call<T, F, pointer_for<A, T>...>() || has_pointer_call<T, F, const T* const*>();
  } else {
    return false;
  }
}

/// Calls the lambda as const, with prvalues. Arguments may convert to the parameters of a function without templates.
/// Checks parameters and result at compile time; what is returned after a failed assertion only avoids further errors.
/// One with `auto` parameters is simply called: an error in its body must stay the only one, and to ask whether it can
/// be called would instantiate that too.
template <class F, class... A>
auto call_traced(const F& f, A&&... arguments) {
  using Parameters = typename decltype(parameter_types<F>())::type;
  if constexpr (is_cost_functor<F, A...>()) {
    static_assert(!is_cost_functor<F, A...>(),
                  "calque: this functor takes pointers and writes its residuals; make it a function of arrays: "
                  "cq::functor<2>(f), where 2 is the number of residuals");
    return Array<float>();
  } else if constexpr (std::is_void_v<Parameters>) {
    using R = std::remove_cvref_t<decltype(f(std::forward<A>(arguments)...))>;
    CALQUE_CHECK_RESULT(R);
    if constexpr (is_result<R>()) {
      return f(std::forward<A>(arguments)...);
    } else {
      return Array<float>();
    }
  } else {
    constexpr bool callable = Converting<F, Parameters>::template takes<A...>();
    static_assert(callable,
                  "calque: the function cannot be called with tracers of these arguments; parameters are auto, "
                  "cq::Tracer<T>, cq::Matrix<T, R, C>, or structs and vectors of these");
    using R = std::remove_cvref_t<typename decltype(parameter_types<F>())::result>;
    CALQUE_CHECK_RESULT(R);
    if constexpr (!callable || !is_result<R>()) {
      return Array<float>();
    } else {
      return Converting<F, Parameters>{f}(std::forward<A>(arguments)...);
    }
  }
}
/// Checks the arguments first: a function, so that an argument that is no tree is not mapped.
template <class F, class... A>
constexpr auto out_type() {
  if constexpr ((check_tree<A>() && ...)) {
    return std::type_identity<
        std::remove_cvref_t<decltype(call_traced(std::declval<const F&>(), std::declval<to_tracer_t<A>>()...))>>{};
  } else {
    return std::type_identity<Array<float>>{};
  }
}
/// The lambda's result type for arguments of these types, before its leaves become tracers.
template <class F, class... A>
using out_of = typename decltype(out_type<F, A...>())::type;

/// Runs the lambda inside the running trace; the result is a tree of tracers.
template <class F, class... A>
auto inlined(const F& f, const A&... arguments) {
  return traced(call_traced(f, traced(arguments)...));
}

}  // namespace calque::detail
