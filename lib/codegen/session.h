#pragma once
// The process's linker. Includes LLVM: only for files that define CALQUE_LLVM_BACKEND.
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "codegen/llvm.h"

namespace calque::codegen {

using Object = llvm::SmallVector<char, 0>;

[[noreturn]] void fail(llvm::Error error, const char* what);

/// One ORC session serves the process and is never destroyed.
class Session {
 public:
  static Session& instance() {
    static Session* session = new Session;
    return *session;
  }
  /// Links objects and finds `name` in them.
  llvm::orc::JITDylib& link(std::vector<Object> objects, const char* name, llvm::orc::ExecutorAddr& entry);
  void unlink(llvm::orc::JITDylib& library) { report(session_->removeJITDylib(library)); }
  void add_sanitizer();

 private:
  Session();
  static std::string& reasons() {
    thread_local std::string text;
    return text;
  }
  static void report(llvm::Error error) {
    if (error) llvm::logAllUnhandledErrors(std::move(error), llvm::errs(), "calque: ");
  }
  template <class F>
  void define(llvm::orc::SymbolMap& symbols, const char* name, F* function) {
    symbols[session_->intern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                                       llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  }

  std::unique_ptr<llvm::orc::ExecutionSession> session_;
  std::unique_ptr<llvm::orc::ObjectLinkingLayer> layer_;
  llvm::orc::JITDylib* runtime_ = nullptr;
  std::atomic<uint64_t> count_{0};
  std::once_flag sanitizer_;
};

}  // namespace calque::codegen
