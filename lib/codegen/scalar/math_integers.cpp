#include "codegen/scalar/math_backend.h"
#include "math/elementary/integer_power.h"
#include "math/elementary/remainder.h"

namespace calque::codegen {

llvm::Value* append_integer_power(DType dtype, llvm::Value* x, llvm::Value* n) {
  return visit_dtype(dtype, [&]<class T>() -> llvm::Value* {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      using I = math::Lane<T, LlvmBackend>;
      return math::integer_power(I::from_raw(x), I::from_raw(n)).raw();
    } else {
      return nullptr;
    }
  });
}

llvm::Value* append_nextafter_of_half(DType half, llvm::Value* x, llvm::Value* y, llvm::Value* x_bits,
                                      llvm::Value* y_bits) {
  using F = math::Lane<float, LlvmBackend>;
  using I = math::Lane<int16_t, LlvmBackend>;
  return math::nextafter_of_half(F::from_raw(x), F::from_raw(y), I::from_raw(x_bits), I::from_raw(y_bits),
                                 half == DType::bf16)
      .raw();
}

}  // namespace calque::codegen
