// One thread compiles the pending programs in order. It starts with the first one and ends when it has had nothing to
// do for a while. It stops when the main thread ends, before static objects are destroyed; code generation
// (llvm_errors.h) stops it only later, where LLVM's static objects that it constructed are destroyed already. A fork
// waits until the thread is between two modules, where it holds no lock, so that the child can compile; the child
// starts its own thread for the programs that were pending.
#include "compile/background.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include <unistd.h>

#include "calque/ir/errors.h"
#include "calque/tier.h"

#include "compile/passes.h"
#include "compile/quiet_thread.h"
#include "compile/stored_code.h"
#include "compile/watchdog.h"
#include "ir/floating_point_mode.h"
#include "ir/fork.h"
#include "ir/log.h"
#include "ir/stopwatch.h"

namespace calque::runtime {
namespace {

struct Pending : PendingCompilation {
  std::weak_ptr<const Executable> executable;
};

/// Compiles and replaces the code.
void optimize(const Pending& pending) {
  if (pending.executable.expired()) return;
  Stopwatch stopwatch;
  CompileReport report;
  report.compiled = true;
  report.equations = pending.equations;
  codegen::CodeImage image;
  std::optional<Compilation> compilation;
  if (pending.graph) {
    compilation.emplace(*pending.graph, pending.strides, pending.options, &report.passes);
  } else {
    compilation.emplace(Device::Kind::cpu, pending.options, &report.passes);
    compilation->program = pending.program;
  }
  compilation->native = pending.code;
  compilation->native.log = &report.passes;
  if (!pending.stored_key.empty()) compilation->native.image = &image;
  run_passes(*compilation, pending.graph ? kTracePass.name : last_program_pass(Device::Kind::cpu));
  report.kernels = compilation->program->kernels.size();
  const auto code = compilation->native_code->linked();
  const auto executable = pending.executable.lock();
  if (!executable) return;
  executable->optimized = code;
  executable->entry.store(code->entry(), std::memory_order_release);
  store_executable(pending.stored_key, *executable, image, report.kernels);
  report.total = stopwatch.lap();
  log_compilation(pending.title + " (optimized in the background)", report);
}

class BackgroundCompiler {
 public:
  // Never destroyed: calls may still run while the program ends.
  static BackgroundCompiler& instance() {
    return process_wide([] { return new BackgroundCompiler; });
  }

  bool takes_more() {
    const std::lock_guard lock(mutex_);
    return !stopped_ && pending_.size() < kMostPending;
  }

  /// No program is optimized from now on. Returns when the thread is done with the module that it compiles.
  void stop() {
    constexpr auto kPatience = std::chrono::seconds(10);
    std::unique_lock lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
    changed_.wait_for(lock, kPatience, [&] { return !compiling_; });
  }

  void add(Pending pending) {
    const std::lock_guard lock(mutex_);
    pending_.push_back(std::move(pending));
    start();
  }

  void wait() {
    std::unique_lock lock(mutex_);
    if (is_this_thread()) return;
    if (!pending_.empty()) start();
    changed_.wait(lock, [&] { return (pending_.empty() && !compiling_) || !has_thread_; });
  }

  /// The background thread is between two modules.
  static void pause() {
    const ForksAllowed now;
    instance().pause_for_forks();
  }

 private:
  static constexpr size_t kMostPending = 64;
  static constexpr auto kLinger = std::chrono::seconds(2);

  BackgroundCompiler() {
    compile_watchdog();  // its hook runs first in the child, where this one starts a thread
    static constinit ForkHooks hooks{.before = [] { instance().before_fork(); },
                                     .in_parent = [] { instance().after_fork_in_parent(); },
                                     .in_child = [] { instance().after_fork_in_child(); }};
    at_fork(hooks);
  }

