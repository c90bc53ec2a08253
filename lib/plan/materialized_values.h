#pragma once
// Which values of a graph have memory: the state that the passes of a plan hand on.
#include <cstddef>
#include <vector>

#include "calque/ir/graph.h"

namespace calque::plan {

/// Which values of a graph have memory. A result without memory is inlined: computed where it is used.
class MaterializedValues {
 public:
  MaterializedValues() = default;
  /// Inputs and constants, which always have memory. Literals never have any.
  explicit MaterializedValues(const Graph& graph);

  bool is_materialized(Value v) const { return materialized_[v.id()]; }
  bool is_inlined(Value v) const { return graph_->kind(v) == ValueKind::result && !materialized_[v.id()]; }
  /// Materialized whatever fuses: no later pass inlines it.
  bool is_required(Value v) const { return required_[v.id()]; }
  /// If valid: v shares the buffer of this value, row-major, and is computed by no kernel.
  Value shared_buffer(Value v) const { return shares_[v.id()]; }
  /// If valid: the result v takes over the memory of this operand of its equation, which nothing reads later.
  Value reused(Value v) const { return reuses_[v.id()]; }
  /// The operand at the beginning of such a chain; v itself if it reuses none.
  Value first_in_memory(Value v) const {
    while (reused(v).valid()) v = reused(v);
    return v;
  }
  size_t num_materialized() const;
  /// Only views and conversions lie between the value and memory: reading it costs no more than reading a copy.
  bool is_plain_load(Value v) const;

  /// A reshaped concatenation shares the buffer of the concatenation, which is written operand by operand; over its own
  /// index space every element would have to select the operand it comes from.
  void materialize(Value v);
  /// Materializes v, if it is a result, and keeps later passes from inlining it.
  void require(Value v);
  void make_inlined(Value v) { materialized_[v.id()] = false; }

  // ---- for reading the text of a plan
  void set_materialized(Value v) { materialized_[v.id()] = true; }
  void set_required(Value v) { required_[v.id()] = true; }
  void set_shared_buffer(Value v, Value whole) { shares_[v.id()] = whole; }
  void set_reused(Value v, Value operand) { reuses_[v.id()] = operand; }

 private:
  const Graph* graph_ = nullptr;
  std::vector<bool> materialized_, required_;  // by value id
  std::vector<Value> shares_, reuses_;         // by value id
};

}  // namespace calque::plan
