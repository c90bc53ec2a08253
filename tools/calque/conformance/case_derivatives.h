#pragma once
// One transformation of a case's function, and the differentiating transformations.
#include <string>
#include <vector>

#include "calque/conformance/case_transforms.h"
#include "calque/ir/errors.h"

namespace calque::cli {

/// One transformation and the function it is applied to.
struct TransformStep {
  const Json& json;
  const std::string kind;
  const CaseFunction& function;
  /// Types of the arguments of the transformed function.
  const std::vector<Type>& types;
  Location at;

  const Graph& graph() const { return function.graph; }
  size_t num_arguments() const { return function.num_arguments(); }
  bool flag(const char* name) const { return json.value(name, false); }
  [[noreturn]] void grad_error(const std::string& text) const { throw GradError(kind + ": " + text + where_text(at)); }
  [[noreturn]] void shape_error(const std::string& text) const {
    throw ShapeError(kind + ": " + text + where_text(at));
  }
};

/// The types of a function's arguments, without captures.
std::vector<Type> argument_types(const CaseFunction& function);

/// grad and value_and_grad: of the first result with respect to `argnums`, with auxiliary results after the gradients.
Graph gradient_of(const TransformStep& step);
/// vjp: a function of primals and cotangents.
Graph vjp_of(const TransformStep& step);
/// jvp: a function of primals and tangents.
Graph jvp_of(const TransformStep& step);
/// jvp by partial evaluation: a known part that does not depend on tangents, then an unknown part.
Graph linearize_of(const TransformStep& step);
Graph jacfwd_of(const TransformStep& step);
Graph jacrev_of(const TransformStep& step);
Graph hessian_of(const TransformStep& step);

}  // namespace calque::cli
