#include "codegen/llvm/llvm_errors.h"

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "codegen/llvm/backend_target.h"
#include "codegen/llvm/llvm_target.h"

namespace calque::codegen {
namespace {

constinit thread_local int scopes = 0;
// Constant-initialized, so that code can be generated while static objects are constructed and destroyed.
constinit std::once_flag handlers_are_there;
constinit ForkMutex kept_mutex;
constinit std::atomic<bool> ended{false};
constinit std::atomic<uint64_t> times_used{0};
/// Threads that are inside LLVM.
constinit std::atomic<int> inside{0};

/// Waits until other threads have finished generating code, before LLVM's static objects are destroyed.
void end() {
  constexpr auto kPatience = std::chrono::seconds(10);
  ended.store(true);
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (inside.load() > 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// LLVM may have constructed static objects: registers the handler after them. LLVM constructs a few dozen, nearly all
/// in its first use: registering on every use would only fill the list of handlers.
void watch_end() {
  constexpr uint64_t kAlways = 1024;
  const uint64_t n = times_used.fetch_add(1, std::memory_order_relaxed) + 1;
  if (n <= kAlways || std::has_single_bit(n)) std::atexit(end);
}

void write_error(const char* text) {
  if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

/// LLVM ends the process when this returns.
void tell_others(const char* reason) {
  write_error("LLVM ERROR: ");
  write_error(reason);
  write_error("\n");
}

void on_fatal_error(void*, const char* reason, bool) {
  if (scopes == 0) return tell_others(reason);
  throw CompileError("compile: LLVM cannot generate the code: " + std::string(reason));
}

void on_bad_alloc(void*, const char* reason, bool) {
  if (scopes == 0) return tell_others(reason);
  throw std::bad_alloc();
}

}  // namespace

bool llvm_has_ended() { return ended.load(std::memory_order_relaxed); }

void forget_threads_inside_llvm() noexcept { inside.store(scopes > 0 ? 1 : 0); }

LlvmScope::LlvmScope() {
  if (scopes == 0) inside.fetch_add(1);
  if (ended.load()) {
    if (scopes == 0) inside.fetch_sub(1);
    throw CompileError("compile: the program is ending, and with it what generates code");
  }
  std::call_once(handlers_are_there, [] {
    llvm::install_fatal_error_handler(&on_fatal_error);
    llvm::install_bad_alloc_error_handler(&on_bad_alloc);
  });
  ++scopes;
}

LlvmScope::~LlvmScope() {
  if (--scopes > 0) return;
  watch_end();
  inside.fetch_sub(1);
}

void throw_errors_of(llvm::LLVMContext& context) {
  context.setDiagnosticHandlerCallBack([](const llvm::DiagnosticInfo* info, void*) {
    if (info->getSeverity() != llvm::DS_Error) return;
    std::string text;
    llvm::raw_string_ostream out(text);
    llvm::DiagnosticPrinterRawOStream printer(out);
    info->print(printer);
    on_fatal_error(nullptr, text.c_str(), false);
  });
}

void keep_for_good(void* object) noexcept {
  try {
    const std::lock_guard lock(kept_mutex);
    static auto& kept = *new std::vector<void*>;
    kept.push_back(object);
  } catch (...) {  // the object is merely not reachable then
  }
}

}  // namespace calque::codegen
