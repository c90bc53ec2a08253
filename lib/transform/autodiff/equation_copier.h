#pragma once
#include <vector>

#include "calque/ir/graph.h"

namespace calque::transform {

/// Copies selected equations of one graph to another.
class EquationCopier {
 public:
  EquationCopier(const Graph& from, Graph& to) : from_(from), to_(to), map_(from.num_values()) {}
  void bind(Value v, Value to) { map_[v.id()] = to; }
  bool bound(Value v) const { return map_[v.id()].valid(); }
  Value value(Value v) {
    Value& to = map_[v.id()];
    if (!to.valid()) to = to_.add_copy(from_, v);
    return to;
  }
  void copy(const Equation& e) {
    ValueList operands;
    for (const Value v : e.operands()) operands.push_back(value(v));
    const Equation& same = to_.append_copy(from_, e, std::move(operands));
    for (size_t i = 0; i < e.results().size(); ++i) {
      if (!bound(e.result(i))) map_[e.result(i).id()] = same.result(i);
    }
  }

 private:
  const Graph& from_;
  Graph& to_;
  std::vector<Value> map_;
};

}  // namespace calque::transform
