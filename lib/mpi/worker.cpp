#include "mpi/worker.h"

#include <utility>

namespace calque::mpi {

void Worker::Task::wait() {
  std::unique_lock lock(mutex_);
  done_changed_.wait(lock, [&] { return done_; });
  if (failure_) std::rethrow_exception(failure_);
}

void Worker::Task::await() {
  std::unique_lock lock(mutex_);
  done_changed_.wait(lock, [&] { return done_; });
}

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  queue_changed_.notify_one();
  thread_.join();
}

std::shared_ptr<Worker::Task> Worker::add(std::function<void()> call) {
  auto task = std::make_shared<Task>(std::move(call));
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(task);
  }
  queue_changed_.notify_one();
  return task;
}

void Worker::run() {
  while (true) {
    std::shared_ptr<Task> task;
    {
      std::unique_lock lock(mutex_);
      queue_changed_.wait(lock, [&] { return ends_ || !queue_.empty(); });
      if (queue_.empty()) return;
      task = std::move(queue_.front());
      queue_.pop_front();
    }
    std::exception_ptr failure;
    try {
      task->call_();
    } catch (...) {
      failure = std::current_exception();
    }
    {
      const std::lock_guard lock(task->mutex_);
      task->failure_ = failure;
      task->done_ = true;
    }
    task->done_changed_.notify_all();
  }
}

}  // namespace calque::mpi
