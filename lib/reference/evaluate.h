#pragma once
// The reference evaluator: evaluates a graph equation by equation with plain sequential loops. It is the oracle of the
// tests, the constant folder and the interpreter for debugging. Evaluating a graph that passes verification returns or
// throws an Error; it never crashes.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "calque/ir/graph.h"

#include "math/forms.h"

namespace calque::reference {

/// The form of functions, and the limit of an evaluation.
struct Options {
  /// The limit on computed result elements, over all equations and iterations: a bound for untrusted programs that may
  /// not terminate.
  int64_t elements = INT64_MAX;
  /// If set, functions have the bits of generated code in these forms; otherwise they are computed in a wider type and
  /// rounded once.
  std::optional<math::MathForms> forms = {};
};

/// The outputs of the graph for these inputs. Throws ShapeError or DTypeError when the inputs do not have the
/// graph's types, Error when an array does not fit into memory or the limit is exceeded, and whatever host functions
/// throw.
std::vector<AnyArray> evaluate(const Graph& graph, std::span<const AnyArray> inputs, const Options& options = {});

/// The results of one equation for values of its operands.
std::vector<AnyArray> evaluate_equation(const Graph& graph, const Equation& equation,
                                        std::span<const AnyArray> operands, const Options& options = {});

/// The results of a primitive outside any graph. Throws its typing rule's errors.
std::vector<AnyArray> evaluate_primitive(const Primitive& primitive, std::span<const AnyArray> operands,
                                         const Attributes& attributes = {}, std::span<const Graph> subgraphs = {},
                                         const Options& options = {});

/// An array of the given type with all elements equal to the literal.
AnyArray materialize(const Literal& literal, const Type& type);

}  // namespace calque::reference
