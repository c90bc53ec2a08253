#pragma once
// Who takes part in a collective operation, and what it does: the interface between graphs and libraries that
// communicate, of which calque::mpi is one.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "calque/ir/any_array.h"
#include "calque/ir/attribute.h"
#include "calque/ir/location.h"

namespace calque {

/// How contributions are combined. `all` and `any` are of bool.
enum class ReduceOp : uint8_t { sum, prod, max, min, all, any };
/// `sum`, `prod`, `max`, `min`, `all` or `any`.
std::string_view to_string(ReduceOp op);

/// What one operation among ranks does. N is the number of ranks; blocks of one rank are stacked along axis 0.
enum class Collective : uint8_t {
  all_reduce,      ///< x: the combination of all x
  reduce,          ///< x: at the root the combination of all x, elsewhere zeros
  broadcast,       ///< x: the root's x
  all_gather,      ///< x[...] to [N, ...]: the x of all ranks
  gather,          ///< x[...] to [N, ...]: at the root the x of all ranks, elsewhere zeros
  scatter,         ///< x[N, ...] to [...]: the row of the rank of the root's x
  reduce_scatter,  ///< x[N, ...] to [...]: the row of the rank of the combination of all x
  all_to_all,      ///< x[N, ...]: row i is row `rank` of the x of rank i
  send_receive,    ///< x: sent to `peer`; the result is what `source` sends, zeros without one
  send,            ///< x: sent to `peer`
  receive,         ///< what `source` sends
  scan,            ///< x: the combination of the x of ranks 0 to `rank`
  barrier,         ///< waits for all ranks
};
/// The name of the equation in graphs: `all_reduce`, `collective_reduce`, ...
std::string_view to_string(Collective kind);

/// One operation among ranks.
struct CollectiveCall {
  Collective kind = Collective::barrier;
  ReduceOp op = ReduceOp::sum;
  /// The root, or the rank to which is sent; -1 for none.
  int64_t peer = -1;
  /// The rank from which is received; -1 for none.
  int64_t source = -1;
  /// Dense row-major arrays. Without an operand or a result: bool[].
  Type operand, result;
  /// The user's line.
  Location location;
};

/// Those among whom a collective equation communicates: its attribute `group`.
class CollectiveGroup : public Opaque {
 public:
  CollectiveGroup(std::string label, int64_t size) : label_(std::move(label)), size_(size) {}
  ~CollectiveGroup() override;
  /// The name under which it prints.
  std::string label() const override { return label_; }
  /// The number of those who take part.
  int64_t size() const { return size_; }

 private:
  std::string label_;
  int64_t size_;
};

/// The work of a device in the order in which it is submitted, as a group that communicates among arrays in device
/// memory sees it. It lives as long as the process. Its functions throw DeviceError when the device fails.
class DeviceQueue {
 public:
  DeviceQueue() = default;
  virtual ~DeviceQueue();
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;
  /// The device.
  virtual Device device() const = 0;
  /// The hardware: equal in processes that share it, and of no other device of any machine.
  virtual std::string hardware() const = 0;
  /// Calls `use(stream)` with the stream to which the work is submitted; the device's context is current to the thread
  /// meanwhile. For CUDA a CUstream. What `use` submits is named `label`, which lives as long as the process, in
  /// messages about later failures; null if it submits nothing.
  virtual void with_stream(const char* label, const std::function<void(void* stream)>& use) = 0;
  /// Submits a copy within the device's memory.
  virtual void copy(void* to, const void* from, size_t bytes) = 0;
  /// Submits a store of zeros.
  virtual void fill_zeros(void* to, size_t bytes) = 0;
  /// Memory for work that is submitted before it is dropped.
  virtual std::shared_ptr<void> scratch(size_t bytes) = 0;
  /// Waits for all work.
  virtual void synchronize() = 0;
};

/// Processes, each of which runs a program of its own. All call the same collectives in the same order.
class ProcessGroup : public CollectiveGroup {
 public:
  ProcessGroup(std::string label, int64_t size, int64_t rank) : CollectiveGroup(std::move(label), size), rank_(rank) {}
  ~ProcessGroup() override;
  /// The number of this process among them, in [0, size).
  int64_t rank() const { return rank_; }

  /// Runs the call on arrays in host memory. `operand` and `result` are equal where the result replaces the operand, or
  /// do not overlap; null if there is none. Its exceptions propagate to the caller of the compiled function.
  virtual void run(const CollectiveCall& call, const void* operand, void* result) const = 0;

  /// A call that was started.
  class Pending {
   public:
    Pending() = default;
    virtual ~Pending();
    Pending(const Pending&) = delete;
    Pending& operator=(const Pending&) = delete;
    /// Completes it. Throws what the call throws.
    virtual void finish() = 0;
  };
  /// Starts the call: it may use the two arrays until it is completed. Null if it is complete. Other calls may come
  /// before it is completed; they are made in the order in which they are started or run.
  virtual std::unique_ptr<Pending> start(const CollectiveCall& call, const void* operand, void* result) const;

  /// Submits the call on arrays in the memory of a device to its queue. False, on all processes alike, where the group
  /// does not: then nothing was done, and the caller passes copies in host memory to `run`.
  virtual bool submit(const CollectiveCall& call, const void* operand, void* result, DeviceQueue& queue) const;

 private:
  int64_t rank_;
};

/// An axis that vmap maps over: the examples of the batch take part. Equations of it exist until the function is
/// batched. If the axis is sharded over processes, each has `size / processes` of the examples, in order of rank.
class MappedAxis final : public CollectiveGroup {
 public:
  MappedAxis(std::string name, int64_t size, std::shared_ptr<const ProcessGroup> processes = nullptr)
      : CollectiveGroup(std::move(name), size), processes_(std::move(processes)) {}
  ~MappedAxis() override;
  /// The processes over which the axis is sharded; null if it is not.
  const std::shared_ptr<const ProcessGroup>& processes() const { return processes_; }

 private:
  std::shared_ptr<const ProcessGroup> processes_;
};

}  // namespace calque
