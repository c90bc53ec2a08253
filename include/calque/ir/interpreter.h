#pragma once
// Evaluates a graph equation by equation, with a hook for each: printing values, finding the first NaN, profiling,
// evaluating over other numbers.
#include <functional>
#include <span>
#include <vector>

#include "calque/ir/graph.h"

namespace calque {

/// Derive from it and override `equation`. Equations of sub-graphs (branches, loop bodies, called functions) come to
/// the hook too, once for each time that they run, unless the override computes the enclosing equation itself.
///
///     struct Printer : Interpreter {
///       std::vector<AnyArray> equation(const Equation& e, const std::vector<AnyArray>& operands) override {
///         std::vector<AnyArray> results = Interpreter::equation(e, operands);
///         std::cout << e.primitive() << ": " << results[0] << "\n";
///         return results;
///       }
///     };
///     Printer().run(graph, {x});
class Interpreter {
 public:
  virtual ~Interpreter() = default;

  /// The graph's outputs for these inputs. Throws ShapeError or DTypeError when the inputs are not of the graph's
  /// types, CompileError when `equation` returns results of other types than the graph says, and what equations throw.
  std::vector<AnyArray> run(const Graph& graph, std::vector<AnyArray> inputs, Location location = Loc::current());

  /// Computes one equation. Literals and constants come as arrays. The default asks the reference evaluator, and runs
  /// sub-graphs through `run`.
  virtual std::vector<AnyArray> equation(const Equation& equation, const std::vector<AnyArray>& operands);

 protected:
  /// The graph whose equation is being computed: the innermost one. Types of its values are asked of it.
  const Graph& graph() const { return *graph_; }

 private:
  const Graph* graph_ = nullptr;
};

}  // namespace calque
