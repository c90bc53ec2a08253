#include "codegen/scalar/math_backend.h"
#include "math/functions.h"

namespace calque::codegen {

llvm::Value* append_f64(PrimitiveId id, bool fast_math, llvm::Value* x, llvm::Value* y) {
  using F = math::Lane<double, LlvmBackend>;
  return math::function_of(id, fast_math, F::from_raw(x), F::from_raw(y)).value().raw();
}

}  // namespace calque::codegen
