#pragma once
// The threads that run device code, and what a thread group has in common. Code is either *cooperative*, executed by
// all threads of a group with the same values in all, or per-thread, inside a loop that is mapped to threads.
#include <functional>
#include <optional>
#include <utility>

#include "codegen/device/device_ops.h"
#include "codegen/emit/reg.h"
#include "kernel/ir/kernel.h"

namespace calque::codegen {

class KernelEmitter;

class ThreadGroup {
 public:
  /// Refuses a launch that has no such groups.
  ThreadGroup(KernelEmitter& kernel, const std::optional<kernel::Launch>& launch);
  /// Emits the position of the running thread.
  void compute_position();

  const kernel::Launch& launch() const { return launch_; }
  int32_t size() const { return launch_.group_size; }
  int32_t warps() const { return size() / 32; }
  bool is_single_thread() const { return size() == 1; }
  llvm::Value* index() const { return index_; }  ///< i64: of the group in the grid
  llvm::Value* rank() const { return rank_; }    ///< i64: of the thread in its group
  llvm::Value* lane() const { return lane_; }    ///< i32: of the thread in its warp
  llvm::Value* warp() const { return warp_; }    ///< i32: of the warp in its group

  bool is_cooperative() const { return cooperative_; }
  /// While it lives, each thread runs the code for itself: its stores are not guarded by rank.
  class PerThreadScope {
   public:
    explicit PerThreadScope(ThreadGroup& group) : group_(group), outer_(std::exchange(group.cooperative_, false)) {}
    ~PerThreadScope() { group_.cooperative_ = outer_; }
    PerThreadScope(const PerThreadScope&) = delete;
    PerThreadScope& operator=(const PerThreadScope&) = delete;

   private:
    ThreadGroup& group_;
    bool outer_;
  };

  llvm::Value* op(DeviceOp o, llvm::ArrayRef<llvm::Value*> operands = {});
  /// Emits `body` so that it runs only in threads where the condition holds. Null: always.
  void when(llvm::Value* condition, const std::function<void()>& body);
  /// The same for a body that yields values; `otherwise` are the values where it does not run.
  Values where(llvm::Value* condition, const Values& otherwise, const std::function<Values()>& body);
  /// Iterations that all threads of the group run: `times` of them, from index `begin` in steps of `step`.
  struct Rounds {
    llvm::Value* begin;
    int64_t times, step;
    bool unrolled;  ///< emitted one after the other
  };
  /// index + by. An index that is a sum with a constant is not added to twice: loops over the same row then have the
  /// same addresses.
  llvm::Value* ahead(llvm::Value* index, int64_t by);
  Values repeat(const Rounds& rounds, const Values& initial,
                const std::function<Values(llvm::Value* index, const Values& carries)>& body);
  void barrier();
  /// The value of another lane of the warp.
  llvm::Value* shuffle(DeviceOp mode, llvm::Value* v, llvm::Value* operand);
  Values shuffle(DeviceOp mode, const Values& v, llvm::Value* operand);
  /// Shared memory of the block, 16-byte aligned.
  llvm::Value* allocate_shared(int64_t bytes);
  /// The same for each group of the block.
  llvm::Value* allocate_shared_of_group(int64_t bytes);
  /// Allocated so far.
  int32_t shared_bytes() const { return shared_bytes_; }

 private:
  KernelEmitter& k_;
  kernel::Launch launch_;
  llvm::Value *index_ = nullptr, *rank_ = nullptr, *lane_ = nullptr, *warp_ = nullptr;
  bool cooperative_ = false;
  int32_t shared_bytes_ = 0;
};

}  // namespace calque::codegen
