#pragma once
// Reports code generation that takes unusually long: a fault of LLVM's that never ends shows as a line, not as silence.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "codegen/codegen_watch.h"
#include "ir/fork.h"

namespace calque::runtime {

/// Reports what has been in the making for a first limit, and for 2, 4, 8 ... times as long. One thread for all, which
/// starts with the first work and ends when it wakes up, once per limit at most, and there is none.
class Watchdog final : public codegen::CodegenWatch {
 public:
  using Duration = std::chrono::steady_clock::duration;
  /// Called on the watchdog's thread.
  using Report = void (*)(const std::string& what, Duration elapsed);

  Watchdog(Duration limit, Report report) : limit_(limit), report_(report) {}
  /// Waits for the thread.
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  Ticket begin(std::string what) noexcept override;
  void end(Ticket ticket) noexcept override;
  /// Whether the thread is running, or sleeping.
  bool has_thread() const;

  /// In the child of a fork only the work of the forking thread goes on, watched from the next work on.
  void after_fork_in_child();

 private:
  using Clock = std::chrono::steady_clock;
  struct Work {
    Ticket ticket;
    std::string what;
    std::thread::id thread;
    Clock::time_point begin;
    Duration next;  ///< when it is reported, after the begin
  };

  void start() noexcept;
  void run() noexcept;
  void report_due(std::unique_lock<ForkMutex>& lock);

  const Duration limit_;
  const Report report_;
  mutable ForkMutex mutex_;
  std::condition_variable_any changed_;
  std::list<Work> works_;
  Ticket last_ = 0;
  bool has_thread_ = false, ending_ = false;
};

/// The watchdog of the process, which logs warnings, the first one after half a minute. Null if CALQUE_NUM_THREADS is
/// 1: then the library has no threads.
codegen::CodegenWatch* compile_watchdog();

}  // namespace calque::runtime
