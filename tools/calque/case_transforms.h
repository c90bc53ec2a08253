#pragma once
// Transformations of a case's function, which is a graph: each turns a graph into a graph, innermost first.
#include <optional>
#include <string>
#include <vector>

#include "calque/case.h"
#include "calque/ir/graph.h"

namespace calque::cli {

/// A function as a graph. Its inputs are its arguments, then values that it takes from around it: to transformations
/// those are constants, alike for all examples of a batch.
struct CaseFunction {
  Graph graph;
  size_t num_captures = 0;

  size_t num_arguments() const { return graph.inputs().size() - num_captures; }
};

/// Why the list `transform` of a case or call cannot be applied (a kind that nobody knows), or nothing where it can.
std::optional<std::string> why_unsupported_transforms(const Json& holder);

/// The list `transform` of a case or call, on arguments of given types.
class CaseTransforms {
 public:
  /// `types` are those of the last transformation's arguments. Throws CaseError for a malformed list, ShapeError and
  /// DTypeError where arguments do not fit (batch sizes that differ, a tangent that is not of its primal's type).
  CaseTransforms(const Json& holder, std::vector<Type> types, Location at);

  /// What the function itself is traced for.
  const std::vector<Type>& innermost() const { return types_.front(); }
  /// The transformed function: its arguments are those that the constructor was given. Every graph on the way is
  /// verified. Throws GradError and ShapeError where the function cannot be transformed so.
  CaseFunction apply(CaseFunction function) const;

 private:
  std::vector<const Json*> list_;
  /// Of the arguments before each transformation, and after the last.
  std::vector<std::vector<Type>> types_;
  Location at_;
};

}  // namespace calque::cli
