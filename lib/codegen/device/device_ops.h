#pragma once
// Operations of a GPU as calls of functions named `cq.*`, the only form in which code generation knows them before the
// last pass. That pass lowers them to NVVM intrinsics (lower_to_nvvm) or to calls of the simulator
// (lower_to_simulator).
//
//   i32  cq.thread()  i32 cq.threads()          of the block
//   i64  cq.block()   i64 cq.blocks()           of the grid
//   void cq.barrier()                           of the block
//   void cq.warp.barrier()
//   i32  cq.shuffle.xor(i32 value, i32 mask)    all 32 lanes participate
//   i32  cq.shuffle.up(i32 value, i32 delta)
//   i32  cq.shuffle.index(i32 value, i32 lane)
//   ptr addrspace(3) cq.shared(i32 offset)      byte offset into the block's dynamic shared memory
//   {float x4} cq.mma.f16|bf16|tf32(i32 a x4 (tf32: x4), i32 b x2, float c x4)   m16n8k16 (tf32: m16n8k8)
//   {i32 x4}   cq.load.matrix(ptr addrspace(3)), cq.load.matrix.transposed(ptr addrspace(3))
//   void cq.async.copy(ptr addrspace(3), ptr addrspace(1), i32 valid)
//   void cq.async.commit()   void cq.async.wait(i32 pending)      pending is a constant
//
// Global memory is address space 1, shared memory 3. A kernel is a function `void (ptr addrspace(1) buffer...)` of
// external linkage; every other function is internal and gets inlined.
#include "codegen/llvm/llvm.h"

namespace calque::codegen {

constexpr unsigned kGlobal = 1, kShared = 3;

enum class DeviceOp : uint8_t {
  thread,
  threads,
  block,
  blocks,
  barrier,
  warp_barrier,
  shuffle_xor,
  shuffle_up,
  shuffle_index,
  shared,
  mma_f16,
  mma_bf16,
  mma_tf32,
  load_matrix,
  load_matrix_transposed,
  async_copy,
  async_commit,
  async_wait,
};

/// Calls the operation at the insertion point. Barriers are convergent and access memory, as do all collectives.
llvm::Value* device_op(llvm::IRBuilder<>& b, DeviceOp op, llvm::ArrayRef<llvm::Value*> operands = {});

/// The device operation that `function` declares, if it is one.
std::optional<DeviceOp> device_op_of(const llvm::Function& function);

}  // namespace calque::codegen
