#pragma once
// The memory of a kernel's buffers: addresses, and accesses of lanes at any indices.
#include <utility>
#include <vector>

#include "codegen/emit/reg.h"
#include "kernel/ir/kernel.h"

namespace calque::codegen {

class KernelEmitter;

class BufferAccess {
 public:
  /// `overlaps[i]`: buffer i may overlap another buffer of the kernel, and one of the two is written.
  /// `workspace_offsets[i]`: the offset of buffer i in the workspace, or a negative number when it is passed as a
  /// pointer; empty when every buffer is passed as a pointer.
  BufferAccess(KernelEmitter& kernel, std::vector<bool> overlaps, std::vector<int64_t> workspace_offsets)
      : k_(kernel), overlaps_(std::move(overlaps)), workspace_offsets_(std::move(workspace_offsets)) {}
  bool overlaps(int32_t buffer) const { return overlaps_[static_cast<size_t>(buffer)]; }
  bool in_workspace(int32_t buffer) const {
    return !workspace_offsets_.empty() && workspace_offsets_[static_cast<size_t>(buffer)] >= 0;
  }
  /// The pointers to the buffers, null for those in the workspace, and to the workspace, null if no buffer is there.
  void bind(std::vector<llvm::Value*> pointers, llvm::Value* workspace);

  /// From now on a local buffer has this memory. `mask`: the active lanes when an iteration of its loop begins.
  void bind_local(int32_t buffer, llvm::Value* pointer, llvm::Value* mask = nullptr);
  bool is_local(int32_t buffer) const;
  /// The mask that an access has to respect, `index` being that of the instruction: lanes that are inactive in the
  /// whole iteration may do what they like with elements of their local memory that others access too.
  llvm::Value* needed_mask(int32_t buffer, const Reg& index, llvm::Value* mask) const;
  /// The index of an element for all lanes: those of local buffers are interleaved.
  Reg lane_index(int32_t buffer, const Reg& index);

  llvm::Type* element(int32_t buffer) const;
  llvm::Align alignment(int32_t buffer) const;
  llvm::Value* address(int32_t buffer, llvm::Value* index);
  /// Inactive lanes access nothing. Null: all lanes are active.
  llvm::Value* gather(int32_t buffer, llvm::Value* index, llvm::Value* mask);
  void scatter(int32_t buffer, llvm::Value* index, llvm::Value* value, llvm::Value* mask);
  /// The memory that a load with a false predicate reads instead, and that such a store writes instead.
  llvm::Value* zeros();
  llvm::Value* sink();
  /// Metadata of accesses in the workspace replaces the aliasing attributes of separate pointers, in the functions of
  /// the kernel, starting at `first`.
  void mark_read_only_accesses(llvm::Function& first) const;

  /// While it lives, the code is that of another function, with local memory of its own.
  class FunctionScope {
   public:
    explicit FunctionScope(BufferAccess& access) : access_(access), outer_(std::exchange(access.sink_, nullptr)) {}
    ~FunctionScope() { access_.sink_ = outer_; }
    FunctionScope(const FunctionScope&) = delete;
    FunctionScope& operator=(const FunctionScope&) = delete;

   private:
    BufferAccess& access_;
    llvm::Value* outer_;
  };

 private:
  KernelEmitter& k_;
  std::vector<bool> overlaps_;
  std::vector<int64_t> workspace_offsets_;
  std::vector<llvm::Value*> pointers_;     ///< by buffer
  std::vector<llvm::Value*> local_masks_;  ///< by buffer
  llvm::Value* workspace_ = nullptr;
  llvm::Value* zeros_ = nullptr;
  llvm::Value* sink_ = nullptr;
};

}  // namespace calque::codegen
