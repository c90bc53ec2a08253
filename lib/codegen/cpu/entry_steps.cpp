// Steps of the entry function become branches, loops and calls.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "calque/ir/errors.h"

#include "codegen/cpu/entry_emitter.h"
#include "codegen/cpu/partition_module.h"
#include "codegen/emit/runtime_calls.h"

namespace calque::codegen {

using kernel::Step;
using kernel::StepKind;
using kernel::View;
using llvm::Value;

Value* EntryEmitter::iteration(int32_t loop) const {
  Value* number = iterations_[static_cast<size_t>(loop)];
  if (!number) throw CompileError("compile: a view depends on a loop that does not enclose it");
  return number;
}

Value* EntryEmitter::slice_address(int32_t buffer, int64_t first, const std::vector<View::Term>& terms) {
  Value* p = buffers_[static_cast<size_t>(buffer)];
  if (!p) p = load_buffer(program_.buffers[static_cast<size_t>(buffer)]);
  Value* offset = b_.getInt64(static_cast<uint64_t>(first));
  for (const View::Term& term : terms)
    offset = b_.CreateAdd(offset, b_.CreateMul(iteration(term.loop), b_.getInt64(static_cast<uint64_t>(term.bytes))));
  return b_.CreateInBoundsGEP(b_.getInt8Ty(), p, offset);
}

Value* EntryEmitter::holds(const View::Condition& when) {
  Value* const number = iteration(when.loop);
  if (when.period == 2) {
    Value* const odd = b_.CreateTrunc(number, b_.getInt1Ty());
    return when.remainder == 1 ? odd : b_.CreateNot(odd);
  }
  Value* const remainder = b_.CreateURem(number, b_.getInt64(static_cast<uint64_t>(when.period)));
  return b_.CreateICmpEQ(remainder, b_.getInt64(static_cast<uint64_t>(when.remainder)));
}

Value* EntryEmitter::address(const View& view) {
  Value* p = slice_address(view.buffer, view.offset, view.terms);
  for (auto c = view.choices.rbegin(); c != view.choices.rend(); ++c) {
    Value* chosen = b_.getTrue();
    for (const View::Condition& when : c->conditions) chosen = b_.CreateAnd(chosen, holds(when));
    p = b_.CreateSelect(chosen, slice_address(c->buffer, c->offset, c->terms), p);
  }
  return p;
}

void EntryEmitter::run(const std::vector<Step>& steps) {
  for (const Step& step : steps) emit(step);
}

void EntryEmitter::emit(const Step& step) {
  switch (step.kind) {
    case StepKind::kernel: {
      std::vector<Value*> arguments{context_};
      const std::vector<int64_t>& offsets = workspace_offsets_[static_cast<size_t>(step.kernel)];
      if (!offsets.empty()) arguments.push_back(workspace_);
      for (size_t i = 0; i < step.views.size(); ++i)
        if (offsets.empty() || offsets[i] < 0) arguments.push_back(address(step.views[i]));
      if (auto* constants = constants_[static_cast<size_t>(step.kernel)]) arguments.push_back(constants);
      b_.CreateCall(kernels_[static_cast<size_t>(step.kernel)], arguments);
      if (may_fail_[static_cast<size_t>(step.kernel)]) leave_if(has_failed(b_, context_));
      break;
    }
    case StepKind::copy:
      if (step.bytes > 0) copy(step);
      break;
    case StepKind::while_:
      while_loop(step);
      break;
    case StepKind::branch:
      branch(step);
      break;
    case StepKind::repeat:
      repeat(step);
      break;
    case StepKind::iota_i32: {
      Value* v = iterations_[static_cast<size_t>(step.loop_id)];
      const DType d = dtype(step.views[0]);
      v = b_.CreateIntCast(v, b_.getIntNTy(static_cast<unsigned>(8 * size_of(d))), false);
      b_.CreateAlignedStore(v, address(step.views[0]), llvm::Align(size_of(d)));
      break;
    }
    case StepKind::host_call:
      call_with_pointers(step, offsetof(RuntimeTable, host_call), step.host_function);
      break;
    case StepKind::routine:
      call_with_pointers(step, offsetof(RuntimeTable, routine), step.routine);
      break;
  }
}

void EntryEmitter::copy(const Step& step) {
  Value *to = address(step.views[0]), *from = address(step.views[1]);
  llvm::BasicBlock *differs = block("copy"), *next = block("copied");
  b_.CreateCondBr(b_.CreateICmpNE(to, from), differs, next);
  b_.SetInsertPoint(differs);
  b_.CreateMemCpy(to, llvm::Align(1), from, llvm::Align(1), static_cast<uint64_t>(step.bytes));
  b_.CreateBr(next);
  b_.SetInsertPoint(next);
}

void EntryEmitter::while_loop(const Step& step) {
  llvm::BasicBlock *before = b_.GetInsertBlock(), *head = block("while"), *body = block("body"), *exit = block("left");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::PHINode* number = nullptr;
  if (step.loop_id >= 0) {
    number = b_.CreatePHI(b_.getInt64Ty(), 2);
    number->addIncoming(b_.getInt64(0), before);
    iterations_[static_cast<size_t>(step.loop_id)] = number;
  }
  run(step.blocks[0]);
  Value* flag = b_.CreateLoad(b_.getInt8Ty(), address(step.views[0]));
  b_.CreateCondBr(b_.CreateICmpNE(flag, b_.getInt8(0)), body, exit);
  b_.SetInsertPoint(body);
  run(step.blocks[1]);
  if (number) number->addIncoming(b_.CreateAdd(number, b_.getInt64(1)), b_.GetInsertBlock());
  b_.CreateBr(head);
  b_.SetInsertPoint(exit);
}

void EntryEmitter::branch(const Step& step) {
  const DType d = dtype(step.views[0]);
  llvm::Type* type = b_.getIntNTy(static_cast<unsigned>(8 * size_of(d)));
  Value* selector = b_.CreateAlignedLoad(type, address(step.views[0]), llvm::Align(size_of(d)));
  const size_t n = step.blocks.size();
  if (n == 0) return;
  std::vector<llvm::BasicBlock*> blocks;
  for (size_t i = 0; i < n; ++i) blocks.push_back(block("branch"));
  llvm::BasicBlock* join = block("join");
  if (is_bool(d)) {
    b_.CreateCondBr(b_.CreateICmpNE(selector, llvm::ConstantInt::get(type, 0)), blocks[0], blocks[n - 1]);
  } else {
    // Clamped: a negative selector takes the first block, one that is too large the last.
    auto* type_max = llvm::ConstantInt::get(type, n - 1);
    if (is_signed_integer(d))
      selector = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, selector, llvm::ConstantInt::get(type, 0));
    selector = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, selector, type_max);
    auto* choice = b_.CreateSwitch(selector, blocks[n - 1], static_cast<unsigned>(n));
    for (size_t i = 0; i + 1 < n; ++i)
      choice->addCase(llvm::cast<llvm::ConstantInt>(llvm::ConstantInt::get(type, i)), blocks[i]);
  }
  for (size_t i = 0; i < n; ++i) {
    b_.SetInsertPoint(blocks[i]);
    run(step.blocks[i]);
    b_.CreateBr(join);
  }
  b_.SetInsertPoint(join);
}

