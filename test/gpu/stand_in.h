#pragma once
// The tests' interface of the stand-in for CUDA's driver, cuBLASLt and NCCL: its calls, live handles, detected misuse,
// and injected errors.
#include <cstdlib>
#include <string>
#include <vector>

#include <dlfcn.h>

#include "calque/device.h"

#include "support/paths.h"

namespace calque::test {

class StandIn {
 public:
  /// The instance that the library opens. The first call sets CALQUE_LIBCUDA, CALQUE_LIBCUBLASLT
  /// and, unless it is set, CALQUE_LIBNCCL to it.
  static StandIn& get() {
    static StandIn& one = *new StandIn;
    return one;
  }

  void fail(const char* entry, int status, int after = 0) { fail_(entry, status, after); }
  bool failed() { return failed_(); }
  int calls(const char* entry) { return calls_(entry); }
  void limit_memory(size_t bytes) { limit_(bytes); }
  /// See State::settings of test/stand_in/state.h.
  void set(const char* setting, int value) { set_(setting, value); }
  /// Page-locks host memory; with 0 bytes, unlocks it.
  void lock_pages(const void* memory, size_t bytes) { register_(memory, bytes); }
  /// Number of live handles of a kind; `work`: submitted work that is pending.
  size_t live(const char* kind) { return live_(kind); }
  /// Misuse since the last call.
  std::vector<std::string> problems() {
    std::vector<std::string> all;
    char text[256];
    while (problem_(text, sizeof text)) all.emplace_back(text);
    return all;
  }

 private:
  StandIn() {
    const std::string path = stand_in_cuda();
    setenv("CALQUE_LIBCUDA", path.c_str(), 1);
    setenv("CALQUE_LIBCUBLASLT", path.c_str(), 1);
    setenv("CALQUE_LIBNCCL", path.c_str(), 0);
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    const auto find = [&](auto& function, const char* name) {
      function =
          library == nullptr ? nullptr : reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
      if (function == nullptr) std::abort();
    };
    find(fail_, "standInFail");
    find(failed_, "standInFailed");
    find(calls_, "standInCalls");
    find(limit_, "standInLimitMemory");
    find(set_, "standInSet");
    find(register_, "standInRegister");
    find(live_, "standInLive");
    find(problem_, "standInProblem");
  }

  void (*fail_)(const char*, int, int) = nullptr;
  bool (*failed_)() = nullptr;
  int (*calls_)(const char*) = nullptr;
  void (*limit_)(size_t) = nullptr;
  void (*set_)(const char*, int) = nullptr;
  void (*register_)(const void*, size_t) = nullptr;
  size_t (*live_)(const char*) = nullptr;
  bool (*problem_)(char*, size_t) = nullptr;
};

}  // namespace calque::test
