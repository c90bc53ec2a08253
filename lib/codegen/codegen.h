#pragma once
// Native code: how it is made (native_build.h makes it), what it calls, what it is. Independent of LLVM.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codegen/code_image.h"
#include "codegen/codegen_watch.h"
#include "ir/pass_log.h"
#include "kernel/ir/program.h"
#include "kernel/schedule_cpu/target_limits.h"
#include "math/forms.h"

namespace calque::codegen {

/// The functions that generated code calls: one versioned table of noexcept functions, which the runtime fills in. A
/// generated entry receives the context as its first argument and passes it on.
struct RuntimeTable {
  uint32_t version = 6;
  /// Runs host function `index` of the program on the given argument and result pointers. Returns 0, or 1 after storing
  /// an exception in the context.
  int32_t (*host_call)(void* context, int32_t index, void* const* pointers) noexcept = nullptr;
  /// Runs body(environment, begin, end) over [0, count) on several threads, in chunks that begin at multiples of
  /// `grain`, and returns when all are done. The result of `body` must not depend on the choice of chunks.
  void (*parallel_for)(void* context, int64_t count, int64_t grain,
                       void (*body)(void* environment, int64_t begin, int64_t end),
                       void* environment) noexcept = nullptr;
  /// At least `bytes` bytes for the calling thread, 64-byte aligned and uninitialized: valid until the thread calls
  /// `scratch` again or the calling body of parallel_for (outside of one: the kernel) returns. Null when memory has run
  /// out; the context's `failed` is then set.
  void* (*scratch)(void* context, int64_t bytes) noexcept = nullptr;
  /// The number of threads of parallel_for. It selects an algorithm and never affects the result.
  int32_t (*num_threads)(void* context) noexcept = nullptr;
  /// Like `scratch`, but separate memory: valid until the thread calls `private_memory` again or the calling body of
  /// parallel_for returns.
  void* (*private_memory)(void* context, int64_t bytes) noexcept = nullptr;
  /// Runs routine `index` of the program on the given argument and result pointers. Returns like host_call.
  int32_t (*routine)(void* context, int32_t index, void* const* pointers) noexcept = nullptr;
};

/// The first member of every context passed to an entry.
struct ContextHeader {
  const RuntimeTable* table = nullptr;
  /// Nonzero once a thread failed to get memory: the number of bytes it requested. The entry then returns 1 as early as
  /// it can.
  alignas(8) int64_t failed = 0;
  /// The floating-point mode of the caller, stored by entries that change it: functions that they call run in that
  /// mode.
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
  /// Entries and the bodies that they run on other threads set the processor mode that flushes subnormals, and restore
  /// it; functions that they call run in the caller's mode.
  bool flush_subnormals = false;
  bool sanitize = false;  ///< run LLVM's AddressSanitizer pass over the module
  /// Minimizes compile time: machine code is not optimized. The code computes the same bits (except with fast_math).
  bool quick = false;
  /// `quick` for a program of more LLVM instructions than this: see CompiledProgram::is_quick.
  size_t quick_above = SIZE_MAX;
  /// What is made: code in this process, or one file.
  enum class Form : uint8_t { process, object, assembly } form = Form::process;
  /// Functions of lib/math are only declared: code in the process calls those that it shares. Otherwise the module
  /// defines them.
  bool shares_functions() const { return form == Form::process && !sanitize; }
  std::string entry_name;  ///< of the entry in files; empty: `calque_entry`, as code in the process requires
  /// Compiles the modules of a large program in parallel; null: sequentially. The code is the same.
  decltype(RuntimeTable::parallel_for) parallel_for = nullptr;
  /// Called between the modules of a program that are compiled sequentially: at these points the thread holds no lock
  /// of code generation. Null: nothing is called.
  void (*between_modules)() = nullptr;
  /// If set: emits a scalar entry, if the program allows one, that takes the values of the first inputs. These are
  /// their types. See CompiledProgram::scalar_entry.
  std::optional<std::vector<DType>> scalar_arguments = std::nullopt;
  /// Of the compilation; may be null.
  PassLog* log = nullptr;
  /// May be null.
  CodegenWatch* watch = nullptr;
  /// Where a copy of the code is put before it is linked; may be null.
  CodeImage* image = nullptr;
  /// Where functions of lib/math are looked for before they are compiled, and kept afterwards; may be null.
  const MathStore* math = nullptr;
};

/// The forms in which code for these options computes functions.
math::MathForms math_forms(const CodegenOptions& options);

/// The start of the data to which the last argument of a scalar entry points.
struct ScalarData {
  /// The inputs that are not arguments, then the constants of the program.
  const void* const* data = nullptr;
};

/// Native code in memory, kept as long as a shared_ptr refers to it.
class CompiledProgram {
 public:
  using Entry = int32_t (*)(void* context, void* const* buffers);
  virtual ~CompiledProgram() = default;
  /// Null if there is a scalar entry.
  virtual Entry entry() const = 0;
  /// `R entry(A..., const ScalarData*)` in C's calling convention: arguments and the one result by value, bool and
  /// integers and f32 and f64 as in C. Non-null if it was requested and the program calls neither host functions nor
  /// other threads.
  virtual const void* scalar_entry() const = 0;
  /// Whether `quick` or `quick_above` left the machine code unoptimized.
  virtual bool is_quick() const = 0;
  /// Approximate bytes of memory of the code and the linker's data about it.
  virtual size_t bytes() const = 0;
};

/// What the schedule of code for these options depends on.
kernel::TargetLimits target_limits(const CodegenOptions& options);

/// Links code that was made for the same options on the same processor. Initializes no code generator.
/// Thread-safe. Throws CompileError.
std::shared_ptr<const CompiledProgram> link(const CodeImage& image, const CodegenOptions& options);
/// False once the process is exiting and LLVM's static objects are being destroyed: nothing can be compiled then.
bool can_compile();
/// In the child of a fork: threads that were compiling do not exist there, so the child's exit does not wait for them.
void forget_other_threads() noexcept;
/// The resolved CPU name and feature string: part of every cache key.
std::string target_description(const TargetOptions& options);
/// The processor and operating system, and what CALQUE_CPU chooses, without initializing a code generator: code that
/// was made where this string is the same runs here.
std::string host_description();
/// The version of the LLVM library that the process has loaded, as "22.1.0".
std::string llvm_version();

}  // namespace calque::codegen
