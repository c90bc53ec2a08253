#include "primitives/indexing/windows.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "primitives/core/index_walk.h"
#include "primitives/elementwise/numbers.h"
#include "primitives/list.h"

namespace calque::primitives {
namespace {

using List = std::vector<int64_t>;

void check_disjoint(Typing& t, std::string_view a_name, const List& a, std::string_view b_name, const List& b) {
  for (int64_t axis : a) {
    if (has_axis(b, axis)) t.shape_error(fmt::format("dimension {} is in both {} and {}", axis, a_name, b_name));
  }
}

}  // namespace

void check_indices(Typing& t, std::string_view map_name, const List& map, std::string_view removed_name,
                   const List& removed) {
  const Type& x = t.operand(0);
  const Type& indices = t.operand(1);
  t.accept(1, kInteger);
  if (indices.shape.rank() < 1) {
    t.shape_error(fmt::format("expects indices whose last dimension is the index vector, got {}", to_string(indices)));
  }
  const size_t batch_rank = indices.shape.size() - 1;
  const int rank = x.shape.rank();
  t.check_axes(map_name, map, rank, /*sorted=*/false);
  t.check_axes(removed_name, removed, rank, /*sorted=*/true);
  if (static_cast<int64_t>(map.size()) != indices.shape[batch_rank]) {
    t.shape_error(fmt::format("expects index vectors of {} components for {} {}, got {}", map.size(), map_name,
                              to_text(map), to_string(indices)));
  }
  const List& operand_batching = t.ints("operand_batching_dims");
  const List& indices_batching = t.ints("indices_batching_dims");
  t.check_axes("operand_batching_dims", operand_batching, rank, /*sorted=*/true);
  t.check_axes("indices_batching_dims", indices_batching, static_cast<int>(batch_rank), /*sorted=*/false);
  if (operand_batching.size() != indices_batching.size()) {
    t.shape_error(fmt::format("operand_batching_dims {} and indices_batching_dims {} differ in number",
                              to_text(operand_batching), to_text(indices_batching)));
  }
  check_disjoint(t, "operand_batching_dims", operand_batching, removed_name, removed);
  check_disjoint(t, "operand_batching_dims", operand_batching, map_name, map);
  for (size_t k = 0; k < operand_batching.size(); ++k) {
    if (x.shape[static_cast<size_t>(operand_batching[k])] != indices.shape[static_cast<size_t>(indices_batching[k])]) {
      t.shape_error(fmt::format("batching dimensions {} of {} and {} of {} differ", operand_batching[k], to_string(x),
                                indices_batching[k], to_string(indices)));
    }
  }
}

int64_t index_at(const AnyArray& a, int64_t i) {
  return visit_dtype(a.dtype(), [&]<class T>() -> int64_t {
    if constexpr (std::is_integral_v<T>) {
      const T value = a.data_as<T>()[i];
      if constexpr (std::is_same_v<T, uint64_t>) {
        return static_cast<int64_t>(std::min<uint64_t>(value, std::numeric_limits<int64_t>::max()));
      }
      return static_cast<int64_t>(value);
    } else {
      return 0;
    }
  });
}

Windows::Windows(const Shape& x, const AnyArray& indices, std::span<const int64_t> map,
                 std::span<const int64_t> x_batching, std::span<const int64_t> indices_batching,
                 std::span<const int64_t> window, bool clip) {
  const auto strides = row_major_strides(x);
  const std::span<const int64_t> batch_dims = indices.shape().dims().first(indices.shape().size() - 1);
  int64_t count = 1;
  for (int64_t d : batch_dims) count *= d;
  const auto components = static_cast<int64_t>(map.size());
  IndexWalk walk(batch_dims);
  for (int64_t b = 0; b < count; ++b, walk.next()) {
    int64_t offset = 0;
    bool inside = true;
    for (int64_t k = 0; k < components; ++k) {
      const auto d = static_cast<size_t>(map[static_cast<size_t>(k)]);
      const int64_t room = x[d] - window[d];
      int64_t start = index_at(indices, b * components + k);
      if (clip) start = std::clamp<int64_t>(start, 0, room);
      inside = inside && start >= 0 && start <= room;
      if (inside) offset += start * strides[d];
    }
    for (size_t k = 0; k < x_batching.size(); ++k) {
      offset += walk[static_cast<size_t>(indices_batching[k])] * strides[static_cast<size_t>(x_batching[k])];
    }
    offsets.push_back(inside ? offset : -1);
  }
}

WindowStrides::WindowStrides(const Shape& array, std::span<const int64_t> window_dims, const Shape& x,
                             std::span<const int64_t> removed, std::span<const int64_t> batching)
    : in_window(array.size(), 0), in_batch(array.size(), 0) {
  const auto strides = row_major_strides(x);
  size_t x_dim = 0;
  for (int64_t d : window_dims) {
    while (has_axis(removed, static_cast<int64_t>(x_dim)) || has_axis(batching, static_cast<int64_t>(x_dim))) ++x_dim;
    in_window[static_cast<size_t>(d)] = strides[x_dim++];
  }
  int64_t step = 1;
  for (size_t d = array.size(); d-- > 0;) {
    if (has_axis(window_dims, static_cast<int64_t>(d))) continue;
    in_batch[d] = step;
    step *= array[d];
  }
}

Scalar as_index(Lowering& l, Scalar s) {
  const DType dtype = l.dtype(s);
  if (dtype == DType::i64) return s;
  if (dtype == DType::u64) {
    s = l.op(id_of<Min>, DType::u64, {s, l.constant(DType::u64, Literal::of<uint64_t>(INT64_MAX))});
  }
  return l.op(id_of<Convert>, DType::i64, {s});
}

Scalar clamped_index(Lowering& l, Scalar s, int64_t high) {
  const DType dtype = l.dtype(s);
  const auto clamp = [&](DType d, Scalar of, Scalar low, Scalar most) {
    return l.op(id_of<Clamp>, d, {low, of, most});
  };
  // A vector has twice as many lanes of 32 bits, and one gather takes them.
  if ((dtype == DType::i32 || dtype == DType::u32) && high <= INT32_MAX) {
    const auto constant = [&](int64_t n) { return l.constant(dtype, Literal::of(static_cast<int32_t>(n))); };
    return as_index(l, clamp(dtype, s, constant(0), constant(high)));
  }
  return clamp(DType::i64, as_index(l, s), l.index(0), l.index(high));
}

}  // namespace calque::primitives
