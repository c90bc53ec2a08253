#pragma once
// Discrete Fourier transforms, as numpy.fft: of one axis, of two or of several, of complex and of real numbers. Real
// numbers, integers and bools transform as complex numbers of their precision, those of 16 bits as f32. All are
// differentiable, to any order, and can be batched. n may be any number; those whose prime factors are small are fast.
// Axes may be negative.
#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "calque/detail/fft.h"
#include "calque/detail/recorded.h"
#include "calque/index.h"

namespace calque::fft {

/// Options of transforms: `fft::fft(x, {.norm = fft::norm::ortho})`.
struct Options {
  calque::fft::norm norm = calque::fft::norm::backward;
};

/// The number of elements to which an axis is cut or padded, or `cq::none`.
struct Length {
  std::optional<int64_t> value;

  Length(none_t) {}
  template <std::integral N>
  Length(N n) : value(static_cast<int64_t>(n)) {}
};

/// The element type of transforms of T: std::complex<double> of double and of complex<double>, else
/// std::complex<float>.
template <Elem T>
using transformed_t = complex_t<T>;
/// The type of their parts.
template <Elem T>
using transformed_real_t = real_t<complex_t<T>>;

#define CALQUE_ONE_AXIS(f, result)                                                                              \
  template <ArrayLike X>                                                                                        \
  [[nodiscard]] out_t<result<elem_t<X>>, X> f(const X& x, Length n = none, int axis = -1, Options options = {}, \
                                              Loc loc = Loc::current()) {                                       \
    const auto record = [&](detail::Operands o) {                                                               \
      return detail::ops::fft::f(o[0], n.value, axis, options.norm, loc);                                       \
    };                                                                                                          \
    return detail::recorded<result<elem_t<X>>>("fft::" #f, loc, record, x);                                     \
  }                                                                                                             \
  template <ArrayLike X>                                                                                        \
  [[nodiscard]] out_t<result<elem_t<X>>, X> f(const X& x, Options options, Loc loc = Loc::current()) {          \
    return f(x, none, -1, options, loc);                                                                        \
  }
#define CALQUE_SEVERAL_AXES(f, result, default_axes)                                                                 \
  template <ArrayLike X>                                                                                             \
  [[nodiscard]] out_t<result<elem_t<X>>, X> f(const X& x, const Counts& sizes = {}, const Axes& axes = default_axes, \
                                              Options options = {}, Loc loc = Loc::current()) {                      \
    const auto record = [&](detail::Operands o) {                                                                    \
      return detail::ops::fft::f(o[0], sizes.list, axes, options.norm, loc);                                         \
    };                                                                                                               \
    return detail::recorded<result<elem_t<X>>>("fft::" #f, loc, record, x);                                          \
  }                                                                                                                  \
  template <ArrayLike X>                                                                                             \
  [[nodiscard]] out_t<result<elem_t<X>>, X> f(const X& x, Options options, Loc loc = Loc::current()) {               \
    return f(x, Counts(), default_axes, options, loc);                                                               \
  }
#define CALQUE_LAST_TWO Axes({-2, -1})

/// The transform y[k] = sum over j of x[j] exp(-2 pi i j k / n) along an axis, of shape [..., n, ...]; x is cut to n
/// elements or padded with zeros at its end, without n it has its own. Throws ShapeError for an axis out of range and
/// for n < 1.
///     fft::fft(D{1, 2, 3, 4})  // [10.+0.j -2.+2.j -2.+0.j -2.-2.j]
CALQUE_ONE_AXIS(fft, transformed_t)
/// The inverse of `fft`, x[j] = sum over k of y[k] exp(2 pi i j k / n) / n. Shapes and errors as for `fft`.
///     fft::ifft(D{4, 0, 0, 0})  // [1.+0.j 1.+0.j 1.+0.j 1.+0.j]
CALQUE_ONE_AXIS(ifft, transformed_t)
/// The first n / 2 + 1 elements of the transform of real numbers, which are all: the others are conjugates of them, so
/// the shape is [..., n / 2 + 1, ...]. Throws DTypeError for complex x; other errors as for `fft`.
///     fft::rfft(D{1, 2, 3, 4})  // [10.+0.j -2.+2.j -2.+0.j]
CALQUE_ONE_AXIS(rfft, transformed_t)
/// The inverse of `rfft`: n real numbers of n / 2 + 1 elements along the axis, to which x is cut or padded with zeros;
/// without n they are 2 (m - 1) for m elements. The imaginary parts of elements 0 and n / 2 count as 0. Errors as for
/// `fft`.
///     fft::irfft(D{10, -2, 2})  // [2. 2. 4. 2.]
CALQUE_ONE_AXIS(irfft, transformed_real_t)
/// The transform of a row whose other half is the conjugate of its elements, which is real: `irfft` of the conjugate
/// with the opposite `norm`. Shapes and errors as for `irfft`.
///     fft::hfft(D{1, 2, 3})  // [ 8. -2.  0. -2.]
CALQUE_ONE_AXIS(hfft, transformed_real_t)
/// The inverse of `hfft`: the conjugate of `rfft` with the opposite `norm`. Shapes and errors as for `rfft`.
///     fft::ihfft(D{8, -2, 0, -2})  // [1.-0.j 2.+0.j 3.-0.j]
CALQUE_ONE_AXIS(ihfft, transformed_t)

/// The transform along two axes, the last ones unless given: `fft` of one, then of the other. x is cut or padded to
/// `sizes`, one for each axis, which without sizes keep their extents. Throws ShapeError unless there are two axes, for
/// those that are out of range or equal, for another number of sizes and for sizes below 1.
///     fft::fft2(D{{1, 2}, {3, 4}})  // [[10.+0.j -2.+0.j]
///                                   //  [-4.+0.j  0.+0.j]]
CALQUE_SEVERAL_AXES(fft2, transformed_t, CALQUE_LAST_TWO)
/// The inverse of `fft2`. Shapes and errors as for it.
///     fft::ifft2(D{{4, 0}, {0, 0}})  // [[1.+0.j 1.+0.j]
///                                    //  [1.+0.j 1.+0.j]]
CALQUE_SEVERAL_AXES(ifft2, transformed_t, CALQUE_LAST_TWO)
/// `rfft` of the second axis, then `fft` of the first. Throws DTypeError for complex x; other errors as for `fft2`.
///     fft::rfft2(D{{1, 2, 3}, {3, 4, 5}})  // [[18.+0.j         -3.+1.73205081j]
///                                          //  [-6.+0.j          0.+0.j        ]]
CALQUE_SEVERAL_AXES(rfft2, transformed_t, CALQUE_LAST_TWO)
/// The inverse of `rfft2`: `ifft` of the first axis, then `irfft` of the second, whose size is 2 (m - 1) for m elements
/// unless given. Errors as for `fft2`.
///     fft::irfft2(D{{10, -2}, {-4, 0}})  // [[1. 2.]
///                                        //  [3. 4.]]
CALQUE_SEVERAL_AXES(irfft2, transformed_real_t, CALQUE_LAST_TWO)
#undef CALQUE_LAST_TWO

/// The transform along several axes, all without a list, or with sizes alone the last of as many. Sizes and errors as
/// for `fft2`.
///     fft::fftn(D{{1, 2}, {3, 4}})  // [[10.+0.j -2.+0.j]
///                                   //  [-4.+0.j  0.+0.j]]
CALQUE_SEVERAL_AXES(fftn, transformed_t, Axes())
/// The inverse of `fftn`. Sizes and errors as for it.
///     fft::ifftn(D{{4, 0}, {0, 0}})  // [[1.+0.j 1.+0.j]
///                                    //  [1.+0.j 1.+0.j]]
CALQUE_SEVERAL_AXES(ifftn, transformed_t, Axes())
/// `rfft` of the last of the axes, then `fft` of the others. Throws DTypeError for complex x; sizes and other errors as
/// for `fftn`.
///     fft::rfftn(D{{1, 2, 3}, {3, 4, 5}})  // [[18.+0.j         -3.+1.73205081j]
///                                          //  [-6.+0.j          0.+0.j        ]]
CALQUE_SEVERAL_AXES(rfftn, transformed_t, Axes())
/// The inverse of `rfftn`: `ifft` of all axes but the last one, then `irfft` of that, whose size is 2 (m - 1) for m
/// elements unless given. Sizes and errors as for `fftn`.
///     fft::irfftn(D{{10, -2}, {-4, 0}})  // [[1. 2.]
///                                        //  [3. 4.]]
CALQUE_SEVERAL_AXES(irfftn, transformed_real_t, Axes())
#undef CALQUE_ONE_AXIS
#undef CALQUE_SEVERAL_AXES

/// The frequencies of the elements of `fft` of n samples at distances d, 0, 1 ... -1 over n d: those from n / 2 on are
/// negative. Computed in f64. Throws ShapeError for n < 1, LeakedTracerError outside a trace.
///     fft::fftfreq<double>(5, 0.1)  // [ 0.  2.  4. -4. -2.]
template <Elem T>
[[nodiscard]] Tracer<T> fftfreq(int64_t n, double d = 1, Loc loc = Loc::current()) {
  static_assert(std::floating_point<T>, "calque: frequencies are of type float or double");
  return Tracer<T>(detail::ops::fft::fftfreq(dtype_of<T>, n, d, loc));
}
/// The n / 2 + 1 frequencies of the elements of `rfft`, of which none is negative. Errors as for `fftfreq`.
///     fft::rfftfreq<double>(5, 0.1)  // [0. 2. 4.]
template <Elem T>
[[nodiscard]] Tracer<T> rfftfreq(int64_t n, double d = 1, Loc loc = Loc::current()) {
  static_assert(std::floating_point<T>, "calque: frequencies are of type float or double");
  return Tracer<T>(detail::ops::fft::rfftfreq(dtype_of<T>, n, d, loc));
}

/// x with the element of frequency 0 in the middle of each axis: rolled by half of its extent. Of x's type. Throws
/// ShapeError for axes out of range or equal.
///     fft::fftshift(D{0, 1, 2, -2, -1})  // [-2. -1.  0.  1.  2.]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> fftshift(const X& x, const Axes& axes = {}, Loc loc = Loc::current()) {
  const auto record = [&](detail::Operands o) { return detail::ops::fft::fftshift(o[0], axes, loc); };
  return detail::recorded<elem_t<X>>("fft::fftshift", loc, record, x);
}
/// The inverse of `fftshift`. Errors as for it.
///     fft::ifftshift(D{-2, -1, 0, 1, 2})  // [ 0.  1.  2. -2. -1.]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> ifftshift(const X& x, const Axes& axes = {}, Loc loc = Loc::current()) {
  const auto record = [&](detail::Operands o) { return detail::ops::fft::ifftshift(o[0], axes, loc); };
  return detail::recorded<elem_t<X>>("fft::ifftshift", loc, record, x);
}

/// The element type of `convolve`: that of the operands' promoted type which is floating and not of 16 bits.
template <Elem T>
using convolved_t = std::conditional_t<ComplexElem<T>, T, transformed_real_t<T>>;
/// The convolution of two vectors as `cq::convolve`, by transforms of n + m - 1 elements or some more: of long vectors
/// faster; the error of each element is one of the greatest. Integers count as f32. Throws ShapeError for other ranks
/// and vectors without elements.
///     fft::convolve(D{1, 2, 3}, D{1, 10})  // [ 1. 12. 23. 30.]
template <ArrayLike X, ArrayLike Y>
[[nodiscard]] out_t<convolved_t<promoted_elem_t<X, Y>>, X, Y> convolve(const X& x, const Y& y,
                                                                       convolve_mode mode = convolve_mode::full,
                                                                       Loc loc = Loc::current()) {
  const auto record = [&](detail::Operands o) { return detail::ops::fft::convolve(o[0], o[1], mode, loc); };
  return detail::recorded<convolved_t<promoted_elem_t<X, Y>>>("fft::convolve", loc, record, x, y);
}

}  // namespace calque::fft
