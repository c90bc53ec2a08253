#pragma once
// The machine code of a program in the making, and the passes that make it. Independent of LLVM.
#include <memory>
#include <span>
#include <string>

#include "codegen/codegen.h"

namespace calque::codegen {

class NativeModule;
struct NativePass;

/// What the passes from a program to machine code read and write. Constructed, used and destroyed on one thread. After
/// an exception of a pass nothing but its destructor may be called.
class NativeBuild {
 public:
  /// `program` is scheduled for the target of the options; emit-llvm reads it. Throws CompileError for a target that
  /// does not exist, or that this process cannot run code of if the code is for it.
  NativeBuild(const kernel::Program& program, const CodegenOptions& options);
  /// From the text of the module after a pass that makes or changes LLVM IR. Throws CompileError, with line and column
  /// where the text is malformed.
  NativeBuild(const std::string& llvm_ir, const CodegenOptions& options);
  ~NativeBuild();
  NativeBuild(const NativeBuild&) = delete;
  NativeBuild& operator=(const NativeBuild&) = delete;

  /// The text of the module, after a pass that makes or changes LLVM IR.
  std::string llvm_ir() const;
  /// After machine-code: the bytes of the file that the options' form asks for.
  std::string file() const;
  /// After link.
  std::shared_ptr<const CompiledProgram> linked() const;

  struct State;

 private:
  friend void run_native_passes(NativeBuild& build, std::span<const NativePass> passes);
  std::unique_ptr<State> state_;
};

/// A pass over the build, or over each of its modules.
struct NativePass {
  PassInfo info;
  void (*run)(NativeBuild::State& build) = nullptr;
  void (*run_on_module)(NativeModule& module) = nullptr;
  /// Whether code that is not linked into the process does without the pass.
  bool only_for_process = false;
};

/// The passes in order. Times are summed over modules that are compiled in parallel.
std::span<const NativePass> native_passes();
/// The pass that makes an object: it runs once for each module.
inline constexpr std::string_view kMachineCodePass = "machine-code";

/// Runs consecutive passes and records them in the log of the build's options: one over the build, or any number of
/// passes over modules, which run one after the other over each module, on several threads over several of them.
void run_native_passes(NativeBuild& build, std::span<const NativePass> passes);

}  // namespace calque::codegen
