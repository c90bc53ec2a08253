#pragma once
// Arrays made of nothing: tracers of the trace that runs. Outside a trace they throw LeakedTracerError, which names the
// factory of Array to use.
#include "calque/detail/apply.h"

namespace calque {

/// All elements 0.
template <Elem T>
Tracer<T> zeros(const Counts& shape, Loc loc = Loc::current()) {
  return Tracer<T>(detail::ops::zeros(dtype_of<T>, detail::shape_of("zeros", shape, loc), loc));
}
/// All elements 1.
template <Elem T>
Tracer<T> ones(const Counts& shape, Loc loc = Loc::current()) {
  return Tracer<T>(detail::ops::ones(dtype_of<T>, detail::shape_of("ones", shape, loc), loc));
}
/// All elements `value`, a scalar that is converted to T.
template <Elem T, OperandLike V>
Tracer<T> full(const Counts& shape, const V& value, Loc loc = Loc::current()) {
  return Tracer<T>(
      detail::ops::full(dtype_of<T>, detail::shape_of("full", shape, loc), detail::operand_of(value, loc), loc));
}
/// 0, 1, ..., n - 1.
template <Elem T = int32_t>
Tracer<T> iota(int64_t n, Loc loc = Loc::current()) {
  return Tracer<T>(detail::ops::iota(dtype_of<T>, n, loc));
}
/// 0, 1, ..., n - 1.
template <Elem T>
Tracer<T> arange(int64_t n, Loc loc = Loc::current()) {
  return Tracer<T>(detail::ops::arange(dtype_of<T>, 0, static_cast<double>(n), 1, loc));
}
/// start, start + step, ... before stop.
template <Elem T>
Tracer<T> arange(double start, double stop, double step = 1, Loc loc = Loc::current()) {
  return Tracer<T>(detail::ops::arange(dtype_of<T>, start, stop, step, loc));
}
/// The n x n matrix with ones on its diagonal.
template <Elem T>
Tracer<T> eye(int64_t n, Loc loc = Loc::current()) {
  return Tracer<T>(detail::ops::eye(dtype_of<T>, n, loc));
}
/// n numbers at equal distances from low to high, both included.
template <Elem T>
Tracer<T> linspace(double low, double high, int64_t n, Loc loc = Loc::current()) {
  return Tracer<T>(detail::ops::linspace(dtype_of<T>, low, high, n, loc));
}

}  // namespace calque
