#include "primitives/core/index_walk.h"

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

}  // namespace calque::primitives
