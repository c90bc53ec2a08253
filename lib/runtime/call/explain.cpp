// Explains a call: cache hit or miss and the reason, then the compilation.
#include <sstream>

#include "calque/branch_tree.h"
#include "calque/device.h"

#include "compile/passes.h"
#include "runtime/call/explain_branches.h"
#include "runtime/call/explorer.h"
#include "runtime/call/function_state.h"
#include "runtime/call/trace_tree.h"

namespace calque::detail {
namespace {

/// The differences between a missing signature and the nearest cached one.
std::string miss_reason(const FunctionState& function, const Arguments& arguments, const CallSite& site) {
  const std::vector<SignaturePart> parts = runtime::signature_parts(site);
  std::vector<runtime::SignatureDifference> fewest;
  for (const auto& entry : function.table->entries()) {
    auto differences = runtime::compare_signatures(arguments.words(), parts, entry->signature.words);
    if (fewest.empty() || runtime::are_nearer(differences, fewest)) fewest = std::move(differences);
  }
  return fewest.empty() ? "first call" : runtime::to_string(fewest);
}

/// What calls of the signature run: `entry` is null before the first.
std::string_view tier_text(tier chosen, const runtime::CallEntry* entry) {
  if (entry != nullptr && entry->executable == nullptr) return "automatic";
  if (entry != nullptr && entry->executable->awaits_optimized.load(std::memory_order_relaxed))
    return "automatic; calls run quickly made code until optimized code is ready";
  if (entry != nullptr && entry->executable->is_tiered)
    return entry->executable->optimized_entry_runs() ? "automatic; optimized in the background"
                                                     : "automatic; optimization failed, calls run quickly made code";
  switch (chosen) {
    case tier::quick:
      return "quick";
    case tier::best:
      return "best";
    case tier::automatic:
      break;
  }
  return entry != nullptr ? "automatic; optimized at once" : "automatic";
}

/// A C++ double is a strong f64: combined with f32 arrays it promotes the result to f64.
void warn_of_widening(std::ostream& out, const Arguments& arguments, const CallSite& site) {
  const auto leaves = arguments.leaves();
  const bool has_f32 =
      std::any_of(leaves.begin(), leaves.end(), [](const LeafRef& l) { return l.dtype == DType::f32 && l.rank > 0; });
  if (!has_f32) return;
  const std::vector<std::string> paths = runtime::leaf_paths(site);
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (leaves[i].dtype == DType::f64 && leaves[i].rank == 0) {
      out << "warning: " << paths[i] << " is an f64 scalar among f32 arrays and widens them; pass a float\n";
    }
  }
}

/// The graph that calls run, with what is known of its branches. False if there is none to explain yet.
bool trace_paths(const FunctionState& function, const Arguments& arguments, const CallSite& site,
                 const runtime::CallEntry* cached, std::ostream& out, runtime::Traced& traced) {
  if (cached != nullptr && cached->tree != nullptr) {
    runtime::explain_branches(out, *cached->tree, runtime::leaf_paths(site), function.options.limits);
    const runtime::BranchProgram* const program = cached->tree->latest();
    if (program == nullptr) {
      out << "no path is compiled: .limits are exceeded\n";
      return false;
    }
    merged::StatusLayout status;
    traced.graph = program->merged.record(function.name(), program->status.count() == 0, status).graph;
    traced.structure = program->entry->structure;
    return true;
  }
  primitives::EffectLog effects(true);
  runtime::Explorer explorer(arguments, runtime::compile_options(function),
                             runtime::check_leaves(function, arguments, site), effects);
  traced = runtime::trace_call(function, arguments, site, false, arguments.has_spec() ? nullptr : &explorer);
  if (explorer.path.asked.empty()) return true;
  const size_t n = explorer.path.asked.size();
  out << "branches: " << n << (n == 1 ? " question on" : " questions on") << " the path of these arguments ("
      << lines_of(explorer.path) << "); paths are compiled when calls take them\n";
  return false;
}

}  // namespace

std::string explain_function(const FunctionState& function, Arguments& arguments, const CallSite& site) {
  arguments.set_options(function.options_word);
  std::ostringstream out;
  out << function.title() << where_text(function.location) << "\n";
  const auto cached = function.table->find(arguments.words());
  out << "cache: " << (cached ? "hit" : "miss, " + miss_reason(function, arguments, site)) << "; "
      << function.table->size() << " entries\n"
      << function.table->history().report();
  warn_of_widening(out, arguments, site);
  const Device device = runtime::check_leaves(function, arguments, site);
  runtime::Traced traced;
  if (function.options.branches != branches::trace) {
    traced = runtime::trace_call(function, arguments, site, false);
  } else if (!trace_paths(function, arguments, site, cached.get(), out, traced)) {
    return out.str();
  }
  const size_t recorded = traced.graph.num_equations();
  const auto entry = runtime::make_entry(arguments, traced, device);
  const runtime::CompileOptions options = runtime::compile_options(function, arguments, *entry);
  out << "device: " << to_string(device) << "\n";
  if (options.compiles_tiers()) out << "tier: " << tier_text(options.tier, cached.get()) << "\n";
  const std::vector<runtime::Strides> strides = runtime::input_strides(arguments, traced.graph);
  runtime::Compilation c(std::move(traced.graph), strides, options);
  runtime::run_passes(c, runtime::kTracePass.name, runtime::kLastSimplification);
  out << recorded << " equations recorded, " << c.graph.num_equations() << " after simplification\n";
  runtime::run_passes(c, runtime::kLastSimplification, runtime::last_program_pass(c.kind));
  out << runtime::explain_plan(*c.program);
  return out.str();
}

std::string branch_tree_dot(const FunctionState& function, Arguments& arguments, const CallSite& site) {
  arguments.set_options(function.options_word);
  const auto cached = function.table->find(arguments.words());
  if (cached == nullptr || cached->tree == nullptr) return "digraph branches {\n}\n";
  return runtime::branches_dot(*cached->tree, runtime::leaf_paths(site),
                               function.title() + where_text(function.location));
}

}  // namespace calque::detail
