// For x86-64-v4, by compiler flags of this file.
#define CALQUE_LEVEL eig_v4
#define Eigen CalqueEigenV4
#include "runtime/routines/eig_level.h"
