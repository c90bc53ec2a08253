#pragma once
// What the rules of dynamic slices, gather and scatters share. Every start is clamped or checked before use.
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "primitives/core/lowering.h"
#include "primitives/core/rule.h"

namespace calque::primitives {

/// Checks common to gather and scatter: the indices, the map of their components and the batching dimensions.
void check_indices(Typing& t, std::string_view map_name, const std::vector<int64_t>& map, std::string_view removed_name,
                   const std::vector<int64_t>& removed);

/// Element i of an integer array; u64 beyond i64 saturates.
int64_t index_at(const AnyArray& a, int64_t i);

/// The offsets of the windows of a gather or scatter in x, in elements, one per index vector.
struct Windows {
  std::vector<int64_t> offsets;  ///< -1: outside

  Windows(const Shape& x, const AnyArray& indices, std::span<const int64_t> map, std::span<const int64_t> x_batching,
          std::span<const int64_t> indices_batching, std::span<const int64_t> window, bool clip);
};

/// For each dimension of an array of windows: the stride in x if it runs over the window, or the stride in the
/// row-major batch if it runs over the index vectors.
struct WindowStrides {
  std::vector<int64_t> in_window, in_batch;

  WindowStrides(const Shape& array, std::span<const int64_t> window_dims, const Shape& x,
                std::span<const int64_t> removed, std::span<const int64_t> batching);
};

/// An integer of any dtype as i64; u64 beyond i64 saturates, so that it stays out of range.
Scalar as_index(Lowering& l, Scalar s);

/// An integer of any dtype as i64, clamped to [0, high].
Scalar clamped_index(Lowering& l, Scalar s, int64_t high);

}  // namespace calque::primitives
