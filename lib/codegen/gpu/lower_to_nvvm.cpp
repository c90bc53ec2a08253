// Every device operation becomes one intrinsic, with a few operands added or converted: no `cq.*` call remains.
#include "codegen/gpu/device_passes.h"
#include "codegen/gpu/llvm_device.h"
#include "codegen/gpu/lower_device_ops.h"

namespace calque::codegen {

namespace {

namespace nvvm = llvm::Intrinsic;

class NvvmLowering {
 public:
  explicit NvvmLowering(llvm::Module& module) : module_(module), b_(module.getContext()) {}
  void lower(llvm::CallInst& call, DeviceOp op) {
    b_.SetInsertPoint(&call);
    llvm::SmallVector<llvm::Value*, 10> operands(call.args());
    llvm::Value* result = lowered(op, operands);
    if (!call.getType()->isVoidTy()) call.replaceAllUsesWith(result);
    call.eraseFromParent();
  }

 private:
  llvm::Value* intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value*> operands = {}) {
    return b_.CreateIntrinsic(id, operands);
  }
  llvm::Value* wide(llvm::Intrinsic::ID id) { return b_.CreateZExt(intrinsic(id), b_.getInt64Ty()); }
  /// `limit` is the PTX operand c: the clamp value, with a segment mask of zero above it.
  llvm::Value* shuffle(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value*> operands, uint32_t limit) {
    return intrinsic(id, {b_.getInt32(~0U), operands[0], operands[1], b_.getInt32(limit)});
  }
  llvm::Value* lowered(DeviceOp op, llvm::SmallVector<llvm::Value*, 10>& operands);
  llvm::Value* mma_of_halves(llvm::SmallVector<llvm::Value*, 10>& operands);
  llvm::Value* load_matrix(llvm::Intrinsic::ID id, llvm::Value* row);
  llvm::GlobalVariable* shared_memory();

  llvm::Module& module_;
  llvm::IRBuilder<> b_;
};

llvm::GlobalVariable* NvvmLowering::shared_memory() {
  const char* const name = "calque_shared";
  if (llvm::GlobalVariable* known = module_.getGlobalVariable(name)) return known;
  auto* bytes = llvm::ArrayType::get(b_.getInt8Ty(), 0);
  auto* memory = new llvm::GlobalVariable(module_, bytes, false, llvm::GlobalValue::ExternalLinkage, nullptr, name,
                                          nullptr, llvm::GlobalValue::NotThreadLocal, kShared);
  memory->setAlignment(llvm::Align(kSharedAlignment));
  return memory;
}

llvm::Value* NvvmLowering::mma_of_halves(llvm::SmallVector<llvm::Value*, 10>& operands) {
  auto* pair = llvm::FixedVectorType::get(b_.getHalfTy(), 2);
  for (size_t i = 0; i < 6; ++i) operands[i] = b_.CreateBitCast(operands[i], pair);
  return intrinsic(nvvm::nvvm_mma_m16n8k16_row_col_f32_f32, operands);
}

llvm::Value* NvvmLowering::load_matrix(llvm::Intrinsic::ID id, llvm::Value* row) {
  return b_.CreateIntrinsic(id, {row->getType()}, {row});
}

llvm::Value* NvvmLowering::lowered(DeviceOp op, llvm::SmallVector<llvm::Value*, 10>& operands) {
  switch (op) {
    case DeviceOp::thread:
      return intrinsic(nvvm::nvvm_read_ptx_sreg_tid_x);
    case DeviceOp::threads:
      return intrinsic(nvvm::nvvm_read_ptx_sreg_ntid_x);
    case DeviceOp::block:
      return wide(nvvm::nvvm_read_ptx_sreg_ctaid_x);
    case DeviceOp::blocks:
      return wide(nvvm::nvvm_read_ptx_sreg_nctaid_x);
    case DeviceOp::barrier:
      return intrinsic(nvvm::nvvm_barrier_cta_sync_aligned_all, {b_.getInt32(0)});
    case DeviceOp::warp_barrier:
      return intrinsic(nvvm::nvvm_bar_warp_sync, {b_.getInt32(~0U)});
    case DeviceOp::shuffle_xor:
      return shuffle(nvvm::nvvm_shfl_sync_bfly_i32, operands, 31);
    case DeviceOp::shuffle_up:
      return shuffle(nvvm::nvvm_shfl_sync_up_i32, operands, 0);
    case DeviceOp::shuffle_index:
      return shuffle(nvvm::nvvm_shfl_sync_idx_i32, operands, 31);
    case DeviceOp::shared:
      return b_.CreatePtrAdd(shared_memory(), operands[0]);
    case DeviceOp::mma_f16:
      return mma_of_halves(operands);
    case DeviceOp::mma_bf16:
      return intrinsic(nvvm::nvvm_mma_m16n8k16_row_col_bf16, operands);
    case DeviceOp::mma_tf32:
      return intrinsic(nvvm::nvvm_mma_m16n8k8_row_col_tf32, operands);
    case DeviceOp::load_matrix:
      return load_matrix(nvvm::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16, operands[0]);
    case DeviceOp::load_matrix_transposed:
      return load_matrix(nvvm::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16, operands[0]);
    case DeviceOp::async_copy:
      return intrinsic(nvvm::nvvm_cp_async_cg_shared_global_16_s, operands);
    case DeviceOp::async_commit:
      return intrinsic(nvvm::nvvm_cp_async_commit_group);
    case DeviceOp::async_wait:
      return intrinsic(nvvm::nvvm_cp_async_wait_group, operands);
  }
  return nullptr;
}

/// LLVM 22 selects one `shl.b64` or `shr.u64` for `amount < 64 ? x << amount : 0`, since PTX clamps amounts; but it
/// takes only the low 32 bits of an amount of 64 bits. With amounts of at most 63 nothing is lost.
void limit_shift_amounts(llvm::Function& f) {
  llvm::IRBuilder<> b(f.getContext());
  for (llvm::BasicBlock& block : f)
    for (llvm::Instruction& i : block) {
      llvm::Type* const type = i.getType();
      const bool is_shift = i.getOpcode() == llvm::Instruction::Shl || i.getOpcode() == llvm::Instruction::LShr;
      if (!is_shift || type->getScalarSizeInBits() != 64) continue;
      llvm::Value* const amount = i.getOperand(1);
      if (llvm::isa<llvm::Constant>(amount) || llvm::isa<llvm::ZExtInst>(amount)) continue;
      b.SetInsertPoint(&i);
      auto* const most = llvm::ConstantInt::get(type, 63);
      i.setOperand(1, b.CreateBinaryIntrinsic(nvvm::umin, amount, most));
    }
}

}  // namespace

void lower_to_nvvm(llvm::Module& module, llvm::ArrayRef<llvm::Function*> kernels, llvm::ArrayRef<int32_t> threads) {
  NvvmLowering lowering(module);
  for (llvm::Function& f : module)
    for (const auto& [call, op] : device_ops_in(f)) lowering.lower(*call, op);
  remove_device_ops(module);
  for (llvm::Function& f : module) limit_shift_amounts(f);
  for (size_t k = 0; k < kernels.size(); ++k) {
    kernels[k]->setCallingConv(llvm::CallingConv::PTX_Kernel);
    kernels[k]->addFnAttr("nvvm.maxntid", std::to_string(threads[k]));
  }
}

}  // namespace calque::codegen
