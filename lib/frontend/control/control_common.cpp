#include "frontend/control/control_common.h"

#include <algorithm>

#include "calque/detail/nested_call.h"

#include "trace/builder.h"

namespace calque::detail {

bool runs_eagerly(std::string_view operation, const ControlSite& site) {
  const Builder& b = innermost(operation, site.location);
  if (b.depth() >= kMaxDepth) {
    if (const std::string text = endless_recursion(); !text.empty()) throw CompileError(text);
    throw CompileError(std::string(operation) + ": control flow is nested more than " + std::to_string(kMaxDepth) +
                       " deep" + where_text(user_location(site.location)));
  }
  return b.eager();
}

Handles run_body(BodyRef body, std::span<const Handle> inputs) {
  Handles outputs;
  body(inputs, outputs);
  return outputs;
}

std::vector<Type> types_of(std::span<const Handle> values) {
  std::vector<Type> types;
  types.reserve(values.size());
  for (Handle h : values) types.push_back(type_of(h, {}));
  return types;
}

std::string where_leaf(const ControlSite& site, size_t leaf) {
  const std::string line = to_string(user_location(site.location));
  if (leaf >= site.paths.size() || site.paths[leaf].empty()) return line.empty() ? "" : " (" + line + ")";
  return " (path " + site.paths[leaf] + (line.empty() ? "" : ", " + line) + ")";
}

void check_carry(std::string_view operation, std::span<const Type> in, std::span<const Type> out,
                 const ControlSite& site, size_t num_internal) {
  const std::string name(operation);
  if (in.size() != out.size()) {
    throw ShapeError(name + ": the carry has " + std::to_string(in.size() - num_internal) +
                     " leaves and the body returns " + std::to_string(out.size() - num_internal) +
                     where_leaf(site, SIZE_MAX));
  }
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i] == out[i]) continue;
    const std::string where = i < num_internal ? where_leaf(site, SIZE_MAX) : where_leaf(site, i - num_internal);
    const std::string change = to_string(in[i]) + " in and " + to_string(out[i]) + " out" + where;
    if (in[i].dtype != out[i].dtype) throw DTypeError(name + ": carry changes type, " + change);
    throw ShapeError(name + ": carry changes shape, " + change);
  }
}

Handle scalar(const Operand& x, std::string_view what, const ops::Site& site) {
  const Handle h = ops::value(x, site);
  if (ops::shape(h).rank() != 0) {
    site.shape_error(std::string(what) + " must be a scalar, got " + to_string(ops::type(h)));
  }
  return h;
}

std::vector<Handle> unify_captures(std::span<TraceResult* const> results, bool captures_first) {
  Handles all;
  const auto find = [&](Handle h) { return std::ranges::find_if(all, [&](Handle o) { return o == h; }); };
  for (const TraceResult* r : results) {
    for (Handle h : r->captures) {
      if (find(h) == all.end()) all.push_back(h);
    }
  }
  const std::vector<Type> captured = types_of(all);
  for (TraceResult* r : results) {
    Graph& g = r->graph;
    const size_t own = g.inputs().size() - r->captures.size();
    if (r->captures.size() == all.size() && results.size() == 1 && (!captures_first || all.empty())) continue;
    std::vector<Type> types;
    std::vector<uint32_t> position(g.inputs().size());
    if (captures_first) types = captured;
    for (size_t i = 0; i < own; ++i) {
      position[i] = static_cast<uint32_t>(types.size());
      types.push_back(g.type(g.inputs()[i]));
    }
    const size_t first = captures_first ? 0 : own;
    if (!captures_first) types.insert(types.end(), captured.begin(), captured.end());
    for (size_t i = 0; i < r->captures.size(); ++i) {
      position[own + i] = static_cast<uint32_t>(first + static_cast<size_t>(find(r->captures[i]) - all.begin()));
    }
    g = with_inputs(g, types, position);
    r->captures = all;
  }
  return all;
}

}  // namespace calque::detail
