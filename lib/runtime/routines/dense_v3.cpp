// For x86-64-v3, by compiler flags of this file.
#define CALQUE_LEVEL dense_v3
#define Eigen CalqueEigenV3
#include "runtime/routines/dense_level.h"
#include "runtime/routines/fft_level.h"
#include "runtime/routines/keys_level.h"
