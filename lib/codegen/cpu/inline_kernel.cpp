// Moves the basic blocks of the kernel, which LLVM's inliner would copy; the kernel is erased. The aliasing attributes
// of its parameters become metadata of the loads and stores.
#include "codegen/cpu/inline_kernel.h"

#include "codegen/llvm/llvm_target.h"
#include "codegen/scalar/math_functions.h"

namespace calque::codegen {

void annotate_aliases(llvm::Function& kernel) {
  llvm::LLVMContext& context = kernel.getContext();
  llvm::MDBuilder metadata(context);
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain();
  llvm::SmallVector<llvm::Metadata*, 8> scopes;
  llvm::DenseMap<const llvm::Value*, llvm::Metadata*> scope_of;
  for (const llvm::Argument& a : kernel.args()) {
    if (!a.hasNoAliasAttr()) continue;
    scopes.push_back(metadata.createAnonymousAliasScope(domain));
    scope_of[&a] = scopes.back();
  }
  if (scopes.empty()) return;
  llvm::DenseMap<const llvm::Value*, llvm::MDNode*> own, others;
  for (const llvm::Argument& a : kernel.args()) {
    llvm::SmallVector<llvm::Metadata*, 8> list;
    llvm::Metadata* mine = scope_of.lookup(&a);
    for (llvm::Metadata* scope : scopes)
      if (scope != mine) list.push_back(scope);
    others[&a] = llvm::MDNode::get(context, list);
    if (mine) own[&a] = llvm::MDNode::get(context, {mine});
  }
  for (llvm::BasicBlock& block : kernel) {
    for (llvm::Instruction& i : block) {
      const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&i);
      const auto* a = pointer ? llvm::dyn_cast<llvm::Argument>(llvm::getUnderlyingObject(pointer)) : nullptr;
      if (!a) continue;
      if (llvm::MDNode* scope = own.lookup(a)) i.setMetadata(llvm::LLVMContext::MD_alias_scope, scope);
      i.setMetadata(llvm::LLVMContext::MD_noalias, others.lookup(a));
    }
  }
}

namespace {

constexpr unsigned kSmallKernel = 300;

void move_blocks(llvm::Function& kernel, llvm::CallInst& call) {
  llvm::Function& entry = *call.getFunction();
  llvm::BasicBlock& start = kernel.getEntryBlock();
  llvm::BasicBlock* head = call.getParent();
  llvm::BasicBlock* tail = head->splitBasicBlock(&call);
  head->getTerminator()->eraseFromParent();
  for (llvm::BasicBlock& block : kernel) {
    if (!llvm::isa<llvm::ReturnInst>(block.getTerminator())) continue;
    block.getTerminator()->eraseFromParent();
    llvm::BranchInst::Create(tail, &block);
  }
  for (llvm::Argument& a : kernel.args()) a.replaceAllUsesWith(call.getArgOperand(a.getArgNo()));
  start.replaceSuccessorsPhiUsesWith(head);
  head->splice(head->end(), &start);
  start.eraseFromParent();
  entry.splice(tail->getIterator(), &kernel);
  call.eraseFromParent();
  kernel.eraseFromParent();
}

}  // namespace

void inline_small_kernel(llvm::Module& module) {
  llvm::Function* kernel = nullptr;
  for (llvm::Function& f : module) {
    if (!f.hasLocalLinkage() || f.isDeclaration() || is_math_function(f)) continue;
    if (kernel) return;
    kernel = &f;
  }
  if (!kernel || kernel->hasFnAttribute(llvm::Attribute::NoInline) || !kernel->hasOneUse() ||
      kernel->getInstructionCount() > kSmallKernel)
    return;
  auto* call = llvm::dyn_cast<llvm::CallInst>(kernel->user_back());
  // Outside of the entry block its allocas would be dynamic.
  if (!call || call->getCalledFunction() != kernel || !call->getParent()->isEntryBlock()) return;
  annotate_aliases(*kernel);
  move_blocks(*kernel, *call);
}

}  // namespace calque::codegen
