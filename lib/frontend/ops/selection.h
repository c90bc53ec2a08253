#pragma once
// What an index list selects of an array, worked out from its type alone: a strided window of x, in which every
// dimension that an index array addresses is whole; the dimensions of that window that stay; and where the index arrays
// go.
#include <span>
#include <vector>

#include "calque/detail/indexing.h"

#include "frontend/ops/common.h"

namespace calque::detail {

struct Selection {
  using Ints = ops::Ints;

  /// One dimension of x.
  struct Window {
    int64_t start = 0, count = 0, stride = 1;  ///< elements start, start + stride, ...
    bool reversed = false;                     ///< taken from the last to the first
  };
  std::vector<Window> windows;
  /// The window's shape, its reverse axes, and the same elements as they are seen: integers' dimensions dropped,
  /// newaxis inserted.
  Shape window_shape;
  Ints reversed_axes;
  Shape kept;

  /// Index arrays: positions in the item list, and the dimensions of `kept` that they address.
  std::vector<size_t> arrays;
  Ints array_dims;
  /// Where the arrays' own dimensions stand among the kept ones that no array addresses.
  int64_t placement = 0;

  bool whole() const;       ///< the window is all of x, in order
  bool contiguous() const;  ///< all strides are 1
  bool empty() const { return window_shape.num_elements() == 0; }
};

/// Throws ShapeError for too many items, an integer out of bounds, a step of zero.
Selection select_items(const Type& x, std::span<const IndexItem> items, const ops::Site& site);

}  // namespace calque::detail
