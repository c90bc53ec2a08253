#include "ir/values/cpp_name.h"

namespace calque {

std::string_view cpp_name(DType dtype) {
  switch (dtype) {
    case DType::bool_:
      return "bool";
    case DType::i8:
      return "int8_t";
    case DType::i16:
      return "int16_t";
    case DType::i32:
      return "int32_t";
    case DType::i64:
      return "int64_t";
    case DType::u8:
      return "uint8_t";
    case DType::u16:
      return "uint16_t";
    case DType::u32:
      return "uint32_t";
    case DType::u64:
      return "uint64_t";
    case DType::f16:
      return "float16";
    case DType::bf16:
      return "bfloat16";
    case DType::f32:
      return "float";
    case DType::f64:
      return "double";
    case DType::c64:
      return "std::complex<float>";
    case DType::c128:
      return "std::complex<double>";
  }
  __builtin_unreachable();
}

}  // namespace calque
