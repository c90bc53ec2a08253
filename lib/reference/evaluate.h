#pragma once
// The reference evaluator: a graph, op by op, with plain loops in the obvious order. It is the oracle of the tests, the
// constant folder and the debugger's interpreter. Whatever verifies evaluates or throws an Error; nothing crashes.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "calque/ir/graph.h"

#include "math/forms.h"

namespace calque::reference {

/// How functions are computed, and what an evaluation may cost.
struct Options {
  /// Elements of results computed, over all equations and iterations: a bound for untrusted programs that may never
  /// end.
  int64_t elements = INT64_MAX;
  /// Functions have the bits of generated code in these forms; else they are computed in a wider type and rounded once.
  std::optional<math::MathForms> forms = {};
};

/// The outputs of the graph for these inputs. Throws ShapeError or DTypeError when the inputs are not of the graph's
/// types, Error when an array does not fit into memory or a limit is passed, and what host functions throw.
std::vector<AnyArray> evaluate(const Graph& graph, std::span<const AnyArray> inputs, const Options& options = {});

/// The results of one equation for values of its operands.
std::vector<AnyArray> evaluate_equation(const Graph& graph, const Equation& equation,
                                        std::span<const AnyArray> operands, const Options& options = {});

/// The results of a primitive outside any graph. Throws its typing rule's errors.
std::vector<AnyArray> evaluate_primitive(const Primitive& primitive, std::span<const AnyArray> operands,
                                         const Attributes& attributes = {}, std::span<const Graph> subgraphs = {},
                                         const Options& options = {});

/// A literal of any shape as an array.
AnyArray materialize(const Literal& literal, const Type& type);

}  // namespace calque::reference
