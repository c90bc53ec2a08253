#pragma once
// Discrete Fourier transforms of the last dimension. Those of several dimensions, and of others, are made of them.
#include <string_view>

#include "primitives/core/rule.h"

namespace calque::primitives {

/// Which transform, by its name in graphs.
enum class FftKind : uint8_t {
  fft,    ///< complex numbers by exp(-2 pi i j k / n)
  ifft,   ///< complex numbers by exp(2 pi i j k / n), divided by n
  rfft,   ///< the first n / 2 + 1 results of fft, of real numbers
  irfft,  ///< its inverse: the real numbers whose rfft the operand is
};
inline constexpr std::array<std::string_view, 4> kFftNames = {"fft", "ifft", "rfft", "irfft"};

struct Fft : Structural {
  static constexpr std::string_view name = "fft";
  static constexpr std::string_view doc =
      "the discrete Fourier transform of rows of `length` elements; kind fft: result[k] = sum over j of x[j] exp(-2 pi "
      "i j k / length); ifft: with the opposite sign of the exponent, divided by `length`; rfft: of real rows, "
      "elements "
      "0 ... length / 2 of the result; irfft: the real rows of which these are the results, whose imaginary parts at 0 "
      "and length / 2 are not read; pairs: complex numbers are pairs of real ones, a further dimension of 2";
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr std::array attributes{AttributeSpec{"kind", AttributeKind::text},
                                         AttributeSpec{"length", AttributeKind::integer},
                                         AttributeSpec{"pairs", AttributeKind::boolean, true}};
  static constexpr FusionKind fusion_kind = FusionKind::routine;
  static constexpr Routine routine = Routine::fft;
  static uint32_t routine_flags(const Attributes& attributes);
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b) { batch_same(b); }
};

using SpectralList = TypeList<Fft>;

}  // namespace calque::primitives
