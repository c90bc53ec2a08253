// Evaluation of dynamic slices, gather and scatters. Every start is clamped or checked before use.
#include <algorithm>
#include <limits>

#include "primitives/core/index_walk.h"
#include "primitives/elementwise/numbers.h"
#include "primitives/indexing/indexing.h"
#include "primitives/registration.h"

namespace calque::primitives {
namespace {

/// Element i of an integer array; u64 beyond i64 saturates.
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

/// The clamped starts of a window of extents `sizes`, from rank-0 operands.
std::vector<int64_t> clamped_starts(std::span<const AnyArray> starts, const Shape& x, std::span<const int64_t> sizes) {
  std::vector<int64_t> result;
  for (size_t d = 0; d < starts.size(); ++d) {
    result.push_back(std::clamp<int64_t>(index_at(starts[d], 0), 0, x[d] - sizes[d]));
  }
  return result;
}

int64_t dot(std::span<const int64_t> a, std::span<const int64_t> b) {
  int64_t sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// The offsets of the windows of a gather or scatter in x, in elements, one per index vector.
struct Windows {
  std::vector<int64_t> offsets;  ///< -1: outside

  Windows(const Shape& x, const AnyArray& indices, std::span<const int64_t> map, std::span<const int64_t> x_batching,
          std::span<const int64_t> indices_batching, std::span<const int64_t> window, bool clip) {
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
};

/// For each dimension of an array of windows: the stride in x if it runs over the window, or the stride in the
/// row-major batch if it runs over the index vectors.
struct WindowStrides {
  std::vector<int64_t> in_window, in_batch;

  WindowStrides(const Shape& array, std::span<const int64_t> window_dims, const Shape& x,
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
};

}  // namespace

Literal gather_fill(const Attributes& attributes, DType dtype) {
  return attributes.get<std::string>("mode") == "zero" ? make_literal(dtype, int64_t{0}) : gather_fill(dtype);
}

Literal gather_fill(DType dtype) {
  return visit_dtype(dtype, []<class T>() {
    constexpr auto kNaN = std::numeric_limits<float>::quiet_NaN();
    if constexpr (std::is_same_v<T, bool>) {
      return Literal::of(true);
    } else if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) {
      return Literal::of(std::numeric_limits<T>::min());
    } else if constexpr (std::is_integral_v<T>) {
      return Literal::of(std::numeric_limits<T>::max());
    } else if constexpr (scalar::is_complex_v<T>) {
      return Literal::of(T(kNaN, kNaN));
    } else {
      return Literal::of(static_cast<T>(kNaN));
    }
  });
}

void DynamicSlice::evaluate(Evaluation& e) {
  const AnyArray& x = e.operands[0];
  const auto strides = row_major_strides(x.shape());
  const auto starts = clamped_starts(e.operands.subspan(1), x.shape(), e.attributes.ints("sizes"));
  AnyArray& out = e.add_result();
  copy_strided(out.mutable_data(), x.data(), size_of(out.dtype()), out.shape().dims(), strides, dot(starts, strides));
}

void DynamicUpdateSlice::evaluate(Evaluation& e) {
  const AnyArray& x = e.operands[0];
  const AnyArray& update = e.operands[1];
  const auto strides = row_major_strides(x.shape());
  const auto starts = clamped_starts(e.operands.subspan(2), x.shape(), update.shape().dims());
  const int64_t base = dot(starts, strides);
  const size_t width = size_of(x.dtype());
  AnyArray& out = e.add_result();
  auto* to = static_cast<char*>(out.mutable_data());
  if (x.bytes() != 0) std::memcpy(to, x.data(), x.bytes());
  IndexWalk walk(update.shape().dims());
  for (int64_t i = 0, n = update.size(); i < n; ++i, walk.next()) {
    std::memcpy(to + static_cast<size_t>(base + walk.dot(strides)) * width,
                bytes_of(update) + static_cast<size_t>(i) * width, width);
  }
}

void Gather::evaluate(Evaluation& e) {
  const AnyArray& x = e.operands[0];
  const Attributes& a = e.attributes;
  const auto& batching = a.ints("operand_batching_dims");
  const Windows windows(x.shape(), e.operands[1], a.ints("start_index_map"), batching, a.ints("indices_batching_dims"),
                        a.ints("slice_sizes"), a.get<std::string>("mode") == "clip");
  AnyArray& out = e.add_result();
  const WindowStrides strides(out.shape(), a.ints("offset_dims"), x.shape(), a.ints("collapsed_slice_dims"), batching);
  const Literal fill = gather_fill(a, x.dtype());
  const size_t width = size_of(x.dtype());
  auto* to = static_cast<char*>(out.mutable_data());
  IndexWalk walk(out.shape().dims());
  for (int64_t i = 0, n = out.size(); i < n; ++i, walk.next(), to += width) {
    const int64_t offset = windows.offsets[static_cast<size_t>(walk.dot(strides.in_batch))];
    const void* from = fill.bytes;
    if (offset >= 0) from = bytes_of(x) + static_cast<size_t>(offset + walk.dot(strides.in_window)) * width;
    std::memcpy(to, from, width);
  }
}

template <class P, DTypeSet Accepted>
void ScatterRule<P, Accepted>::evaluate(Evaluation& e) {
  const AnyArray& x = e.operands[0];
  const AnyArray& updates = e.operands[2];
  const Attributes& a = e.attributes;
  const auto& batching = a.ints("operand_batching_dims");
  const auto& inserted = a.ints("inserted_window_dims");
  const auto& window_dims = a.ints("update_window_dims");
  std::vector<int64_t> window(x.shape().size(), 1);
  for (size_t d = 0, w = 0; d < window.size(); ++d) {
    const auto axis = static_cast<int64_t>(d);
    if (!has_axis(inserted, axis) && !has_axis(batching, axis)) {
      window[d] = updates.shape()[static_cast<size_t>(window_dims[w++])];
    }
  }
  const Windows windows(x.shape(), e.operands[1], a.ints("scatter_dims_to_operand_dims"), batching,
                        a.ints("indices_batching_dims"), window, /*clip=*/false);
  const WindowStrides strides(updates.shape(), window_dims, x.shape(), inserted, batching);
  AnyArray& out = e.add_result();
  visit_dtype(x.dtype(), [&]<class T>() {
    if constexpr (contains(Accepted, dtype_of<T>)) {
      using C = Compute<T>;
      const int64_t size = x.size();
      const T* from = x.data_as<T>();
      T* to = static_cast<T*>(out.mutable_data());
      std::vector<C> accumulators;
      C* into = nullptr;
      if constexpr (std::is_same_v<C, T>) {
        into = to;
      } else {
        accumulators.resize(static_cast<size_t>(size));
        into = accumulators.data();
      }
      for (int64_t i = 0; i < size; ++i) into[i] = static_cast<C>(from[i]);
      const T* update = updates.data_as<T>();
      IndexWalk walk(updates.shape().dims());
      for (int64_t i = 0, n = updates.size(); i < n; ++i, walk.next()) {
        const int64_t offset = windows.offsets[static_cast<size_t>(walk.dot(strides.in_batch))];
        if (offset < 0) continue;
        C& target = into[offset + walk.dot(strides.in_window)];
        target = P::template combine<C>(target, static_cast<C>(update[i]));
      }
      if constexpr (!std::is_same_v<C, T>) {
        for (int64_t i = 0; i < size; ++i) to[i] = round_once<T>(into[i]);
      }
    }
  });
}

template void register_family<IndexingList>(std::span<const Registration>);

}  // namespace calque::primitives
