// During the walk batched values have their examples along dimension 0; only inputs and outputs move axes. Values that
// are the same for all examples are computed once.
#include "transform/batch/vmap.h"

#include <algorithm>

#include "primitives/registry.h"
#include "transform/autodiff/subgraphs.h"

namespace calque::transform {
namespace {

using namespace primitives;

class Batcher {
 public:
  Batcher(const Graph& from, Graph& out, int64_t size)
      : from_(from), out_(out), size_(size), values_(from.num_values()), batched_(from.num_values()) {}

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
    if (std::find(batched.begin(), batched.end(), true) == batched.end()) {
      const Equation& copy = out_.append_copy(from_, e, std::move(operands));
      for (size_t i = 0; i < e.results().size(); ++i) bind(e.result(i), copy.result(i), false);
      return;
    }
    if (size_ == 0) return no_examples(e);
    Batching b{{from_, e, Writer(out_, e.location()), subgraph_transforms()},
               size_,
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
  std::vector<Value> values_;
  std::vector<bool> batched_;
};

}  // namespace

Graph batch_wanted(const Graph& graph, const std::vector<bool>& inputs, int64_t size, std::vector<bool>& outputs) {
  Graph out;
  out.set_name(graph.name());
  Batcher batcher(graph, out, size);
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

Graph vmap(const Graph& graph, const std::vector<BatchAxis>& in_axes, int64_t size,
           const std::vector<BatchAxis>& out_axes) {
  Graph out;
  out.set_name(graph.name());
  const Writer w(out, {});
  Batcher batcher(graph, out, size);
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
