// Kernels of many buffers receive the workspace once, not each buffer that lies in it. What a pointer of its own would
// say of a buffer, that nothing is written there while it is read, then stands on the loads and stores.
#include <algorithm>

#include "codegen/emit/emitter.h"

namespace calque::codegen {

using llvm::Value;

namespace {
/// On addresses of what the kernel does not write.
constexpr const char* kOnlyRead = "calque.only_read";
}  // namespace

void KernelEmitter::take_workspace(unsigned argument) {
  workspace_ = function_->getArg(argument);
  bool alone = true;
  for (size_t i = 0; i < places_.size(); ++i) alone &= places_[i] < 0 || !overlaps_[i];
  if (alone) function_->addParamAttr(argument, llvm::Attribute::NoAlias);
  function_->addParamAttr(argument,
                          llvm::Attribute::getWithCaptureInfo(module_.getContext(), llvm::CaptureInfo::none()));
}

Value* KernelEmitter::address(int32_t buffer, Value* index) {
  const auto i = static_cast<size_t>(buffer);
  if (buffers_[i]) return b_.CreateInBoundsGEP(element(buffer), buffers_[i], index);
  Value* start = b_.CreateInBoundsGEP(b_.getInt8Ty(), workspace_, b_.getInt64(static_cast<uint64_t>(places_[i])));
  Value* p = b_.CreateInBoundsGEP(element(buffer), start, index);
  auto* address = llvm::dyn_cast<llvm::Instruction>(p);
  if (address && address != start && !overlaps_[i] && !analysis_.stored(buffer))
    address->setMetadata(kOnlyRead, llvm::MDNode::get(module_.getContext(), {}));
  return p;
}

/// In the functions of the kernel, which begin with `first`: loads from what is only read are in a scope that no store
/// writes to.
void KernelEmitter::note_reads(llvm::Function& first) {
  if (!workspace_) return;
  llvm::LLVMContext& context = module_.getContext();
  llvm::MDBuilder metadata(context);
  llvm::MDNode* const scope = metadata.createAnonymousAliasScope(metadata.createAnonymousAliasScopeDomain());
  llvm::MDNode* const scopes = llvm::MDNode::get(context, {scope});
  const auto is_only_read = [](const Value* p) {
    const auto* address = llvm::dyn_cast<llvm::Instruction>(p);
    return address && address->hasMetadata(kOnlyRead);
  };
  for (auto f = first.getIterator(); f != module_.end(); ++f)
    for (llvm::BasicBlock& block : *f)
      for (llvm::Instruction& i : block) {
        const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
        const bool stores = llvm::isa<llvm::StoreInst>(i) || (call && call->mayWriteToMemory());
        if (stores) i.setMetadata(llvm::LLVMContext::MD_noalias, scopes);
        const bool masked = call && call->getIntrinsicID() == llvm::Intrinsic::masked_load;
        if ((masked || llvm::isa<llvm::LoadInst>(i)) && is_only_read(i.getOperand(0)))
          i.setMetadata(llvm::LLVMContext::MD_alias_scope, scopes);
      }
  for (auto f = first.getIterator(); f != module_.end(); ++f)
    for (llvm::BasicBlock& block : *f)
      for (llvm::Instruction& i : block)
        if (llvm::isa<llvm::GetElementPtrInst>(i)) i.setMetadata(kOnlyRead, nullptr);
}

}  // namespace calque::codegen
