// For the baseline: x86-64-v2 on x86-64, by compiler flags of this file.
#define CALQUE_LEVEL dense_v2
#define Eigen CalqueEigenV2
#include "runtime/routines/dense_level.h"
#include "runtime/routines/fft_level.h"
#include "runtime/routines/keys_level.h"
