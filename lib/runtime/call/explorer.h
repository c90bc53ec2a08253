#pragma once
// Answers the questions of a lambda for the arguments of one call: along answers that compiled code has given, as far
// as the lambda records what that code computes, and from then on by evaluating what was recorded.
#include <span>
#include <unordered_map>
#include <vector>

#include "calque/detail/call.h"

#include "compile/compile_options.h"
#include "primitives/control/collective_route.h"
#include "primitives/control/effects.h"
#include "trace/branches/merged_trace.h"
#include "trace/branches/questions.h"

namespace calque::runtime {

class Explorer final : public detail::Oracle {
 public:
  /// `options` are those of the function's code, which runs on `device`.
  Explorer(const detail::Arguments& arguments, CompileOptions options, Device device, primitives::EffectLog& effects);

  /// The first answers are given: those of a line of a program and, where it ends at an exit, the one that left it.
  void follow(const detail::merged::MergedTrace& program, detail::merged::Line line, std::vector<int64_t> answers);
  /// Whether the lambda has recorded something else than the line before a question of it.
  bool departed() const { return departed_; }

  int64_t answer(detail::Builder& trace, const detail::Question& question) override;
  /// The values of a graph that was recorded with this oracle.
  std::vector<AnyArray> values(const Graph& graph, std::span<const Value> wanted);

 private:
  const AnyArray& leaf(const Graph& graph, Value v);
  bool known(Value v) const { return v.id() < values_.size() && !values_[v.id()].empty(); }
  void set(Value v, AnyArray value);
  void evaluate(const Graph& graph, std::span<const Value> wanted);
  void run_effects(const Graph& graph);
  void run_slice(const Graph& graph, std::vector<const Equation*> slice, std::span<const Value> wanted);
  void run_compiled(const Graph& graph, const std::vector<const Equation*>& slice, std::span<const Value> wanted,
                    std::span<const double> seconds);

  const detail::Arguments& arguments_;
  CompileOptions options_;
  primitives::RouteCollectives::Route route_;  ///< of the function's device
  primitives::EffectLog& effects_;
  size_t effects_taken_ = 0;  ///< of the log, by this run
  // ---- equations whose effects have happened
  size_t num_considered_ = 0;
  const Graph* considered_of_ = nullptr;
  Graph::EquationIterator<true> last_considered_;
  std::vector<AnyArray> values_;  ///< by value id
  const detail::merged::MergedTrace* program_ = nullptr;
  detail::merged::Line line_;
  std::optional<detail::merged::LineChecker> checker_;
  std::vector<int64_t> given_;
  bool departed_ = false;
};

}  // namespace calque::runtime
