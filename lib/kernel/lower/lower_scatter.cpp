// Lowers scatters: copies the operand, then applies the updates in order.
#include <algorithm>
#include <optional>

#include "kernel/lower/group_builder.h"
#include "primitives/registry.h"

namespace calque::kernel {

using namespace primitives;

void GroupBuilder::scatter(const Equation& e) {
  const Graph& g = memory_.graph;
  const Value x = e.operand(0), indices = e.operand(1), updates = e.operand(2);
  const Shape& shape = g.shape(x);
  const Shape& update_shape = g.shape(updates);
  const auto& window_dims = e.attributes().ints("update_window_dims");
  const auto& inserted = e.attributes().ints("inserted_window_dims");
  const auto& targets = e.attributes().ints("scatter_dims_to_operand_dims");
  const auto& operand_batch = e.attributes().ints("operand_batching_dims");
  const auto& index_batch = e.attributes().ints("indices_batching_dims");
  const auto has = [](const std::vector<int64_t>& list, size_t v) {
    return std::find(list.begin(), list.end(), static_cast<int64_t>(v)) != list.end();
  };
  const Operand to = destination(e.result());
  if (!memory_.is_updated(e.result()))
    over(shape, to.dense && elements_.flat(frame_, x),
         [&](const Index& index) { put(to, shape, index, elements_.element(frame_, x, index)); });
  const std::optional<Combiner> combiner = rules(e.id()).combiner;
  std::vector<size_t> batch_dims;  // of the updates
  for (size_t i = 0; i < update_shape.size(); ++i)
    if (!has(window_dims, i)) batch_dims.push_back(i);
  std::vector<size_t> window_operand_dims;  // operand dimensions that the window runs over
  for (size_t i = 0; i < shape.size(); ++i)
    if (!has(inserted, i) && !has(operand_batch, i)) window_operand_dims.push_back(i);

  Ids at(update_shape.size(), emitter_.index(0));
  const auto body = [&] {
    Ids parts(shape.size(), emitter_.index(0));
    Id inside = kNone;
    // Batch dimensions of the indices are those of the updates in order, the index vector being the last one.
    Ids index_parts;
    for (size_t d : batch_dims) index_parts.push_back(at[d]);
    for (size_t i = 0; i < operand_batch.size(); ++i)
      parts[static_cast<size_t>(operand_batch[i])] = index_parts[static_cast<size_t>(index_batch[i])];
    const auto both = [&](Id condition) {
      inside = inside == kNone ? condition : emitter_.scalar(id_of<And>, DType::bool_, {inside, condition});
    };
    Ids window(shape.size(), kNone);
    for (size_t i = 0; i < window_operand_dims.size(); ++i)
      window[window_operand_dims[i]] = at[static_cast<size_t>(window_dims[i])];
    for (size_t k = 0; k < targets.size(); ++k) {
      Ids at_component = index_parts;
      at_component.push_back(emitter_.index(static_cast<int64_t>(k)));
      const auto d = static_cast<size_t>(targets[k]);
      Id raw = elements_.element(frame_, indices, Index::of_parts(at_component));
      int64_t extent = shape[d];
      for (size_t i = 0; i < window_operand_dims.size(); ++i)
        if (window_operand_dims[i] == d) extent -= update_shape[static_cast<size_t>(window_dims[i])] - 1;
      // A window that is not entirely inside is dropped. A huge unsigned index converts to a negative one.
      raw = elements_.convert(raw, DType::i64);
      both(emitter_.scalar(id_of<Ge>, DType::bool_, {raw, emitter_.index(0)}));
      both(emitter_.scalar(id_of<Lt>, DType::bool_, {raw, emitter_.index(extent)}));
      parts[d] = raw;
    }
    for (size_t i = 0; i < shape.size(); ++i)
      if (window[i] != kNone) parts[i] = emitter_.add(parts[i], window[i]);
    const Id update = elements_.element(frame_, updates, Index::of_parts(at));
    const auto write = [&] {
      Id value = update;
      const Id where = elements_.linear(to, shape, Index::of_parts(parts));
      if (combiner) {
        const Id current = emitter_.load(to.buffer, where, true);
        value = emitter_.scalar(primitive_of(scalar_op_of(*combiner)), g.dtype(x), {current, update});
      }
      emitter_.store(to.buffer, where, value);
      return 0;
    };
    inside == kNone ? write() : emitter_.under(inside, write);
  };
  // Updates are applied in row-major order. A window does not overlap itself, so window dimensions inside all other
  // dimensions may run in any order.
  const size_t parallel_from = batch_dims.empty() ? 0 : batch_dims.back() + 1;
  std::function<void(size_t)> level = [&](size_t i) {
    if (i == update_shape.size()) return body();
    const size_t d = i;
    if (update_shape[d] == 1) return level(i + 1);
    const LoopKind kind = d < parallel_from ? LoopKind::sequential : LoopKind::parallel;
    emitter_.loop(kind, update_shape[d], {}, {}, emitter_.depth(), [&](Id index, std::span<const Id>) {
      const Id saved = at[d];
      at[d] = index;
      level(i + 1);
      at[d] = saved;
      return Ids{};
    });
  };
  level(0);
}

}  // namespace calque::kernel
