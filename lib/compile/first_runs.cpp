#include "compile/first_runs.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "compile/compilation.h"
#include "ir/fork.h"
#include "primitives/registry.h"
#include "runtime/process/environment.h"
#include "transform/simplify/defined_bits.h"

namespace calque::runtime {

namespace {

/// The time in seconds that evaluating one graph may take, over all of its runs: about that of compiling it.
constexpr double kBudget = 2e-3;

/// The time that each graph's runs have taken so far, as estimated.
class Spent {
 public:
  static Spent& instance() {
    return process_wide([] { return new Spent; });
  }
  /// Adds a run of the graph with this hash if its budget allows one. Graphs of equal hash share a budget.
  bool add(uint64_t hash, double seconds) {
    const std::lock_guard lock(mutex_);
    if (seconds_.size() >= kMost) seconds_.clear();
    double& spent = seconds_[hash];
    if (spent + seconds > kBudget) return false;
    spent += seconds;
    return true;
  }

 private:
  static constexpr size_t kMost = size_t{1} << 14;
  ForkMutex mutex_;
  std::unordered_map<uint64_t, double> seconds_;
};

double seconds_of(const Graph& graph) {
  double seconds = 0;
  for (const Equation& e : graph.equations()) seconds += seconds_to_evaluate(graph, e);
  return seconds;
}

/// Whether runs of operations may be evaluated at all: dumps and sanitizers are for generated code.
bool can_evaluate(const CompileOptions& options) {
  return environment().evaluates_first && options.tier == tier::automatic && options.compiles_tiers() &&
         !options.reference && !options.fast_math && !options.flush_subnormals && environment().dump.empty() &&
         !environment().sanitize;
}

}  // namespace

/// Measured on an element of each kind. Contractions and sub-graphs take longer than an operation on each element.
double seconds_to_evaluate(const Graph& graph, const Equation& e) {
  constexpr double kEquation = 0.5e-6, kElement = 3e-9, kFunction = 60e-9, kRandom = 40e-9;
  double element = kElement;
  if (primitives::lower_kind(graph, e) == primitives::LowerKind::function) element = kFunction;
  if (e.id() == primitives::id_of<primitives::RandomBits32> || e.id() == primitives::id_of<primitives::RandomBits64>)
    element = kRandom;
  int64_t elements = 0;
  for (const Value v : e.operands()) elements = std::max(elements, graph.shape(v).num_elements());
  for (const Value v : e.results()) elements = std::max(elements, graph.shape(v).num_elements());
  return kEquation + element * static_cast<double>(elements);
}

std::shared_ptr<const Executable> executable_of_operation(const Graph& graph, std::span<const Strides> strides,
                                                          const CompileOptions& options, CompileReport& report) {
  if (!can_evaluate(options)) return find_executable(graph, strides, options, &report);
  math::MathForms forms;
  const auto defers = [&](uint64_t hash) {
    const double seconds = seconds_of(graph);
    if (seconds > kBudget) return false;
    forms = codegen::math_forms(codegen_options(options));
    return transform::has_defined_bits(graph, forms) && Spent::instance().add(hash, seconds);
  };
  if (auto executable = find_executable(graph, strides, options, &report, defers)) return executable;
  return make_evaluating_executable(graph, strides, {.forms = forms});
}

}  // namespace calque::runtime
