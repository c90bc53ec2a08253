#pragma once
// Transformations of a case's function, which is a graph: each turns a graph into a graph, innermost first.
#include <optional>
#include <string>
#include <vector>

#include "calque/conformance/case.h"
#include "calque/ir/graph.h"

namespace calque::cli {

/// A function as a graph. Its inputs are its arguments followed by captured values. Transformations treat captured
/// values as constants, which are the same for all examples of a batch.
struct CaseFunction {
  Graph graph;
  size_t num_captures = 0;

  size_t num_arguments() const { return graph.inputs().size() - num_captures; }
};

/// The reason why the list `transform` of a case or call cannot be applied (an unknown kind), or nothing.
std::optional<std::string> why_unsupported_transforms(const Json& holder);

/// The list `transform` of a case or call, on arguments of given types.
class CaseTransforms {
 public:
  /// `types` are those of the last transformation's arguments. Throws CaseError for a malformed list, ShapeError and
  /// DTypeError where arguments do not fit (batch sizes that differ, a tangent that is not of its primal's type).
  CaseTransforms(const Json& holder, std::vector<Type> types, Location at);

  /// The types that the function itself is traced with.
  const std::vector<Type>& innermost() const { return types_.front(); }
  /// The transformed function, with arguments of the types given to the constructor. Verifies every intermediate graph.
  /// Throws GradError and ShapeError when the function cannot be transformed.
  CaseFunction apply(CaseFunction function) const;

 private:
  std::vector<const Json*> list_;
  /// Argument types before each transformation, and after the last.
  std::vector<std::vector<Type>> types_;
  Location at_;
};

}  // namespace calque::cli
