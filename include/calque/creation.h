#pragma once
// Creation of tracers of the running trace. Outside a trace these functions throw LeakedTracerError, which names the
// factory of Array to use instead.
#include "calque/detail/apply.h"

namespace calque {

/// An array of zeros. Throws ShapeError for a negative extent, LeakedTracerError outside a trace.
///     zeros<double>({2})  // [0. 0.]
template <Elem T>
[[nodiscard]] Tracer<T> zeros(const Counts& shape, Loc loc = Loc::current()) {
  return Tracer<T>(detail::ops::zeros(dtype_of<T>, detail::shape_of("zeros", shape, loc), loc));
}
/// An array of ones. Throws ShapeError for a negative extent, LeakedTracerError outside a trace.
///     ones<float>({2})  // [1. 1.]
template <Elem T>
[[nodiscard]] Tracer<T> ones(const Counts& shape, Loc loc = Loc::current()) {
  return Tracer<T>(detail::ops::ones(dtype_of<T>, detail::shape_of("ones", shape, loc), loc));
}
template <std::same_as<void> T = void>
Array<float> zeros(const Counts&) {
  static_assert(!std::is_void_v<T>, "calque: write cq::zeros<double>({3}), with the element type");
  return {};
}
template <std::same_as<void> T = void>
Array<float> ones(const Counts&) {
  static_assert(!std::is_void_v<T>, "calque: write cq::ones<double>({3}), with the element type");
  return {};
}
/// An array of `value`, a scalar that is converted to T. Throws ShapeError for a negative extent or a value that is not
/// a scalar, DTypeError for an integer literal that does not fit T, LeakedTracerError outside a trace.
///     full<int>({3}, 7)  // [7 7 7]
template <Elem T, OperandLike V>
[[nodiscard]] Tracer<T> full(const Counts& shape, const V& value, Loc loc = Loc::current()) {
  return Tracer<T>(
      detail::ops::full(dtype_of<T>, detail::shape_of("full", shape, loc), detail::operand_of(value, loc), loc));
}
/// 0, 1, ..., n - 1, of shape [n]. Throws ShapeError for a negative n or, of i32, one above 2^31 - 1; DTypeError for
/// bool or when T cannot hold n - 1; LeakedTracerError outside a trace.
///     iota(3)  // [0 1 2]
template <Elem T = int32_t>
[[nodiscard]] Tracer<T> iota(int64_t n, Loc loc = Loc::current()) {
  return Tracer<T>(detail::ops::iota(dtype_of<T>, n, loc));
}
/// 0, 1, ..., n - 1, of shape [n] (empty for a negative n). Throws DTypeError for bool or when T cannot hold n - 1,
/// LeakedTracerError outside a trace.
///     arange<double>(3)  // [0. 1. 2.]
template <Elem T>
[[nodiscard]] Tracer<T> arange(int64_t n, Loc loc = Loc::current()) {
  return Tracer<T>(detail::ops::arange(dtype_of<T>, 0, static_cast<double>(n), 1, loc));
}
/// start, start + step, ... before stop, of shape [max(0, ceil((stop - start) / step))]; computed in i64 for whole
/// numbers of an integer T, else in f64, and converted to T. Throws ShapeError for a step of 0, an end that is not
/// finite or more than 1e15 elements; DTypeError for bool or when T cannot hold the elements of a range from 0 by 1;
/// LeakedTracerError outside a trace.
///     arange<double>(1, 2, 0.25)  // [1.   1.25 1.5  1.75]
template <Elem T>
Tracer<T> arange(double start, double stop, double step = 1, Loc loc = Loc::current()) {
  return Tracer<T>(detail::ops::arange(dtype_of<T>, start, stop, step, loc));
}
/// The identity matrix, of shape [n, n]. Throws ShapeError for a negative n, LeakedTracerError outside a trace.
///     eye<double>(2)  // [[1. 0.]
///                     //  [0. 1.]]
template <Elem T>
[[nodiscard]] Tracer<T> eye(int64_t n, Loc loc = Loc::current()) {
  return Tracer<T>(detail::ops::eye(dtype_of<T>, n, loc));
}
/// n evenly spaced numbers from low to high, both included, of shape [n]; without `endpoint` high is not, and the n + 1
/// with it are evenly spaced. Computed in f64 and converted to T. Throws ShapeError for a negative n, LeakedTracerError
/// outside a trace.
///     linspace<double>(0, 1, 5)  // [0.   0.25 0.5  0.75 1.  ]
template <Elem T>
Tracer<T> linspace(double low, double high, int64_t n, bool endpoint = true, Loc loc = Loc::current()) {
  return Tracer<T>(endpoint ? detail::ops::linspace(dtype_of<T>, low, high, n, loc)
                            : detail::ops::linspace_without_end(dtype_of<T>, low, high, n, loc));
}

#define CALQUE_NEEDS_ELEMENT(f, example)                                      \
  static_assert(!std::is_void_v<T>, "calque: write cq::" f "<double>" example \
                                    ", with the element type; outside a trace cq::Array<double>::" f example)
template <std::same_as<void> T = void, class V>
Array<float> full(const Counts&, const V&) {
  CALQUE_NEEDS_ELEMENT("full", "({3}, 1.0)");
  return {};
}
template <std::same_as<void> T = void>
Array<float> arange(double, double = 0, double = 1) {
  CALQUE_NEEDS_ELEMENT("arange", "(5)");
  return {};
}
template <std::same_as<void> T = void>
Array<float> eye(int64_t) {
  CALQUE_NEEDS_ELEMENT("eye", "(3)");
  return {};
}
template <std::same_as<void> T = void>
Array<float> linspace(double, double, int64_t, bool = true) {
  CALQUE_NEEDS_ELEMENT("linspace", "(0, 1, 5)");
  return {};
}
#undef CALQUE_NEEDS_ELEMENT

}  // namespace calque
