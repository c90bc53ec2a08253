#pragma once
// Threads of the library that the user's program does not notice.
#include <thread>
#include <utility>

#include <pthread.h>
#include <signal.h>

namespace calque::runtime {

/// Starts a detached thread that receives no signals: the user's handlers run on the user's threads. Returns its id.
/// Throws std::system_error if the system has no thread left.
template <class Work>
std::thread::id start_quiet_thread(Work&& work) {
  sigset_t all, saved;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &saved);
  struct Restore {
    const sigset_t& mask;
    ~Restore() { pthread_sigmask(SIG_SETMASK, &mask, nullptr); }
  } const restore{saved};
  std::thread thread(std::forward<Work>(work));
  const std::thread::id id = thread.get_id();
  thread.detach();
  return id;
}

}  // namespace calque::runtime
