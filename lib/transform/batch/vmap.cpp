// During the walk batched values have their examples along dimension 0; only inputs and outputs move axes. Values that
// are the same for all examples are computed once.
#include "transform/batch/vmap.h"

#include <algorithm>

#include "primitives/control/collectives.h"
#include "primitives/registry.h"
#include "transform/autodiff/subgraphs.h"

namespace calque::transform {
namespace {

using namespace primitives;

/// Whether the graph has a collective equation of the axis.
bool names(const Graph& graph, const Opaque* axis);
bool names(const Equation& e, const Opaque* axis) {
  if (axis == nullptr) return false;
  const AttributeValue* group = e.attributes().find("group");
  if (group != nullptr && std::get<std::shared_ptr<const Opaque>>(*group).get() == axis) return true;
  return std::any_of(e.subgraphs().begin(), e.subgraphs().end(), [&](const Graph& g) { return names(g, axis); });
}
bool names(const Graph& graph, const Opaque* axis) {
  return std::any_of(graph.equations().begin(), graph.equations().end(),
                     [&](const Equation& e) { return names(e, axis); });
}

Graph batch_over(const Graph& graph, const std::vector<bool>& inputs, int64_t size, const Opaque* axis,
                 std::vector<bool>& outputs);

/// The transformations of sub-graphs, in which the axis is mapped over too.
class AlongAxis final : public SubgraphTransforms {
 public:
  AlongAxis(const Opaque* axis, int64_t size) : axis_(axis), size_(size) {}
  std::vector<bool> active_outputs(const Graph& graph, const std::vector<bool>& active) const override {
    return all_.active_outputs(graph, active);
  }
  std::vector<bool> dependent_outputs(const Graph& graph, const std::vector<bool>& inputs) const override {
    if (!names(graph, axis_)) return all_.dependent_outputs(graph, inputs);
    // What is combined along the axis is the same for all examples.
    std::vector<bool> outputs(graph.outputs().size());
    batch_over(graph, inputs, size_, axis_, outputs);
    return outputs;
  }
  Graph jvp(const Graph& graph, const std::vector<bool>& active, const std::vector<bool>& wanted) const override {
    return all_.jvp(graph, active, wanted);
  }
  Graph transpose(const Graph& graph, const std::vector<bool>& linear, const std::vector<bool>& given) const override {
    return all_.transpose(graph, linear, given);
  }
  Graph transpose_partitioned(const Graph& graph, const std::vector<bool>& linear,
                              const std::vector<bool>& given) const override {
    return all_.transpose_partitioned(graph, linear, given);
  }
  Graph batch(const Graph& graph, const std::vector<bool>& inputs, int64_t size,
              std::vector<bool>& outputs) const override {
    return batch_over(graph, inputs, size, axis_, outputs);
  }

 private:
  const SubgraphTransforms& all_ = subgraph_transforms();
  const Opaque* axis_;
  int64_t size_;
};

class Batcher {
 public:
  Batcher(const Graph& from, Graph& out, int64_t size, const Opaque* axis)
      : from_(from), out_(out), size_(size), axis_(axis), values_(from.num_values()), batched_(from.num_values()) {}

  void bind(Value v, Value to, bool batched) {
    values_[v.id()] = to;
    batched_[v.id()] = batched;
  }
  bool batched(Value v) const { return batched_[v.id()]; }
  Value value(Value v) {
    Value& to = values_[v.id()];
    if (!to.valid()) to = out_.add_copy(from_, v);
    return to;
  }
  /// The value with the leading batch dimension; broadcast if it is not batched.
  Value batched_value(Value v) {
    const Value same = value(v);
    if (batched(v)) return same;
    const Shape shape = out_.shape(same);
    std::vector<int64_t> axes;
    for (int64_t d = 1; d <= shape.rank(); ++d) axes.push_back(d);
    return Writer(out_, {}).broadcast(same, shape.with_inserted(0, size_), std::move(axes));
  }

  void run() {
    for (const Equation& e : from_.equations()) equation(e);
  }

