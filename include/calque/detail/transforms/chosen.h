#pragma once
// The arguments by which a function is differentiated, and the type of the tree of such a derivative.
#include <initializer_list>
#include <tuple>
#include <type_traits>
#include <utility>

#include "calque/detail/transforms/transform_trees.h"

namespace calque {

/// The type of `cq::argnums`.
template <int... I>
struct argnums_t {};
/// The positions of the arguments by which a function is differentiated, from 0: `cq::grad(f, cq::argnums<0, 2>)`.
template <int... I>
inline constexpr argnums_t<I...> argnums{};

namespace detail {

/// Without argnums: the first argument, not in a tuple.
struct WholeFirst {};

template <class N>
struct positions;
template <>
struct positions<WholeFirst> {
  static constexpr std::initializer_list<int> list = {0};
  static constexpr bool below(size_t count) { return count > 0; }
};
template <int... I>
struct positions<argnums_t<I...>> {
  static constexpr std::initializer_list<int> list = {I...};
  static constexpr bool below(size_t count) { return ((I >= 0 && static_cast<size_t>(I) < count) && ...); }
};

/// The selected ones of the arguments X: `type` is the first argument's type, or a tuple; `pick` selects them.
template <bool InRange, class N, class... X>
struct Chosen {
  using type = std::tuple<>;
  static constexpr bool hold_arrays = true;
};
template <class First, class... Rest>
struct Chosen<true, WholeFirst, First, Rest...> {
  using type = First;
  static constexpr bool hold_arrays = holds_tracer<First>;
  static const First& pick(const First& first, const Rest&...) { return first; }
};
template <int... I, class... X>
struct Chosen<true, argnums_t<I...>, X...> {
  using All = std::tuple<const X&...>;
  using type = std::tuple<std::tuple_element_t<static_cast<size_t>(I), std::tuple<X...>>...>;
  static constexpr bool hold_arrays =
      (holds_tracer<std::tuple_element_t<static_cast<size_t>(I), std::tuple<X...>>> && ...);
  static type pick(const X&... arguments) {
    const All all(arguments...);
    return type{std::get<static_cast<size_t>(I)>(all)...};
  }
};
template <class N, class... X>
using chosen_of = Chosen<positions<N>::below(sizeof...(X)), N, X...>;

/// Checks at compile time that the positions exist and name arguments that hold arrays.
template <class N, class... X>
constexpr bool check_chosen() {
  constexpr bool in_range = positions<N>::below(sizeof...(X));
  static_assert(in_range, "calque: argnums: the function is called with fewer arguments than that");
  constexpr bool hold_arrays = chosen_of<N, X...>::hold_arrays;
  static_assert(hold_arrays, "calque: argnums: an argument to differentiate by holds no arrays");
  return in_range && hold_arrays;
}

}  // namespace detail
}  // namespace calque
