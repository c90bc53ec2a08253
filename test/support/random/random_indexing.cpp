// Dynamic slices, gathers and scatters; indices are inside, at and beyond the bounds.
#include <algorithm>

#include "support/random/random_generator.h"

namespace calque::test {
namespace {

constexpr DType kIndexTypes[] = {DType::i32, DType::i64, DType::i8, DType::u16, DType::u32, DType::u64, DType::i16};

}  // namespace

void Generator::indexing() {
  if (!options_.indexing) return;
  switch (rng_.below(6)) {
    case 0:
      return dynamic_slice();
    case 1:
      return dynamic_update_slice();
    case 2:
    case 3:
      return gather();
    default:
      return scatter();
  }
}

void Generator::dynamic_slice() {
  const Value x = any();
  if (!enabled("dynamic_slice")) return;
  const DType index = rng_.pick(kIndexTypes);
  const Shape from = graph_.shape(x);
  ValueList operands = {x};
  List sizes;
  for (const int64_t d : from) {
    sizes.push_back(rng_.chance(30) ? d : rng_.between(0, d));
    operands.push_back(like({index, {}}));
  }
  emit<primitives::DynamicSlice>(std::move(operands), {{"sizes", sizes}});
}

void Generator::dynamic_update_slice() {
  const Value x = any();
  if (!enabled("dynamic_update_slice")) return;
  const DType index = rng_.pick(kIndexTypes);
  const Type type = graph_.type(x);
  List sizes;
  for (const int64_t d : type.shape) sizes.push_back(rng_.chance(30) ? d : rng_.between(0, d));
  ValueList operands = {x};
  operands.push_back(like({type.dtype, Shape(sizes)}));
  for (size_t i = 0; i < type.shape.size(); ++i) operands.push_back(like({index, {}}));
  emit<primitives::DynamicUpdateSlice>(std::move(operands));
}

/// Index vectors for the dimensions of those extents: shape batch + [extents.size()].
Value Generator::indices(const List& batch, const List& extents) {
  List dims = batch;
  dims.push_back(static_cast<int64_t>(extents.size()));
  const DType d = rng_.pick(kIndexTypes);
  if (rng_.chance(40)) return like({d, Shape(dims)});
  AnyArray array = AnyArray::uninitialized({d, Shape(dims)});
  visit_dtype(d, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) {
      auto* p = static_cast<T*>(array.mutable_data());
      for (int64_t i = 0; i < array.size(); ++i) {
        const int64_t extent = extents[static_cast<size_t>(i) % extents.size()];
        p[i] = static_cast<T>(
            rng_.between(rng_.chance(10) ? -2 : 0, std::max<int64_t>(extent - (rng_.chance(90) ? 1 : -2), 0)));
      }
    }
  });
  return graph_.add_constant(std::move(array));
}

void Generator::gather() {
  if (!enabled("gather")) return;
  const Value x = any();
  const Shape from = graph_.shape(x);
  List batching, collapsed, map, extents, sizes, window;
  for (size_t d = 0; d < from.size(); ++d) {
    const auto axis = static_cast<int64_t>(d);
    const size_t choice = rng_.below(10);
    if (choice == 0 && from[d] > 0) {
      batching.push_back(axis);
      sizes.push_back(1);
      continue;
    }
    if (choice < 6) map.push_back(axis);
    if (choice < 5 && from[d] > 0) {
      collapsed.push_back(axis);
      sizes.push_back(1);
    } else {
      sizes.push_back(rng_.chance(60) ? from[d] : rng_.between(0, from[d]));
      window.push_back(sizes.back());
    }
  }
  rng_.shuffle(map);
  for (const int64_t axis : map) extents.push_back(from[static_cast<size_t>(axis)]);
  List batch, indices_batching;
  for (const int64_t axis : batching) {
    if (rng_.chance(30)) batch.push_back(rng_.between(1, 3));
    indices_batching.push_back(static_cast<int64_t>(batch.size()));
    batch.push_back(from[static_cast<size_t>(axis)]);
  }
  while (rng_.chance(45)) batch.push_back(rng_.between(rng_.chance(5) ? 0 : 1, 5));
  // Positions of the window's dimensions among those of the result.
  List offset_dims, result = batch;
  const size_t rank = window.size() + batch.size();
  List positions;
  for (size_t d = 0; d < rank; ++d) positions.push_back(static_cast<int64_t>(d));
  rng_.shuffle(positions);
  offset_dims.assign(positions.begin(), positions.begin() + static_cast<std::ptrdiff_t>(window.size()));
  std::sort(offset_dims.begin(), offset_dims.end());
  result.insert(result.end(), window.begin(), window.end());
  if (!fits(result)) return;
  const Value index = indices(batch, extents);
  const std::string mode = rng_.chance(50) ? "fill" : "clip";
  emit<primitives::Gather>({x, index}, {{"collapsed_slice_dims", collapsed},
                                        {"indices_batching_dims", indices_batching},
                                        {"mode", mode},
                                        {"offset_dims", offset_dims},
                                        {"operand_batching_dims", batching},
                                        {"slice_sizes", sizes},
                                        {"start_index_map", map}});
}

