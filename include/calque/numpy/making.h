#pragma once
// Arrays made of numbers, with NumPy's names: tracers of the running trace, as those of calque/creation.h, unless an
// argument is an array. Outside a trace the functions without array arguments throw LeakedTracerError.
#include <array>
#include <concepts>
#include <optional>
#include <vector>

#include "calque/detail/recorded.h"

namespace calque {

/// The matrix [n, m] with ones at and below diagonal k and zeros above it. Throws ShapeError for a negative extent.
///     tri<double>(2, 3)  // [[1. 0. 0.]
///                        //  [1. 1. 0.]]
template <Elem T>
[[nodiscard]] Tracer<T> tri(int64_t n, int64_t m, int64_t k = 0, Loc loc = Loc::current()) {
  return Tracer<T>(detail::ops::tri(dtype_of<T>, n, m, k, loc));
}
/// The same of extents [n, n].
///     tri<double>(2)  // [[1. 0.]
///                     //  [1. 1.]]
template <Elem T>
[[nodiscard]] Tracer<T> tri(int64_t n, Loc loc = Loc::current()) {
  return Tracer<T>(detail::ops::tri(dtype_of<T>, n, n, 0, loc));
}
/// The matrix [n, m] with ones on diagonal k and zeros elsewhere. Throws ShapeError for a negative extent.
///     eye<double>(2, 3, 1)  // [[0. 1. 0.]
///                           //  [0. 0. 1.]]
template <Elem T>
[[nodiscard]] Tracer<T> eye(int64_t n, int64_t m, int64_t k = 0, Loc loc = Loc::current()) {
  return Tracer<T>(detail::ops::eye_of(dtype_of<T>, n, m, k, loc));
}

#define CALQUE_WINDOW(f)                                           \
  template <Elem T>                                                \
  [[nodiscard]] Tracer<T> f(int64_t n, Loc loc = Loc::current()) { \
    return Tracer<T>(detail::ops::f(dtype_of<T>, n, loc));         \
  }
/// Bartlett's window of n points, a triangle. Throws ShapeError for a negative n, DTypeError for bool.
///     bartlett<double>(5)  // [0.  0.5 1.  0.5 0. ]
CALQUE_WINDOW(bartlett)
/// Blackman's window of n points, 0.42 - 0.5 cos(2 pi i / (n - 1)) + 0.08 cos(4 pi i / (n - 1)). Errors as `bartlett`.
///     round(blackman<double>(5), 2)  // [-0.    0.34  1.    0.34 -0.  ]
CALQUE_WINDOW(blackman)
/// Hamming's window of n points, 0.54 - 0.46 cos(2 pi i / (n - 1)). Errors as `bartlett`.
///     hamming<double>(5)  // [0.08 0.54 1.   0.54 0.08]
CALQUE_WINDOW(hamming)
/// Hann's window of n points, 0.5 - 0.5 cos(2 pi i / (n - 1)). Errors as `bartlett`.
///     hanning<double>(5)  // [0.  0.5 1.  0.5 0. ]
CALQUE_WINDOW(hanning)
#undef CALQUE_WINDOW
/// Kaiser's window of n points, i0(beta sqrt(1 - (2 i / (n - 1) - 1)^2)) / i0(beta). Errors as `bartlett`.
///     kaiser<double>(3, 2.0)  // [0.43867628 1.         0.43867628]
template <Elem T>
[[nodiscard]] Tracer<T> kaiser(int64_t n, double beta, Loc loc = Loc::current()) {
  return Tracer<T>(detail::ops::kaiser(dtype_of<T>, n, beta, loc));
}

/// n numbers base^low to base^high with evenly spaced exponents, both included, computed in f64; without `endpoint`
/// the last one is not. Throws ShapeError for a negative n.
///     logspace<double>(0, 2, 3)  // [  1.  10. 100.]
template <Elem T, std::same_as<bool> B = bool>
[[nodiscard]] Tracer<T> logspace(double low, double high, int64_t n, B endpoint = true, double base = 10,
                                 Loc loc = Loc::current()) {
  return Tracer<T>(endpoint ? detail::ops::logspace(dtype_of<T>, low, high, n, base, loc)
                            : detail::ops::logspace_without_end(dtype_of<T>, low, high, n, base, loc));
}
/// n numbers from low to high, both included, of which each is the one before times the same factor, computed in f64;
/// without `endpoint` high is not included. Throws ShapeError for a negative n and for ends that are 0 or of different
/// signs.
///     geomspace<double>(1, 8, 4)  // [1. 2. 4. 8.]
template <Elem T>
[[nodiscard]] Tracer<T> geomspace(double low, double high, int64_t n, bool endpoint = true, Loc loc = Loc::current()) {
  return Tracer<T>(endpoint ? detail::ops::geomspace(dtype_of<T>, low, high, n, loc)
                            : detail::ops::geomspace_without_end(dtype_of<T>, low, high, n, loc));
}

/// Options of `linspace` and `geomspace` between arrays.
struct SpacedOptions {
  bool endpoint = true;
  /// Where the numbers stand in the result.
  int axis = 0;
};
/// Options of `logspace` between arrays.
struct LogspaceOptions {
  bool endpoint = true;
  double base = 10;
  /// Where the numbers stand in the result.
  int axis = 0;
};
#define CALQUE_BETWEEN(f, Options, ...)                                                                           \
  template <OperandLike L, OperandLike H>                                                                         \
    requires(ArrayLike<L> || ArrayLike<H>)                                                                        \
  [[nodiscard]] out_t<inexact_t<promoted_elem_t<L, H>>, L, H> f(const L& low, const H& high, int64_t n,           \
                                                                Options options = {}, Loc loc = Loc::current()) { \
    const auto erased = [&](detail::Operands o) {                                                                 \
      return detail::ops::f##_between(o[0], o[1], n, options.endpoint, __VA_ARGS__, loc);                         \
    };                                                                                                            \
    return detail::recorded<inexact_t<promoted_elem_t<L, H>>>(#f, loc, erased, low, high);                        \
  }
/// For each pair of elements, which broadcast, n evenly spaced numbers from low to high along a new axis of the result,
/// as numpy.linspace. Of the promoted type (integers and bool: f32). Throws ShapeError for a negative n, an axis of the
/// result out of range, and when the operands do not broadcast.
///     linspace(D{0, 10}, D{1, 20}, 3)  // [[ 0.  10. ]
///                                      //  [ 0.5 15. ]
///                                      //  [ 1.  20. ]]
CALQUE_BETWEEN(linspace, SpacedOptions, options.axis)
/// The same of base^low to base^high, whose exponents are evenly spaced.
///     logspace(D{0, 1}, 2, 2, {.axis = 1})  // [[  1. 100.]
///                                           //  [ 10. 100.]]
CALQUE_BETWEEN(logspace, LogspaceOptions, options.base, options.axis)
/// The same with equal quotients of neighbours; NaN where one end is 0 or they differ in sign. Throws DTypeError for
/// complex numbers.
///     round(geomspace(D{1, -3}, D{4, -27}, 3), 6)  // [[  1.  -3.]
///                                                  //  [  2.  -9.]
///                                                  //  [  4. -27.]]
CALQUE_BETWEEN(geomspace, SpacedOptions, options.axis)
#undef CALQUE_BETWEEN

namespace detail {
[[nodiscard]] inline std::vector<Tracer<int32_t>> index_tracers(std::vector<Handle> handles) {
  std::vector<Tracer<int32_t>> out;
  for (Handle h : handles) out.push_back(Tracer<int32_t>(h));
  return out;
}
}  // namespace detail
/// For each dimension of the shape an array of it with the index along that dimension, as numpy.indices; if sparse, of
/// extents 1 along the others. Throws ShapeError for a negative extent.
///     indices({2, 2})  // [[0 0]
///                      //  [1 1]],
///                      // [[0 1]
///                      //  [0 1]]
[[nodiscard]] inline std::vector<Tracer<int32_t>> indices(const Counts& shape, bool sparse = false,
                                                          Loc loc = Loc::current()) {
  return detail::index_tracers(detail::ops::indices(detail::shape_of("indices", shape, loc), sparse, loc));
}
/// (rows, columns) of the elements of a matrix [n, m], m = n by default, at and below diagonal k, in row-major order;
/// known while tracing. Throws ShapeError for a negative extent.
///     tril_indices(2)  // [0 1 1], [0 0 1]
inline std::array<Tracer<int32_t>, 2> tril_indices(int64_t n, int64_t k = 0, std::optional<int64_t> m = {},
                                                   Loc loc = Loc::current()) {
  const std::vector<detail::Handle> both = detail::ops::triangle_indices('l', n, k, m.value_or(n), loc);
  return {Tracer<int32_t>(both[0]), Tracer<int32_t>(both[1])};
}
/// (rows, columns) of the elements of a matrix [n, m] at and above diagonal k, as `tril_indices`.
///     triu_indices(2, 1, 3)  // [0 0 1], [1 2 2]
inline std::array<Tracer<int32_t>, 2> triu_indices(int64_t n, int64_t k = 0, std::optional<int64_t> m = {},
                                                   Loc loc = Loc::current()) {
  const std::vector<detail::Handle> both = detail::ops::triangle_indices('u', n, k, m.value_or(n), loc);
  return {Tracer<int32_t>(both[0]), Tracer<int32_t>(both[1])};
}
/// The indices of the diagonal of an array of `rank` dimensions of extent n. Throws ShapeError for negative numbers.
///     diag_indices(3)  // [0 1 2], [0 1 2]
[[nodiscard]] inline std::vector<Tracer<int32_t>> diag_indices(int64_t n, int64_t rank = 2, Loc loc = Loc::current()) {
  return detail::index_tracers(detail::ops::diag_indices(n, rank, loc));
}

/// An array of x's shape and type with all elements equal to `value`, a scalar that is converted to x's type. Throws
/// ShapeError for a value that is not a scalar, DTypeError for an integer literal that does not fit.
///     full_like(I{1, 2}, 7)  // [7 7]
template <ArrayLike X, OperandLike V>
[[nodiscard]] out_t<elem_t<X>, X, V> full_like(const X& x, const V& value, Loc loc = Loc::current()) {
  return detail::apply_binary<out_t<elem_t<X>, X, V>>("full_like", &detail::ops::full_like, x, value, loc);
}
/// Zeros of x's shape and type.
///     zeros_like(D{1, 2})  // [0. 0.]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> zeros_like(const X& x, Loc loc = Loc::current()) {
  return full_like(x, 0, loc);
}
/// Ones of x's shape and type.
///     ones_like(D{1, 2})  // [1. 1.]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> ones_like(const X& x, Loc loc = Loc::current()) {
  return full_like(x, 1, loc);
}
/// The matrix with all elements of x on diagonal k, as numpy.diagflat. Of x's type. Throws ShapeError when the result
/// is too large.
///     diagflat(D{1, 2})  // [[1. 0.]
///                        //  [0. 2.]]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> diagflat(const X& x, int64_t k = 0, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::diagflat(o[0], k, loc); };
  return detail::recorded<elem_t<X>>("diagflat", loc, f, x);
}

}  // namespace calque
