#pragma once
// What an index list selects of an array, computed from its type alone: a strided window of x, in which every dimension
// addressed by an index array is whole; the dimensions of that window that are kept; and the position of the index
// arrays' dimensions.
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
  /// The window's shape, its reversed axes, and the shape of the same elements with the dimensions of integer indices
  /// dropped and newaxis inserted.
  Shape window_shape;
  Ints reversed_axes;
  Shape kept;
  Ints kept_axes;  ///< by dimension of `kept`: the dimension of x, -1 for newaxis

  /// Index arrays: positions in the item list, and the dimensions of `kept` that they address.
  std::vector<size_t> arrays;
  Ints array_dims;
  /// The position of the index arrays' dimensions among the kept ones that no array addresses.
  int64_t index_position = 0;

  bool whole() const;       ///< the window is all of x, in order
  bool contiguous() const;  ///< all strides are 1
  bool empty() const { return window_shape.num_elements() == 0; }
};

/// Throws ShapeError for too many items, an integer out of bounds, or a step of zero.
Selection select_items(const Type& x, std::span<const IndexItem> items, const ops::Site& site);

}  // namespace calque::detail
