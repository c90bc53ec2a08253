#pragma once
// Equations that are kept and ordered for what they do outside the graph.
#include <string>

#include "calque/ir/host_function.h"

#include "primitives/control/control.h"
#include "primitives/core/rule.h"

namespace calque::primitives {

struct DebugPrint : Rule {
  static constexpr std::string_view name = "debug_print";
  static constexpr std::string_view doc =
      "debug_print(x...): writes `format` and a line end to standard output, each {} replaced by an operand";
  static constexpr int min_operands = 0;
  static constexpr int max_operands = -1;
  static constexpr bool has_effect = true;
  static constexpr std::array attributes{AttributeSpec{"format", AttributeKind::text}};
  CALQUE_STRUCTURAL_RULES;
  using jvp = ZeroDerivative;
  using transpose = NotLinear;
};

struct HostCall : Rule {
  static constexpr std::string_view name = "host_call";
  static constexpr std::string_view doc = "host_call(x...): calls `function`, a HostFunction, with the operands";
  static constexpr int min_operands = 0;
  static constexpr int max_operands = -1;
  static constexpr bool has_effect = true;
  static constexpr std::array attributes{AttributeSpec{"function", AttributeKind::opaque},
                                         AttributeSpec{"results", AttributeKind::types}};
  CALQUE_STRUCTURAL_RULES;
  using jvp = NotDifferentiable<
      "calls a C++ function that the library cannot see; give it a derivative by custom_jvp or custom_vjp">;
  using transpose = NotLinear;
};

/// How many `{}` a format has; `{{` and `}}` are braces. -1 when another brace stands in it.
int count_placeholders(std::string_view format);

/// The text that debug_print writes, without the line end.
std::string format_arrays(std::string_view format, std::span<const AnyArray> arrays);

/// Writes a line to standard output at once; lines of several threads do not mix.
void write_debug_line(const std::string& line);

/// Calls the function and checks what it returns. Throws CompileError when the object is no HostFunction, ShapeError or
/// DTypeError when the results are not of the types `results`.
std::vector<AnyArray> call_host_function(const Opaque& function, std::span<const AnyArray> operands,
                                         std::span<const Type> results);

using EffectsList = TypeList<DebugPrint, HostCall>;

}  // namespace calque::primitives
