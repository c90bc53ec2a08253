// Equations custom_root and linear_solve: their sub-graphs are closed, and take all captures of the user's functions as
// operands, through which derivatives pass.
#include "frontend/transforms/implicit.h"

#include <algorithm>

#include "calque/detail/transforms/implicit.h"

#include "frontend/transforms/common.h"
#include "primitives/core/writer.h"
#include "primitives/list.h"

namespace calque::detail {

namespace prim = primitives;

namespace {

void require_inexact(std::span<const Type> types, const TransformSite& site) {
  for (size_t i = 0; i < types.size(); ++i) {
    if (is_inexact(types[i].dtype)) continue;
    throw DTypeError(std::string(site.name) + ": " + path_of(site, i) + " is " + to_string(types[i]) +
                     ", but must be floating or complex, such as 1.0" + where(site));
  }
}

}  // namespace

void CapturedTracers::add(const TraceResult& function) {
  for (Handle h : function.captures) {
    if (find(h) == all_.size()) all_.push_back(h);
  }
}

size_t CapturedTracers::find(Handle h) const {
  const auto same = [&](Handle other) { return other == h; };
  return static_cast<size_t>(std::ranges::find_if(all_, same) - all_.begin());
}

Graph with_operands(const TraceResult& function, size_t own, std::span<const Type> skipped,
                    const CapturedTracers& captures, Location location, bool captures_first) {
  Graph graph;
  graph.set_name(function.graph.name());
  std::vector<Value> inputs, captured;
  const auto add_captures = [&] {
    for (Handle h : captures.all()) captured.push_back(graph.add_input(type_of(h, location)));
  };
  if (captures_first) add_captures();
  for (size_t i = 0; i < own; ++i) inputs.push_back(graph.add_input(function.graph.type(function.graph.inputs()[i])));
  for (const Type& type : skipped) graph.add_input(type);
  if (!captures_first) add_captures();
  for (Handle h : function.captures) inputs.push_back(captured[captures.find(h)]);
  graph.set_outputs(prim::Writer(graph, {}).inline_graph(function.graph, inputs));
  return graph;
}

void require_results(const std::vector<Type>& got, std::span<const Type> expected, std::string_view what,
                     std::string_view like, const std::vector<std::string>& results, const TransformSite& site) {
  for (size_t i = 0; i < expected.size(); ++i) {
    if (got[i] == expected[i]) continue;
    const std::string leaf = std::string(what) + (i < results.size() ? results[i] : std::string());
    const std::string text = std::string(site.name) + ": " + leaf + " must be " + to_string(expected[i]) + ", as " +
                             std::string(like) + ", got " + to_string(got[i]) + where(site);
    if (got[i].dtype != expected[i].dtype) throw DTypeError(text);
    throw ShapeError(text);
  }
}

std::vector<Handle> emit_custom_root(BodyRef body, BodyRef solve, BodyRef tangent_solve, std::span<const Handle> guess,
                                     const std::vector<std::string>& results, const TransformSite& site) {
  const std::vector<Type> x = types_of(guess, site.location);
  require_inexact(x, site);
  const TraceResult f = trace_symbolically(body, x, site);
  require_results(f.graph.output_types(), x, "f's result", "the initial guess", results, site);
  const TraceResult solver = trace_symbolically(solve, x, site);
  require_results(solver.graph.output_types(), x, "solve's result", "the initial guess", results, site);
  std::vector<Type> twice = x;
  twice.insert(twice.end(), x.begin(), x.end());
  const TraceResult tangents = trace_symbolically(tangent_solve, twice, site);
  require_results(tangents.graph.output_types(), x, "tangent_solve's result", "the initial guess", results, site);

  CapturedTracers captures;
  for (const TraceResult* function : {&f, &solver, &tangents}) captures.add(*function);
  std::vector<Graph> subgraphs;
  subgraphs.push_back(with_operands(solver, x.size(), {}, captures, site.location, false));
  subgraphs.push_back(with_operands(f, x.size(), x, captures, site.location, false));
  subgraphs.push_back(with_operands(tangents, 2 * x.size(), x, captures, site.location, false));
  std::vector<Handle> values;
  emit(prim::get<prim::CustomRoot>(), concatenated(guess, captures.all()), {}, std::move(subgraphs), site.location,
       values);
  return values;
}

std::vector<Handle> emit_linear_solve(BodyRef matvec, BodyRef solve, const TransposedSystem* transposed,
                                      std::span<const Handle> b, const std::vector<std::string>& results,
                                      const TransformSite& site) {
  const std::vector<Type> types = types_of(b, site.location);
  require_inexact(types, site);
  std::vector<TraceResult> functions;
  const auto trace = [&](BodyRef body, std::string_view what) {
    functions.push_back(trace_symbolically(body, types, site));
    require_results(functions.back().graph.output_types(), types, what, "b", results, site);
  };
  trace(solve, "solve's result");
  trace(matvec, "matvec's result");
  if (transposed != nullptr) {
    trace(transposed->vecmat, "the transposed matvec's result");
    trace(transposed->solve, "transpose_solve's result");
  }
  CapturedTracers captures;
  for (const TraceResult& function : functions) captures.add(function);
  std::vector<Graph> subgraphs;
  for (const TraceResult& function : functions) {
    subgraphs.push_back(with_operands(function, types.size(), {}, captures, site.location, true));
  }
  std::vector<Handle> values;
  emit(prim::get<prim::LinearSolve>(), concatenated(captures.all(), b), {}, std::move(subgraphs), site.location,
       values);
  return values;
}

}  // namespace calque::detail
