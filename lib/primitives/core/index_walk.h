#pragma once
// Iteration over multi-dimensional indices in row-major order, for the evaluation rules.
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "calque/ir/shape.h"

namespace calque::primitives {

/// An index into a shape. `next` advances to the row-major successor and wraps to all zeros after the last.
class IndexWalk {
 public:
  explicit IndexWalk(std::span<const int64_t> dims) : dims_(dims.begin(), dims.end()), index_(dims.size(), 0) {}
  void next() {
    for (size_t d = index_.size(); d-- > 0;) {
      if (++index_[d] < dims_[d]) return;
      index_[d] = 0;
    }
  }
  int64_t operator[](size_t d) const { return index_[d]; }
  const std::vector<int64_t>& index() const { return index_; }
  /// sum of index * strides.
  int64_t dot(std::span<const int64_t> strides) const {
    int64_t sum = 0;
    for (size_t d = 0; d < index_.size(); ++d) sum += index_[d] * strides[d];
    return sum;
  }

 private:
  std::vector<int64_t> dims_;
  std::vector<int64_t> index_;
};

/// Runs along `axis` of an array of that shape: f(base, stride) for each of the other indices.
template <class F>
void for_each_line(const Shape& shape, size_t axis, F f) {
  const auto strides = row_major_strides(shape);
  std::vector<int64_t> dims(shape.begin(), shape.end());
  dims[axis] = 1;
  IndexWalk walk(dims);
  for (int64_t i = 0, n = Shape(dims).num_elements(); i < n; ++i, walk.next()) f(walk.dot(strides), strides[axis]);
}

/// to[row-major i] = from[base + sum of index * strides] for all indices of `dims`; elements of `width` bytes.
void copy_strided(void* to, const void* from, size_t width, std::span<const int64_t> dims,
                  std::span<const int64_t> strides, int64_t base);

}  // namespace calque::primitives
