// Equations that do not depend on the linear inputs are copied forward; the others are then transposed in reverse
// order, each mapping cotangents of its results to cotangents of its operands.
#include "transform/autodiff/transpose.h"

#include <algorithm>
#include <unordered_map>

#include "primitives/control/collectives.h"
#include "primitives/registry.h"
#include "transform/autodiff/dependence.h"
#include "transform/autodiff/partial_eval_control_flow.h"
#include "transform/autodiff/subgraphs.h"
#include "transform/autodiff/windows.h"

namespace calque::transform {
namespace {

using namespace primitives;

class Backward {
 public:
  Backward(const Graph& from, Graph& out, std::vector<bool> linear)
      : from_(from), out_(out), linear_(std::move(linear)), known_(from.num_values()), cotangents_(from.num_values()) {}

  bool is_linear(Value v) const { return linear_[v.id()]; }
  void set_known(Value v, Value to) { known_[v.id()] = to; }
  Value known(Value v) {
    Value& to = known_[v.id()];
    if (!to.valid()) to = out_.add_copy(from_, v);
    return to;
  }

  void add(Value v, Value cotangent, const Location& location) {
    Value& sum = cotangents_[v.id()];
    sum = sum.valid() ? Writer(out_, location).add(sum, cotangent) : cotangent;
  }
  /// The sum of all added cotangents, invalid if there are none. No cotangent may be added afterwards.
  Value cotangent(Value v) {
    const auto windows = windows_.find(v.id());
    if (windows != windows_.end()) {
      const Equation* e = from_.definition(v);
      const Location at = e != nullptr ? e->location() : Location();
      add(v, sum_of_windows(Writer(out_, at), std::move(windows->second), from_.type(v)), at);
      windows_.erase(windows);
    }
    return cotangents_[v.id()];
  }
  Value cotangent_or_zero(Value v) {
    const Value ct = cotangent(v);
    return ct.valid() ? ct : Writer(out_, {}).zeros(from_.type(v));
  }

  /// Copies the known equations; collects the linear ones in `rest_`.
  void forward() {
    for (const Equation& e : from_.equations()) {
      bool linear = false;
      for (const Value v : e.operands()) linear = linear || is_linear(v);
      if (linear) {
        rest_.push_back(&e);
        continue;
      }
      ValueList operands;
      operands.reserve(e.operands().size());
      for (const Value v : e.operands()) operands.push_back(known(v));
      const Equation& copy = out_.append_copy(from_, e, std::move(operands));
      for (size_t i = 0; i < e.results().size(); ++i) known_[e.result(i).id()] = copy.result(i);
    }
  }

  void backward() {
    for (size_t i = rest_.size(); i-- > 0;) equation(*rest_[i]);
  }

 private:
  void equation(const Equation& e) {
    std::vector<Value> cotangents, operands;
    bool any = false;
    for (const Value v : e.results()) {
      cotangents.push_back(cotangent(v));
      any = any || cotangents.back().valid();
    }
    if (!any) {
      // Other ranks may need the cotangent of what this one does not use.
      if (!communicates(e)) return;
      for (size_t i = 0; i < cotangents.size(); ++i) {
        if (differentiable(from_.dtype(e.result(i)))) cotangents[i] = cotangent_or_zero(e.result(i));
      }
    }
    if (e.id() == id_of<Slice> && takes_every_element(e)) {
      const Attributes& a = e.attributes();
      windows_[e.operand(0).id()].push_back({a.ints("start"), a.ints("limit"), cotangents[0]});
      return;
    }
    for (const Value v : e.operands()) operands.push_back(is_linear(v) ? Value() : known(v));
    const Rules& rule = rules(e.id());
    if (rule.transpose == nullptr) refuse(e, rule.no_transpose);
    Transposition t{{from_, e, Writer(out_, e.location()), subgraph_transforms()},
                    operands,
                    cotangents,
                    std::vector<Value>(operands.size())};
    rule.transpose(t);
    for (size_t i = 0; i < operands.size(); ++i) {
      if (t.linear(i) && t.sums[i].valid()) add(e.operand(i), t.sums[i], e.location());
    }
  }

  /// Whether the equation, or one in its sub-graphs, communicates.
  static bool communicates(const Equation& e) {
    if (group_of(e.attributes()) != nullptr) return true;
    return std::any_of(e.subgraphs().begin(), e.subgraphs().end(), [](const Graph& g) {
      return std::any_of(g.equations().begin(), g.equations().end(), &communicates);
    });
  }

  static bool takes_every_element(const Equation& slice) {
    const std::vector<int64_t>& stride = slice.attributes().ints("stride");
    return std::all_of(stride.begin(), stride.end(), [](int64_t s) { return s == 1; });
  }

  const Graph& from_;
  Graph& out_;
  std::vector<bool> linear_;                                   // by value
  std::unordered_map<uint32_t, std::vector<Window>> windows_;  // pending cotangents of slices of a value
  std::vector<Value> known_, cotangents_;
  std::vector<const Equation*> rest_;
};

}  // namespace

Graph transpose_partitioned(const Graph& from, const std::vector<bool>& linear, const std::vector<bool>& given,
                            bool keep_known) {
  Graph out;
  out.set_name(from.name());
  Backward walk(from, out, dependent_values_of_partitioned(from, linear));
  for (size_t i = 0; i < linear.size(); ++i) {
    if (!linear[i]) walk.set_known(from.inputs()[i], out.add_input(from.type(from.inputs()[i])));
  }
  std::vector<Value> cotangents;
  for (size_t i = 0; i < given.size(); ++i) {
    cotangents.push_back(given[i] ? out.add_input(from.type(from.outputs()[i])) : Value());
  }
  walk.forward();
  for (size_t i = 0; i < given.size(); ++i) {
    const Value v = from.outputs()[i];
    if (given[i] && walk.is_linear(v)) walk.add(v, cotangents[i], {});
  }
  walk.backward();
  std::vector<Value> outputs;
  if (keep_known) {
    for (size_t i = 0; i < given.size(); ++i) {
      if (!given[i]) outputs.push_back(walk.known(from.outputs()[i]));
    }
  }
  for (size_t i = 0; i < linear.size(); ++i) {
    if (linear[i]) outputs.push_back(walk.cotangent_or_zero(from.inputs()[i]));
  }
  out.set_outputs(std::move(outputs));
  return out;
}

Graph transpose_given(const Graph& graph, const std::vector<bool>& linear, const std::vector<bool>& given,
                      bool keep_known) {
  return transpose_partitioned(partial_eval_control_flow(graph, linear), linear, given, keep_known);
}

Graph transpose(const Graph& graph, size_t num_residuals) {
  std::vector<bool> linear(graph.inputs().size(), true);
  std::fill_n(linear.begin(), num_residuals, false);
  return transpose_given(graph, linear, std::vector<bool>(graph.outputs().size(), true), false);
}

}  // namespace calque::transform
