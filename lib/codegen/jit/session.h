#pragma once
// The linker of the process.
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "codegen/llvm/llvm.h"
#include "ir/thread_end.h"

namespace llvm::orc {
class ExecutionSession;
class JITDylib;
class ObjectLinkingLayer;
}  // namespace llvm::orc

namespace calque::codegen {

using Object = llvm::SmallVector<char, 0>;

class MathLibrary;

[[noreturn]] void fail(llvm::Error error, const char* what);

/// One ORC session serves the process and is never destroyed. After an exception has left the linker (llvm_errors.h) it
/// may hold its locks forever: a new session then replaces it, and the code that it linked stays in memory.
class Session {
 public:
  ~Session();
  using Libraries = std::vector<llvm::orc::JITDylib*>;
  static Session& instance();
  /// Links objects and looks `name` up in them. They may use the symbols of `libraries`.
  llvm::orc::JITDylib& link(std::vector<Object> objects, const char* name, void*& entry,
                            const Libraries& libraries = {});
  MathLibrary& math() { return *math_; }
  void unlink(llvm::orc::JITDylib& library) noexcept;
  void add_sanitizer();

 private:
  Session();
  void set_up();
  static std::string& reasons() { return thread_object<std::string, Session>(); }
  static void report(llvm::Error error) {
    if (error) llvm::logAllUnhandledErrors(std::move(error), llvm::errs(), "calque: ");
  }
  /// Null, with the reason in `problem`, if they cannot be linked.
  llvm::orc::JITDylib* link_objects(std::vector<Object> objects, const char* name, void*& entry,
                                    const Libraries& libraries, std::string& problem);
  void remove(llvm::orc::JITDylib& library);
  void abandon() noexcept;

  std::unique_ptr<llvm::orc::ExecutionSession> session_;
  std::unique_ptr<llvm::orc::ObjectLinkingLayer> layer_;
  llvm::orc::JITDylib* runtime_ = nullptr;
  std::atomic<uint64_t> count_{0};
  std::once_flag sanitizer_;
  std::atomic<bool> abandoned_{false};
  std::unique_ptr<MathLibrary> math_;
};

/// Linked objects, removed from memory by the destructor.
class Linked {
 public:
  Linked(std::vector<Object> objects, const char* name, Session& session = Session::instance(),
         const Session::Libraries& libraries = {})
      : session_(session), library_(session_.link(std::move(objects), name, address_, libraries)) {}
  Linked(const Linked&) = delete;
  Linked& operator=(const Linked&) = delete;
  ~Linked() { session_.unlink(library_); }
  void* address() const { return address_; }

 private:
  void* address_ = nullptr;
  Session& session_;
  llvm::orc::JITDylib& library_;
};

}  // namespace calque::codegen
