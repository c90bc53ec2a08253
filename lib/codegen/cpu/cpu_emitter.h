#pragma once
// Emits one kernel for a CPU as one LLVM function, and the functions that threads run for it.
#include <vector>

#include "codegen/cpu/vector_memory.h"
#include "codegen/emit/emitter.h"
#include "codegen/loops/loops.h"

namespace calque::codegen {

class CpuEmitter final : private TargetEmitter {
 public:
  /// `overlaps`, `workspace_offsets`: see BufferAccess.
  CpuEmitter(const EmissionContext& context, const kernel::Kernel& kernel, std::vector<bool> overlaps,
             std::vector<int64_t> workspace_offsets)
      : k_(context, kernel, std::move(overlaps), std::move(workspace_offsets), *this) {}
  /// `void kernel(ptr context, ptr buffer...)`, or `void kernel(ptr context, ptr workspace, ptr buffer...)` with only
  /// the buffers that have no workspace offset.
  llvm::Function* emit();
  /// As emit, with one more parameter at the end, of a structure `type`: its fields are the constants with the given
  /// results, in their order.
  llvm::Function* emit_loading(std::vector<kernel::Id> constants, llvm::StructType* type);
  /// Valid after emit: the kernel may return early, with the context's `failed` set.
  bool may_fail() { return k_.runtime().may_fail(); }

 private:
  Reg load(const kernel::Instruction& i) override { return memory_.load(i); }
  void store(const kernel::Instruction& i) override { memory_.store(i); }
  void loop(const kernel::Instruction& i) override { loops_.emit(i); }
  void contraction(const kernel::Instruction& i) override;
  double empty_sum() const override { return 0; }

  void bind_constants(llvm::Function& function, unsigned argument);
  void set_attributes(llvm::Function& function, unsigned argument, int32_t buffer);
  void set_workspace_attributes(llvm::Function& function, unsigned argument);

  std::vector<kernel::Id> loaded_;
  llvm::StructType* loaded_type_ = nullptr;  ///< null: all constants are in the code
  KernelEmitter k_;
  VectorMemory memory_{k_};
  LoopEmitter loops_{k_};
};

}  // namespace calque::codegen
