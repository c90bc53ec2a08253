// Copies between strided memory and row-major arrays, tiled over the last two dimensions, so that a transposed matrix
// is not read or written one element per cache line.
#include "calque/detail/leaf_view.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace calque::detail {
namespace {

constexpr int64_t kTile = 32;

struct Dimension {
  int64_t extent, from, to;  // strides in elements
};

template <size_t Size>
struct Element {
  unsigned char bytes[Size];
};

template <class E>
void copy_plane(const E* from, E* to, Dimension rows, Dimension columns) {
  if (columns.from == 1 && columns.to == 1) {
    for (int64_t i = 0; i < rows.extent; ++i) {
      std::memcpy(to + i * rows.to, from + i * rows.from, static_cast<size_t>(columns.extent) * sizeof(E));
    }
    return;
  }
  for (int64_t i0 = 0; i0 < rows.extent; i0 += kTile) {
    const int64_t i1 = std::min(i0 + kTile, rows.extent);
    for (int64_t j0 = 0; j0 < columns.extent; j0 += kTile) {
      const int64_t j1 = std::min(j0 + kTile, columns.extent);
      for (int64_t i = i0; i < i1; ++i) {
        for (int64_t j = j0; j < j1; ++j) to[i * rows.to + j * columns.to] = from[i * rows.from + j * columns.from];
      }
    }
  }
}

template <class E>
void copy_elements(const E* from, E* to, std::span<const Dimension> dims) {
  if (dims.size() > 2) {
    for (int64_t i = 0; i < dims[0].extent; ++i) {
      copy_elements(from + i * dims[0].from, to + i * dims[0].to, dims.subspan(1));
    }
  } else {
    const Dimension one{1, 0, 0};
    copy_plane(from, to, dims.size() == 2 ? dims[0] : one, dims.empty() ? Dimension{1, 1, 1} : dims.back());
  }
}

void copy_strided(const void* from, const Shape::Dims& from_strides, void* to, const Shape::Dims& to_strides,
                  const Type& type) {
  if (type.shape.num_elements() == 0) return;
  std::vector<Dimension> dims;
  for (size_t i = 0; i < type.shape.size(); ++i) dims.push_back({type.shape[i], from_strides[i], to_strides[i]});
  const auto copy = [&]<size_t Size>() {
    copy_elements(static_cast<const Element<Size>*>(from), static_cast<Element<Size>*>(to), dims);
  };
  switch (size_of(type.dtype)) {
    case 1:
      return copy.operator()<1>();
    case 2:
      return copy.operator()<2>();
    case 4:
      return copy.operator()<4>();
    case 8:
      return copy.operator()<8>();
    default:
      return copy.operator()<16>();
  }
}

}  // namespace

bool LeafView::row_major() const {
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != step) return shape.num_elements() == 0;
    step *= shape[i];
  }
  return true;
}

LeafView view_of(const AnyArray& array) {
  return {array.dtype(), array.data(), array.shape(), row_major_strides(array.shape())};
}

AnyArray copy_of(const LeafView& view) {
  const Type type{view.dtype, view.shape};
  AnyArray array = AnyArray::uninitialized(type);
  copy_strided(view.data, view.strides, array.mutable_data(), row_major_strides(view.shape), type);
  return array;
}

void copy_to(const AnyArray& array, void* data, const Shape::Dims& strides) {
  copy_strided(array.data(), row_major_strides(array.shape()), data, strides, array.type());
}

}  // namespace calque::detail
