// vmap: axis specifications are matched to trees, which gives one axis for each leaf; the rest works on leaves.
#include "transform/batch/vmap.h"

#include <optional>

#include "frontend/ops/mapped_axes.h"
#include "frontend/transforms/common.h"
#include "primitives/list.h"
#include "trace/branches/questions.h"
#include "trace/builder.h"
#include "transform/simplify/simplify.h"

namespace calque::detail {
namespace {

namespace prim = primitives;

using Axis = std::optional<int>;

[[noreturn]] void refuse(const std::string& text, const TransformSite& site) {
  throw ShapeError(std::string(site.name) + ": " + text + where(site));
}

/// Appends the axis of every leaf of the tree. `option` names the specification in messages.
void match(const AxisSpec& spec, const TreeShape& tree, const std::string& option, std::vector<Axis>& axes,
           const TransformSite& site) {
  if (tree.leaves == 0) return;
  if (spec.sub.empty()) {
    axes.insert(axes.end(), tree.leaves, spec.axis);
    return;
  }
  const std::string entries = std::to_string(spec.sub.size()) + (spec.sub.size() == 1 ? " entry" : " entries");
  if (tree.leaf) refuse(option + " has a list of " + entries + " for " + tree.path + ", which is one array", site);
  std::vector<const TreeShape*> parts;
  for (const TreeShape& part : tree.parts) {
    if (part.leaves > 0) parts.push_back(&part);
  }
  if (parts.size() != spec.sub.size()) {
    refuse(option + " has a list of " + entries + " for " + tree.path + ", of which " + std::to_string(parts.size()) +
               (parts.size() == 1 ? " part holds arrays" : " parts hold arrays"),
           site);
  }
  for (size_t i = 0; i < parts.size(); ++i) match(spec.sub[i], *parts[i], option, axes, site);
}

std::vector<Axis> argument_axes(std::span<const TreeShape> arguments, const VmapOptions& options,
                                const TransformSite& site) {
  std::vector<Axis> axes;
  const std::vector<AxisSpec>& specs = options.in_axes;
  if (!specs.empty() && specs.size() != arguments.size()) {
    refuse("in_axes has " + std::to_string(specs.size()) + (specs.size() == 1 ? " entry" : " entries") +
               ", but the function is called with " + std::to_string(arguments.size()) +
               (arguments.size() == 1 ? " argument" : " arguments"),
           site);
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    match(specs.empty() ? AxisSpec(0) : specs[i], arguments[i], "in_axes", axes, site);
  }
  return axes;
}

std::vector<Axis> result_axes(const TreeShape& result, const VmapOptions& options, const TransformSite& site) {
  std::vector<Axis> axes;
  const std::vector<AxisSpec>& specs = options.out_axes;
  AxisSpec spec = 0;
  if (specs.size() == 1) spec = specs.front();
  if (specs.size() > 1) spec.sub = specs;
  match(spec, result, "out_axes", axes, site);
  return axes;
}

/// The axis counted from the front of a value of `rank` dimensions.
std::optional<int64_t> normal_axis(int axis, int rank) {
  if (axis < -rank || axis >= rank) return std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

/// The batch axes of the operands, counted from the front, and the types and number of examples.
struct Batch {
  std::vector<transform::BatchAxis> axes;
  std::vector<Type> examples;  ///< types of one example
  int64_t size = -1;
  std::shared_ptr<const MappedAxis> axis;  ///< if collective operations can find it

  Graph batched(const Graph& function, const std::vector<transform::BatchAxis>& in_axes,
                const std::vector<transform::BatchAxis>& out_axes) const {
    return transform::vmap(function, in_axes, size, out_axes, axis.get());
  }
};

Batch batch_of(std::span<const Type> types, const std::vector<Axis>& axes, const TransformSite& site) {
  Batch batch;
  size_t first = 0;
  for (size_t i = 0; i < types.size(); ++i) {
    batch.examples.push_back(types[i]);
    batch.axes.emplace_back();
    if (!axes[i]) continue;
    const Shape& shape = types[i].shape;
    const std::string text =
        path_of(site, i) + " is " + to_string(types[i]) + " and has no axis " + std::to_string(*axes[i]);
    if (shape.rank() == 0) refuse(text + "; give cq::none for it in in_axes", site);
    const std::optional<int64_t> axis = normal_axis(*axes[i], shape.rank());
    if (!axis) refuse(text, site);
    const int64_t extent = shape[static_cast<size_t>(*axis)];
    if (batch.size < 0) {
      batch.size = extent;
      first = i;
    } else if (batch.size != extent) {
      const auto says = [&](size_t leaf, int64_t size) {
        return path_of(site, leaf) + " has " + std::to_string(size) + " along axis " + std::to_string(*axes[leaf]);
      };
      refuse(says(first, batch.size) + " and " + says(i, extent), site);
    }
    batch.axes.back() = axis;
    batch.examples.back().shape = shape.without(static_cast<size_t>(*axis));
  }
  if (batch.size < 0) refuse("no argument is batched; in_axes must name an axis of one array at least", site);
  return batch;
}

void append_paths(const TreeShape& tree, std::vector<std::string>& paths) {
  if (tree.leaf) paths.push_back(tree.path);
  for (const TreeShape& part : tree.parts) append_paths(part, paths);
}

std::vector<transform::BatchAxis> output_axes(const Graph& function, const std::vector<Axis>& axes,
                                              const TreeShape& result, const TransformSite& site) {
  std::vector<transform::BatchAxis> normal;
  for (size_t i = 0; i < axes.size(); ++i) {
    normal.emplace_back();
    if (!axes[i]) continue;
    const Type& type = function.type(function.outputs()[i]);
    normal.back() = normal_axis(*axes[i], type.shape.rank() + 1);
    if (normal.back()) continue;
    std::vector<std::string> paths;
    append_paths(result, paths);
    refuse("out_axes has axis " + std::to_string(*axes[i]) + " for " + paths[i] + ", which is " + to_string(type) +
               " for each example",
           site);
  }
  return normal;
}

/// Throws ShapeError that names a result that has `none` in out_axes but depends on the example, if there is one.
void refuse_varying(const Graph& function, const Batch& batch, std::span<const transform::BatchAxis> out_axes,
                    const TreeShape& result, const TransformSite& site) {
  for (size_t i = 0; i < out_axes.size(); ++i) {
    if (out_axes[i]) continue;
    Graph one = function;
    one.set_outputs({function.outputs()[i]});
    try {
      batch.batched(one, batch.axes, {std::nullopt});
    } catch (const ShapeError&) {
      std::vector<std::string> paths;
      append_paths(result, paths);
      refuse(paths[i] + " depends on the example, but out_axes has cq::none for it", site);
    }
  }
}

Graph batched(const Graph& function, const Batch& batch, const std::vector<transform::BatchAxis>& out_axes,
              const TreeShape& result, const TransformSite& site) {
  try {
    return batch.batched(function, batch.axes, out_axes);
  } catch (const ShapeError&) {
    refuse_varying(function, batch, out_axes, result, site);
    throw;
  }
}

/// Asks about all examples at once: they have to agree.
class ExamplesHoist final : public Hoist {
 public:
  ExamplesHoist(std::span<const Handle> operands, const Batch& batch, const TransformSite& site)
      : operands_(operands), batch_(batch), site_(site) {}

  std::optional<int64_t> ask(Builder& inner, const Question& question) override {
    const std::optional<Graph> slice = slice_of(inner, question.value);
    if (!slice) return std::nullopt;
    std::vector<transform::BatchAxis> axes = batch_.axes;
    axes.resize(slice->inputs().size());
    const std::vector<Handle> operands = concatenated(operands_, inner.captures());
    const Outside outside(inner);
    const auto values = [&](transform::BatchAxis axis) {
      const Graph graph = batch_.batched(*slice, axes, {axis});
      return emit_graph(transform::simplify(graph, transform::InlineScope::calls), operands).front();
    };
    const auto answer = [&](Handle value) { return detail::ask(value, question.kind, question.site); };
    if (!varies(*slice, axes)) return answer(values(std::nullopt));
    const Handle all = values(0);
    if (question.kind == QuestionKind::truth) {
      const std::optional<int64_t> all_true = answer(reduce<prim::ReduceAnd>(all));
      if (!all_true || *all_true != 0) return all_true;
      const std::optional<int64_t> any_true = answer(reduce<prim::ReduceOr>(all));
      if (!any_true || *any_true == 0) return any_true;
    } else {
      const std::optional<int64_t> least = answer(reduce<prim::ReduceMin>(all));
      if (!least) return least;
      const std::optional<int64_t> greatest = answer(reduce<prim::ReduceMax>(all));
      if (least == greatest) return least;
    }
    throw ConcretizationError(std::string(site_.name) + ": the examples give different answers to a question of C++, " +
                              "as `if (x > 0)` is; write where or cond there, or compile both sides: "
                              "cq::jit(f, {.branches = cq::branches::all})" +
                              where_text(question.location));
  }

 private:
  template <class P>
  static Handle reduce(Handle x) {
    return emit(prim::get<P>(), {x}, Attributes{{"axes", std::vector<int64_t>{0}}}, Location{});
  }
  bool varies(const Graph& slice, const std::vector<transform::BatchAxis>& axes) const {
    try {
      batch_.batched(slice, axes, {std::nullopt});
      return false;
    } catch (const ShapeError&) {
      return true;
    }
  }

  std::span<const Handle> operands_;
  const Batch& batch_;
  const TransformSite& site_;
};

}  // namespace

std::vector<Handle> emit_vmap(BodyRef body, std::span<const Handle> operands, std::span<const TreeShape> arguments,
                              const TreeShape& result, const VmapOptions& options, const TransformSite& site) {
  const std::vector<Type> types = types_of(operands, site.location);
  Batch batch = batch_of(types, argument_axes(arguments, options, site), site);
  if (!options.axis_name.empty() || options.processes != nullptr) {
    const int64_t processes = options.processes != nullptr ? options.processes->size() : 1;
    batch.axis = std::make_shared<const MappedAxis>(options.axis_name, batch.size * processes, options.processes);
  }
  const MappedAxisScope scope(batch.axis);
  ExamplesHoist hoist(operands, batch, site);
  const TraceResult function = trace_symbolically(body, batch.examples, site, &hoist);
  const std::vector<transform::BatchAxis> out_axes =
      output_axes(function.graph, result_axes(result, options, site), result, site);
  batch.axes.resize(function.graph.inputs().size());
  const Graph graph = batched(function.graph, batch, out_axes, result, site);
  return emit_graph(transform::simplify(graph, transform::InlineScope::calls),
                    concatenated(operands, function.captures));
}

}  // namespace calque::detail
