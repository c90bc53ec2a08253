#pragma once
// Whether the ranks of a communicator use NCCL with the GPUs that hold their arrays: one answer for all.
#include <memory>

#include "mpi/group.h"

namespace calque::mpi {

/// NCCL's communicator of the ranks' GPUs, of which this rank's is that of the queue; null on all ranks where one of
/// them has no NCCL or another version of it, where two share a GPU, or where it does not start. All ranks call this.
/// Throws Error when MPI fails.
std::unique_ptr<runtime::NcclCommunicator> agree_on_nccl(const MpiGroup& group, DeviceQueue& queue,
                                                         const CollectiveCall& call);

}  // namespace calque::mpi
