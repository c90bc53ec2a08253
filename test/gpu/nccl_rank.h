// Ranks of NCCL without MPI: threads or processes that share a unique id.
#pragma once

#include <cstring>
#include <memory>
#include <utility>

#include "calque/calque.h"

#include "runtime/cuda/nccl.h"

namespace calque::test {

/// A rank whose arrays NCCL communicates. What it does not take, one rank alone copies.
class NcclRank final : public ProcessGroup {
 public:
  NcclRank(std::shared_ptr<runtime::NcclCommunicator> nccl, Device device, int64_t size = 1, int64_t rank = 0)
      : ProcessGroup("nccl", size, rank), nccl_(std::move(nccl)), device_(device) {}
  void run(const CollectiveCall& call, const void* operand, void* result) const override {
    if (size() != 1) throw Error("a call that NCCL does not take");
    ++through_host;
    const size_t bytes = static_cast<size_t>(call.result.shape.num_elements()) * size_of(call.result.dtype);
    if (bytes != 0) std::memcpy(result, operand, bytes);
  }
  bool submit(const CollectiveCall& call, const void* operand, void* result, DeviceQueue& queue) const override {
    if (queue.device() != device_) throw Error("arrays of another device");
    if (!runtime::NcclCommunicator::takes(call)) return false;
    nccl_->submit(call, operand, result);
    return true;
  }
  /// The number of calls that NCCL did not take.
  mutable int through_host = 0;

 private:
  std::shared_ptr<runtime::NcclCommunicator> nccl_;
  Device device_;
};

}  // namespace calque::test
