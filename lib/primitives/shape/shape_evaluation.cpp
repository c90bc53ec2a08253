// Evaluation of the views: strided copies, element by element.
#include <algorithm>
#include <utility>

#include "primitives/core/index_walk.h"
#include "primitives/elementwise/numbers.h"
#include "primitives/shape/shape.h"

namespace calque::primitives {
namespace {

template <size_t Width>
void copy_elements(void* to, const void* from, std::span<const int64_t> dims, std::span<const int64_t> strides,
                   int64_t base) {
  const int64_t count = Shape(dims).num_elements();
  if (count == 0) return;
  const size_t rank = dims.size();
  const int64_t inner = rank == 0 ? 1 : dims[rank - 1];
  const int64_t step = rank == 0 ? 0 : strides[rank - 1];
  IndexWalk walk(dims.first(rank == 0 ? 0 : rank - 1));
  auto* out = static_cast<char*>(to);
  for (int64_t row = 0; row < count / inner; ++row, walk.next()) {
    int64_t at = base + walk.dot(strides);
    for (int64_t i = 0; i < inner; ++i, at += step, out += Width) {
      std::memcpy(out, static_cast<const char*>(from) + at * static_cast<int64_t>(Width), Width);
    }
  }
}

/// Copies the operand through an affine index map.
void copy_view(Evaluation& e, std::span<const int64_t> strides, int64_t base = 0) {
  AnyArray& out = e.add_result();
  copy_strided(out.mutable_data(), e.operands[0].data(), size_of(out.dtype()), out.shape().dims(), strides, base);
}

}  // namespace

void copy_strided(void* to, const void* from, size_t width, std::span<const int64_t> dims,
                  std::span<const int64_t> strides, int64_t base) {
  switch (width) {
    case 1:
      return copy_elements<1>(to, from, dims, strides, base);
    case 2:
      return copy_elements<2>(to, from, dims, strides, base);
    case 4:
      return copy_elements<4>(to, from, dims, strides, base);
    case 8:
      return copy_elements<8>(to, from, dims, strides, base);
    default:
      return copy_elements<16>(to, from, dims, strides, base);
  }
}

void Iota::evaluate(Evaluation& e) {
  AnyArray& out = e.add_result();
  const auto axis = static_cast<size_t>(e.attributes.integer("axis"));
  visit_dtype(out.dtype(), [&]<class T>() {
    T* to = static_cast<T*>(out.mutable_data());
    IndexWalk walk(out.shape().dims());
    for (int64_t i = 0, n = out.size(); i < n; ++i, walk.next()) to[i] = convert_element<T>(walk[axis]);
  });
}

void Broadcast::evaluate(Evaluation& e) {
  const Shape& from = e.operands[0].shape();
  const auto from_strides = row_major_strides(from);
  std::vector<int64_t> strides(e.result_types[0].shape.size(), 0);
  const auto& axes = e.attributes.ints("axes");
  for (size_t i = 0; i < axes.size(); ++i) {
    if (from[i] != 1) strides[static_cast<size_t>(axes[i])] = from_strides[i];
  }
  copy_view(e, strides);
}

void Reshape::evaluate(Evaluation& e) { e.results.emplace_back(e.result_types[0], e.operands[0].storage()); }

void Transpose::evaluate(Evaluation& e) {
  const auto from_strides = row_major_strides(e.operands[0].shape());
  std::vector<int64_t> strides;
  for (int64_t p : e.attributes.ints("perm")) strides.push_back(from_strides[static_cast<size_t>(p)]);
  copy_view(e, strides);
}

void Reverse::evaluate(Evaluation& e) {
  const Shape& shape = e.operands[0].shape();
  std::vector<int64_t> strides = row_major_strides(shape);
  int64_t base = 0;
  for (int64_t axis : e.attributes.ints("axes")) {
    const auto d = static_cast<size_t>(axis);
    base += (shape[d] - 1) * strides[d];
    strides[d] = -strides[d];
  }
  copy_view(e, strides, base);
}

void Slice::evaluate(Evaluation& e) {
  std::vector<int64_t> strides = row_major_strides(e.operands[0].shape());
  const auto& start = e.attributes.ints("start");
  const auto& stride = e.attributes.ints("stride");
  int64_t base = 0;
  for (size_t d = 0; d < strides.size(); ++d) {
    base += start[d] * strides[d];
    // A stride beyond the extent selects one element, index 0: clamping it avoids overflow.
    strides[d] *= std::min(stride[d], std::max<int64_t>(e.operands[0].shape()[d], 1));
  }
  copy_view(e, strides, base);
}

void Diagonal::evaluate(Evaluation& e) {
  const Shape& shape = e.operands[0].shape();
  const DiagonalRange range(e.attributes, shape);
  const std::vector<int64_t> from = row_major_strides(shape);
  std::vector<int64_t> strides;
  for (size_t d = 0; d < from.size(); ++d) {
    if (d != range.axis1 && d != range.axis2) strides.push_back(from[d]);
  }
  strides.push_back(from[range.axis1] + from[range.axis2]);
  copy_view(e, strides, range.first1 * from[range.axis1] + range.first2 * from[range.axis2]);
}

void Pad::evaluate(Evaluation& e) {
  AnyArray& out = e.add_result();
  const AnyArray& x = e.operands[0];
  const size_t width = size_of(out.dtype());
  auto* to = static_cast<char*>(out.mutable_data());
  const int64_t n = out.size();
  for (int64_t i = 0; i < n; ++i) std::memcpy(to + static_cast<size_t>(i) * width, e.operands[1].data(), width);
  if (n == 0) return;
  const auto& low = e.attributes.ints("low");
  const auto& interior = e.attributes.ints("interior");
  const auto strides = row_major_strides(out.shape());
  IndexWalk walk(x.shape().dims());
  for (int64_t i = 0, count = x.size(); i < count; ++i, walk.next()) {
    int64_t at = 0;
    bool inside = true;
    for (size_t d = 0; d < strides.size(); ++d) {
      const int64_t p = walk[d] * (interior[d] + 1) + low[d];
      inside = inside && p >= 0 && p < out.shape()[d];
      if (inside) at += p * strides[d];
    }
    if (inside) {
      std::memcpy(to + static_cast<size_t>(at) * width, bytes_of(x) + static_cast<size_t>(i) * width, width);
    }
  }
}

void Concatenate::evaluate(Evaluation& e) {
  AnyArray& out = e.add_result();
  const auto axis = static_cast<size_t>(e.attributes.integer("axis"));
  size_t outer = 1;
  for (size_t d = 0; d < axis; ++d) outer *= static_cast<size_t>(out.shape()[d]);
  if (out.size() == 0) return;
  const size_t row = out.bytes() / outer;
  auto* to = static_cast<char*>(out.mutable_data());
  for (const AnyArray& x : e.operands) {
    const size_t x_row = x.bytes() / outer;
    for (size_t o = 0; x_row != 0 && o < outer; ++o) {
      std::memcpy(to + o * row, bytes_of(x) + o * x_row, x_row);
    }
    to += x_row;
  }
}

}  // namespace calque::primitives
