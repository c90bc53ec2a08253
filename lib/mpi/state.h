#pragma once
// What this process knows of MPI: the running session and its communicators.
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>

#include "calque/mpi.h"

#include "mpi/worker.h"

namespace calque::mpi {

class MpiGroup;

struct State {
  /// Guards all but the atomics. It is held while ranks wait for each other: creating a communicator is an operation of
  /// its parent's ranks.
  std::mutex mutex;
  std::map<uint64_t, std::shared_ptr<const MpiGroup>> groups;  ///< by Communicator::id
  bool has_session = false;
  int threads = MPI_THREAD_SINGLE;  ///< the level of thread support
  std::thread::id main_thread;      ///< that has started MPI
  bool checks = false;              ///< CALQUE_MPI_CHECK
  bool nccl = false;                ///< no rank forbids it (CALQUE_LIBNCCL)
  MPI_Comm announcements = MPI_COMM_NULL;
  std::unique_ptr<Worker> worker;  ///< from the first call that is overlapped to the end of the session
  int rank = 0;                    ///< in the world
  int size = 1;
  /// An operation of this rank has failed, so that others may wait for it in vain.
  std::atomic<bool> failed = false;
  /// This process was made by fork from a rank, and is none.
  std::atomic<bool> is_child = false;
  int end_key = MPI_KEYVAL_INVALID;  ///< of MPI_COMM_SELF: what is to be done before MPI ends
};

/// Never destroyed.
State& state();

/// Throws Error that begins with `name`, unless `code` is MPI_SUCCESS.
void require(int code, std::string_view name, const Location& location);

/// Throws Error. Notes that an operation has failed.
[[noreturn]] void fail(const std::string& text, const Location& location);

}  // namespace calque::mpi
