#pragma once
// The functions that cases name, by the type-erased functions of the library.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calque/case.h"
#include "calque/detail/trace.h"

namespace calque::cli {

/// One call of a named function within a trace.
struct FunctionCall {
  std::string_view name;
  std::span<const detail::Operand> operands;
  Params params;
  Location at;

  /// Throws CaseError unless there are so many operands.
  void expect_operands(size_t count) const;
  const detail::Operand& operand(size_t i) const;
};

/// Why a function cannot be called, or nothing where it can: one that belongs to later work, or an unknown one.
std::optional<std::string> why_unsupported(std::string_view function);

/// Records the call in the innermost trace. Throws what the library throws; Unsupported for a function that it does
/// not have.
std::vector<detail::Handle> call_function(const FunctionCall& call);

}  // namespace calque::cli
