#pragma once
// Re-binding: the type of a tree with other leaves. A rule says what becomes of a leaf of type X and element type T;
// static parts keep their types.
#include "calque/detail/trees/node.h"

namespace calque::detail {

template <class Rule, class X>
struct remap {
  using type = X;  // static
};
template <class Rule, class X>
using remap_t = typename remap<Rule, X>::type;
template <class Rule, Leaf X>
struct remap<Rule, X> {
  using type = typename Rule::template leaf<X, leaf_elem_t<X>>;
};
template <class Rule, AnyLeaf X>
struct remap<Rule, X> {
  using type = typename Rule::any_leaf;
};
template <class Rule, class T>
struct remap<Rule, Static<T>> {
  using type = T;
};
template <class Rule, class N, class Parts>
struct remap_parts;
template <class Rule, class N, class... P>
struct remap_parts<Rule, N, types<P...>> {
  using type = typename N::template with<remap_t<Rule, P>...>;
};
template <class Rule, Branch X>
  requires(!(Rule::numbers && node<X>::is_struct))
struct remap<Rule, X> : remap_parts<Rule, node<X>, typename node<X>::parts> {};

/// What a lambda sees. `numbers`: a struct's parameter may become a number.
struct ToTracer {
  static constexpr bool numbers = false;
  using any_leaf = AnyTracer;
  template <class X, class T>
  using leaf = Tracer<T>;
};
/// What a call returns: arrays, and numbers where a struct's Eigen members need them.
struct ToArray {
  static constexpr bool numbers = true;
  using any_leaf = AnyArray;
  template <class X, class T>
  using leaf = Array<T>;
};
template <class X, class T, class S, template <class> class Other>
struct kept_eigen {
  using type = Other<T>;
};
template <class X, class T, class S, template <class> class Other>
  requires(dense<X>::value)
struct kept_eigen<X, T, S, Other> {
  using type = typename dense<X>::template over<S>;
};
/// Operands and carries of control flow: Eigen objects become Eigen objects of tracers.
struct ToCarry {
  static constexpr bool numbers = false;
  using any_leaf = AnyTracer;
  template <class X, class T>
  using leaf = typename kept_eigen<X, T, Tracer<T>, Tracer>::type;
};
/// The data that a typed parameter takes: Eigen objects of tracers become Eigen objects of numbers.
struct ToPlain {
  static constexpr bool numbers = true;
  using any_leaf = AnyArray;
  template <class X, class T>
  using leaf = typename kept_eigen<X, T, T, Array>::type;
};

// ---- A struct's parameter of which an Eigen member is made comes back as a number: Eigen has no matrices of arrays.

/// True if an Eigen object of scalar S is somewhere among the members of X.
template <class X, class S>
constexpr bool eigen_over() {
  if constexpr (dense<X>::value) {
    return std::same_as<typename dense<X>::scalar, S>;
  } else {
    return any_part<X>([]<class P>() { return eigen_over<P, S>(); });
  }
}
template <class X, class T>
constexpr bool mentions() {
  if constexpr (Leaf<X>) {
    return std::same_as<leaf_elem_t<X>, T>;
  } else if constexpr (Branch<X>) {
    return each<typename node<X>::parts>::any([]<class P>() { return mentions<P, T>(); });
  } else {
    return false;
  }
}
/// An element type that X does not mention: put instead of one of several parameters, it shows where that goes.
template <class X>
using probe_t = std::conditional_t<!mentions<X, float16>(), float16,
                                   std::conditional_t<!mentions<X, bfloat16>(), bfloat16,
                                                      std::conditional_t<!mentions<X, uint8_t>(), uint8_t, int8_t>>>;

template <class X, class Tracers>
struct number_form;
template <class X, class... P>
struct number_form<X, types<P...>> {  // P: the parts as tracers
  using Node = node<X>;
  template <size_t I, class Q>
  static constexpr bool is_number() {
    if constexpr (!TracerLike<Q>) {
      return false;
    } else if constexpr (sizeof...(P) == 1) {
      return eigen_over<typename Node::template with<P...>, Q>();
    } else {
      using Probe = Tracer<probe_t<X>>;
      return []<size_t... J>(std::index_sequence<J...>) {
        return eigen_over<typename Node::template with<std::conditional_t<I == J, Probe, P>...>, Probe>();
      }(std::index_sequence_for<P...>{});
    }
  }
  static constexpr bool any = []<size_t... I>(std::index_sequence<I...>) {
    return (is_number<I, P>() || ...);
  }(std::index_sequence_for<P...>{});
  template <class Rule, size_t I, class Original>
  using part = typename std::conditional_t<is_number<I, type_at_t<I, types<P...>>>(), bare<type_at_t<I, types<P...>>>,
                                           remap<Rule, Original>>::type;
};
template <class Parts>
struct as_tracers;
template <class... P>
struct as_tracers<types<P...>> {
  using type = types<remap_t<ToTracer, P>...>;
};
template <class X>
using number_form_of = number_form<X, typename as_tracers<typename node<X>::parts>::type>;
template <class Rule, class X, class Parts, class I>
struct number_parts;
template <class Rule, class X, class... P, size_t... I>
struct number_parts<Rule, X, types<P...>, std::index_sequence<I...>> {
  using type = typename node<X>::template with<typename number_form_of<X>::template part<Rule, I, P>...>;
};
template <class Rule, Branch X>
  requires(Rule::numbers && node<X>::is_struct)
struct remap<Rule, X> : number_parts<Rule, X, typename node<X>::parts, std::make_index_sequence<node<X>::parts::size>> {
};

/// True if a struct with Eigen members over its parameter is in X: its leaves cannot take another shape.
template <class X>
constexpr bool fixed_shapes() {
  if constexpr (!Branch<X>) {
    return false;
  } else if constexpr (each<typename node<X>::parts>::any([]<class P>() { return fixed_shapes<P>(); })) {
    return true;
  } else if constexpr (node<X>::is_struct) {
    return number_form_of<X>::any;
  } else {
    return false;
  }
}
template <class X>
constexpr bool has_tracer() {
  if constexpr (TracerLike<X> || dense<X>::of_tracers || std::same_as<X, AnyTracer>) {
    return true;
  } else if constexpr (Branch<X>) {
    return each<typename node<X>::parts>::any([]<class P>() { return has_tracer<P>(); });
  } else {
    return false;
  }
}

}  // namespace calque::detail
