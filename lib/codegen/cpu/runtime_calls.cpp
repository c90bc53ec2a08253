// Calls from kernels to the runtime: work for several threads, memory of a thread. What finds no memory leaves its
// kernel at once, and whoever waits for it does the same.
#include <cstddef>
#include <utility>

#include "codegen/emit/emitter.h"
#include "codegen/llvm/flush_mode.h"
#include "codegen/llvm/function_attributes.h"

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
  // Another thread may be storing it.
  llvm::LoadInst* const failed = b.CreateAlignedLoad(b.getInt64Ty(), flag, llvm::Align(8));
  failed->setAtomic(llvm::AtomicOrdering::Monotonic);
  return b.CreateICmpNE(failed, b.getInt64(0));
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

namespace {

/// What the function uses of others: instructions and arguments, in the order in which they are used first.
Values values_of_others(llvm::Function& draft) {
  Values live;
  llvm::SmallPtrSet<Value*, 16> used;
  for (llvm::BasicBlock& part : draft)
    for (llvm::Instruction& i : part)
      for (Value* o : i.operands()) {
        const auto* defined = llvm::dyn_cast<llvm::Instruction>(o);
        const auto* given = llvm::dyn_cast<llvm::Argument>(o);
        const bool outside = (defined && defined->getFunction() != &draft) || (given && given->getParent() != &draft);
        if (outside && used.insert(o).second) live.push_back(o);
      }
  return live;
}

/// `draft(begin, end)` as a function that receives `live` of the function `around` too. Buffers keep what is known of
/// them, except that they are nowhere else now: they have been stored.
llvm::Function* with_arguments(llvm::Function* draft, llvm::Function& around, const Values& live) {
  llvm::LLVMContext& context = around.getContext();
  std::vector<llvm::Type*> types{2, llvm::Type::getInt64Ty(context)};
  for (Value* v : live) types.push_back(v->getType());
  auto* f = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false),
                                   llvm::Function::InternalLinkage, around.getName() + ".part", around.getParent());
  f->splice(f->begin(), draft);
  for (unsigned i = 0; i < 2; ++i) draft->getArg(i)->replaceAllUsesWith(f->getArg(i));
  for (unsigned i = 0; i < live.size(); ++i) {
    live[i]->replaceUsesWithIf(f->getArg(i + 2), [&](llvm::Use& use) {
      const auto* user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
      return user && user->getFunction() == f;
    });
    const auto* given = llvm::dyn_cast<llvm::Argument>(live[i]);
    if (!given || !given->getType()->isPointerTy()) continue;
    around.removeParamAttr(given->getArgNo(), llvm::Attribute::Captures);
    f->addParamAttrs(i + 2, llvm::AttrBuilder(context, around.getAttributes().getParamAttrs(given->getArgNo())));
  }
  draft->eraseFromParent();
  return f;
}

}  // namespace

llvm::Function* call_parallel_for(llvm::IRBuilder<>& b, const TargetInfo& target, const CodegenOptions& options,
                                  Value* context, int64_t count, int64_t grain, llvm::Function* draft) {
  llvm::Type *pointer = b.getPtrTy(), *number = b.getInt64Ty();
  const auto here = b.saveIP();
  llvm::Function& around = *here.getBlock()->getParent();
  const Values live = values_of_others(*draft);
  std::vector<llvm::Type*> types;
  for (Value* v : live) types.push_back(v->getType());
  auto* record = llvm::StructType::get(b.getContext(), types);
  llvm::Function* const part = with_arguments(draft, around, live);
  set_function_attributes(*part, target, options);

  auto* const piece =
      llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), {pointer, number, number}, false),
                             llvm::Function::InternalLinkage, around.getName() + ".piece", around.getParent());
  set_function_attributes(*piece, target, options);
  b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "start", piece));
  std::vector<Value*> arguments{piece->getArg(1), piece->getArg(2)};
  for (unsigned i = 0; i < live.size(); ++i)
    arguments.push_back(b.CreateLoad(types[i], b.CreateStructGEP(record, piece->getArg(0), i)));
  b.CreateCall(part, arguments);
  b.CreateRetVoid();
  llvm::Function* const called =
      options.flush_subnormals && has_flush_mode(target) ? run_flushing(*piece, target, {}) : piece;

  llvm::BasicBlock& start = around.getEntryBlock();
  Value* const environment = llvm::IRBuilder<>(&start, start.begin()).CreateAlloca(record);
  b.restoreIP(here);
  for (unsigned i = 0; i < live.size(); ++i) b.CreateStore(live[i], b.CreateStructGEP(record, environment, i));
  auto* type = llvm::FunctionType::get(b.getVoidTy(), {pointer, number, number, pointer, pointer}, false);
  Value* const runtime = runtime_function(b, context, offsetof(RuntimeTable, parallel_for));
  in_callers_mode(b, target, options, context, [&] {
    b.CreateCall(type, runtime,
                 {context, b.getInt64(static_cast<uint64_t>(count)), b.getInt64(static_cast<uint64_t>(grain)), called,
                  environment});
  });
  return part;
}

// The body is emitted as though it stood in the kernel; then all that it uses of the kernel becomes parameters, which a
// second function, the one that the runtime calls, fetches from a record on the kernel's stack.
void KernelEmitter::parallel_for(int64_t count, int64_t grain, const std::function<void(Value*, Value*)>& body) {
  llvm::Type* number = b_.getInt64Ty();
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
  call_parallel_for(b_, target_, options_, context_, count, grain, draft);
  if (body_may_fail) leave_if(has_failed(b_, context_));
}

Value* KernelEmitter::num_threads() {
  auto* type = llvm::FunctionType::get(b_.getInt32Ty(), {b_.getPtrTy()}, false);
  return b_.CreateCall(type, runtime_function(b_, context_, offsetof(RuntimeTable, num_threads)), {context_});
}

Value* thread_memory(llvm::IRBuilder<>& b, Value* context, size_t function, int64_t bytes) {
  auto* type = llvm::FunctionType::get(b.getPtrTy(), {b.getPtrTy(), b.getInt64Ty()}, false);
  llvm::CallInst* memory =
      b.CreateCall(type, runtime_function(b, context, function), {context, b.getInt64(static_cast<uint64_t>(bytes))});
  memory->addRetAttr(llvm::Attribute::getWithAlignment(b.getContext(), llvm::Align(64)));
  memory->addRetAttr(llvm::Attribute::NoAlias);
  return memory;
}

Value* KernelEmitter::scratch(int64_t bytes) {
  Value* const memory = thread_memory(b_, context_, offsetof(RuntimeTable, scratch), bytes);
  leave_if(b_.CreateIsNull(memory));
  return memory;
}

}  // namespace calque::codegen
