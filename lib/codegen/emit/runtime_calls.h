#pragma once
// Calls from generated code to the runtime: parallel loops and memory of a thread.
#include <cstddef>
#include <functional>

#include "codegen/emit/reg.h"
#include "codegen/llvm/target.h"

namespace calque::codegen {

class KernelEmitter;

/// Loads a function of the runtime table; tests whether the call has failed and must end.
llvm::Value* runtime_function(llvm::IRBuilder<>& b, llvm::Value* context, size_t offset);
llvm::Value* has_failed(llvm::IRBuilder<>& b, llvm::Value* context);
/// Memory of the running thread from the allocation function at offset `function` of the runtime table. May be null.
llvm::Value* thread_memory(llvm::IRBuilder<>& b, llvm::Value* context, size_t function, int64_t bytes);
/// Several threads run `body(begin, end)` on chunks of [0, count), see RuntimeTable::parallel_for. The body may use
/// every value that is defined at the insertion point, including vectors. Replaces it by a function that receives these
/// values as arguments, and returns that one.
llvm::Function* call_parallel_for(llvm::IRBuilder<>& b, const TargetInfo& target, const CodegenOptions& options,
                                  llvm::Value* context, int64_t count, int64_t grain, llvm::Function* body);
/// Emits `call`, a call to code that is not generated: it runs in the floating-point mode of the entry's caller.
void in_callers_mode(llvm::IRBuilder<>& b, const TargetInfo& target, const CodegenOptions& options,
                     llvm::Value* context, const std::function<void()>& call);

/// The calls of one kernel.
class RuntimeCalls {
 public:
  explicit RuntimeCalls(KernelEmitter& kernel) : k_(kernel) {}
  void bind(llvm::Value* context) { context_ = context; }
  /// Emits `body(begin, end)` as a separate function that several threads run on chunks of [0, count). The runtime
  /// chooses the chunks (see RuntimeTable): each begins at a multiple of `grain` and ends at one, or at `count`. The
  /// body may use every value that is defined at the insertion point, including vectors and masks; values that it
  /// defines are local to it.
  void parallel_for(int64_t count, int64_t grain,
                    const std::function<void(llvm::Value* begin, llvm::Value* end)>& body);
  /// 64-byte aligned memory of the running thread; RuntimeTable::scratch documents its lifetime.
  llvm::Value* scratch(int64_t bytes);
  llvm::Value* num_threads();
  /// The kernel may return early, with the context's `failed` set.
  bool may_fail() const { return may_fail_; }

 private:
  /// Returns from the kernel, or from the outlined body that a thread runs, if the condition holds.
  void leave_if(llvm::Value* condition);

  KernelEmitter& k_;
  llvm::Value* context_ = nullptr;
  bool may_fail_ = false;
};

}  // namespace calque::codegen
