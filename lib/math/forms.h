#pragma once

namespace calque::math {

/// Selects the forms of the functions of lib/math. Each form has its own result bits, the same on every backend.
struct MathForms {
  /// The target has a fused multiply-add. Without it, polynomials round twice per step.
  bool fused = true;
  /// The target has an inverse square root estimate: rsqrt of up to 32 bits is emitted by the code generator.
  bool estimates = false;
  bool fast_math = false;  ///< errors of about 4 ulp, no guarantees for NaN and infinities
};

}  // namespace calque::math
