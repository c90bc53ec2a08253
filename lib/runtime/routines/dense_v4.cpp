// For x86-64-v4, by compiler flags of this file.
#define CALQUE_LEVEL dense_v4
#define Eigen CalqueEigenV4
#include "runtime/routines/dense_level.h"
#include "runtime/routines/fft_level.h"
#include "runtime/routines/keys_level.h"
