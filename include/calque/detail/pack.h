#pragma once
// Conversion between one tracer and tracers of its elements, for matrices of tracers.
#include <span>
#include <string_view>
#include <vector>

#include "calque/detail/operand.h"

namespace calque::detail {

/// The array of `type` whose elements, row-major, are the rank-0 tracers `elements`. Throws ShapeError for an element
/// of another rank.
Handle pack_elements(std::span<const Handle> elements, const Type& type, Location location);
/// The elements, row-major, each a tracer of rank 0.
std::vector<Handle> unpack_elements(Handle array, Location location);

/// Throws ShapeError that names `path` unless the tracer is a scalar, as a struct's member that is a number in its
/// data.
void require_number(Handle handle, std::string_view path);

/// Rows and columns of an array that becomes a matrix; one of them is 1 for a vector.
struct MatrixShape {
  int64_t rows = 0, columns = 0;
};
/// Compile-time limits of a matrix type: extents and their maxima, -1 if dynamic.
struct MatrixLimits {
  int64_t rows = -1, columns = -1, max_rows = -1, max_columns = -1;
  bool vector = false;  ///< one extent is 1 at compile time: arrays of rank 1 fit
};
/// The rows and columns of an array of `type` as such a matrix. Throws ShapeError when it does not fit the limits.
MatrixShape matrix_shape(const Type& type, const MatrixLimits& limits, Location location);

}  // namespace calque::detail
