#pragma once
// Trees as values: conversion between a result's arrays and the caller's types, functions of all leaves, one array of
// all elements. They take trees of data, and inside lambdas trees of tracers.
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "calque/detail/transforms/linear_function.h"
#include "calque/detail/trees/convert.h"
#include "calque/shapes.h"

namespace calque {

/// The same tree with the leaves that type T has: numbers, Eigen objects, vectors, arrays. An array becomes a
/// std::vector<U> (rank 1), nested vectors and std::arrays (of its rank), a std::span<const U> (of an array that
/// outlives it), an Eigen object, or a number (one element). Elements keep their type (compile error; cast before).
/// Throws ShapeError when an array's rank or extents do not fit.
///     to<std::vector<double>>(D{1, 2, 3})  // 1, 2, 3
template <class T, class X>
T to(const X& x, Loc loc = Loc::current()) {
  if constexpr (detail::check_fit<T, X>()) {
    return detail::convert<T>(x, loc);
  } else {
    std::abort();  // an assertion has failed
  }
}
/// The same with the types of a given tree: `Params<double> g = cq::like(p, cq::grad(loss)(p))`.
///     like(std::tuple{0.0, std::vector<double>{}}, std::tuple{D(1.5), D{1, 2}})  // 1.5, 1, 2
template <class P, class X>
P like(const P&, const X& x, Loc loc = Loc::current()) {
  return to<P>(x, loc);
}

namespace detail {

template <class F, class X, class... Y>
auto tree_map_at(const F& f, Location location, const X& x, const Y&... y) {
  constexpr bool same = (same_branches<X, Y>() && ...);
  static_assert(same, "calque: tree_map: the trees have different structures");
  if constexpr (same && (check_tree<X>() && ... && check_tree<Y>())) {
    constexpr bool in_trace = holds_tracer<X> || (holds_tracer<Y> || ...);
    using R = result_t<in_trace, typename mapped<F, in_trace, X, Y...>::type>;
    (require_same_structure("tree_map", "the first tree and another", traced_structure(x), traced_structure(y),
                            location),
     ...);
    return map_trees<in_trace, to_tracer_t<X>, R>(f, location, x, y...);
  }
}

}  // namespace detail

/// f(a, b, ...) of the leaves of trees with the same structure, as a tree like the first. f receives Arrays, in a trace
/// Tracers; static values are those of the first tree. Throws ShapeError that names the part in which the structures
/// differ.
///     tree_map([](auto x) { return 2 * x; }, std::tuple{D{1, 2}, I{3}})  // [2. 4.], [6]
template <class F, class X>
auto tree_map(const F& f, const X& x, Loc loc = Loc::current()) {
  return detail::tree_map_at(f, loc, x);
}
template <class F, class X, class Y>
auto tree_map(const F& f, const X& x, const Y& y, Loc loc = Loc::current()) {
  return detail::tree_map_at(f, loc, x, y);
}
/// Errors of more than two trees have no line.
///     auto add = [](auto x, auto y, auto z) { return x + y + z; };
///     tree_map(add, std::tuple{D{1}}, std::tuple{D{2}}, std::tuple{D{3}})  // [6.]
template <class F, class X, class Y, class Z, class... More>
auto tree_map(const F& f, const X& x, const Y& y, const Z& z, const More&... more) {
  return detail::tree_map_at(f, Location(), x, y, z, more...);
}

namespace detail {

template <bool Traced, class F, class A>
struct LeafReducer : LeafVisitor {
  const F& operation;
  A value_so_far;
  LeafReducer(const F& f, A initial) : operation(f), value_so_far(std::move(initial)) {}
  template <class To, class X>
  void leaf(const X& x) {
    auto next = operation(value_so_far, array_form<Traced>(x, {}));
    using Next = decltype(next);
    constexpr bool same = Leaf<Next> && fits<A, Next>() == Fit::yes;
    static_assert(same, "calque: tree_reduce: the operation returns another type than the initial value");
    if constexpr (same) value_so_far = convert<A>(next, {});
  }
};
template <bool Traced, class T>
struct LeafLister : LeafVisitor {
  std::vector<T>& leaves;
  explicit LeafLister(std::vector<T>& list) : leaves(list) {}
  template <class To, class X>
  void leaf(const X& x) {
    leaves.push_back(array_form<Traced>(x, {}));
  }
};

/// The leaves of a tree, type-erased.
template <bool Traced, class X>
auto list_leaves(const X& x, Location location) {
  if constexpr (Traced) {
    return operand_handles(location, x);
  } else {
    return collect_arrays(x);
  }
}
/// Zeros of the same types.
std::vector<Handle> zeros_of(std::span<const Handle> leaves, Location location);
std::vector<AnyArray> zeros_of(std::span<const AnyArray> leaves, Location location);
/// All elements, leaf after leaf and row-major, converted to `dtype`. Throws ShapeError for an empty array.
Handle flatten(std::span<const Handle> leaves, DType dtype, Location location);
AnyArray flatten(std::span<const AnyArray> leaves, DType dtype, Location location);
/// The types of the leaves.
std::vector<Type> types_of_leaves(std::span<const Handle> leaves, Location location);
std::vector<Type> types_of_leaves(std::span<const AnyArray> leaves, Location location);
/// Leaves of these types from their elements. Throws ShapeError unless `flat` is of rank 1 and has as many.
std::vector<Handle> unflatten(Handle flat, std::span<const Type> types, Location location);
[[nodiscard]] std::vector<AnyArray> unflatten(const AnyArray& flat, std::span<const Type> types, Location location);

}  // namespace detail

/// op(...op(op(init, leaf 0), leaf 1)..., last leaf): `tree_reduce([](auto a, auto b) { return a + sum(b); }, 0.0, w)`.
/// The operation returns what init is, as an array or a tracer (compile error).
///     tree_reduce([](auto a, auto b) { return a + sum(b); }, 0.0, std::tuple{D{1, 2}, D{3}})  // 6.0
template <class F, class I, class X>
auto tree_reduce(const F& op, const I& init, const X& x, Loc loc = Loc::current()) {
  constexpr bool in_trace = holds_tracer<I> || holds_tracer<X>;
  using A = detail::array_form_t<in_trace, detail::leaf_elem_t<I>>;
  detail::LeafReducer<in_trace, F, A> reducer(op, detail::array_form<in_trace>(init, loc));
  detail::walk_tree<to_tracer_t<X>>(x, reducer);
  return reducer.value_so_far;
}

/// A tree like `x` whose leaves are zeros of the same shapes.
///     zeros_like(std::tuple{D{1, 2}, I{3}})  // [0. 0.], [0]
template <class X>
[[nodiscard]] result_t<holds_tracer<X>, X> zeros_like(const X& x, Loc loc = Loc::current()) {
  constexpr bool in_trace = holds_tracer<X>;
  auto leaves = detail::zeros_of(detail::list_leaves<in_trace>(x, loc), loc);
  size_t next = 0;
  return detail::take_leaves<result_t<in_trace, X>>(detail::outline_of(x), leaves, next);
}

/// The leaves in order, as a vector: they are of one element type (compile error; use tree_map or tree_reduce).
///     tree_leaves(std::tuple{D{1, 2}, std::tuple{D{3}}})  // [1. 2.], [3.]
template <class X>
auto tree_leaves(const X& x) {
  using Elements = detail::common_elem_of<X>;
  constexpr bool one = Elements::one;
  static_assert(one,
                "calque: tree_leaves: the leaves are of several element types, or there are none; use tree_map or "
                "tree_reduce");
  constexpr bool in_trace = holds_tracer<X>;
  using T = detail::array_form_t<in_trace, typename Elements::type>;
  std::vector<T> leaves;
  if constexpr (one) {
    detail::LeafLister<in_trace, T> lister(leaves);
    detail::walk_tree<to_tracer_t<X>>(x, lister);
  }
  return leaves;
}

/// The way back from the array that `ravel` made of a tree: a tree of its structure, static values and shapes.
template <class X>
class Unravel {
 public:
  Unravel(to_tracer_t<X> outline, std::vector<Type> types)
      : outline_(std::make_shared<const to_tracer_t<X>>(std::move(outline))),
        types_(std::make_shared<const std::vector<Type>>(std::move(types))) {}
  /// The tree whose elements are those of `flat`, an array or a tracer; its leaves have their own element types again.
  /// Throws ShapeError unless `flat` has rank 1 and as many elements.
  template <ArrayLike V>
  auto operator()(const V& flat, Loc loc = Loc::current()) const {
    constexpr bool same = std::same_as<elem_t<V>, typename detail::common_elem_of<X>::type>;
    static_assert(same, "calque: unravel: an array of another element type than ravel gave");
    using R = result_t<TracerLike<V>, X>;
    size_t next = 0;
    if constexpr (TracerLike<V>) {
      auto leaves = detail::unflatten(flat.handle(), *types_, loc);
      return detail::take_leaves<R>(*outline_, leaves, next);
    } else {
      auto leaves = detail::unflatten(flat.any(loc), *types_, loc);
      return detail::take_leaves<R>(*outline_, leaves, next);
    }
  }

