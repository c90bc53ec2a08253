// Calls from kernels to the runtime: work for several threads, memory of a thread. What finds no memory leaves its
// kernel at once, and whoever waits for it does the same.
#include <cstddef>
#include <utility>

#include "codegen/emitter.h"
#include "codegen/flush_mode.h"

namespace calque::codegen {

using llvm::Value;

Value* runtime_function(llvm::IRBuilder<>& b, Value* context, size_t offset) {
  const auto field = [&](Value* base, size_t at) {
    return b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, at));
  };
  return field(field(context, offsetof(ContextHeader, table)), offset);
}

Value* has_failed(llvm::IRBuilder<>& b, Value* context) {
  Value* flag = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), context, offsetof(ContextHeader, failed));
  return b.CreateICmpNE(b.CreateLoad(b.getInt64Ty(), flag), b.getInt64(0));
}

void in_callers_mode(llvm::IRBuilder<>& b, const TargetInfo& target, const CodegenOptions& options, Value* context,
                     const std::function<void()>& call) {
  if (!options.flush_subnormals || !has_flush_mode(target)) return call();
  Value* const mode = floating_point_mode(b, target);
  Value* const caller = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), context, offsetof(ContextHeader, caller_mode));
  set_floating_point_mode(b, target, b.CreateTrunc(b.CreateLoad(b.getInt64Ty(), caller), mode->getType()));
  call();
  set_floating_point_mode(b, target, mode);
}

void KernelEmitter::leave_if(Value* condition) {
  llvm::BasicBlock *leave = block("leave"), *next = block("next");
  b_.CreateCondBr(condition, leave, next, llvm::MDBuilder(module_.getContext()).createUnlikelyBranchWeights());
  b_.SetInsertPoint(leave);
  b_.CreateRetVoid();
  b_.SetInsertPoint(next);
  may_fail_ = true;
}

// The body is emitted as though it stood in the kernel; then all that it uses of the kernel becomes parameters, which a
// second function, the one that the runtime calls, fetches from a record on the kernel's stack.
void KernelEmitter::parallel_for(int64_t count, int64_t grain, const std::function<void(Value*, Value*)>& body) {
  llvm::Type *pointer = b_.getPtrTy(), *number = b_.getInt64Ty();
  llvm::Function* const around = function_;
  Value* const sink = std::exchange(sink_, nullptr);
  const auto here = b_.saveIP();
  function_ = llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), {number, number}, false),
                                     llvm::Function::InternalLinkage, "", module_);
  b_.SetInsertPoint(block("start"));
  const bool could_fail = std::exchange(may_fail_, false), streamed = std::exchange(streamed_here_, false);
  body(function_->getArg(0), function_->getArg(1));
  const bool body_may_fail = std::exchange(may_fail_, could_fail);
  order_streams();
  streamed_here_ = streamed;
  b_.CreateRetVoid();
  llvm::Function* const draft = std::exchange(function_, around);
  sink_ = sink;
  b_.restoreIP(here);

  Values live;
  llvm::SmallPtrSet<Value*, 16> used;
  for (llvm::BasicBlock& part : *draft)
    for (llvm::Instruction& i : part)
      for (Value* o : i.operands()) {
        const auto* defined = llvm::dyn_cast<llvm::Instruction>(o);
        const auto* given = llvm::dyn_cast<llvm::Argument>(o);
        const bool outside = (defined && defined->getFunction() != draft) || (given && given->getParent() != draft);
        if (outside && used.insert(o).second) live.push_back(o);
      }
  std::vector<llvm::Type*> types;
  for (Value* v : live) types.push_back(v->getType());
  auto* record = llvm::StructType::get(module_.getContext(), types);
  llvm::Function* const part = with_arguments(draft, live);

  auto* const piece = llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), {pointer, number, number}, false),
                                             llvm::Function::InternalLinkage, around->getName() + ".piece", module_);
  set_function_attributes(*piece, target_, options_);
  b_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "start", piece));
  std::vector<Value*> arguments{piece->getArg(1), piece->getArg(2)};
  for (unsigned i = 0; i < live.size(); ++i)
    arguments.push_back(b_.CreateLoad(types[i], b_.CreateStructGEP(record, piece->getArg(0), i)));
  b_.CreateCall(part, arguments);
  b_.CreateRetVoid();
  llvm::Function* const called =
      options_.flush_subnormals && has_flush_mode(target_) ? run_flushing(*piece, target_, {}) : piece;

  b_.restoreIP(here);
  Value* const environment = local(record);
  for (unsigned i = 0; i < live.size(); ++i) b_.CreateStore(live[i], b_.CreateStructGEP(record, environment, i));
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {pointer, number, number, pointer, pointer}, false);
  Value* const runtime = runtime_function(b_, context_, offsetof(RuntimeTable, parallel_for));
  in_callers_mode(b_, target_, options_, context_, [&] {
    b_.CreateCall(type, runtime,
                  {context_, b_.getInt64(static_cast<uint64_t>(count)), b_.getInt64(static_cast<uint64_t>(grain)),
                   called, environment});
  });
  if (body_may_fail) leave_if(has_failed(b_, context_));
}

// `draft(begin, end)` as a function that receives `live` too. Buffers keep what is known of them, except that they
// are nowhere else now: they have been stored.
llvm::Function* KernelEmitter::with_arguments(llvm::Function* draft, const Values& live) {
  std::vector<llvm::Type*> types{b_.getInt64Ty(), b_.getInt64Ty()};
  for (Value* v : live) types.push_back(v->getType());
  auto* f = llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), types, false),
                                   llvm::Function::InternalLinkage, function_->getName() + ".part", module_);
  f->splice(f->begin(), draft);
  for (unsigned i = 0; i < 2; ++i) draft->getArg(i)->replaceAllUsesWith(f->getArg(i));
  for (unsigned i = 0; i < live.size(); ++i) {
    live[i]->replaceUsesWithIf(f->getArg(i + 2), [&](llvm::Use& use) {
      const auto* user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
      return user && user->getFunction() == f;
    });
    const auto* given = llvm::dyn_cast<llvm::Argument>(live[i]);
    if (!given || !given->getType()->isPointerTy()) continue;
    function_->removeParamAttr(given->getArgNo(), llvm::Attribute::Captures);
    f->addParamAttrs(
        i + 2, llvm::AttrBuilder(module_.getContext(), function_->getAttributes().getParamAttrs(given->getArgNo())));
  }
  set_function_attributes(*f, target_, options_);
  draft->eraseFromParent();
  return f;
}

Value* KernelEmitter::num_threads() {
  auto* type = llvm::FunctionType::get(b_.getInt32Ty(), {b_.getPtrTy()}, false);
  return b_.CreateCall(type, runtime_function(b_, context_, offsetof(RuntimeTable, num_threads)), {context_});
}

Value* KernelEmitter::scratch(int64_t bytes) {
  auto* type = llvm::FunctionType::get(b_.getPtrTy(), {b_.getPtrTy(), b_.getInt64Ty()}, false);
  llvm::CallInst* memory = b_.CreateCall(type, runtime_function(b_, context_, offsetof(RuntimeTable, scratch)),
                                         {context_, b_.getInt64(static_cast<uint64_t>(bytes))});
  memory->addRetAttr(llvm::Attribute::getWithAlignment(module_.getContext(), llvm::Align(64)));
  memory->addRetAttr(llvm::Attribute::NoAlias);
  leave_if(b_.CreateIsNull(memory));
  return memory;
}

}  // namespace calque::codegen
