#pragma once

namespace calque::math {

/// Which forms the functions of lib/math take. Each form has its own bits, the same wherever it is computed.
struct MathForms {
  /// The target multiplies and adds in one instruction. Where it does not, polynomials round twice.
  bool fused = true;
  /// The target estimates inverse roots: rsqrt of 32 bits and less is left to the code generator.
  bool estimates = false;
  bool fast_math = false;  ///< errors of about 4 ulp, nothing guaranteed of NaN and infinities
};

}  // namespace calque::math