 private:
  std::shared_ptr<const to_tracer_t<X>> outline_;
  std::shared_ptr<const std::vector<Type>> types_;
};

/// std::pair of one array of rank 1 with all elements of the tree, promoted to one element type, and the function back:
/// `auto [flat, unravel] = cq::ravel(w)`. Throws ShapeError for an empty array.
///     auto [flat, unravel] = ravel(std::tuple{D{1, 2}, D{{3}, {4}}});
///     std::tuple{flat, unravel(10.0 * flat)}  // [1. 2. 3. 4.],
///                                             // [10. 20.],
///                                             // [[30.]
///                                             //  [40.]]
template <class X>
auto ravel(const X& x, Loc loc = Loc::current()) {
  using Elements = detail::common_elem_of<X>;
  constexpr bool any = Elements::any;
  static_assert(any, "calque: ravel: the tree holds no arrays");
  using T = typename Elements::type;
  constexpr bool in_trace = holds_tracer<X>;
  const auto leaves = detail::list_leaves<in_trace>(x, loc);
  return std::pair{detail::array_form_t<in_trace, T>(detail::flatten(leaves, dtype_of<T>, loc)),
                   Unravel<X>(detail::outline_of(x), detail::types_of_leaves(leaves, loc))};
}

/// `using namespace cq::tree_operators;` gives arithmetic on trees, leaf by leaf: `w - 0.1 * g`. Both operands are
/// trees of one structure, or one is a number or an array for all leaves. Not for trees that are one leaf, which have
/// their own arithmetic.
namespace tree_operators {

/// A tree that is not a single leaf.
template <class X>
concept Tree = detail::Branch<X>;

#define CALQUE_TREE_OPERATOR(op)                                  \
  template <Tree X, Tree Y>                                       \
  [[nodiscard]] auto operator op(const X& x, const Y& y) {        \
    return tree_map([](auto a, auto b) { return a op b; }, x, y); \
  }                                                               \
  template <Tree X, OperandLike Y>                                \
  [[nodiscard]] auto operator op(const X& x, const Y& y) {        \
    return tree_map([&](auto a) { return a op y; }, x);           \
  }                                                               \
  template <OperandLike X, Tree Y>                                \
  [[nodiscard]] auto operator op(const X& x, const Y& y) {        \
    return tree_map([&](auto b) { return x op b; }, y);           \
  }
/// The sums of the leaves, a tree of the same structure; a number or an array is added to each. Throws ShapeError that
/// names the part in which two structures differ, or when leaves do not broadcast.
CALQUE_TREE_OPERATOR(+)
/// The differences of the leaves. Otherwise as for +.
CALQUE_TREE_OPERATOR(-)
/// The products of the leaves. Otherwise as for +.
CALQUE_TREE_OPERATOR(*)
/// The quotients of the leaves. Otherwise as for +.
CALQUE_TREE_OPERATOR(/)
#undef CALQUE_TREE_OPERATOR
/// The negatives of the leaves.
template <Tree X>
auto operator-(const X& x) {
  return tree_map([](auto a) { return -a; }, x);
}

}  // namespace tree_operators
}  // namespace calque
