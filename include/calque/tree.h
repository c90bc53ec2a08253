#pragma once
// Trees: arguments and results are arrays in structs and containers. A tree's type is mapped leaf by leaf: arrays,
// numbers, Eigen objects and vectors of numbers become Tracer<T>, and results Array<T>; a struct that is a template
// over its scalar or its leaf type is re-bound; everything else keeps type and value. What becomes of values is in
// calque/detail/trees/; functions of trees are in calque/trees.h.
#include <type_traits>
#include <utility>

#include "calque/detail/trees/check.h"

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

/// The type in which a lambda receives an argument: every array, number, Eigen object and vector of numbers is a
/// Tracer; `State<double>` with members Eigen::Matrix<double, 3, 1> is `State<Tracer<double>>`.
template <class X>
using to_tracer_t = detail::remap_t<detail::ToTracer, std::remove_cvref_t<X>>;
/// The same tree of data: every leaf is an Array. A struct's parameter that an Eigen member has as its scalar, at any
/// depth, is a number: `State<Tracer<double>>` is `State<double>`.
template <class X>
using to_array_t = detail::remap_t<detail::ToArray, std::remove_cvref_t<X>>;
/// The type of a carry of control flow: as `to_tracer_t`, but Eigen objects are Eigen objects of tracers.
template <class X>
using to_carry_t = detail::remap_t<detail::ToCarry, std::remove_cvref_t<X>>;
/// The data for a typed parameter: as `to_array_t`, but Eigen objects of tracers are Eigen objects of numbers.
template <class X>
using to_plain_t = detail::remap_t<detail::ToPlain, std::remove_cvref_t<X>>;
/// True if a leaf of the tree is a Tracer.
template <class X>
inline constexpr bool holds_tracer = detail::has_tracer<std::remove_cvref_t<X>>();
/// The result type of a callable: a tree of tracers if an argument holds a tracer, else of data.
template <bool Traced, class X>
using result_t =
    typename detail::remap<std::conditional_t<Traced, detail::ToTracer, detail::ToArray>, std::remove_cvref_t<X>>::type;

}  // namespace calque