 private:
  void equation(const Equation& e) {
    ValueList operands;
    std::vector<bool> batched;
    for (const Value v : e.operands()) {
      operands.push_back(value(v));
      batched.push_back(batched_[v.id()]);
    }
    const bool names_axis = names(e, axis_);
    if (!names_axis && std::find(batched.begin(), batched.end(), true) == batched.end()) {
      const Equation& copy = out_.append_copy(from_, e, std::move(operands));
      for (size_t i = 0; i < e.results().size(); ++i) bind(e.result(i), copy.result(i), false);
      return;
    }
    if (size_ == 0 && !(names_axis && e.subgraphs().empty())) return no_examples(e);
    const AlongAxis along(axis_, size_);
    Batching b{{from_, e, Writer(out_, e.location()), axis_ == nullptr ? subgraph_transforms() : along},
               size_,
               axis_,
               {operands.begin(), operands.size()},
               std::move(batched),
               {},
               {}};
    rules(e.id()).batch(b);
    for (size_t i = 0; i < e.results().size(); ++i) bind(e.result(i), b.results[i], b.results_batched[i]);
  }

  /// Results for zero examples are empty; effects do not happen.
  void no_examples(const Equation& e) {
    const Writer w(out_, e.location());
    for (const Value v : e.results()) {
      const Type& type = from_.type(v);
      bind(v, w.zeros({type.dtype, type.shape.with_inserted(0, 0)}), true);
    }
  }

  const Graph& from_;
  Graph& out_;
  int64_t size_;
  const Opaque* axis_;
  std::vector<Value> values_;
  std::vector<bool> batched_;
};

Graph batch_over(const Graph& graph, const std::vector<bool>& inputs, int64_t size, const Opaque* axis,
                 std::vector<bool>& outputs) {
  Graph out;
  out.set_name(graph.name());
  Batcher batcher(graph, out, size, axis);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value v = graph.inputs()[i];
    Type type = graph.type(v);
    if (inputs[i]) type.shape = type.shape.with_inserted(0, size);
    batcher.bind(v, out.add_input(std::move(type)), inputs[i]);
  }
  batcher.run();
  std::vector<Value> results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Value v = graph.outputs()[i];
    if (batcher.batched(v)) outputs[i] = true;
    results.push_back(outputs[i] ? batcher.batched_value(v) : batcher.value(v));
  }
  out.set_outputs(std::move(results));
  return out;
}

}  // namespace

Graph batch_wanted(const Graph& graph, const std::vector<bool>& inputs, int64_t size, std::vector<bool>& outputs) {
  return batch_over(graph, inputs, size, nullptr, outputs);
}

Graph vmap(const Graph& graph, const std::vector<BatchAxis>& in_axes, int64_t size,
           const std::vector<BatchAxis>& out_axes, const Opaque* axis) {
  Graph out;
  out.set_name(graph.name());
  const Writer w(out, {});
  Batcher batcher(graph, out, size, axis);
  for (size_t i = 0; i < in_axes.size(); ++i) {
    const Value v = graph.inputs()[i];
    Type type = graph.type(v);
    if (!in_axes[i]) {
      batcher.bind(v, out.add_input(std::move(type)), false);
      continue;
    }
    const auto axis = static_cast<size_t>(*in_axes[i]);
    type.shape = type.shape.with_inserted(axis, size);
    batcher.bind(v, w.move_axis(out.add_input(std::move(type)), axis, 0), true);
  }
  batcher.run();
  std::vector<Value> results;
  for (size_t i = 0; i < out_axes.size(); ++i) {
    const Value v = graph.outputs()[i];
    if (out_axes[i]) {
      results.push_back(w.move_axis(batcher.batched_value(v), 0, static_cast<size_t>(*out_axes[i])));
    } else if (batcher.batched(v)) {
      throw ShapeError("vmap: result " + std::to_string(i) + " depends on the batched arguments, but its axis is none");
    } else {
      results.push_back(batcher.value(v));
    }
  }
  out.set_outputs(std::move(results));
  return out;
}

}  // namespace calque::transform
