// For x86-64-v2, by compiler flags of this file.
#define CALQUE_LEVEL eig_v2
#define Eigen CalqueEigenV2
#include "runtime/routines/eig_level.h"
