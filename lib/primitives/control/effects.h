#pragma once
// Equations with effects outside the graph, which are never removed or reordered.
#include <string>

#include "calque/ir/host_function.h"

#include "primitives/core/rule.h"

namespace calque::primitives {

struct DebugPrint : Structural {
  static constexpr std::string_view name = "debug_print";
  static constexpr std::string_view doc =
      "debug_print(x...): writes `format` and a line end to standard output, each {} replaced by an operand";
  static constexpr FusionKind fusion_kind = FusionKind::effect;
  static constexpr int min_operands = 0;
  static constexpr int max_operands = -1;
  static constexpr bool has_effect = true;
  static constexpr std::array attributes{AttributeSpec{"format", AttributeKind::text}};
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  using jvp = ZeroDerivative;
  using transpose = NotLinear;
  static void batch(Batching& b);
};

struct HostCall : Structural {
  static constexpr std::string_view name = "host_call";
  static constexpr std::string_view doc = "host_call(x...): calls `function`, a HostFunction, with the operands";
  static constexpr FusionKind fusion_kind = FusionKind::effect;
  static constexpr int min_operands = 0;
  static constexpr int max_operands = -1;
  static constexpr bool has_effect = true;
  static constexpr std::array attributes{AttributeSpec{"function", AttributeKind::opaque},
                                         AttributeSpec{"results", AttributeKind::types}};
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  using jvp = NotDifferentiable<
      "calls a C++ function that the library cannot see; give it a derivative by custom_jvp or custom_vjp">;
  using transpose = NotLinear;
  static void batch(Batching& b);
};

/// The number of `{}` in a format, where `{{` and `}}` are literal braces; -1 when there is a stray brace.
int count_placeholders(std::string_view format);

/// The line that debug_print writes, without the line end.
std::string format_arrays(std::string_view format, std::span<const AnyArray> arrays);

/// Writes a line to standard output atomically with respect to other threads.
void write_debug_line(const std::string& line);

/// Calls the function and checks its results. Throws CompileError when the object is not a HostFunction, ShapeError or
/// DTypeError when the results do not have the types `results`.
std::vector<AnyArray> call_host_function(const Opaque& function, std::span<const AnyArray> operands,
                                         std::span<const Type> results);

using EffectsList = TypeList<DebugPrint, HostCall>;

}  // namespace calque::primitives
