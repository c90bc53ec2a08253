// For x86-64-v3, by compiler flags of this file.
#define CALQUE_LEVEL eig_v3
#define Eigen CalqueEigenV3
#include "runtime/routines/eig_level.h"
