#include <cmath>

#include "nbody/nbody.h"

void accelerations_plain(const Bodies& b, float* out) {
#include "nbody/pairs.inc"
}
