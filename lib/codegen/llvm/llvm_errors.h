#pragma once
// Turns LLVM's fatal errors into exceptions. Independent of LLVM.
//
// LLVM reports errors that it cannot report otherwise (report_fatal_error), and failed allocations
// (report_bad_alloc_error), to a handler of the process that must not return; without a handler the process ends. The
// handler here throws on threads that are inside an LlvmScope; on other threads, which do not belong to this library,
// it does what LLVM would have done. LLVM rightly warns about such handlers: it is compiled without exceptions. On the
// platforms of this library the consequences are: its frames have unwind tables (they are part of the ABI of x86-64 and
// AArch64) but no cleanups and no handlers, so an exception passes through them and none of their destructors runs.
// Their memory leaks, and the data that they were changing stays inconsistent. Therefore all LLVM objects that were in
// use, from contexts to target machines, are never accessed again, and their destructors do not run: see LlvmOwned. (A
// few frames have no table that the unwinder finds. lld keeps one entry of .eh_frame_hdr for each address, and if a
// function without instructions, such as an unreachable method, shares the address of the next one, it may keep the
// entry of the empty function. 191 of 130,000 functions are affected in Debian's libLLVM 22, including
// SelectionDAGISel::LowerArguments. If memory runs out below one of these, the process ends.) CrashRecoveryContext
// would have the same effect (it jumps over these frames and over ours, whose destructors must run) and replaces signal
// handlers of the process. std::bad_alloc of an operator new inside LLVM is handled in the same way.
#include <exception>
#include <memory>
#include <new>
#include <utility>

#include "calque/ir/errors.h"

#include "ir/fork.h"

namespace calque::codegen {

//
// LLVM's static objects are constructed on first use and destroyed when the program ends, in the reverse order: before
// static objects of the user that were constructed earlier, and before earlier handlers of atexit. LLVM cannot be used
// then. So a handler of atexit is registered after their construction, which runs before they are destroyed.

/// LLVM's static objects are being or have been destroyed: the program is ending and no more code can be generated.
bool llvm_has_ended();

/// In the child of a fork: no other thread is inside LLVM.
void forget_threads_inside_llvm() noexcept;

/// During its lifetime LLVM's fatal errors on this thread are thrown as CompileError or std::bad_alloc. Throws
/// CompileError if LLVM has ended.
class LlvmScope {
 public:
  LlvmScope();
  ~LlvmScope();
  LlvmScope(const LlvmScope&) = delete;
  LlvmScope& operator=(const LlvmScope&) = delete;

 private:
  NoFork whole_;  // LLVM's locks and static objects
};

/// Runs `work`, which calls LLVM. Fatal errors and failed allocations in it are thrown as CompileError.
template <class Work>
auto inside_llvm(Work&& work) {
  const LlvmScope scope;
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw CompileError("compile: there is not enough memory to generate the code");
  }
}

/// Keeps an object that must not be destroyed reachable, for leak checkers.
void keep_for_good(void* object) noexcept;

/// Owns an LLVM object. An exception that leaves the owner's scope may have passed through LLVM: the object is then
/// never accessed again.
template <class T>
class LlvmOwned {
 public:
  explicit LlvmOwned(std::unique_ptr<T> object) : object_(std::move(object)) {}
  LlvmOwned(LlvmOwned&&) noexcept = default;
  LlvmOwned& operator=(LlvmOwned&&) = delete;
  ~LlvmOwned() {
    if (is_unwinding()) keep_for_good(object_.release());
  }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_.get(); }
  bool is_unwinding() const { return std::uncaught_exceptions() > exceptions_; }
  std::unique_ptr<T> release() { return std::move(object_); }

 private:
  std::unique_ptr<T> object_;
  int exceptions_ = std::uncaught_exceptions();
};

template <class T, class... A>
LlvmOwned<T> make_llvm_owned(A&&... arguments) {
  return LlvmOwned<T>(std::make_unique<T>(std::forward<A>(arguments)...));
}

}  // namespace calque::codegen
