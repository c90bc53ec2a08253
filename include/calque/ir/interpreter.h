#pragma once
// Evaluates a graph equation by equation, with a virtual function per equation: for printing values, finding the first
// NaN, profiling, or evaluating in another arithmetic.
#include <functional>
#include <span>
#include <vector>

#include "calque/ir/graph.h"

namespace calque {

/// Derive from it and override `equation`. It is also called for each execution of an equation in a sub-graph (branch,
/// loop body, called function), unless the override computes the enclosing equation itself.
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

  /// The graph's outputs for these inputs. Throws ShapeError or DTypeError when the inputs do not have the graph's
  /// input types, CompileError when `equation` returns results of other types than the graph's, and whatever equations
  /// throw.
  std::vector<AnyArray> run(const Graph& graph, std::vector<AnyArray> inputs, Location location = Loc::current());

  /// Computes one equation. Literals and constants are passed as arrays. The default calls the reference evaluator and
  /// runs sub-graphs through `run`.
  virtual std::vector<AnyArray> equation(const Equation& equation, const std::vector<AnyArray>& operands);

 protected:
  /// The innermost graph being evaluated, which owns the current equation and knows the types of its values.
  const Graph& graph() const { return *graph_; }

 private:
  const Graph* graph_ = nullptr;
};

}  // namespace calque
