#pragma once
// Samples of the gamma distribution as differentiable values.
#include <cstdint>

#include "frontend/random/random.h"

namespace calque::detail::ops::random {

enum class GammaScale : uint8_t {
  linear,       ///< the samples themselves
  logarithmic,  ///< their logarithms
};

/// `samples` of the gamma distribution of parameter a, drawn without a derivative, with those by `a` of order one and
/// two that keep each sample's quantile; differentiating again throws GradError. Both of one dtype, f32 or f64, and
/// shape.
Handle with_gamma_derivative(Handle a, Handle samples, GammaScale scale, const Site& s);

}  // namespace calque::detail::ops::random