  // With the lock. Without a thread the programs stay pending, and their calls run the code that they have.
  void start() noexcept {
    changed_.notify_all();
    if (has_thread_ || stopped_) return;
    try {
      thread_ = start_quiet_thread([this] { run(); });
      has_thread_ = true;
    } catch (const std::system_error& e) {
      library_log().warn("no thread to optimize code on: {}", e.what());
    }
  }

  bool is_this_thread() const { return has_thread_ && std::this_thread::get_id() == thread_; }

  void run() noexcept {
    std::unique_lock lock(mutex_);
    while (true) {
      if (!changed_.wait_for(lock, kLinger, [&] { return (stopped_ || !pending_.empty()) && !forking_; })) {
        if (pending_.empty()) break;
        continue;  // a fork takes long
      }
      if (stopped_) break;
      Pending mine = std::move(pending_.front());
      pending_.pop_front();
      current_ = &mine;
      compiling_ = true;
      lock.unlock();
      optimize_noexcept(mine);
      mine = {};  // before forks may go on: it frees memory
      lock.lock();
      compiling_ = false;
      current_ = nullptr;
      changed_.notify_all();
    }
    has_thread_ = false;
    changed_.notify_all();
  }

  static void optimize_noexcept(const Pending& pending) noexcept {
    const DefaultFloatingPointMode mode;
    try {
      optimize(pending);
    } catch (const std::exception& e) {
      if (codegen::can_compile() && !instance().has_stopped())
        library_log().warn("{}: optimization failed, its calls run slower code: {}", pending.title, e.what());
    }
    if (const auto executable = pending.executable.lock()) executable->awaits_optimized = false;
  }

  void pause_for_forks() {
    std::unique_lock lock(mutex_);
    if (stopped_) throw CompileError("compile: the program is ending");
    if (!forking_) return;
    paused_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !forking_; });
    paused_ = false;
  }

  bool has_stopped() {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }

  void before_fork() {
    std::unique_lock lock(mutex_);
    if (is_this_thread()) {  // never: it calls none of the user's functions
      lock.release();
      return;
    }
    changed_.wait(lock, [&] { return !forking_; });
    forking_ = true;
    changed_.wait(lock, [&] { return !compiling_ || paused_; });
    lock.release();  // held during the fork
  }

  void after_fork_in_parent() {
    forking_ = false;
    changed_.notify_all();
    mutex_.unlock();
  }

  void after_fork_in_child() {
    // Waiting threads do not exist here: what they wait on starts anew.
    new (&changed_) std::condition_variable;
    if (compiling_) pending_.push_front(*current_);
    current_ = nullptr;
    forking_ = paused_ = compiling_ = has_thread_ = false;
    codegen::forget_other_threads();
    mutex_.unlock();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Pending> pending_;
  const Pending* current_ = nullptr;  ///< in the thread's stack
  std::thread::id thread_;
  bool has_thread_ = false, compiling_ = false;
  bool forking_ = false, paused_ = false, stopped_ = false;
};

/// Stops the background thread when the main thread ends: objects of threads are destroyed before static objects.
void stop_with_main_thread() {
  struct Stop {
    ~Stop() { BackgroundCompiler::instance().stop(); }
  };
  if (::gettid() != ::getpid()) return;
  static thread_local const Stop stop;
}

}  // namespace

bool can_optimize_later() { return codegen::can_compile() && BackgroundCompiler::instance().takes_more(); }

void optimize_later(const std::shared_ptr<const Executable>& executable, PendingCompilation pending) {
  pending.code.quick = false;
  pending.code.quick_above = SIZE_MAX;
  pending.code.parallel_for = nullptr;
  pending.code.between_modules = &BackgroundCompiler::pause;
  pending.code.log = nullptr;
  pending.code.image = nullptr;
  BackgroundCompiler::instance().add({std::move(pending), executable});
  stop_with_main_thread();
}

}  // namespace calque::runtime

namespace calque {

void wait_for_compilation() { runtime::BackgroundCompiler::instance().wait(); }

}  // namespace calque
