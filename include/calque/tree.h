#pragma once
// Trees: the mapping of argument types to the types that a lambda receives, and of its result types to data. A tree is
// mapped leaf by leaf: arrays, scalars and matrices become Tracer<T> (or Array<T>), everything else keeps type and
// value. The run-time mapping is in calque/detail/tree_walk.h.
#include <array>
#include <concepts>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "calque/detail/fields.h"
#include "calque/detail/promotion.h"

namespace calque {

/// The type and shape of an array, for calls that need no data: `f.trace(cq::spec<float>({2, 3}))`.
template <Elem T>
struct Spec {
  Shape shape;
};
/// A Spec of elements T and this shape.
template <Elem T>
Spec<T> spec(const Shape& shape) {
  return {shape};
}

/// An argument that is passed to the lambda unchanged and is part of the function's signature.
template <class T>
struct Static {
  T value;
};
/// Passes a top-level argument by value: the lambda receives `value`, and each value has a separate compiled function.
template <class T>
Static<T> static_arg(T value) {
  return {std::move(value)};
}

namespace detail {

// ---- mapping of types. A rule set maps leaves and tracers, and says whether Spec and Static (`wrappers`) and scalars
// are mapped.
struct ToTracer {
  static constexpr bool wrappers = true, scalars = true;
  template <class T>
  using leaf = Tracer<T>;
  template <class T>
  using tracer = Tracer<T>;
};
struct ToArray {
  static constexpr bool wrappers = true, scalars = true;
  template <class T>
  using leaf = Array<T>;
  template <class T>
  using tracer = Array<T>;
};
/// Used to test whether a tree holds a tracer: tracers become arrays, everything else is unchanged.
struct Untrace {
  static constexpr bool wrappers = false, scalars = false;
  template <class T>
  using leaf = Array<T>;
  template <class T>
  using tracer = Array<T>;
};

/// A class that is mapped member by member.
template <class X>
concept Aggregate = std::is_class_v<X> && std::is_aggregate_v<X> && !ArrayLike<X> && !dense<X>::value;

template <class X>
concept ScalarLeaf = std::is_arithmetic_v<X> || Elem<X>;

template <class T>
struct bare {
  using type = T;
};
template <class T>
struct bare<Tracer<T>> {
  using type = T;
};

template <class Rules, class X>
struct remap {
  using type = X;  // opaque: static
};
template <class Rules, class X>
using remap_t = typename remap<Rules, X>::type;
template <class Rules, class T>
struct remap<Rules, Array<T>> {
  using type = typename Rules::template leaf<T>;
};
template <class Rules, class T>
struct remap<Rules, Tracer<T>> {
  using type = typename Rules::template tracer<T>;
};
template <class Rules, class T>
struct remap<Rules, Spec<T>> {
  using type = std::conditional_t<Rules::wrappers, typename Rules::template leaf<T>, Spec<T>>;
};
template <class Rules, class T>
struct remap<Rules, Static<T>> {
  using type = std::conditional_t<Rules::wrappers, T, Static<T>>;
};
template <class Rules, ScalarLeaf T>
struct remap<Rules, T> {
  using type = std::conditional_t<Rules::scalars, typename Rules::template leaf<canon_t<T>>, T>;
};
template <class Rules, class E>
  requires(dense<E>::value)
struct remap<Rules, E> {
  using type = std::conditional_t<Rules::scalars || dense<E>::of_tracers,
                                  typename Rules::template leaf<typename bare<typename dense<E>::scalar>::type>, E>;
};
template <class Rules, class... A>
struct remap<Rules, std::tuple<A...>> {
  using type = std::tuple<remap_t<Rules, A>...>;
};
template <class Rules, class A, class B>
struct remap<Rules, std::pair<A, B>> {
  using type = std::pair<remap_t<Rules, A>, remap_t<Rules, B>>;
};
template <class Rules, class A>
struct remap<Rules, std::optional<A>> {
  using type = std::optional<remap_t<Rules, A>>;
};
template <class Rules, class A>
struct remap<Rules, std::vector<A>> {
  using type = std::vector<remap_t<Rules, A>>;
};
template <class Rules, class A, size_t N>
struct remap<Rules, std::array<A, N>> {
  using type = std::array<remap_t<Rules, A>, N>;
};
template <class Rules, class K, class A>
struct remap<Rules, std::map<K, A>> {
  using type = std::map<K, remap_t<Rules, A>>;
};
template <class Rules, template <class...> class C, class... A>
  requires Aggregate<C<A...>>
struct remap<Rules, C<A...>> {
  using type = C<remap_t<Rules, A>...>;
};
template <class Rules, template <class, auto...> class C, class A, auto... V>
  requires(sizeof...(V) > 0 && Aggregate<C<A, V...>>)
struct remap<Rules, C<A, V...>> {
  using type = C<remap_t<Rules, A>, V...>;
};
template <class Rules, template <auto, class> class C, auto V, class A>
  requires Aggregate<C<V, A>>
struct remap<Rules, C<V, A>> {
  using type = C<V, remap_t<Rules, A>>;
};

}  // namespace detail

/// The type in which a lambda receives an argument: every array, scalar and matrix is a Tracer.
template <class X>
using to_tracer_t = detail::remap_t<detail::ToTracer, std::remove_cvref_t<X>>;
/// The same tree of data: every leaf is an Array.
template <class X>
using to_array_t = detail::remap_t<detail::ToArray, std::remove_cvref_t<X>>;
/// True if a leaf of the tree is a Tracer.
template <class X>
inline constexpr bool holds_tracer =
    !std::same_as<detail::remap_t<detail::Untrace, std::remove_cvref_t<X>>, std::remove_cvref_t<X>>;
/// The result type of a callable: a tree of tracers if an argument holds a tracer, else of arrays.
template <bool Traced, class X>
using result_t = std::conditional_t<Traced, to_tracer_t<X>, to_array_t<X>>;

namespace detail {

/// Calls `f.template operator()<Part>()` for the type of each part of a container or aggregate until one is true.
template <class X, class F>
constexpr bool any_part(F&& f);

template <class X>
struct is_static_wrapper : std::false_type {};
template <class T>
struct is_static_wrapper<Static<T>> : std::true_type {};
template <class X>
struct is_spec : std::false_type {};
template <class T>
struct is_spec<Spec<T>> : std::true_type {};

template <class X>
struct container_part {
  static constexpr bool value = false;
};
template <class A>
struct container_part<std::optional<A>> {
  static constexpr bool value = true;
  using type = A;
};
template <class A>
struct container_part<std::vector<A>> {
  static constexpr bool value = true;
  using type = A;
};
template <class A, size_t N>
struct container_part<std::array<A, N>> {
  static constexpr bool value = true;
  using type = A;
};
template <class K, class A>
struct container_part<std::map<K, A>> {
  static constexpr bool value = true;
  using type = A;
};
template <class X>
inline constexpr bool is_optional = false;
template <class A>
inline constexpr bool is_optional<std::optional<A>> = true;
template <class X>
inline constexpr bool is_vector = false;
template <class A>
inline constexpr bool is_vector<std::vector<A>> = true;
template <class X>
inline constexpr bool is_std_array = false;
template <class A, size_t N>
inline constexpr bool is_std_array<std::array<A, N>> = true;
template <class X>
inline constexpr bool is_map = false;
template <class K, class A>
inline constexpr bool is_map<std::map<K, A>> = true;
template <class X>
inline constexpr bool is_product = false;  // std::tuple, std::pair
template <class... A>
inline constexpr bool is_product<std::tuple<A...>> = true;
template <class A, class B>
inline constexpr bool is_product<std::pair<A, B>> = true;

template <class X, class F>
constexpr bool any_part(F&& f) {
  if constexpr (container_part<X>::value) {
    return f.template operator()<typename container_part<X>::type>();
  } else if constexpr (is_product<X>) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return (f.template operator()<std::tuple_element_t<I, X>>() || ...);
    }(std::make_index_sequence<std::tuple_size_v<X>>{});
  } else if constexpr (Aggregate<X>) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return (f.template operator()<field_t<X, I>>() || ...);
    }(std::make_index_sequence<std::tuple_size_v<fields_t<X>>>{});
  } else {
    return false;
  }
}

