// A cuBLASLt that opens and has every function, but fails to initialise, as with a driver that is too old for it.
#include "runtime/cuda/cublaslt.h"

using namespace calque::runtime;  // NOLINT: the parameters' names are written within it
using namespace calque::runtime::cublas;

extern "C" {

#define CALQUE_X(member, symbol, parameters) \
  Status symbol parameters { return 1; }  // not initialized
#pragma GCC diagnostic ignored "-Wunused-parameter"
CALQUE_CUBLASLT_FUNCTIONS(CALQUE_X)
#undef CALQUE_X

size_t cublasLtGetVersion() { return 130102; }

}  // extern "C"
