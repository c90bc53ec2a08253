#pragma once
// From a program to native code. No LLVM name appears here.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernel/ir/program.h"
#include "math/forms.h"

namespace calque::codegen {

/// What calls out of generated code go through: one versioned table of noexcept functions, which the runtime fills in.
/// A generated entry receives its context first and passes it on.
struct RuntimeTable {
  uint32_t version = 5;
  /// Runs host function `index` of the program on the given argument and result pointers. Returns 0, or 1 after storing
  /// an exception in the context.
  int32_t (*host_call)(void* context, int32_t index, void* const* pointers) noexcept = nullptr;
  /// Runs body(environment, begin, end) over [0, count) on several threads, in pieces that begin at multiples of
  /// `grain`, and returns when all are done. How the range is cut must not show in what `body` computes.
  void (*parallel_for)(void* context, int64_t count, int64_t grain,
                       void (*body)(void* environment, int64_t begin, int64_t end),
                       void* environment) noexcept = nullptr;
  /// At least `bytes` bytes of the calling thread, 64-byte aligned, with any contents: valid until the thread asks
  /// again or the body of parallel_for (outside one: the kernel) that asked returns. Null when there is no memory: then
  /// the context's `failed` is set.
  void* (*scratch)(void* context, int64_t bytes) noexcept = nullptr;
  /// How many threads parallel_for has. Decides which way something is computed, never what.
  int32_t (*num_threads)(void* context) noexcept = nullptr;
  /// As `scratch`, but other memory: valid until the thread asks for private memory again or the body of parallel_for
  /// that asked returns.
  void* (*private_memory)(void* context, int64_t bytes) noexcept = nullptr;
};

/// The first member of every context passed to an entry.
struct ContextHeader {
  const RuntimeTable* table = nullptr;
  /// Not 0 once a thread got no memory: how many bytes it asked for. The entry returns 1 then, as early as it can.
  alignas(8) int64_t failed = 0;
  /// The floating-point mode of the caller, stored by entries that change it: what they call runs in that mode.
  int64_t caller_mode = 0;
};

struct TargetOptions {
  /// LLVM CPU name; empty or "native": the host's. `CALQUE_CPU` overrides it when empty.
  std::string cpu;
  std::string triple;  ///< empty: the host's
};

struct CodegenOptions {
  TargetOptions target;
  bool strict = false;  ///< no contraction, no reassociation beyond the documented reductions
  bool fast_math = false;
  /// Entries and what they run on other threads set the processor's mode that flushes subnormals, and restore it; what
  /// they call runs in the caller's mode.
  bool flush_subnormals = false;
  bool sanitize = false;  ///< run LLVM's AddressSanitizer pass over the module
  /// Machine code is made as quickly as can be, and computes the same bits (but with fast_math).
  bool quick = false;
  /// Functions of lib/math are declared only: `compile` links those of the process. Otherwise the module has its own.
  bool shares_functions = false;
  std::string entry_name;  ///< of the entry in texts and objects; empty: `calque_entry`, as `compile` wants it
  /// Compiles the modules of a large program side by side; null: one after the other. The code is the same.
  decltype(RuntimeTable::parallel_for) parallel_for = nullptr;
  /// When it is there: makes a scalar entry, where the program allows one, that takes the values of the first inputs.
  /// Their types. See CompiledProgram::scalar_entry.
  std::optional<std::vector<DType>> scalar_arguments = std::nullopt;
};

/// The forms in which code for these options computes functions.
math::MathForms math_forms(const CodegenOptions& options);

/// What a scalar entry receives behind its arguments begins with this.
struct ScalarData {
  /// The inputs that are no arguments, then the constants of the program.
  const void* const* data = nullptr;
};

/// Native code in memory. Keeps itself alive while it is referenced.
class CompiledProgram {
 public:
  using Entry = int32_t (*)(void* context, void* const* buffers);
  virtual ~CompiledProgram() = default;
  /// Null when there is a scalar entry.
  virtual Entry entry() const = 0;
  /// `R entry(A..., const ScalarData*)` in C's calling convention: arguments and the one result by value, bool and
  /// integers and f32 and f64 as in C. There is one when it was asked for and nothing is called from inside: no host
  /// function, no other thread. Else null.
  virtual const void* scalar_entry() const = 0;
  /// About how many bytes of memory the code and what the linker knows of it take.
  virtual size_t bytes() const = 0;
};

/// Seconds that the stages of code generation took, summed over modules that were compiled side by side.
struct CodegenTimes {
  double ir = 0;       ///< emitting LLVM IR
  double passes = 0;   ///< passes over it
  double machine = 0;  ///< from there to an object
  double link = 0;
  int modules = 0;
};

/// Compiles for this process. Thread-safe. Throws CompileError.
std::shared_ptr<const CompiledProgram> compile(const kernel::Program& program, const CodegenOptions& options,
                                               CodegenTimes* times = nullptr);
/// The texts that `lower` shows: optimised LLVM IR, and assembly of the target.
std::string llvm_ir(const kernel::Program& program, const CodegenOptions& options);
std::string assembly(const kernel::Program& program, const CodegenOptions& options);
/// An object file's bytes.
std::string object(const kernel::Program& program, const CodegenOptions& options);
/// False once the program ends and LLVM's static objects with it: from then on nothing can be compiled.
bool can_compile();
/// The resolved CPU name and feature string: part of every cache key.
std::string target_description(const TargetOptions& options);
/// The version of LLVM that generates code, as "22.1.0".
std::string llvm_version();

}  // namespace calque::codegen
