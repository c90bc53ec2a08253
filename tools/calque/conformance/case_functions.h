#pragma once
// The functions that cases name, implemented by the type-erased functions of the library.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calque/conformance/case.h"
#include "calque/detail/trace.h"

namespace calque::cli {

/// One call of a named function within a trace.
struct FunctionCall {
  std::string_view name;
  std::span<const detail::Operand> operands;
  Params params;
  Location at;

  /// Throws CaseError unless there are `count` operands.
  void expect_operands(size_t count) const;
  const detail::Operand& operand(size_t i) const;
};

/// The reason why a function cannot be called (not implemented or unknown), or nothing.
std::optional<std::string> why_unsupported(std::string_view function);

/// Records the call in the innermost trace. Propagates the library's exceptions; throws Unsupported for a function that
/// the library does not have.
std::vector<detail::Handle> call_function(const FunctionCall& call);

}  // namespace calque::cli
