#pragma once
// Loads and stores of device code.
#include <optional>
#include <unordered_map>
#include <vector>

#include "codegen/device/kept_rows.h"
#include "kernel/ir/kernel.h"

namespace calque::codegen {

class BufferAccess;
class KernelEmitter;
class ThreadGroup;

class DeviceMemory {
  using Id = kernel::Id;

 public:
  DeviceMemory(KernelEmitter& kernel, ThreadGroup& group);
  Reg load(const kernel::Instruction& i);
  void store(const kernel::Instruction& i);
  /// Gives the local buffers of a loop memory: of the running thread, or shared by the threads of a cooperative group.
  void bind_locals(const kernel::Instruction& loop);
  /// Whether the region stores to buffers that other threads of the group load or store too.
  bool stores_contended(const kernel::Region& region) const;

  /// A divisor of an index, from which the alignment of its accesses follows.
  int64_t divisor(kernel::Id id) const;
  /// A loop over a row begins; its next iteration of the running thread has the index `id`, a multiple of `divisor`.
  void begin_row() { kept_->begin_loop(); }
  void next_of_row(kernel::Id id, int64_t divisor) {
    kept_->next_iteration();
    set_divisor(id, divisor);
  }
  /// Of a loop's index; `forget_divisor` returns to not knowing any.
  void set_divisor(kernel::Id id, int64_t divisor) { divisors_[id] = divisor; }
  void forget_divisor(kernel::Id id) { divisors_.erase(id); }
  /// While true, the alignment of single elements is derived as that of vectors is: neighbouring elements that a thread
  /// accesses in a rectangle of iterations are then combined into vectors.
  void align_elements(bool derived) { align_elements_ = derived; }
  /// Whether a vector of so many elements that starts at the index is accessed at once.
  bool is_aligned(int32_t buffer, Id index_id, unsigned lanes) const;
  /// The instruction that computes a value.
  const kernel::Instruction& definition(kernel::Id id) const { return *defined_.at(id); }

 private:
  using Instruction = kernel::Instruction;

  llvm::Value* load_vector(int32_t buffer, Id index_id, const Reg& index, llvm::Value* mask);
  void store_vector(const Instruction& i, const Reg& index, llvm::Value* value, llvm::Value* mask);
  /// A store of one thread; atomic where the instruction has a combiner.
  void store_one(const Instruction& i, llvm::Value* index, llvm::Value* value, llvm::Align align);
  /// Of the element that is `offset` elements after an index.
  llvm::Align vector_alignment(int32_t buffer, Id index_id, int64_t offset = 0) const;
  llvm::Align element_alignment(int32_t buffer, Id index_id, int64_t offset) const;
  /// `index` + `offset`, which may be negative.
  llvm::Value* offset_index(llvm::Value* index, int64_t offset);

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  BufferAccess& buffers_;
  ThreadGroup& group_;
  std::vector<bool> contended_;  ///< by buffer: several threads of a group access it, one of them storing
  std::unordered_map<Id, const Instruction*> defined_;
  std::unordered_map<int32_t, llvm::Value*> locals_;  ///< by buffer
  std::optional<KeptRows> kept_;
  std::unordered_map<Id, int64_t> divisors_;  ///< of loops' indices
  bool align_elements_ = false;
};

}  // namespace calque::codegen