/// True if X contains an Array, a Tracer, a matrix or a Spec.
template <class X>
constexpr bool holds_arrays() {
  if constexpr (ArrayLike<X> || dense<X>::value || is_spec<X>::value) {
    return true;
  } else {
    return any_part<X>([]<class P>() { return holds_arrays<P>(); });
  }
}
/// True if X contains an Array or a matrix of numbers.
template <class X>
constexpr bool holds_data() {
  if constexpr (dense<X>::value) {
    return !dense<X>::of_tracers;
  } else if constexpr (ArrayLike<X>) {
    return !TracerLike<X>;
  } else {
    return any_part<X>([]<class P>() { return holds_data<P>(); });
  }
}
/// True if X contains a matrix expression that refers to objects it does not own.
template <class X>
constexpr bool holds_borrowed() {
  if constexpr (dense<X>::value) {
    return dense<X>::borrows;
  } else {
    return any_part<X>([]<class P>() { return holds_borrowed<P>(); });
  }
}
template <class X>
inline constexpr bool is_span = false;
template <class T, size_t N>
inline constexpr bool is_span<std::span<T, N>> = true;
template <class X>
constexpr bool holds_span() {
  return is_span<X> || any_part<X>([]<class P>() { return holds_span<P>(); });
}
/// True if X can be compared and hashed by value and contains no arrays: arithmetic types, enums, strings, containers
/// and aggregates of these.
template <class X>
constexpr bool static_value() {
  if constexpr (std::is_arithmetic_v<X> || Elem<X> || std::is_enum_v<X> || std::same_as<X, std::string>) {
    return true;
  } else if constexpr (is_map<X>) {
    return static_value<typename X::key_type>() && static_value<typename X::mapped_type>();
  } else if constexpr (container_part<X>::value || is_product<X> || Aggregate<X>) {
    return !holds_arrays<X>() && !any_part<X>([]<class P>() { return !static_value<P>(); });
  } else {
    return false;
  }
}

