#pragma once
// The reference evaluator: a graph, op by op, with plain loops in the obvious order. It is the oracle of the tests, the
// constant folder and the debugger's interpreter. Whatever verifies evaluates or throws an Error; nothing crashes.
#include <cstdint>
#include <span>
#include <vector>

#include "calque/ir/graph.h"

namespace calque::reference {

/// What an evaluation may cost.
struct Limits {
  /// Elements of results computed, over all equations and iterations: a bound for untrusted programs that may never
  /// end.
  int64_t elements = INT64_MAX;
};

/// The outputs of the graph for these inputs. Throws ShapeError or DTypeError when the inputs are not of the graph's
/// types, Error when an array does not fit into memory or a limit is passed, and what host functions throw.
std::vector<AnyArray> evaluate(const Graph& graph, std::span<const AnyArray> inputs, const Limits& limits = {});

/// The results of one equation for values of its operands.
std::vector<AnyArray> evaluate_equation(const Graph& graph, const Equation& equation,
                                        std::span<const AnyArray> operands, const Limits& limits = {});

/// The results of a primitive outside any graph. Throws its typing rule's errors.
std::vector<AnyArray> evaluate_primitive(const Primitive& primitive, std::span<const AnyArray> operands,
                                         const Attributes& attributes = {}, std::span<const Graph> subgraphs = {},
                                         const Limits& limits = {});

/// A literal of any shape as an array.
AnyArray materialize(const Literal& literal, const Type& type);

}  // namespace calque::reference
