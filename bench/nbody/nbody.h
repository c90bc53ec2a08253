// Case 10: the acceleration of each body by all others (and by itself: zero), softened, all in f32.
#pragma once

#include <cstddef>

struct Bodies {
  const float *x, *y, *z, *mass;
  size_t n;
};

constexpr float kSoftening = 1e-2f;

/// ax, ay and az, concatenated.
void accelerations_plain(const Bodies& bodies, float* out);
void accelerations_fast_math(const Bodies& bodies, float* out);
/// Hand-written: four vectors of bodies at a time, an estimated root and one Newton step.
void accelerations_intrinsics(const Bodies& bodies, float* out);
