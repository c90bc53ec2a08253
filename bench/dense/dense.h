// Case 14: y = gelu(x w + bias), square matrices of f32, or of bf16 with f32 accumulators.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

using Dense = std::function<void(const void* x, const void* w, const void* bias, void* y)>;

/// Empty when the machine has no bf16 instructions.
Dense dense_onednn(int64_t n, bool bf16);
std::string onednn_version();
