// cond and switch_: branches are closed graphs of the same operands and captures.
#include "frontend/control/control_common.h"
#include "primitives/control/control.h"

namespace calque::detail {
namespace {

void check_branches(const ops::Site& s, std::span<const TraceResult> branches, const ControlSite& site) {
  const std::vector<Type> first = branches[0].graph.output_types();
  for (const TraceResult& b : branches.subspan(1)) {
    const std::vector<Type> other = b.graph.output_types();
    if (first.size() != other.size()) {
      s.shape_error("branches return different numbers of leaves, " + std::to_string(first.size()) + " and " +
                    std::to_string(other.size()));
    }
    for (size_t i = 0; i < first.size(); ++i) {
      if (first[i] == other[i]) continue;
      const std::string text = std::string(s.name) + ": branches return different " +
                               (first[i].dtype != other[i].dtype ? "types, " : "shapes, ") + to_string(first[i]) +
                               " and " + to_string(other[i]) + where_leaf(site, i);
      if (first[i].dtype != other[i].dtype) throw DTypeError(text);
      throw ShapeError(text);
    }
  }
}

Handles emit_branches(const Primitive& primitive, Handle selector, std::span<const BodyRef> bodies,
                      std::span<const Handle> operands, const ops::Site& s, const ControlSite& site) {
  const std::vector<Type> types = types_of(operands);
  std::vector<TraceResult> branches;
  branches.reserve(bodies.size());
  for (const BodyRef body : bodies) branches.push_back(trace_graph(s.name, types, body));
  check_branches(s, branches, site);
  std::vector<TraceResult*> pointers;
  for (TraceResult& b : branches) pointers.push_back(&b);
  const Handles captures = unify_captures(pointers);
  Handles all{selector};
  all.insert(all.end(), operands.begin(), operands.end());
  all.insert(all.end(), captures.begin(), captures.end());
  std::vector<Graph> subgraphs;
  for (TraceResult& b : branches) subgraphs.push_back(std::move(b.graph));
  Handles results;
  emit(primitive, all, {}, std::move(subgraphs), site.location, results);
  return results;
}

}  // namespace

std::vector<Handle> cond(const Operand& predicate, BodyRef on_true, BodyRef on_false, std::span<const Handle> operands,
                         const ControlSite& site) {
  const ops::Site s{"cond", site.location};
  const bool eager = runs_eagerly(s.name, site);
  const Handle p = scalar(predicate, "the predicate", s);
  if (ops::dtype(p) != DType::bool_) s.dtype_error("the predicate must be a bool, got " + to_string(ops::type(p)));
  if (eager) {
    const AnyArray taken = concrete(p, "a bool", site.location);
    return run_body(*taken.data_as<bool>() ? on_true : on_false, operands);
  }
  const BodyRef bodies[] = {on_true, on_false};
  return emit_branches(ops::prim::get<ops::prim::Cond>(), p, bodies, operands, s, site);
}

std::vector<Handle> switch_(const Operand& index, std::span<const BodyRef> branches, std::span<const Handle> operands,
                            const ControlSite& site) {
  const ops::Site s{"switch_", site.location};
  const bool eager = runs_eagerly(s.name, site);
  if (branches.empty()) s.shape_error("needs at least one branch");
  Handle i = scalar(index, "the index", s);
  const DType d = ops::dtype(i);
  if (!is_integer(d)) s.dtype_error("the index must be an integer, got " + to_string(ops::type(i)));
  if (d != DType::i32 && size_of(d) >= 4) {
    // Clamped before it is narrowed, so that it cannot wrap into the range.
    const Handle low = ops::splat(0, {d, {}}, s),
                 high = ops::splat(static_cast<double>(branches.size() - 1), {d, {}}, s);
    i = ops::emit<ops::prim::Clamp>(s, {low, i, high});
  }
  i = ops::convert(i, DType::i32, s);
  if (eager) {
    const int64_t chosen = *concrete(i, "an integer", site.location).data_as<int32_t>();
    const int64_t last = static_cast<int64_t>(branches.size()) - 1;
    return run_body(branches[static_cast<size_t>(chosen < 0 ? 0 : chosen > last ? last : chosen)], operands);
  }
  return emit_branches(ops::prim::get<ops::prim::Switch>(), i, branches, operands, s, site);
}

}  // namespace calque::detail
