#pragma once
// Names of element types in C++, for messages and for exported headers.
#include <string_view>

#include "calque/ir/dtype.h"

namespace calque {

/// `float`, `int32_t`, `bfloat16`, `std::complex<double>`.
std::string_view cpp_name(DType dtype);

}  // namespace calque
