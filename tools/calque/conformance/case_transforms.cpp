// Captured values are the last inputs of every graph here, and every transformation preserves that.
#include "calque/conformance/case_transforms.h"

#include <map>

#include "calque/conformance/case_derivatives.h"

#include "primitives/list.h"
#include "transform/batch/vmap.h"

namespace calque::cli {
namespace {

using BatchAxes = std::vector<transform::BatchAxis>;
using Types = std::vector<Type>;
using Step = TransformStep;

// ---- batching

/// Normalizes an axis of an array of that rank to a non-negative one.
transform::BatchAxis batch_axis(const Json& json, int rank, const std::string& what, Location at) {
  if (json.is_null()) return std::nullopt;
  const auto axis = json.get<int64_t>();
  if (axis < -rank || axis >= rank) {
    throw ShapeError("vmap: axis " + std::to_string(axis) + " is out of range for " + what + where_text(at));
  }
  return axis < 0 ? axis + rank : axis;
}

/// The i-th entry of the axis list; axis 0 when the list is absent.
const Json& axis_entry(const Json& json, const char* name, size_t count, size_t i) {
  static const Json zero = 0;
  if (!json.contains(name)) return zero;
  const Json& list = json[name];
  if (!list.is_array()) return list;
  if (list.size() != count) {
    throw CaseError(std::string("vmap: ") + name + " has " + std::to_string(list.size()) + " entries for " +
                    std::to_string(count) + " values");
  }
  return list[i];
}

struct Batch {
  BatchAxes axes;
  int64_t size = -1;
};

Batch batch_of(const Json& json, const Types& types, Location at) {
  Batch batch;
  size_t first = 0;
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string what = "argument " + std::to_string(i) + ", " + to_string(types[i]);
    batch.axes.push_back(batch_axis(axis_entry(json, "in_axes", types.size(), i), types[i].shape.rank(), what, at));
    if (!batch.axes[i]) continue;
    const int64_t size = types[i].shape[static_cast<size_t>(*batch.axes[i])];
    if (batch.size < 0) first = i, batch.size = size;
    if (size == batch.size) continue;
    throw ShapeError("vmap: batch sizes differ, argument " + std::to_string(first) + " has " +
                     std::to_string(batch.size) + " and argument " + std::to_string(i) + " has " +
                     std::to_string(size) + where_text(at));
  }
  if (batch.size < 0) throw ShapeError("vmap: at least one argument must be batched" + where_text(at));
  return batch;
}

Graph batched(const Step& s) {
  Batch batch = batch_of(s.json, s.types, s.at);
  batch.axes.resize(s.graph().inputs().size());
  const Types results = s.graph().output_types();
  BatchAxes out_axes;
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string what = "result " + std::to_string(i) + ", " + to_string(results[i]) + " before batching";
    out_axes.push_back(
        batch_axis(axis_entry(s.json, "out_axes", results.size(), i), results[i].shape.rank() + 1, what, s.at));
  }
  return transform::vmap(s.graph(), batch.axes, batch.size, out_axes);
}

// ---- other transformations

/// A graph with one equation that calls the given graph.
template <class P>
Graph wrapped(const Step& s) {
  Graph g;
  g.set_name(s.kind);
  ValueList operands;
  for (const Type& t : s.graph().input_types()) operands.push_back(g.add_input(t));
  Attributes attributes;
  if (std::is_same_v<P, primitives::Call>) attributes.set("name", s.kind);
  const Equation& e = g.append(primitives::get<P>(), operands, std::move(attributes), {s.graph()}, s.at);
  g.set_outputs(std::vector<Value>(e.results().begin(), e.results().end()));
  return g;
}

const std::map<std::string_view, Graph (*)(const Step&)>& kinds() {
  static const std::map<std::string_view, Graph (*)(const Step&)> table = {
      {"jit", &wrapped<primitives::Call>},
      {"checkpoint", &wrapped<primitives::Checkpoint>},
      {"grad", &gradient_of},
      {"value_and_grad", &gradient_of},
      {"jvp", &jvp_of},
      {"linearize", &linearize_of},
      {"vjp", &vjp_of},
      {"jacfwd", &jacfwd_of},
      {"jacrev", &jacrev_of},
      {"hessian", &hessian_of},
      {"vmap", &batched},
  };
  return table;
}

// ---- arguments from the outside in

Types primals_of(const std::string& kind, const Types& types, Location at) {
  if (types.size() % 2 != 0) throw CaseError(kind + ": needs a tangent for each primal");
  const size_t n = types.size() / 2;
  for (size_t i = 0; i < n; ++i) {
    if (types[i] == types[n + i]) continue;
    const std::string text = kind + ": tangent " + std::to_string(i) + " must be " + to_string(types[i]) + ", got " +
                             to_string(types[n + i]) + where_text(at);
    if (types[i].dtype != types[n + i].dtype) throw DTypeError(text);
    throw ShapeError(text);
  }
  return {types.begin(), types.begin() + static_cast<std::ptrdiff_t>(n)};
}

Types types_before(const Json& json, const Types& types, Location at) {
  const auto kind = json.at("kind").get<std::string>();
  if (kind == "jvp" || kind == "linearize") return primals_of(kind, types, at);
  if (kind == "vjp") {
    const auto n = json.at("inputs").get<size_t>();
    if (n > types.size()) throw CaseError("vjp: there are fewer arguments than inputs");
    return {types.begin(), types.begin() + static_cast<std::ptrdiff_t>(n)};
  }
  if (kind != "vmap") return types;
  const Batch batch = batch_of(json, types, at);
  Types examples = types;
  for (size_t i = 0; i < types.size(); ++i) {
    if (batch.axes[i]) examples[i].shape = types[i].shape.without(static_cast<size_t>(*batch.axes[i]));
  }
  return examples;
}

}  // namespace

std::optional<std::string> why_unsupported_transforms(const Json& holder) {
  if (!holder.contains("transform")) return std::nullopt;
  for (const Json& json : holder["transform"]) {
    const auto kind = json.at("kind").get<std::string>();
    if (!kinds().contains(kind)) return "transformation " + kind;
  }
  return std::nullopt;
}

CaseTransforms::CaseTransforms(const Json& holder, std::vector<Type> types, Location at) : at_(at) {
  if (holder.contains("transform")) {
    for (const Json& json : holder["transform"]) list_.push_back(&json);
  }
  types_.assign(list_.size() + 1, {});
  types_.back() = std::move(types);
  for (size_t k = list_.size(); k-- > 0;) types_[k] = types_before(*list_[k], types_[k + 1], at);
}

CaseFunction CaseTransforms::apply(CaseFunction function) const {
  for (size_t k = 0; k < list_.size(); ++k) {
    const auto kind = list_[k]->at("kind").get<std::string>();
    Graph graph = kinds().at(kind)({*list_[k], kind, function, types_[k + 1], at_});
    graph.verify(kind);
    function.graph = std::move(graph);
    if (argument_types(function) == types_[k + 1]) continue;
    throw CaseError(kind + ": the arguments of the case are not those of the transformed function");
  }
  return function;
}

}  // namespace calque::cli
