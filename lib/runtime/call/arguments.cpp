// The cold paths of flattening: views, expressions that had to be evaluated, strings.
#include <cstring>

#include "calque/detail/call.h"

namespace calque::detail {

void Arguments::add_spec(DType dtype, const Shape& shape) {
  LeafRef& leaf = next(LeafRef::Kind::spec, dtype, shape.rank());
  has_spec_ = true;
  auto owner = std::make_unique<AnyArray>(Type{dtype, shape}, Storage());  // keeps the extents alive
  leaf.extents = owner->shape().begin();
  words_.push_back(head(leaf));
  for (int i = 0; i < leaf.rank; ++i) words_.push_back(static_cast<uint64_t>(leaf.extents[i]));
  owned_.push_back(std::move(owner));
}

void Arguments::add_view(const LeafView& view) {
  const int rank = view.shape.rank();
  if (rank > 2) {
    add_owned(copy_of(view));
    return;
  }
  LeafRef& leaf = next(LeafRef::Kind::view, view.dtype, rank);
  leaf.data = view.data;
  leaf.dense_rows = view.row_major();
  words_.push_back(head(leaf));
  for (int i = 0; i < rank; ++i) {
    leaf.dims[i] = view.shape[static_cast<size_t>(i)];
    words_.push_back(static_cast<uint64_t>(leaf.dims[i]));
  }
  for (int i = 0; i < rank; ++i) leaf.dims[2 + i] = view.strides[static_cast<size_t>(i)];
  if (leaf.dense_rows) {
    const Shape::Dims strides = row_major_strides(view.shape);  // the stride of a size-1 dimension is arbitrary
    for (int i = 0; i < rank; ++i) leaf.dims[2 + i] = strides[static_cast<size_t>(i)];
  } else {
    for (int i = 0; i < rank; ++i) words_.push_back(static_cast<uint64_t>(leaf.dims[2 + i]));
  }
}

void Arguments::add_owned(AnyArray array) {
  owned_.push_back(std::make_unique<AnyArray>(std::move(array)));
  add_array(*owned_.back());
}

void Arguments::add_empty() {
  if (empty_leaf_ < 0) empty_leaf_ = static_cast<int>(leaves_.size());
  next(LeafRef::Kind::scalar, DType::f32, 0);
  words_.push_back(UINT64_MAX);
}

void Arguments::bytes(const void* data, size_t size) {
  words_.push_back(size);
  for (size_t at = 0; at < size; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, static_cast<const char*>(data) + at, std::min<size_t>(8, size - at));
    words_.push_back(word);
  }
}

}  // namespace calque::detail
