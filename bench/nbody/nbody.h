// Case 10: the acceleration of each body by all others (and by itself: zero), softened, all in f32.
#pragma once

#include <cstddef>

struct Bodies {
  const float *x, *y, *z, *mass;
  size_t n;
};

constexpr float kSoftening = 1e-2f;

/// ax, ay and az one after the other.
void accelerations_plain(const Bodies& bodies, float* out);
void accelerations_fast_math(const Bodies& bodies, float* out);
/// By hand: four vectors of bodies at a time, an estimated root and one step of Newton's.
void accelerations_intrinsics(const Bodies& bodies, float* out);
