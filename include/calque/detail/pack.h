#pragma once
// One tracer from tracers of its elements, and back: the way between arrays and matrices of tracers.
#include <span>
#include <vector>

#include "calque/detail/operand.h"

namespace calque::detail {

/// The array of `type` whose elements, row-major, are the rank-0 tracers `elements`. Throws ShapeError for an element
/// of another rank, LeakedTracerError for one that was never assigned.
Handle pack_elements(std::span<const Handle> elements, const Type& type, Location location);
/// The elements, row-major, each a tracer of rank 0.
std::vector<Handle> unpack_elements(Handle array, Location location);

/// Rows and columns of an array that becomes a matrix; a vector of n elements has n of the one and 1 of the other.
struct MatrixShape {
  int64_t rows = 0, columns = 0;
};
/// What a matrix type demands at compile time: extents and their maxima, -1 where they are open.
struct MatrixLimits {
  int64_t rows = -1, columns = -1, max_rows = -1, max_columns = -1;
  bool vector = false;  ///< one extent is 1 at compile time: arrays of rank 1 fit
};
/// Throws ShapeError in words when an array of `type` does not fit.
MatrixShape matrix_shape(const Type& type, const MatrixLimits& limits, Location location);

}  // namespace calque::detail
