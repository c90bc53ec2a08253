#pragma once
// The ranks of an MPI_Comm, as the graphs' collective equations know them.
#include <atomic>
#include <vector>

#include "mpi/state.h"
#include "mpi/worker.h"
#include "runtime/cuda/nccl.h"

namespace calque::mpi {

class MpiGroup final : public ProcessGroup {
 public:
  /// Takes over `comm`. `shared_id` is the same number on all ranks; `world_ranks` are those of the members.
  MpiGroup(MPI_Comm comm, uint64_t shared_id, int size, int rank, std::vector<int> world_ranks);

  void run(const CollectiveCall& call, const void* operand, void* result) const override;
  std::unique_ptr<Pending> start(const CollectiveCall& call, const void* operand, void* result) const override;
  bool submit(const CollectiveCall& call, const void* operand, void* result, DeviceQueue& queue) const override;

  MPI_Comm comm() const { return comm_; }
  uint64_t shared_id() const { return shared_id_; }
  const std::vector<int>& world_ranks() const { return world_ranks_; }
  /// Throws Error when it was freed or the session has ended.
  void require_alive(std::string_view name, const Location& location) const;
  /// Frees the MPI_Comm, and the communicators of NCCL, whose calls end first; with `abandon` without results, since
  /// other ranks may not make theirs.
  void free(bool abandon = false) const;

 private:
  /// Before a call: it is allowed, and agreed upon with the other ranks.
  void prepare(const CollectiveCall& call) const;
  void communicate(const CollectiveCall& call, const void* operand, void* result) const;
  /// Waits for the calls that the worker makes.
  void await_started() const;

  mutable MPI_Comm comm_;
  uint64_t shared_id_;
  std::vector<int> world_ranks_;
  mutable std::atomic<bool> alive_ = true;
  /// The last call that the worker makes for this group; calls that follow wait for it.
  mutable std::mutex last_mutex_;
  mutable std::shared_ptr<Worker::Task> last_;
  /// A device of this rank whose arrays all ranks have agreed how to communicate.
  struct Route {
    Device device;
    std::unique_ptr<runtime::NcclCommunicator> nccl;  ///< null: through host memory
  };
  mutable std::mutex routes_mutex_;
  mutable std::vector<Route> routes_;
};

/// The function of calque/mpi.h that makes such calls.
std::string_view function_of(Collective kind);

}  // namespace calque::mpi
