#pragma once
// Recognizes kernels that are exactly one matrix product, or one batched product, as libraries compute it. Offsets and
// strides are in elements.
#include <compare>
#include <optional>

#include "kernel/ir/kernel.h"

namespace calque::kernel {

/// out[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, k, n]. 16-bit floats accumulate in f32.
struct LibraryProduct {
  /// Element (row, column) of matrix b is at offset + b * batch_stride + row * leading + column; if transposed, at
  /// offset + b * batch_stride + column * leading + row.
  struct Matrix {
    int32_t buffer = -1;
    int64_t offset = 0, leading = 0, batch_stride = 0;
    bool transposed = false;
    int64_t alignment = 1;  ///< of its first element, in bytes
    friend auto operator<=>(const Matrix&, const Matrix&) = default;
  };
  int64_t batch = 1, rows = 0, columns = 0, k = 0;
  DType factor = DType::f32, result = DType::f32;
  Matrix lhs, rhs, out;  ///< `out` is not transposed
  friend auto operator<=>(const LibraryProduct&, const LibraryProduct&) = default;

  double flops() const {
    return 2.0 * static_cast<double>(batch) * static_cast<double>(rows) * static_cast<double>(columns) *
           static_cast<double>(k);
  }
};

/// The product of an outermost contraction, or of a nest of parallel loops whose only work is one, if it is stored
/// alone, as an array of rows in f32 for 16-bit factors, and factors that are computed are arrays of rows. Nothing
/// where libraries do not support the layout of the other factors.
struct ProductInNest {
  LibraryProduct product;
  bool lhs_computed = false, rhs_computed = false;
};
std::optional<ProductInNest> library_product_in(const Kernel& kernel, const Instruction& outermost);

/// Nothing where the kernel does anything else, or where libraries do not support the layout of its matrices.
std::optional<LibraryProduct> library_product_of(const Kernel& kernel);

}  // namespace calque::kernel