void EntryEmitter::repeat(const Step& step) {
  if (step.count <= 0) return;
  if (step.threads) return repeat_on_threads(step);
  iterate(step, b_.getInt64(0), b_.getInt64(static_cast<uint64_t>(step.count)));
}

/// Runs the iterations [begin, end), at least one, in order.
void EntryEmitter::iterate(const Step& step, Value* begin, Value* end) {
  llvm::BasicBlock *before = b_.GetInsertBlock(), *head = block("repeat"), *exit = block("done");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::PHINode* number = b_.CreatePHI(b_.getInt64Ty(), 2);
  number->addIncoming(begin, before);
  Value* iteration = number;
  if (step.reverse) iteration = b_.CreateSub(b_.getInt64(static_cast<uint64_t>(step.count - 1)), number);
  if (step.loop_id >= 0) iterations_[static_cast<size_t>(step.loop_id)] = iteration;
  if (step.chunk_id >= 0)
    iterations_[static_cast<size_t>(step.chunk_id)] =
        b_.CreateUDiv(number, b_.getInt64(static_cast<uint64_t>(step.grain)));
  run(step.blocks[0]);
  if (step.loop_id >= 0) iterations_[static_cast<size_t>(step.loop_id)] = nullptr;
  if (step.chunk_id >= 0) iterations_[static_cast<size_t>(step.chunk_id)] = nullptr;
  Value* next = b_.CreateAdd(number, b_.getInt64(1), "", true, true);
  number->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpSLT(next, end), head, exit);
  b_.SetInsertPoint(exit);
}

