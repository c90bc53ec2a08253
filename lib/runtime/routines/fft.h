#pragma once
// Fourier transforms of rows on one thread, compiled once for each level of instruction sets by the sources of dense.h.
// Stockham's algorithm: a pass of radix r writes its results in order, so that none is permuted; real and imaginary
// parts are planes of their own within a transform, and elements that are next to each other are lanes of a vector
// (Van Loan, Computational Frameworks for the Fast Fourier Transform, 1992).
#include <cstdint>

namespace calque::runtime {

/// With m = `count` and s = `stride`, for each p < m and q < s: y[q + s (radix p + k)] is exp(-2 pi i p k / (radix m))
/// times the sum over j of x[q + s (p + j m)] exp(-2 pi i j k / radix).
template <class T>
struct FftPass {
  int64_t radix, count, stride;
  /// Of each p, for k = 1 ... radix - 1, the real and the imaginary part of the factor.
  const T* twiddles;
  /// The same for lanes of different p: for each k the real parts, then the imaginary ones, of all q + s p. Null where
  /// vectors have one p.
  const T* lane_twiddles;
  /// cos(2 pi j / radix) and sin(2 pi j / radix) for j < radix.
  const T* cosines;
  const T* sines;
};

/// A complex transform of n elements.
template <class T>
struct FftPlan {
  int64_t n;
  int64_t num_passes;
  const FftPass<T>* passes;
  /// Of a length with a prime factor that no pass has: that of the cyclic convolution with exp(i pi k^2 / n) by which
  /// it is computed (Bluestein, 1970), the conjugate of that number as n real and n imaginary parts, and the transform
  /// of the convolved numbers over the convolution's length, in the same form.
  const FftPlan* convolution;
  /// Of a long row: its elements as a matrix, of which first the columns are transformed, then, times the twiddles, of
  /// each row the real parts and then the imaginary ones, the rows (Bailey, FFTs in external or hierarchical memory,
  /// 1990). Both lengths are multiples of the lanes.
  const FftPlan* columns;
  const FftPlan* rows;
  const T* matrix_twiddles;
  const T* chirp;
  const T* spectrum;
};

/// The transforms of rows; `fft`, `ifft`, `rfft`, `irfft` are those of primitives::FftKind.
template <class T>
struct FftRows {
  uint32_t kind;
  int64_t length;
  /// Of length n, or n / 2 if that is a whole number and rows are real.
  const FftPlan<T>* plan;
  /// exp(-2 pi i k / n) for k = 0 ... n / 4, if `plan` is one of half the length.
  const T* half_twiddles;
};

/// Rows that are transformed side by side in the lanes of vectors are at most this long.
inline constexpr int64_t kLongestLane = 128;

template <class T>
struct FftRoutines {
  int64_t lanes;
  /// Numbers of space that a call of `transform` needs for `side_by_side` rows.
  int64_t (*space)(const FftRows<T>& rows, bool side_by_side);
  /// Transforms `count` rows, one after another.
  void (*transform)(const FftRows<T>& rows, const T* from, T* to, int64_t count, T* space);
  /// Transforms at most `lanes` rows side by side.
  void (*transform_lanes)(const FftRows<T>& rows, const T* from, T* to, int64_t count, T* space);
};

/// Those for the processor on which programs run (CALQUE_CPU included).
template <class T>
const FftRoutines<T>& fft_routines();
template <>
const FftRoutines<float>& fft_routines<float>();
template <>
const FftRoutines<double>& fft_routines<double>();

/// The greatest radix of a pass.
inline constexpr int64_t kMostRadix = 61;

}  // namespace calque::runtime
