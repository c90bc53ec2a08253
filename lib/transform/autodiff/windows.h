#pragma once
#include <vector>

#include "primitives/core/writer.h"

namespace calque::transform {

/// The cotangent of a slice with stride 1: of the elements from `start` to below `limit`.
struct Window {
  std::vector<int64_t> start, limit;
  Value cotangent;
};

/// The cotangent of an array of which these are the cotangents of slices. Windows that lie side by side are put
/// together before they are added, so that reading an array element by element costs as much as it has elements, and
/// not the square of that.
Value sum_of_windows(const primitives::Writer& writer, std::vector<Window> windows, const Type& type);

}  // namespace calque::transform
