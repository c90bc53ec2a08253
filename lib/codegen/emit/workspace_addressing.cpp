// Kernels of many buffers receive one pointer to the workspace instead of one to each buffer in it. Metadata of the
// loads and stores then replaces the aliasing attributes of separate pointers.
#include <algorithm>

#include "codegen/emit/emitter.h"

namespace calque::codegen {

using llvm::Value;

namespace {
/// Metadata of addresses in buffers that the kernel does not write.
constexpr const char* kOnlyRead = "calque.only_read";
}  // namespace

void KernelEmitter::bind_workspace(unsigned argument) {
  workspace_ = function_->getArg(argument);
  bool no_overlap = true;
  for (size_t i = 0; i < workspace_offsets_.size(); ++i) no_overlap &= workspace_offsets_[i] < 0 || !overlaps_[i];
  if (no_overlap) function_->addParamAttr(argument, llvm::Attribute::NoAlias);
  function_->addParamAttr(argument,
                          llvm::Attribute::getWithCaptureInfo(module_.getContext(), llvm::CaptureInfo::none()));
}

Value* KernelEmitter::address(int32_t buffer, Value* index) {
  const auto i = static_cast<size_t>(buffer);
  if (buffers_[i]) return b_.CreateInBoundsGEP(element(buffer), buffers_[i], index);
  Value* start =
      b_.CreateInBoundsGEP(b_.getInt8Ty(), workspace_, b_.getInt64(static_cast<uint64_t>(workspace_offsets_[i])));
  Value* p = b_.CreateInBoundsGEP(element(buffer), start, index);
  auto* address = llvm::dyn_cast<llvm::Instruction>(p);
  if (address && address != start && !overlaps_[i] && !analysis_.stored(buffer))
    address->setMetadata(kOnlyRead, llvm::MDNode::get(module_.getContext(), {}));
  return p;
}

/// In the functions of the kernel, starting at `first`: puts loads from read-only buffers into an alias scope with
/// which no store aliases.
void KernelEmitter::mark_read_only_accesses(llvm::Function& first) {
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
