#pragma once
// Equations with effects outside the graph, which are never removed or reordered.
#include <functional>
#include <string>
#include <vector>

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

/// The effects of one call of a function that may have to run again: an effect happens once, and runs that follow take
/// it from the log, in order. Lines of debug_print are written before the next call of a host function or a collective,
/// or by `flush`.
class EffectLog {
 public:
  /// A silent log writes no lines: of a run of the lambda for inspection.
  explicit EffectLog(bool is_silent = false) : is_silent_(is_silent) {}
  /// What has happened is written even if the call fails.
  ~EffectLog();
  EffectLog(const EffectLog&) = delete;
  EffectLog& operator=(const EffectLog&) = delete;
  /// Writes the lines that wait.
  void flush();
  /// The effects so far.
  size_t size() const { return effects_.size(); }
  /// Whether effects on this thread are logged.
  static bool is_running();
  /// The results of an effect that are arrays: of `effect`, or if a run on this thread repeats it, from the log.
  static std::vector<AnyArray> once(const std::function<std::vector<AnyArray>()>& effect);

  /// RAII: effects on this thread are those of a run that begins with the first of the log; or, of one that has taken
  /// `taken` already.
  class Run {
   public:
    explicit Run(EffectLog& log, size_t taken = 0);
    ~Run();
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    /// The effects of the log that the run has taken so far, or added to it.
    size_t taken() const { return log_.taken_; }

   private:
    EffectLog& log_;
    EffectLog* outer_;
  };

 private:
  friend void write_debug_line(const std::string& line);
  struct Effect {
    std::string line;
    bool waits = false;             ///< a line that is not written
    std::vector<AnyArray> results;  ///< of a host function or a collective
  };
  bool is_silent_;
  std::vector<Effect> effects_;
  size_t taken_ = 0;  ///< by the run
};

/// Writes a line to standard output atomically with respect to other threads.
void write_debug_line(const std::string& line);

/// Calls the function and checks its results. Throws CompileError when the object is not a HostFunction, ShapeError or
/// DTypeError when the results do not have the types `results`.
std::vector<AnyArray> call_host_function(const Opaque& function, std::span<const AnyArray> operands,
                                         std::span<const Type> results);

using EffectsList = TypeList<DebugPrint, HostCall>;

}  // namespace calque::primitives
