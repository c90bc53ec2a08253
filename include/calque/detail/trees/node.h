#pragma once
// The two kinds of parts of a tree's type. A leaf is one array to a lambda; a branch is a container or struct with
// parts that are re-bound, and can be made again with other parts.
#include <array>
#include <concepts>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "calque/detail/promotion.h"
#include "calque/detail/trees/fields.h"

namespace calque {
class AnyTracer;
template <Elem T>
struct Spec;
template <class T>
struct Static;
}  // namespace calque

namespace calque::detail {

template <class... X>
struct types {
  static constexpr size_t size = sizeof...(X);
};
template <size_t I, class L>
struct type_at;
template <size_t I, class... X>
struct type_at<I, types<X...>> : std::tuple_element<I, std::tuple<X...>> {};
template <size_t I, class L>
using type_at_t = typename type_at<I, L>::type;

template <class X>
concept ScalarLeaf = std::is_arithmetic_v<X> || Elem<X>;

// ---- containers
template <class X>
struct container_part {
  static constexpr bool value = false;
};
template <class A>
struct container_part<std::optional<A>> {
  static constexpr bool value = true;
  using type = A;
};
template <class A, class Allocator>
struct container_part<std::vector<A, Allocator>> {
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
template <class A, class Allocator>
inline constexpr bool is_vector<std::vector<A, Allocator>> = true;
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
template <class X>
inline constexpr bool is_span = false;
template <class T, size_t N>
inline constexpr bool is_span<std::span<T, N>> = true;
template <class X>
inline constexpr bool is_static_wrapper = false;
template <class T>
inline constexpr bool is_static_wrapper<Static<T>> = true;
template <class X>
inline constexpr bool is_spec = false;
template <class T>
inline constexpr bool is_spec<Spec<T>> = true;

/// A leaf whose element type is known at run time only, as a graph's results.
template <class X>
concept AnyLeaf = std::same_as<X, AnyArray> || std::same_as<X, AnyTracer>;
/// A struct that is mapped member by member.
template <class X>
concept Aggregate = std::is_class_v<X> && std::is_aggregate_v<X> && !is_std_array<X> && !is_static_wrapper<X> &&
                    !is_spec<X> && !ArrayLike<X> && !dense<X>::value && !AnyLeaf<X>;

// ---- leaves; `type` is the element type
template <class T>
struct bare {
  using type = canon_t<T>;
};
template <class T>
struct bare<Tracer<T>> {
  using type = T;
};
template <class X>
struct one_array {
  static constexpr bool value = false;
};
template <class T>
struct leaf_elem {
  static constexpr bool value = true;
  using type = T;
};
template <class T>
struct one_array<Array<T>> : leaf_elem<T> {};
template <class T>
struct one_array<Tracer<T>> : leaf_elem<T> {};
template <class T>
struct one_array<Spec<T>> : leaf_elem<T> {};
template <ScalarLeaf T>
struct one_array<T> : leaf_elem<canon_t<T>> {};
template <class E>
  requires(dense<E>::value)
struct one_array<E> : leaf_elem<typename bare<typename dense<E>::scalar>::type> {};
template <ScalarLeaf T, class Allocator>
struct one_array<std::vector<T, Allocator>> : leaf_elem<canon_t<T>> {};
template <class T, size_t N>
  requires ScalarLeaf<std::remove_const_t<T>>
struct one_array<std::span<T, N>> : leaf_elem<canon_t<std::remove_const_t<T>>> {};
/// One array to a lambda: arrays, tracers, numbers, Eigen objects, vectors and spans of numbers.
template <class X>
concept Leaf = one_array<X>::value;
template <class X>
using leaf_elem_t = typename one_array<X>::type;

// ---- branches. `parts` are re-bound; `with<B...>` is the same type with other parts: a pack, since an expansion must
// not fill an alias template's single parameters (CWG 1430).
template <class X>
struct node {
  static constexpr bool value = false, is_struct = false;
};
template <bool Struct, class... P>
struct branch {
  static constexpr bool value = true, is_struct = Struct;
  using parts = types<P...>;
};
template <class... A>
struct node<std::tuple<A...>> : branch<false, A...> {
  template <class... B>
  using with = std::tuple<B...>;
};
template <class A, class B>
struct node<std::pair<A, B>> : branch<false, A, B> {
  template <class... C>
  using with = std::pair<C...>;
};
template <class A>
struct node<std::optional<A>> : branch<false, A> {
  template <class... B>
  using with = std::optional<B...>;
};
template <class A>
  requires(!ScalarLeaf<A>)
struct node<std::vector<A>> : branch<false, A> {
  template <class... B>
  using with = std::vector<B...>;
};
template <class A, size_t N>
struct node<std::array<A, N>> : branch<false, A> {
  template <class... B>
  using with = std::array<B..., N>;
};
template <class K, class A>
struct node<std::map<K, A>> : branch<false, A> {
  template <class... B>
  using with = std::map<K, B...>;
};
template <template <class...> class C, class... A>
  requires Aggregate<C<A...>>
struct node<C<A...>> : branch<true, A...> {
  template <class... B>
  using with = C<B...>;
};
// Value parameters beside type parameters: one specialization for each order of kinds.
template <template <class, auto...> class C, class A, auto... V>
  requires(sizeof...(V) > 0 && Aggregate<C<A, V...>>)
struct node<C<A, V...>> : branch<true, A> {
  template <class... B>
  using with = C<B..., V...>;
};
template <template <class, class, auto...> class C, class A, class A2, auto... V>
  requires(sizeof...(V) > 0 && Aggregate<C<A, A2, V...>>)
struct node<C<A, A2, V...>> : branch<true, A, A2> {
  template <class... B>
  using with = C<B..., V...>;
};
template <template <auto, class...> class C, auto V, class... A>
  requires Aggregate<C<V, A...>>
struct node<C<V, A...>> : branch<true, A...> {
  template <class... B>
  using with = C<V, B...>;
};
template <template <auto, auto, class...> class C, auto V, auto W, class... A>
  requires Aggregate<C<V, W, A...>>
struct node<C<V, W, A...>> : branch<true, A...> {
  template <class... B>
  using with = C<V, W, B...>;
};
template <class X>
concept Branch = node<X>::value && !Leaf<X>;

/// Calls f.operator()<P>() for the type of each part until one is true.
template <class L>
struct each;
template <class... P>
struct each<types<P...>> {
  template <class F>
  static constexpr bool any([[maybe_unused]] F f) {
    return (f.template operator()<P>() || ...);
  }
};
/// The same for the members of a struct, of any type, and the parts of a container; false for leaves.
template <class X, class F>
constexpr bool any_part(F f) {
  if constexpr (Leaf<X>) {
    return false;
  } else if constexpr (Aggregate<X>) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return (f.template operator()<field_t<X, I>>() || ...);
    }(std::make_index_sequence<std::tuple_size_v<fields_t<X>>>{});
  } else if constexpr (node<X>::value) {
    return each<typename node<X>::parts>::any(f);
  } else {
    return false;
  }
}

}  // namespace calque::detail
