#pragma once
// Compares a result with the expected array: shape and dtype must be equal, NaN equals only NaN.
#include <string>

#include "calque/ir/any_array.h"

namespace calque::cli {

/// How close results must be. Integers and bools are always compared exactly.
struct Tolerance {
  enum class Kind : unsigned char { exact, ulp, relative };
  Kind kind = Kind::exact;
  double ulp = 0;             ///< representable values between result and expectation, in their dtype
  double rtol = 0, atol = 0;  ///< |got - want| <= atol + rtol |want|; complex numbers by their modulus
  bool signed_zero = false;   ///< zeros of different sign differ
  bool lower_only = false;    ///< only the lower triangle of the last two dimensions counts
};

/// A description of the difference; empty when the result is within tolerance.
std::string difference(const AnyArray& got, const AnyArray& want, const Tolerance& tolerance);

}  // namespace calque::cli
