#include "compile/watchdog.h"

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "compile/quiet_thread.h"
#include "ir/fork.h"
#include "ir/log.h"
#include "runtime/process/environment.h"

namespace calque::runtime {

Watchdog::~Watchdog() {
  std::unique_lock lock(mutex_);
  ending_ = true;
  changed_.notify_all();
  changed_.wait(lock, [&] { return !has_thread_; });
}

codegen::CodegenWatch::Ticket Watchdog::begin(std::string what) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    works_.push_back({last_ + 1, std::move(what), std::this_thread::get_id(), Clock::now(), limit_});
  } catch (const std::bad_alloc&) {  // then it is not watched
    return 0;
  }
  if (!has_thread_) start();
  return ++last_;
}

void Watchdog::end(Ticket ticket) noexcept {
  const std::lock_guard lock(mutex_);
  works_.remove_if([&](const Work& work) { return work.ticket == ticket; });
}

bool Watchdog::has_thread() const {
  const std::lock_guard lock(mutex_);
  return has_thread_;
}

void Watchdog::start() noexcept {
  try {
    start_quiet_thread([this] { run(); });
    has_thread_ = true;
  } catch (const std::system_error&) {  // the next work tries again
  }
}

// Nothing wakes the thread up for new work: that is due a limit later at the earliest.
void Watchdog::run() noexcept {
  std::unique_lock lock(mutex_);
  while (!ending_ && !works_.empty()) {
    auto wake = Clock::now() + limit_;
    for (const Work& work : works_) wake = std::min(wake, work.begin + work.next);
    if (!changed_.wait_until(lock, wake, [&] { return ending_; })) report_due(lock);
  }
  has_thread_ = false;
  changed_.notify_all();
}

void Watchdog::report_due(std::unique_lock<ForkMutex>& lock) {
  const auto now = Clock::now();
  std::vector<std::pair<std::string, Duration>> due;
  for (Work& work : works_) {
    if (now - work.begin < work.next) continue;
    while (work.next <= now - work.begin) work.next *= 2;
    try {
      due.emplace_back(work.what, now - work.begin);
    } catch (const std::bad_alloc&) {  // it is reported the next time
    }
  }
  lock.unlock();  // threads that generate code do not wait for the terminal
  for (const auto& [what, elapsed] : due) report_(what, elapsed);
  lock.lock();
}

void Watchdog::after_fork_in_child() {
  const std::lock_guard lock(mutex_);
  new (&changed_) std::condition_variable_any;  // the thread that waits on it does not exist here
  works_.remove_if([](const Work& work) { return work.thread != std::this_thread::get_id(); });
  has_thread_ = false;
}

namespace {

Watchdog& instance() {
  return process_wide([] {
    constexpr auto kLimit = std::chrono::seconds(30);
    static constinit ForkHooks hooks{.in_child = [] { instance().after_fork_in_child(); }};
    at_fork(hooks);
    return new Watchdog(kLimit, [](const std::string& what, Watchdog::Duration elapsed) {
      library_log().warn("generating the code of {} has taken {} s so far", what,
                         std::chrono::duration_cast<std::chrono::seconds>(elapsed).count());
    });
  });
}

}  // namespace

codegen::CodegenWatch* compile_watchdog() {
  Watchdog& one = instance();
  return environment().num_threads == 1 ? nullptr : &one;
}

}  // namespace calque::runtime
