// From flattened arguments to a traced graph, and from that to the graph to compile: outputs that are arguments or
// captured arrays are removed, large captured arrays are lifted to inputs.
#include <algorithm>

#include "calque/device.h"

#include "ir/stopwatch.h"
#include "runtime/call/donation.h"
#include "runtime/call/function_state.h"
#include "runtime/device/device_api.h"
#include "runtime/process/environment.h"
#include "trace/builder.h"
#include "transform/simplify/lift_constants.h"

namespace calque::runtime {
using detail::LeafRef;

AnyArray value_of(const LeafRef& leaf) {
  switch (leaf.kind) {
    case LeafRef::Kind::array:
      if (!has_host_memory(leaf.array->device())) return detail::copy_to_device("call", *leaf.array, cpu(), {});
      // The caller's own memory may change after the call, while a result may be the argument itself.
      return leaf.array->storage().owned() ? *leaf.array : detail::copy_of(detail::view_of(*leaf.array));
    case LeafRef::Kind::view:
      return detail::copy_of(
          {leaf.dtype, leaf.data, leaf.type().shape, Shape::Dims(std::span<const int64_t>(leaf.strides(), leaf.rank))});
    default: {
      AnyArray scalar = AnyArray::uninitialized({leaf.dtype, Shape()});
      std::memcpy(scalar.mutable_data(), leaf.bits.bytes, size_of(leaf.dtype));
      return scalar;
    }
  }
}

std::vector<detail::SignaturePart> signature_parts(const detail::CallSite& site) {
  if (site.parts == nullptr) return {};
  return site.parts(site.context);
}

std::vector<std::string> leaf_paths(const detail::CallSite& site) {
  std::vector<std::string> paths;
  for (detail::SignaturePart& part : signature_parts(site)) {
    if (part.kind == detail::SignaturePart::Kind::leaf) paths.push_back(std::move(part.path));
  }
  return paths;
}

std::string path_of(const detail::CallSite& site, size_t leaf) {
  if (site.parts == nullptr) return "input " + std::to_string(leaf);
  const std::vector<std::string> paths = leaf_paths(site);
  return leaf < paths.size() ? paths[leaf] : "argument";
}

bool eager_mode() { return environment().disable_jit; }

CompileOptions compile_options(const detail::FunctionState& function) {
  const bool strict = function.options.strict || environment().strict;
  CompileOptions options{strict, function.options.fast_math && !strict, environment().reference_backend};
  options.flush_subnormals = (function.options.flush_subnormals || function.options.fast_math) && !strict;
  options.tier = function.options.tier == tier::automatic ? environment().tier : function.options.tier;
  return options;
}

CompileOptions compile_options(const detail::FunctionState& function, const detail::Arguments& arguments,
                               const CallEntry& entry) {
  CompileOptions options = compile_options(function);
  options.device = entry.device;
  options.deterministic = function.options.deterministic && device_api(entry.device).varies_order_of_sums();
  const auto leaves = arguments.leaves();
  const auto ends = arguments.ends();
  for (const int position : function.options.donate) {
    if (position >= kMaxDonatedArguments) continue;
    const auto at = static_cast<size_t>(position);
    options.donated.resize(leaves.size(), false);
    for (size_t i = at == 0 ? 0 : ends[at - 1]; i < ends[at]; ++i) {
      options.donated[i] = leaves[i].kind == LeafRef::Kind::array;
    }
  }
  for (const OutputSource& source : entry.sources) {
    const bool is_result = source.kind == OutputSource::Kind::argument && source.index < options.donated.size();
    if (is_result) options.donated[source.index] = false;
  }
  return options;
}

Device check_leaves(const detail::FunctionState& function, const detail::Arguments& arguments,
                    const detail::CallSite& site) {
  if (arguments.has_empty()) {
    throw ShapeError(function.title() + ": " + path_of(site, static_cast<size_t>(arguments.empty_leaf())) +
                     " is an empty array" + where_text(function.location));
  }
  for (int position : function.options.donate) {
    if (position >= 0 && static_cast<size_t>(position) < arguments.ends().size()) continue;
    throw ShapeError(function.title() + ": donates argument " + std::to_string(position) + ", but is called with " +
                     std::to_string(arguments.ends().size()) + where_text(function.location));
  }
  // Host arrays are copied to the device of the call.
  const Device home = function.options.device.value_or(default_device());
  std::optional<Device> device;
  size_t first = 0;
  const auto leaves = arguments.leaves();
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (leaves[i].kind != LeafRef::Kind::array) continue;
    const Device its = leaves[i].array->device();
    if (has_host_memory(its) && !has_host_memory(home)) continue;  // copied to where the call runs
    if (!device) {
      device = its;
      first = i;
    } else if (*device != its) {
      throw DeviceError(function.title() + ": arguments are on different devices, " + path_of(site, first) + " on " +
                        to_string(*device) + " and " + path_of(site, i) + " on " + to_string(its) +
                        "; move one with to()" + where_text(function.location));
    }
  }
  if (function.options.device) {
    if (device && *device != *function.options.device) {
      throw DeviceError(function.title() + ": runs on " + to_string(*function.options.device) + ", but " +
                        path_of(site, first) + " is on " + to_string(*device) + "; move it with to()" +
                        where_text(function.location));
    }
    device = function.options.device;
  }
  const Device chosen = device.value_or(home);
  detail::require_device(function.title(), chosen, function.location);
  return chosen;
}

