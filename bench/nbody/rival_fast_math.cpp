#include <cmath>

#include "nbody/nbody.h"

void accelerations_fast_math(const Bodies& b, float* out) {
#include "nbody/pairs.inc"
}
