#pragma once
// Whether a tree converts to another type, and the types of mapped trees.
#include "calque/detail/trees/check.h"

namespace calque::detail {

enum class Fit : uint8_t { yes, structure, element, tracer, object };
constexpr Fit worse(Fit a, Fit b) { return a == Fit::yes ? b : a; }

/// The levels of nested vectors and std::arrays of numbers, and their element type.
template <class X>
struct nested {
  static constexpr size_t depth = 0;
  using type = X;
};
template <class X>
  requires(is_vector<X> || is_std_array<X>)
struct nested<X> {
  static constexpr size_t depth = 1 + nested<typename X::value_type>::depth;
  using type = typename nested<typename X::value_type>::type;
};
/// Containers of numbers that are made from one array, but are a tree of several.
template <class X>
concept NestedNumbers = (nested<X>::depth > 0) && ScalarLeaf<typename nested<X>::type> && !Leaf<X>;

template <class To, class From>
constexpr Fit fits() {
  if constexpr (std::same_as<To, From>) {
    return Fit::yes;
  } else if constexpr (Leaf<To> && Leaf<From>) {
    if constexpr (has_tracer<From>() && !has_tracer<To>()) return Fit::tracer;
    return std::same_as<leaf_elem_t<To>, leaf_elem_t<From>> ? Fit::yes : Fit::element;
  } else if constexpr (NestedNumbers<To> && Leaf<From>) {
    if constexpr (has_tracer<From>()) return Fit::tracer;
    return std::same_as<canon_t<typename nested<To>::type>, leaf_elem_t<From>> ? Fit::yes : Fit::element;
  } else if constexpr (Aggregate<To> && Aggregate<From>) {
    if constexpr (std::tuple_size_v<fields_t<To>> != std::tuple_size_v<fields_t<From>>) {
      return Fit::structure;
    } else {
      return []<size_t... I>(std::index_sequence<I...>) {
        Fit fit = Fit::yes;
        ((fit = worse(fit, fits<field_t<To, I>, field_t<From, I>>())), ...);
        return fit;
      }(std::make_index_sequence<std::tuple_size_v<fields_t<To>>>{});
    }
  } else if constexpr (is_map<To> && is_map<From>) {
    return std::same_as<typename To::key_type, typename From::key_type>
               ? fits<typename To::mapped_type, typename From::mapped_type>()
               : Fit::structure;
  } else if constexpr ((is_optional<To> && is_optional<From>) || (is_vector<To> && is_vector<From>) ||
                       (is_std_array<To> && is_std_array<From>)) {
    return fits<typename To::value_type, typename From::value_type>();
  } else if constexpr (is_product<To> && is_product<From>) {
    if constexpr (std::tuple_size_v<To> != std::tuple_size_v<From>) {
      return Fit::structure;
    } else {
      return []<size_t... I>(std::index_sequence<I...>) {
        Fit fit = Fit::yes;
        ((fit = worse(fit, fits<std::tuple_element_t<I, To>, std::tuple_element_t<I, From>>())), ...);
        return fit;
      }(std::make_index_sequence<std::tuple_size_v<To>>{});
    }
  } else if constexpr (Leaf<From> && !Leaf<To> && !Branch<To> && !Aggregate<To>) {
    return Fit::object;
  } else {
    return Fit::structure;
  }
}
/// Explains at compile time why a tree does not convert.
template <class To, class From>
constexpr bool check_fit() {
  constexpr Fit fit = fits<To, From>();
  constexpr bool members = fit != Fit::structure, elements = fit != Fit::element, data = fit != Fit::tracer;
  constexpr bool array = fit != Fit::object;
  static_assert(members, "calque: cq::to and cq::like: the tree has not the members of that type");
  static_assert(elements,
                "calque: cq::to and cq::like do not convert elements: an array is of another element type than that "
                "type's; cast first");
  static_assert(data,
                "calque: cq::to and cq::like: a tracer has no numbers yet; convert the result of the jitted function");
  static_assert(array,
                "calque: cq::to and cq::like: an array becomes a number, a standard container of numbers, or (with "
                "#include <calque/eigen.h>) Eigen's Matrix or Array; make a quaternion of its coefficients, "
                "Eigen::Quaterniond(Eigen::Vector4d(a)), a "
                "transform of its matrix");
  return fit == Fit::yes;
}

// ---- the element types of all leaves
template <class... L>
struct joined {
  using type = types<>;
};
template <class... A>
struct joined<types<A...>> {
  using type = types<A...>;
};
template <class... A, class... B, class... R>
struct joined<types<A...>, types<B...>, R...> : joined<types<A..., B...>, R...> {};
template <class X>
struct leaf_types {
  using type = types<>;
};
template <Leaf X>
struct leaf_types<X> {
  using type = types<leaf_elem_t<X>>;
};
template <class Parts>
struct leaf_types_of;
template <class... P>
struct leaf_types_of<types<P...>> : joined<typename leaf_types<P>::type...> {};
template <Branch X>
struct leaf_types<X> : leaf_types_of<typename node<X>::parts> {};

/// The element type to which all leaves promote; `one`: they are of one.
template <class L>
struct common_elem {
  using type = float;
  static constexpr bool any = false, one = false;
};
template <class T>
struct common_elem<types<T>> {
  using type = T;
  static constexpr bool any = true, one = true;
};
template <class T, class U, class... R>
struct common_elem<types<T, U, R...>> {
  using rest = common_elem<types<promoted_elem_t<Array<T>, Array<U>>, R...>>;
  using type = typename rest::type;
  static constexpr bool any = true, one = std::same_as<T, U> && rest::one;
};
template <class X>
using common_elem_of = common_elem<typename leaf_types<X>::type>;

/// What a function of leaves receives: tracers in a trace, else arrays.
template <bool Traced, class T>
using array_form_t = std::conditional_t<Traced, Tracer<T>, Array<T>>;

// ---- the type of a mapped tree, with its leaves as tracers
template <class F, bool Traced, class... X>
struct mapped {
  using type = type_at_t<0, types<X...>>;
};
template <class F, bool Traced, Leaf... X>
struct mapped<F, Traced, X...> {
  using Result = std::remove_cvref_t<std::invoke_result_t<const F&, array_form_t<Traced, leaf_elem_t<X>>...>>;
  static constexpr bool returns_array = Leaf<Result>;
  static_assert(returns_array, "calque: tree_map: the function must return an array");
  using type = Tracer<leaf_elem_t<std::conditional_t<returns_array, Result, float>>>;
};
template <class F, bool Traced, size_t I, class... X>
using mapped_part = typename mapped<F, Traced, type_at_t<I, typename node<X>::parts>...>::type;
template <class F, bool Traced, class I, class X, class... Y>
struct mapped_branch;
template <class F, bool Traced, size_t... I, class X, class... Y>
struct mapped_branch<F, Traced, std::index_sequence<I...>, X, Y...> {
  using type = typename node<X>::template with<mapped_part<F, Traced, I, X, Y...>...>;
};
template <class F, bool Traced, Branch X, class... Y>
struct mapped<F, Traced, X, Y...> : mapped_branch<F, Traced, std::make_index_sequence<node<X>::parts::size>, X, Y...> {
};

/// Makes all leaves alike, so that types of the same branches are equal.
struct ToOneLeaf {
  static constexpr bool numbers = false;
  using any_leaf = AnyTracer;
  template <class X, class T>
  using leaf = Tracer<float>;
};
template <class X, class Y>
constexpr bool same_branches() {
  return std::same_as<remap_t<ToOneLeaf, X>, remap_t<ToOneLeaf, Y>>;
}

}  // namespace calque::detail
