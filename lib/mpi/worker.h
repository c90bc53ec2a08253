#pragma once
// A thread that makes calls of MPI while the thread that has started them computes. The calls are the ordinary,
// blocking ones: whether a rank overlaps a call is its own choice, and matches what others do.
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace calque::mpi {

class Worker {
 public:
  /// A call in the queue.
  class Task {
   public:
    explicit Task(std::function<void()> call) : call_(std::move(call)) {}
    /// Waits for the call, and throws what it threw.
    void wait();
    /// Waits for the call, whatever comes of it.
    void await();

   private:
    friend class Worker;
    std::function<void()> call_;
    std::mutex mutex_;
    std::condition_variable done_changed_;
    bool done_ = false;
    std::exception_ptr failure_;
  };

  Worker() : thread_([this] { run(); }) {}
  /// Waits for all calls.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Calls run in the order in which they are added.
  std::shared_ptr<Task> add(std::function<void()> call);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable queue_changed_;
  std::deque<std::shared_ptr<Task>> queue_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace calque::mpi
