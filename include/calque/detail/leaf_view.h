#pragma once
// Caller's memory that is read in place: an argument that is not an Array (an Eigen matrix, a map, a block) enters a
// compiled function without a copy.
#include "calque/ir/any_array.h"

namespace calque::detail {

/// Elements owned by the caller, valid during the call. Strides are in elements and arbitrary (column-major matrices,
/// blocks, transposed views); `data` points to the element of index zero.
struct LeafView {
  DType dtype = DType::f32;
  const void* data = nullptr;
  Shape shape;
  Shape::Dims strides;

  /// True if the elements are laid out as in a row-major array.
  bool row_major() const;
};

/// The view of `count` elements in a row.
LeafView view_of_list(DType dtype, const void* data, size_t count);
/// The view of an array.
LeafView view_of(const AnyArray& array);
/// A row-major copy of the elements.
AnyArray copy_of(const LeafView& view);
/// Copies a row-major array into strided memory of the same shape and dtype: `data` and `strides` as in a view.
void copy_to(const AnyArray& array, void* data, const Shape::Dims& strides);

}  // namespace calque::detail
