#pragma once
// The passes from a traced graph to code: for each kind of device one list, which compilation runs, the log records and
// the tool prints.
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "calque/device.h"

#include "compile/compilation.h"
#include "compile/compile_log.h"
#include "ir/pass_log.h"

namespace calque::runtime {

/// The form in which a pass leaves the function. Passes that leave LLVM IR or code record themselves.
enum class Form : uint8_t { graph, plan, program, llvm, code };

struct Pass {
  PassInfo info;
  Form form = Form::graph;
  /// Null for trace, which runs before compilation begins, and for the passes of `native`.
  std::function<void(Compilation&)> run;
  /// One of codegen::native_passes(), which record themselves.
  const codegen::NativePass* native = nullptr;
  /// Whether the pass has nothing to do in this compilation and is left out; null: never.
  bool (*is_left_out)(const Compilation& compilation) = nullptr;
};

/// The list, in order.
std::span<const Pass> passes_of(Device::Kind kind);

/// The last pass over graphs before equations that plans do not know are expanded.
inline constexpr std::string_view kLastSimplification = "rewrite";
/// The last pass over programs, before the schedule for the vectors of a CPU: what `lower --emit=plan` shows.
std::string_view last_program_pass(Device::Kind kind);

/// Runs the passes of compilation.kind that come after `after`, up to and with `until` or, when that is empty, the last
/// one, and records them in the log. Throws CompileError.
void run_passes(Compilation& compilation, std::string_view after, std::string_view until = {});

/// Sets the function from the text that `pass` printed: a graph, a plan, a program, or LLVM IR. Donations and layouts
/// are part of the text of programs, not taken from the options. Compilation goes on with run_passes(compilation,
/// pass). Throws Error, which lists the passes, for a pass whose text cannot be read back, ParseError, and
/// CompileError.
void read_back(Compilation& compilation, std::string_view text, std::string_view pass);

/// Prints the function in a form that it has, as the log does.
void print(std::ostream& out, const Compilation& compilation, Form form);
/// Throws CompileError if it breaks a rule of the form; an error of a graph names the pass.
void verify(const Compilation& compilation, Form form, std::string_view pass);

/// Runs the passes after `after` and returns optimized LLVM IR; assembly or PTX; an object file of a CPU.
std::string make_llvm_ir(Compilation& compilation, std::string_view after);
std::string make_assembly(Compilation& compilation, std::string_view after);
std::string make_object(Compilation& compilation, std::string_view after);

}  // namespace calque::runtime