/// True if the lambda receives a part of type X as a leaf of type To.
template <class X, class To>
inline constexpr bool is_leaf =
    ArrayLike<To> && (ArrayLike<X> || dense<X>::value || is_spec<X>::value || ScalarLeaf<X>);
/// True if a part is passed by value.
template <class X, class To>
inline constexpr bool is_static =
    !is_leaf<X, To> && (is_static_wrapper<X>::value || (std::same_as<X, To> && !holds_arrays<X>()));

/// True if every part of X is a leaf, a static value, or composed of those.
template <class X, class To>
constexpr bool is_tree() {
  if constexpr (is_leaf<X, To>) {
    return true;
  } else if constexpr (is_static_wrapper<X>::value) {
    return static_value<To>();
  } else if constexpr (is_static<X, To>) {
    return static_value<X>();
  } else if constexpr (container_part<X>::value) {
    return is_tree<typename container_part<X>::type, typename container_part<To>::type>();
  } else if constexpr (is_product<X>) {
    return []<size_t... I>(std::index_sequence<I...>) {
      return (is_tree<std::tuple_element_t<I, X>, std::tuple_element_t<I, To>>() && ...);
    }(std::make_index_sequence<std::tuple_size_v<X>>{});
  } else if constexpr (Aggregate<X> && Aggregate<To>) {
    return []<size_t... I>(std::index_sequence<I...>) {
      return (is_tree<field_t<X, I>, field_t<To, I>>() && ...);
    }(std::make_index_sequence<std::tuple_size_v<fields_t<X>>>{});
  } else {
    return false;
  }
}

/// True if X contains a struct that holds arrays and cannot be mapped.
template <class X>
constexpr bool holds_unbound() {
  if constexpr (Aggregate<X> && !is_static_wrapper<X>::value && !is_spec<X>::value && std::same_as<to_tracer_t<X>, X> &&
                std::same_as<to_array_t<X>, X>) {
    return holds_arrays<X>();
  } else {
    return any_part<X>([]<class P>() { return holds_unbound<P>(); });
  }
}

/// True if a tree of tracers still contains a matrix: the matrix's scalar, not its type, is a struct's template
/// parameter.
template <class To>
constexpr bool holds_matrix() {
  return dense<To>::value || any_part<To>([]<class P>() { return holds_matrix<P>(); });
}

/// Rejects types that cannot be an argument or a result, with a static_assert that explains why.
template <class X>
constexpr void check_tree() {
  using To = to_tracer_t<X>;
  constexpr bool rebindable = is_static_wrapper<X>::value || is_spec<X>::value || !holds_unbound<X>();
  static_assert(rebindable, "calque: a struct that holds arrays must be a class template over its leaf type");
  constexpr bool follows = !rebindable || is_static_wrapper<X>::value || !holds_data<To>();
  static_assert(follows, "calque: an array member's type must come from the struct's template parameter");
  constexpr bool whole = !rebindable || !follows || is_static_wrapper<X>::value || !holds_matrix<To>();
  static_assert(whole,
                "calque: an Eigen member over the struct's template parameter, as `Eigen::Matrix<S, 3, 1> p`, is not "
                "supported yet; let the parameter be the whole matrix: `template <class A> struct State { A p; }`, "
                "passed as State<Eigen::Vector3d>");
  if constexpr (rebindable && follows && whole) {
    static_assert(is_tree<X, To>(),
                  "calque: neither arrays nor a static value (arithmetic types, enums, strings, and std containers and "
                  "aggregates of these)");
  }
}

}  // namespace detail
}  // namespace calque
