// Calls a graph that the user built, parsed or edited like a traced lambda: its trace is the graph itself.
#include "calque/jit.h"

#include "runtime/call/function_state.h"

namespace calque {

struct GraphFunction::State {
  Graph graph;
  std::shared_ptr<const detail::FunctionState> function;

  static detail::TracedTree trace(const void* context, std::span<const detail::Handle> inputs,
                                  std::vector<detail::Handle>& outputs) {
    outputs = detail::emit_graph(static_cast<const State*>(context)->graph, inputs);
    return {};
  }
};

std::vector<detail::Handle> detail::inline_graph(const Graph& graph, std::span<const Handle> inputs) {
  const std::string title = graph.name().empty() ? "graph" : graph.name();
  if (inputs.size() != graph.inputs().size()) {
    throw ShapeError(title + ": the graph has " + std::to_string(graph.inputs().size()) + " inputs, got " +
                     std::to_string(inputs.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Type& wanted = graph.type(graph.inputs()[i]);
    const Type& got = type_of(inputs[i], {});
    if (got == wanted) continue;
    const std::string text =
        title + ": input " + std::to_string(i) + " is " + to_string(wanted) + ", got " + to_string(got);
    if (got.dtype != wanted.dtype) throw DTypeError(text);
    throw ShapeError(text);
  }
  graph.verify();
  return emit_graph(graph, inputs);
}

GraphFunction::GraphFunction(Graph graph, JitOptions options, Location location) {
  graph.verify();
  if (options.name.empty()) options.name = graph.name();
  state_ = std::make_shared<const State>(
      State{std::move(graph), detail::make_function_state(std::move(options), nullptr, location)});
}

const Graph& GraphFunction::graph() const { return detail::held(state_, "jit").graph; }
CacheInfo GraphFunction::cache_info() const { return detail::cache_info_of(*detail::held(state_, "jit").function); }
void GraphFunction::clear_cache() const { detail::clear_cache_of(*detail::held(state_, "jit").function); }

std::vector<AnyArray> GraphFunction::run(detail::Arguments& arguments) const {
  const detail::FunctionState& function = *detail::held(state_, "jit").function;
  const std::vector<Value>& inputs = state_->graph.inputs();
  const auto leaves = arguments.leaves();
  if (leaves.size() != inputs.size()) {
    throw ShapeError(function.title() + ": the graph has " + std::to_string(inputs.size()) + " inputs, got " +
                     std::to_string(leaves.size()) + where_text(function.location));
  }
  const detail::CallSite site{state_.get(), &State::trace, nullptr};
  if (arguments.has_empty()) runtime::check_leaves(function, arguments, site);
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Type& wanted = state_->graph.type(inputs[i]);
    const detail::LeafRef& leaf = leaves[i];
    if (leaf.dtype == wanted.dtype && leaf.rank == wanted.shape.rank() &&
        std::equal(wanted.shape.begin(), wanted.shape.end(), leaf.shape())) {
      continue;
    }
    const std::string text = function.title() + ": input " + std::to_string(i) + " is " + to_string(wanted) + ", got " +
                             to_string(leaf.type()) + where_text(function.location);
    if (leaf.dtype != wanted.dtype) throw DTypeError(text);
    throw ShapeError(text);
  }
  detail::CallResult result;
  detail::call_function(function, arguments, site, result);
  std::vector<AnyArray> outputs;
  outputs.reserve(result.outputs.size());
  for (size_t i = 0; i < result.outputs.size(); ++i) outputs.push_back(std::move(result.outputs[i]));
  return outputs;
}

}  // namespace calque
