// Calls from kernels to the runtime: parallel loops and memory of a thread. A body that fails to get memory returns at
// once, and so does the kernel that waits for it.
#include "codegen/emit/runtime_calls.h"

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

namespace {

/// The instructions and arguments of other functions that the body uses, in the order of their first use.
Values captured_values(llvm::Function& body) {
  Values captures;
  llvm::SmallPtrSet<Value*, 16> used;
  for (llvm::BasicBlock& block : body)
    for (llvm::Instruction& i : block)
      for (Value* o : i.operands()) {
        const auto* defined = llvm::dyn_cast<llvm::Instruction>(o);
        const auto* given = llvm::dyn_cast<llvm::Argument>(o);
        const bool outside = (defined && defined->getFunction() != &body) || (given && given->getParent() != &body);
        if (outside && used.insert(o).second) captures.push_back(o);
      }
  return captures;
}

/// `body(begin, end)` as a function that also receives the captures of the function `parent`. Buffers keep their
/// attributes, except that they are captured now: their pointers are stored.
llvm::Function* pass_captures_as_arguments(llvm::Function* body, llvm::Function& parent, const Values& captures) {
  llvm::LLVMContext& context = parent.getContext();
  std::vector<llvm::Type*> types{2, llvm::Type::getInt64Ty(context)};
  for (Value* v : captures) types.push_back(v->getType());
  auto* f = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false),
                                   llvm::Function::InternalLinkage, parent.getName() + ".body", parent.getParent());
  f->splice(f->begin(), body);
  for (unsigned i = 0; i < 2; ++i) body->getArg(i)->replaceAllUsesWith(f->getArg(i));
  for (unsigned i = 0; i < captures.size(); ++i) {
    captures[i]->replaceUsesWithIf(f->getArg(i + 2), [&](llvm::Use& use) {
      const auto* user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
      return user && user->getFunction() == f;
    });
    const auto* given = llvm::dyn_cast<llvm::Argument>(captures[i]);
    if (!given || !given->getType()->isPointerTy()) continue;
    parent.removeParamAttr(given->getArgNo(), llvm::Attribute::Captures);
    f->addParamAttrs(i + 2, llvm::AttrBuilder(context, parent.getAttributes().getParamAttrs(given->getArgNo())));
  }
  body->eraseFromParent();
  return f;
}

}  // namespace

llvm::Function* call_parallel_for(llvm::IRBuilder<>& b, const TargetInfo& target, const CodegenOptions& options,
                                  Value* context, int64_t count, int64_t grain, llvm::Function* body) {
  llvm::Type *pointer = b.getPtrTy(), *number = b.getInt64Ty();
  const auto here = b.saveIP();
  llvm::Function& parent = *here.getBlock()->getParent();
  const Values captures = captured_values(*body);
  std::vector<llvm::Type*> types;
  for (Value* v : captures) types.push_back(v->getType());
  auto* record = llvm::StructType::get(b.getContext(), types);
  llvm::Function* const outlined = pass_captures_as_arguments(body, parent, captures);
  set_function_attributes(*outlined, target, options);

  auto* const chunk =
      llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), {pointer, number, number}, false),
                             llvm::Function::InternalLinkage, parent.getName() + ".chunk", parent.getParent());
  set_function_attributes(*chunk, target, options);
  b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "start", chunk));
  std::vector<Value*> arguments{chunk->getArg(1), chunk->getArg(2)};
  for (unsigned i = 0; i < captures.size(); ++i)
    arguments.push_back(b.CreateLoad(types[i], b.CreateStructGEP(record, chunk->getArg(0), i)));
  b.CreateCall(outlined, arguments);
  b.CreateRetVoid();
  llvm::Function* const called =
      options.flush_subnormals && has_flush_mode(target) ? run_flushing(*chunk, target, {}) : chunk;

  llvm::BasicBlock& start = parent.getEntryBlock();
  Value* const environment = llvm::IRBuilder<>(&start, start.begin()).CreateAlloca(record);
  b.restoreIP(here);
  for (unsigned i = 0; i < captures.size(); ++i) b.CreateStore(captures[i], b.CreateStructGEP(record, environment, i));
  auto* type = llvm::FunctionType::get(b.getVoidTy(), {pointer, number, number, pointer, pointer}, false);
  Value* const runtime = runtime_function(b, context, offsetof(RuntimeTable, parallel_for));
  in_callers_mode(b, target, options, context, [&] {
    b.CreateCall(type, runtime,
                 {context, b.getInt64(static_cast<uint64_t>(count)), b.getInt64(static_cast<uint64_t>(grain)), called,
                  environment});
  });
  return outlined;
}

Value* thread_memory(llvm::IRBuilder<>& b, Value* context, size_t function, int64_t bytes) {
  auto* type = llvm::FunctionType::get(b.getPtrTy(), {b.getPtrTy(), b.getInt64Ty()}, false);
  llvm::CallInst* memory =
      b.CreateCall(type, runtime_function(b, context, function), {context, b.getInt64(static_cast<uint64_t>(bytes))});
  memory->addRetAttr(llvm::Attribute::getWithAlignment(b.getContext(), llvm::Align(64)));
  memory->addRetAttr(llvm::Attribute::NoAlias);
  return memory;
}

// Emits the body as if it were in the kernel; then the values of the kernel that it uses become parameters. A second
// function, which the runtime calls, loads them from a record on the kernel's stack.
void RuntimeCalls::parallel_for(int64_t count, int64_t grain, const std::function<void(Value*, Value*)>& body) {
  llvm::IRBuilder<>& b = k_.builder();
  auto* type = llvm::FunctionType::get(b.getVoidTy(), {b.getInt64Ty(), b.getInt64Ty()}, false);
  auto* const outlined = llvm::Function::Create(type, llvm::Function::InternalLinkage, "", k_.module());
  const bool could_fail = std::exchange(may_fail_, false);
  {
    const KernelEmitter::FunctionScope scope(k_, *outlined);
    body(outlined->getArg(0), outlined->getArg(1));
    k_.end_function();
  }
  const bool body_may_fail = std::exchange(may_fail_, could_fail);
  call_parallel_for(b, k_.target(), k_.options(), context_, count, grain, outlined);
  if (body_may_fail) leave_if(has_failed(b, context_));
}

Value* RuntimeCalls::scratch(int64_t bytes) {
  llvm::IRBuilder<>& b = k_.builder();
  Value* const memory = thread_memory(b, context_, offsetof(RuntimeTable, scratch), bytes);
  leave_if(b.CreateIsNull(memory));
  return memory;
}

Value* RuntimeCalls::num_threads() {
  llvm::IRBuilder<>& b = k_.builder();
  auto* type = llvm::FunctionType::get(b.getInt32Ty(), {b.getPtrTy()}, false);
  return b.CreateCall(type, runtime_function(b, context_, offsetof(RuntimeTable, num_threads)), {context_});
}

void RuntimeCalls::leave_if(Value* condition) {
  llvm::IRBuilder<>& b = k_.builder();
  llvm::BasicBlock *leave = k_.block("leave"), *next = k_.block("next");
  b.CreateCondBr(condition, leave, next, llvm::MDBuilder(b.getContext()).createUnlikelyBranchWeights());
  b.SetInsertPoint(leave);
  b.CreateRetVoid();
  b.SetInsertPoint(next);
  may_fail_ = true;
}

}  // namespace calque::codegen
