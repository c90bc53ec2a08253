#pragma once
#include <vector>

#include "primitives/core/writer.h"

namespace calque::transform {

/// The cotangent of a slice with stride 1, of the elements in [start, limit).
struct Window {
  std::vector<int64_t> start, limit;
  Value cotangent;
};

/// The cotangent of an array, given the cotangents of its slices. Disjoint windows are concatenated before they are
/// added, so that the gradient of reading an array element by element is linear, not quadratic, in the number of
/// elements.
Value sum_of_windows(const primitives::Writer& writer, std::vector<Window> windows, const Type& type);

}  // namespace calque::transform
