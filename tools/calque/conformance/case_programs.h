#pragma once
// A case's computation as a trace: one function call, or a program of statements with sub-programs.
#include <optional>
#include <string>
#include <vector>

#include "calque/conformance/case.h"
#include "calque/detail/trace.h"

namespace calque::cli {

/// The reason why a case cannot be evaluated (a missing transformation or function), or nothing.
std::optional<std::string> why_unsupported_case(const Json& json);

/// The graph of a case, whose inputs are the arrays among the case's inputs. Propagates exceptions of tracing; throws
/// CaseError and Unsupported.
Graph trace_case(const Json& json, const std::vector<Type>& inputs, Location at);

}  // namespace calque::cli