void Generator::scatter() {
  struct Kind {
    const Primitive* primitive;
    primitives::DTypeSet accepted;
    bool reassociated;
  };
  static const Kind kKinds[] = {
      {&primitives::get<primitives::Scatter>(), primitives::kAny, false},
      {&primitives::get<primitives::ScatterAdd>(), primitives::kReal, true},
      {&primitives::get<primitives::ScatterMul>(), primitives::kReal, true},
      {&primitives::get<primitives::ScatterMin>(), primitives::kReal | primitives::kBool, false},
      {&primitives::get<primitives::ScatterMax>(), primitives::kReal | primitives::kBool, false},
  };
  const Kind& kind = rng_.pick(kKinds);
  const auto x = draw(kind.accepted);
  if (!x || !enabled(kind.primitive->name) || (kind.reassociated && !may_reassociate(graph_.dtype(*x)))) return;
  const Type type = graph_.type(*x);
  List batching, inserted, map, extents, window;
  for (size_t d = 0; d < type.shape.size(); ++d) {
    const auto axis = static_cast<int64_t>(d);
    const size_t choice = rng_.below(10);
    if (choice == 0) {
      batching.push_back(axis);
      continue;
    }
    if (choice < 6) map.push_back(axis);
    if (choice < 5) {
      inserted.push_back(axis);
    } else {
      window.push_back(rng_.chance(60) ? type.shape[d] : rng_.between(0, type.shape[d]));
    }
  }
  rng_.shuffle(map);
  for (const int64_t axis : map) extents.push_back(type.shape[static_cast<size_t>(axis)]);
  List batch, indices_batching;
  for (const int64_t axis : batching) {
    indices_batching.push_back(static_cast<int64_t>(batch.size()));
    batch.push_back(type.shape[static_cast<size_t>(axis)]);
  }
  while (rng_.chance(50)) batch.push_back(rng_.between(rng_.chance(5) ? 0 : 1, 6));
  List positions;
  for (size_t d = 0; d < window.size() + batch.size(); ++d) positions.push_back(static_cast<int64_t>(d));
  rng_.shuffle(positions);
  List window_dims(positions.begin(), positions.begin() + static_cast<std::ptrdiff_t>(window.size()));
  std::sort(window_dims.begin(), window_dims.end());
  List updates;
  size_t next_window = 0, next_batch = 0;
  for (size_t d = 0; d < positions.size(); ++d) {
    const bool in_window = next_window < window_dims.size() && window_dims[next_window] == static_cast<int64_t>(d);
    updates.push_back(in_window ? window[next_window++] : batch[next_batch++]);
  }
  if (!fits(updates)) return;
  const Value index = indices(batch, extents);
  const Value update = like({type.dtype, Shape(updates)});
  emit(*kind.primitive, {*x, index, update},
       {{"indices_batching_dims", indices_batching},
        {"inserted_window_dims", inserted},
        {"operand_batching_dims", batching},
        {"scatter_dims_to_operand_dims", map},
        {"update_window_dims", window_dims}});
}

}  // namespace calque::test