Traced trace_call(const detail::FunctionState& function, const detail::Arguments& arguments,
                  const detail::CallSite& site, bool eager, detail::Oracle* oracle) {
  std::vector<Type> types;
  std::vector<AnyArray> values;
  for (const LeafRef& leaf : arguments.leaves()) {
    types.push_back(leaf.type());
    if (eager) values.push_back(value_of(leaf));
  }
  const std::vector<std::string> paths = leaf_paths(site);
  const detail::NestedCall call(function.table.get(), function.name(), function.location);
  const detail::FollowBranches follow(function.options.branches);
  Traced traced;
  detail::TraceOptions options;
  options.eager = eager;
  options.values = values;
  options.paths = paths;
  options.oracle = oracle;
  Stopwatch stopwatch;
  detail::TraceResult result = detail::trace_graph(
      function.name(), types,
      [&](std::span<const detail::Handle> inputs, std::vector<detail::Handle>& outputs) {
        detail::user_location(function.location);  // reported until the lambda records its first line
        detail::TracedTree result = site.trace(site.context, inputs, outputs);
        if (result.tree != nullptr) traced.structure = std::shared_ptr<const void>(result.tree, result.destroy);
        traced.static_parts = std::move(result.parts);
      },
      options);
  if (!result.captures.empty()) {
    throw ConcretizationError(function.title() +
                              ": the lambda uses a tracer of an enclosing function, but is called on data alone and "
                              "runs at once; pass the tracer as an argument" +
                              where_text(function.location));
  }
  traced.seconds = stopwatch.lap();
  traced.graph = std::move(result.graph);
  traced.values = std::move(result.values);
  return traced;
}

std::shared_ptr<CallEntry> make_entry(const detail::Arguments& arguments, Traced& traced, Device device) {
  auto entry = std::make_shared<CallEntry>(arguments.words());
  for (const LeafRef& leaf : arguments.leaves()) entry->leaves.push_back(leaf.type());
  entry->structure = std::move(traced.structure);
  entry->device = device;
  Graph& graph = traced.graph;
  std::vector<Value> computed;
  for (Value v : graph.outputs()) {
    OutputSource source;
    if (graph.kind(v) == ValueKind::input) {
      source = {OutputSource::Kind::argument, static_cast<uint32_t>(graph.input_index(v))};
    } else if (graph.kind(v) == ValueKind::constant) {
      source = {OutputSource::Kind::constant, static_cast<uint32_t>(entry->constants.size())};
      entry->constants.push_back(detail::copy_to_device("call", graph.constant(v), device, {}));
    } else {
      source = {OutputSource::Kind::computed, static_cast<uint32_t>(computed.size())};
      computed.push_back(v);
    }
    entry->sources.push_back(source);
  }
  graph.set_outputs(std::move(computed));
  entry->lifted = transform::lift_constants(graph);
  for (AnyArray& array : entry->lifted) array = detail::copy_to_device("call", array, device, {});
  return entry;
}

std::vector<Strides> input_strides(const detail::Arguments& arguments, const Graph& graph) {
  std::vector<Strides> strides;
  const auto leaves = arguments.leaves();
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    if (i < leaves.size() && leaves[i].kind == LeafRef::Kind::view) {
      strides.emplace_back(std::span<const int64_t>(leaves[i].strides(), leaves[i].rank));
    } else {
      strides.push_back(row_major_strides(graph.shape(graph.inputs()[i])));
    }
  }
  return strides;
}

}  // namespace calque::runtime
