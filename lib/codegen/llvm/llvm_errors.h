#pragma once
// LLVM's fatal errors as exceptions. No LLVM name appears here.
//
// LLVM reports a mistake that it has no other way to report (report_fatal_error), and an allocation that failed
// (report_bad_alloc_error), to a handler of the process that must not return; without one the process ends. The handler
// here throws, on threads that are inside an LlvmScope; on others, which are not ours, it does what LLVM would have
// done. LLVM warns of such handlers, rightly: it is compiled without exceptions. What that means on the platforms that
// this library runs on: its frames have unwind tables (they are part of the ABI of x86-64 and AArch64) but no cleanups
// and no handlers, so an exception passes through them and none of their destructors runs. Memory of theirs leaks, and
// what they were changing stays half changed. So everything of LLVM's that was in use, from contexts to target
// machines, is never touched again, not even by its destructor: see LlvmOwned. (A few frames have no table that the
// unwinder finds. lld keeps one entry of .eh_frame_hdr for each address, and where a function of no instructions, such
// as a method that is unreachable, shares the address of the next one, it may keep the empty function's. 191 functions
// of 130,000 are lost so in Debian's libLLVM 22, SelectionDAGISel::LowerArguments among them. When memory runs out
// below one of these, the process ends.) CrashRecoveryContext would come to the same (it jumps over these frames and
// over our own, whose destructors must run) and takes over signal handlers of the process. std::bad_alloc of an
// operator new inside LLVM takes the same way.
#include <exception>
#include <memory>
#include <new>
#include <utility>

#include "calque/ir/errors.h"

namespace calque::codegen {

//
// LLVM's own static objects are made when they are first needed and destroyed when the program ends, in the reverse
// order: before the static objects of the user's that were made earlier, and before what atexit was given earlier.
// Nothing can be asked of LLVM then. So a handler of atexit is registered behind them, which runs before they go.

/// LLVM's static objects are being destroyed, or are gone: the program ends and no more code can be generated.
bool llvm_has_ended();

/// While one lives, LLVM's fatal errors on this thread are thrown: CompileError, or std::bad_alloc. Throws CompileError
/// when LLVM has ended.
class LlvmScope {
 public:
  LlvmScope();
  ~LlvmScope();
  LlvmScope(const LlvmScope&) = delete;
  LlvmScope& operator=(const LlvmScope&) = delete;
};

/// Runs `work`, in which LLVM is called. All that fails in it is a CompileError.
template <class Work>
auto inside_llvm(Work&& work) {
  const LlvmScope scope;
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw CompileError("compile: there is not enough memory to generate the code");
  }
}

/// Something that cannot be destroyed any more. It stays reachable, for leak checkers.
void keep_for_good(void* object) noexcept;

/// Owns something of LLVM's. An exception that leaves the owner's scope may have come through LLVM: then the object is
/// never touched again.
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