/// Outlines the loop as a function that runs a chunk of the iterations, in private memory of the thread that calls it.
void EntryEmitter::repeat_on_threads(const Step& step) {
  const auto here = b_.saveIP();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getInt64Ty(), b_.getInt64Ty()}, false);
  llvm::Function* const body = llvm::Function::Create(type, llvm::Function::InternalLinkage, "", module_);
  llvm::Function* const parent = std::exchange(entry_, body);
  llvm::BasicBlock* const failed = std::exchange(failed_, nullptr);
  const std::vector<Value*> iterations = iterations_;
  b_.SetInsertPoint(block("start"));
  if (step.private_bytes > 0) {
    private_ = thread_memory(b_, context_, offsetof(RuntimeTable, private_memory), step.private_bytes);
    leave_if(b_.CreateIsNull(private_));
  }
  iterate(step, body->getArg(0), body->getArg(1));
  b_.CreateRetVoid();
  if (failed_) {
    b_.SetInsertPoint(failed_);
    b_.CreateRetVoid();
  }
  const bool may_fail = std::exchange(failed_, failed) != nullptr;
  private_ = nullptr;
  entry_ = parent;
  iterations_ = iterations;  // iteration numbers of the body are not valid outside
  b_.restoreIP(here);
  llvm::Function* const outlined = call_parallel_for(b_, target_, options_, context_, step.count, step.grain, body);
  outlined->addFnAttr(kStepsAttribute);
  if (may_fail) leave_if(has_failed(b_, context_));
}

void EntryEmitter::call_with_pointers(const Step& step, size_t offset, int32_t number) {
  llvm::Type* pointer = b_.getPtrTy();
  llvm::BasicBlock& start = entry_->getEntryBlock();
  llvm::IRBuilder<> at(&start, start.begin());
  const size_t n = step.views.size();
  Value* pointers = at.CreateAlloca(llvm::ArrayType::get(pointer, std::max<size_t>(n, 1)));
  for (size_t i = 0; i < n; ++i)
    b_.CreateStore(address(step.views[i]), b_.CreateConstInBoundsGEP1_64(pointer, pointers, i));
  Value* function = runtime_function(b_, context_, offset);
  auto* type = llvm::FunctionType::get(b_.getInt32Ty(), {pointer, b_.getInt32Ty(), pointer}, false);
  Value* status = nullptr;
  in_callers_mode(b_, target_, options_, context_, [&] {
    status = b_.CreateCall(type, function, {context_, b_.getInt32(static_cast<uint32_t>(number)), pointers});
  });
  leave_if(b_.CreateICmpNE(status, b_.getInt32(0)));
}

void EntryEmitter::leave_if(Value* condition) {
  if (!failed_) failed_ = block("failed");
  llvm::BasicBlock* next = block("called");
  b_.CreateCondBr(condition, failed_, next);
  b_.SetInsertPoint(next);
}

}  // namespace calque::codegen
