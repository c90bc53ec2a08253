#pragma once
// Which types are trees. Every refusal is a static_assert in the user's terms; the conditions have names, since clang
// quotes a condition, and with it the types in it, before the text.
#include <string>
#include <variant>

#include "calque/detail/trees/rebind.h"

namespace calque::detail {

/// True if X contains an Array, a Tracer, an Eigen object or a Spec.
template <class X>
constexpr bool holds_arrays() {
  if constexpr (ArrayLike<X> || dense<X>::value || is_spec<X> || AnyLeaf<X>) {
    return true;
  } else {
    return any_part<X>([]<class P>() { return holds_arrays<P>(); });
  }
}
/// True if X contains an Array or an Eigen object of numbers.
template <class X>
constexpr bool holds_data() {
  if constexpr (dense<X>::value) {
    return !dense<X>::of_tracers;
  } else if constexpr (ArrayLike<X>) {
    return !TracerLike<X>;
  } else if constexpr (AnyLeaf<X>) {
    return std::same_as<X, AnyArray>;
  } else {
    return any_part<X>([]<class P>() { return holds_data<P>(); });
  }
}
/// True if X contains an Eigen expression that refers to objects it does not own.
template <class X>
constexpr bool holds_borrowed() {
  if constexpr (dense<X>::value) {
    return dense<X>::borrows;
  } else {
    return any_part<X>([]<class P>() { return holds_borrowed<P>(); });
  }
}
template <class X>
constexpr bool holds_span() {
  return is_span<X> || any_part<X>([]<class P>() { return holds_span<P>(); });
}
/// True if X contains a struct that holds arrays and cannot be re-bound.
template <class X>
constexpr bool holds_unbound() {
  if constexpr (Aggregate<X> && std::same_as<remap_t<ToTracer, X>, X> && std::same_as<remap_t<ToArray, X>, X>) {
    return holds_arrays<X>();
  } else {
    return any_part<X>([]<class P>() { return holds_unbound<P>(); });
  }
}
template <class X>
inline constexpr bool is_array_of_tracers = false;
template <class T>
inline constexpr bool is_array_of_tracers<Array<Tracer<T>>> = true;
/// True if X contains a cq::Array of tracers, as a struct over an element type does that was re-bound to tracers.
template <class X>
constexpr bool holds_array_of_tracers() {
  return is_array_of_tracers<X> || any_part<X>([]<class P>() { return holds_array_of_tracers<P>(); });
}
/// True if X can be compared and hashed by value and contains no arrays: arithmetic types, enums, strings, containers
/// and structs of these.
template <class X>
constexpr bool static_value() {
  if constexpr (ScalarLeaf<X> || std::is_enum_v<X> || std::same_as<X, std::string>) {
    return true;
  } else if constexpr (is_map<X>) {
    return static_value<typename X::key_type>() && static_value<typename X::mapped_type>();
  } else if constexpr (container_part<X>::value) {
    return static_value<typename container_part<X>::type>();
  } else if constexpr (is_product<X> || Aggregate<X>) {
    return !any_part<X>([]<class P>() { return !static_value<P>(); });
  } else {
    return false;
  }
}

/// True if a part of type X and one of type To are the same leaf in two forms, as a matrix and its tracer.
template <class X, class To>
inline constexpr bool is_leaf =
    (AnyLeaf<X> && AnyLeaf<To>) ||
    (Leaf<X> && Leaf<To> && (ArrayLike<To> || dense<To>::value || ArrayLike<X> || dense<X>::value));
/// True if the part is passed by value.
template <class X, class To>
inline constexpr bool is_static =
    !is_leaf<X, To> && (is_static_wrapper<X> || (std::same_as<X, To> && !holds_arrays<X>()));
/// True for a vector of numbers that is a vector of tracers inside: a struct's member over the struct's parameter. To a
/// call it is one array.
template <class X, class To>
inline constexpr bool is_packed = false;
template <ScalarLeaf T, class A, class U, class B>
inline constexpr bool is_packed<std::vector<T, A>, std::vector<Tracer<U>, B>> = true;
template <ScalarLeaf T, class A, class U, class B>
inline constexpr bool is_packed<std::vector<Tracer<U>, B>, std::vector<T, A>> = true;

/// True if every part of X is a leaf, a static value, or made of such; To is what the lambda sees.
template <class X, class To>
constexpr bool is_tree() {
  if constexpr (is_leaf<X, To> || is_packed<X, To>) {
    return true;
  } else if constexpr (is_static_wrapper<X>) {
    return static_value<To>();
  } else if constexpr (is_static<X, To>) {
    return static_value<X>();
  } else if constexpr (container_part<X>::value && container_part<To>::value) {
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

/// True for a class of the user's that is no aggregate. Containers, pointers and Eigen's types name what they hold.
template <class X>
inline constexpr bool is_class_with_members =
    std::is_class_v<X> && !std::is_aggregate_v<X> && !node<X>::value && !Leaf<X> && !AnyLeaf<X> &&
    !std::same_as<X, std::string> && !Elem<X> && !requires { typename X::value_type; } &&
    !requires { typename X::element_type; } && !requires { typename X::Scalar; } &&
    !requires { std::variant_size<X>::value; };
/// Converts to the bases of X.
template <class X>
struct AnyBase {
  template <class B>
    requires(std::is_base_of_v<B, X> && !std::same_as<B, X>)
  operator B() const;
};
/// True for an aggregate with a base class.
template <class X>
inline constexpr bool is_derived_struct = Aggregate<X> && requires { X{AnyBase<X>()}; };

template <class X>
constexpr bool too_many_fields() {
  if constexpr (Aggregate<X>) {
    return count_fields<X>() > kMaxFields;
  } else {
    return false;
  }
}

template <class X>
constexpr bool has_array_field() {
  if constexpr (Aggregate<X> && !std::is_empty_v<X>) {
    constexpr size_t count = count_fields<X>();
    return count >= 2 && count <= kMaxFields && !takes_parenthesized<X>(std::make_index_sequence<count>{});
  } else {
    return false;
  }
}

/// Rejects types that cannot be an argument or a result, with a static_assert that explains why. After false, what
/// would follow only adds errors.
template <class X>
constexpr bool check_tree() {
  if constexpr (is_spec<X>) {
    return true;
  } else if constexpr (is_derived_struct<X>) {
    constexpr bool derived = is_derived_struct<X>;
    static_assert(!derived,
                  "calque: a struct is taken apart member by member and must not have a base class; make the base a "
                  "member");
    return false;
  } else if constexpr (has_array_field<X>()) {
    constexpr bool separate = !has_array_field<X>();
    static_assert(separate, "calque: an aggregate with C arrays cannot be an argument or a result; use std::array");
    return false;
  } else if constexpr (too_many_fields<X>()) {
    constexpr bool few = !too_many_fields<X>();
    static_assert(few, "calque: an aggregate may have at most 32 members");
    return false;
  } else if constexpr (is_static_wrapper<X>) {
    constexpr bool value = static_value<remap_t<ToTracer, X>>();
    static_assert(value,
                  "calque: static_arg takes a static value: arithmetic types, enums, strings, and std containers and "
                  "aggregates of these");
    return value;
  } else if constexpr (is_class_with_members<X>) {
    constexpr bool aggregate = !is_class_with_members<X>;
    static_assert(
        aggregate,
        "calque: a struct is taken apart member by member, so it has no constructors, no private or protected "
        "members and no virtual functions; pass its members, or make it such a struct");
    return false;
  } else if constexpr (holds_array_of_tracers<remap_t<ToTracer, X>>()) {
    constexpr bool whole = !holds_array_of_tracers<remap_t<ToTracer, X>>();
    static_assert(whole,
                  "calque: a struct with cq::Array<T> members cannot hold tracers; make it a template over the whole "
                  "array: template <class A> struct Layer { A w; }, used as Layer<cq::Array<float>>");
    return false;
  } else if constexpr (holds_unbound<X>()) {
    constexpr bool bound = !holds_unbound<X>();
    static_assert(bound, "calque: a struct that holds arrays must be a class template over its leaf type");
    return false;
  } else if constexpr (holds_data<remap_t<ToTracer, X>>()) {
    constexpr bool follows = !holds_data<remap_t<ToTracer, X>>();
    static_assert(follows, "calque: an array member's type must come from the struct's template parameter");
    return false;
  } else {
    constexpr bool tree = is_tree<X, remap_t<ToTracer, X>>();
    static_assert(tree,
                  "calque: neither arrays nor a static value (arithmetic types, enums, strings, and std containers and "
                  "aggregates of these); of Eigen's types Matrix and Array are members: keep a quaternion's coeffs(), "
                  "a transform's matrix(), a sparse matrix as dense");
    return tree;
  }
}

/// True for what a function may return: not nothing, and not what refers to its local variables.
template <class R>
constexpr bool is_result() {
  return !std::is_void_v<R> && !holds_borrowed<R>() && !holds_span<R>();
}
/// Says what is wrong with a result. A macro, so that a compiler's output has no line about a function for it.
#define CALQUE_CHECK_RESULT(R)                                                                                        \
  constexpr bool returns = !std::is_void_v<R>;                                                                        \
  static_assert(returns, "calque: the function returns nothing; return the values it computes");                      \
  constexpr bool evaluated = !calque::detail::holds_borrowed<R>();                                                    \
  static_assert(evaluated,                                                                                            \
                "calque: the function returns an unevaluated Eigen expression that refers to objects which are gone " \
                "when it is read; write .eval(), or the type: [](...) -> cq::Vector<double, 3>");                     \
  constexpr bool owned = !calque::detail::holds_span<R>();                                                            \
  static_assert(owned,                                                                                                \
                "calque: the function returns a std::span, whose elements may be gone when they are read; return a "  \
                "std::vector")

}  // namespace calque::detail
