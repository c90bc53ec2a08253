// Emits the entry function: steps become branches, loops and calls. Pointers to buffers are loaded once, at its start.
#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>

#include "calque/ir/errors.h"

#include "codegen/cpu/outline.h"
#include "codegen/emit/emitter.h"
#include "codegen/llvm/flush_mode.h"
#include "codegen/llvm/function_attributes.h"
#include "kernel/buffers/call_sites.h"
#include "kernel/ir/same_code.h"

namespace calque::codegen {

using kernel::BufferKind;
using kernel::Program;
using kernel::Step;
using kernel::StepKind;
using kernel::View;
using llvm::Value;

namespace {

// The most workspace bytes that a scalar entry has on its stack.
constexpr int64_t kScalarWorkspace = 4096;
// Pointers to more buffers than this would be spilled.
constexpr size_t kFewBuffers = 64;

class EntryEmitter {
 public:
  EntryEmitter(llvm::Module& module, const TargetInfo& target, const CodegenOptions& options, const Program& program)
      : module_(module), target_(target), options_(options), program_(program), b_(module.getContext()) {}

  void emit();

 private:
  void emit_kernels();
  bool scalar_possible() const;
  bool flushes() const { return options_.flush_subnormals && has_flush_mode(target_); }
  void emit_scalar();
  llvm::Type* memory_type(DType d) const;
  void finish_declaration();
  void run_steps();
  void run(const std::vector<Step>& steps);
  void leave_if(Value* condition);
  void emit(const Step& step);
  void branch(const Step& step);
  void repeat(const Step& step);
  void repeat_on_threads(const Step& step);
  void iterate(const Step& step, Value* begin, Value* end);
  void while_loop(const Step& step);
  void host_call(const Step& step);
  Value* address(const View& view);
  Value* load_buffer(const kernel::ProgramBuffer& buffer);
  void load_buffers();
  Value* slice_address(int32_t buffer, int64_t first, const std::vector<View::Term>& terms);
  Value* iteration(int32_t loop) const;
  void copy(const Step& step);
  DType dtype(const View& view) const { return program_.buffers[static_cast<size_t>(view.buffer)].type.dtype; }
  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(module_.getContext(), name, entry_); }

  llvm::Module& module_;
  const TargetInfo& target_;
  const CodegenOptions& options_;
  const Program& program_;
  llvm::IRBuilder<> b_;
  llvm::Function* entry_ = nullptr;
  llvm::BasicBlock* failed_ = nullptr;
  std::vector<llvm::Function*> kernels_;
  std::vector<bool> may_fail_;
  Value* context_ = nullptr;
  Value* table_ = nullptr;  ///< of pointers to buffers, which the caller passes
  Value* workspace_ = nullptr;
  Value* private_ = nullptr;  ///< memory of the running thread, in a parallel loop
  std::vector<Value*> buffers_;
  std::vector<std::vector<int64_t>> workspace_offsets_;  ///< of the buffers of each kernel
  std::vector<Value*> iterations_;
};

void EntryEmitter::emit_kernels() {
  const kernel::CallSites calls(program_);
  std::unordered_multimap<uint64_t, size_t> emitted;  // by hash: kernels whose code others with the same code share
  std::vector<std::vector<bool>> overlaps;
  for (size_t k = 0; k < program_.kernels.size(); ++k) {
    const kernel::Kernel& kernel = program_.kernels[k];
    workspace_offsets_.push_back(calls.workspace_offsets(k));
    overlaps.push_back(calls.overlaps(k));
    const uint64_t hash = kernel::hash_of_code(kernel);
    if (workspace_offsets_.back().empty()) {
      const auto [begin, end] = emitted.equal_range(hash);
      const auto same = std::find_if(begin, end, [&](const auto& e) {
        return overlaps[e.second] == overlaps[k] && kernel::same_code(program_.kernels[e.second], kernel);
      });
      if (same != end) {
        kernels_.push_back(kernels_[same->second]);
        may_fail_.push_back(may_fail_[same->second]);
        continue;
      }
      emitted.emplace(hash, k);
    }
    KernelEmitter emitter(module_, target_, options_, kernel, overlaps[k], workspace_offsets_.back());
    kernels_.push_back(emitter.emit());
    may_fail_.push_back(emitter.may_fail());
  }
}

llvm::Type* EntryEmitter::memory_type(DType d) const {
  llvm::LLVMContext& context = module_.getContext();
  if (d == DType::f32) return llvm::Type::getFloatTy(context);
  if (d == DType::f64) return llvm::Type::getDoubleTy(context);
  return llvm::Type::getIntNTy(context, static_cast<unsigned>(8 * size_of(d)));
}

namespace {

/// Dtypes that C passes and returns in a register.
bool is_scalar(DType d) { return !is_complex(d) && (!is_floating(d) || size_of(d) >= 4); }

bool has_loop_on_threads(const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    return step.threads || std::any_of(step.blocks.begin(), step.blocks.end(), has_loop_on_threads);
  });
}

}  // namespace

// Requires a program that calls nothing: a kernel that makes calls uses its context.
bool EntryEmitter::scalar_possible() const {
  if (!options_.scalar_arguments || program_.num_outputs != 1 || !program_.host_functions.empty() ||
      program_.workspace_bytes > kScalarWorkspace || has_loop_on_threads(program_.steps))
    return false;
  if (std::any_of(kernels_.begin(), kernels_.end(), [](auto* kernel) { return !kernel->getArg(0)->use_empty(); }))
    return false;
  const auto& types = *options_.scalar_arguments;
  return std::all_of(types.begin(), types.end(), is_scalar) &&
         std::all_of(program_.buffers.begin(), program_.buffers.end(), [](const kernel::ProgramBuffer& b) {
           return b.kind != BufferKind::output || (b.type.shape.rank() == 0 && is_scalar(b.type.dtype));
         });
}

// Arguments, result and workspace are on the stack, and in registers once the kernels are inlined.
void EntryEmitter::emit_scalar() {
  const std::vector<DType>& arguments = *options_.scalar_arguments;
  DType result = DType::f64;
  for (const kernel::ProgramBuffer& buffer : program_.buffers)
    if (buffer.kind == BufferKind::output) result = buffer.type.dtype;
  std::vector<llvm::Type*> parameters;
  for (DType d : arguments) parameters.push_back(memory_type(d));
  parameters.push_back(b_.getPtrTy());
  entry_ = llvm::Function::Create(llvm::FunctionType::get(memory_type(result), parameters, false),
                                  llvm::Function::ExternalLinkage, kScalarEntryName, module_);
  finish_declaration();
  // Callers expect small integers to be extended to the register, as in C.
  if (!is_floating(result) && size_of(result) < 4)
    entry_->addRetAttr(is_signed_integer(result) ? llvm::Attribute::SExt : llvm::Attribute::ZExt);
  b_.SetInsertPoint(block("start"));
  std::vector<Value*> argument_slots;
  for (unsigned i = 0; i < arguments.size(); ++i) {
    argument_slots.push_back(b_.CreateAlloca(parameters[i]));
    b_.CreateStore(entry_->getArg(i), argument_slots.back());
  }
  Value* const out = b_.CreateAlloca(memory_type(result));
  auto* workspace =
      b_.CreateAlloca(llvm::ArrayType::get(b_.getInt8Ty(), static_cast<uint64_t>(program_.workspace_bytes)));
  workspace->setAlignment(llvm::Align(64));
  workspace_ = workspace;
  const auto data = [&](int64_t position) {
    Value* table = b_.CreateLoad(b_.getPtrTy(), entry_->getArg(static_cast<unsigned>(arguments.size())));
    return b_.CreateLoad(b_.getPtrTy(),
                         b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), table, static_cast<uint64_t>(position)));
  };
  const auto taken = static_cast<int64_t>(arguments.size());
  for (const kernel::ProgramBuffer& buffer : program_.buffers) {
    if (buffer.kind == BufferKind::output) {
      buffers_.push_back(out);
    } else if (buffer.kind == BufferKind::workspace) {
      buffers_.push_back(
          b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), workspace, static_cast<uint64_t>(buffer.offset)));
    } else if (buffer.kind == BufferKind::constant) {
      buffers_.push_back(data(program_.num_inputs - taken + buffer.index));
    } else if (buffer.index < taken) {
      buffers_.push_back(argument_slots[static_cast<size_t>(buffer.index)]);
    } else {
      buffers_.push_back(data(buffer.index - taken));
    }
  }
  context_ = llvm::ConstantPointerNull::get(b_.getPtrTy());
  run_steps();
  b_.CreateRet(b_.CreateLoad(memory_type(result), out));
  for (llvm::Function* kernel : kernels_) kernel->addFnAttr(llvm::Attribute::AlwaysInline);
  if (flushes()) entry_ = run_flushing(*entry_, target_, {});
}

void EntryEmitter::finish_declaration() {
  set_function_attributes(*entry_, target_, options_);
  // Callers built with clang's -fsanitize=function read a signature in front of the function they call: that memory
  // must exist, also if the code is at the start of a page.
  entry_->setPrefixData(llvm::ConstantAggregateZero::get(llvm::ArrayType::get(b_.getInt64Ty(), 2)));
}

/// The pointer to a buffer: from the table that the caller passes, or an address in the workspace.
Value* EntryEmitter::load_buffer(const kernel::ProgramBuffer& buffer) {
  const auto load = [&](int64_t position) {
    llvm::Type* pointer = b_.getPtrTy();
    return b_.CreateLoad(pointer, b_.CreateConstInBoundsGEP1_64(pointer, table_, static_cast<uint64_t>(position)));
  };
  const int64_t outputs = program_.num_inputs, constants = outputs + program_.num_outputs;
  switch (buffer.kind) {
    case BufferKind::input:
      return load(buffer.index);
    case BufferKind::output:
      return load(outputs + buffer.index);
    case BufferKind::constant:
      return load(constants + buffer.index);
    case BufferKind::workspace:
      break;
  }
  if (buffer.private_to >= 0)
    return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), private_, static_cast<uint64_t>(buffer.offset));
  if (!workspace_) workspace_ = load(constants + static_cast<int64_t>(program_.constants.size()));
  if (buffer.offset == 0) return workspace_;
  return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), workspace_, static_cast<uint64_t>(buffer.offset));
}

/// A few pointers are loaded at the start and stay in registers. If there are many, each is loaded where a step uses
/// it.
void EntryEmitter::load_buffers() {
  const bool few = program_.buffers.size() <= kFewBuffers;
  for (const kernel::ProgramBuffer& buffer : program_.buffers) {
    // The memory of a buffer that is private to a loop is known only inside the loop.
    const bool shared = buffer.private_to < 0;
    const bool base = !workspace_ && buffer.kind == BufferKind::workspace && shared;
    Value* const pointer = (few && shared) || base ? load_buffer(buffer) : nullptr;
    buffers_.push_back(few ? pointer : nullptr);
  }
}

void EntryEmitter::run_steps() {
  iterations_.assign(static_cast<size_t>(program_.num_loops), nullptr);
  run(program_.steps);
}

void EntryEmitter::emit() {
  emit_kernels();
  if (scalar_possible()) return emit_scalar();
  llvm::Type* pointer = b_.getPtrTy();
  auto* type = llvm::FunctionType::get(b_.getInt32Ty(), {pointer, pointer}, false);
  entry_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                                  options_.entry_name.empty() ? kEntryName : options_.entry_name, module_);
  finish_declaration();
  entry_->addFnAttr(kStepsAttribute);
  b_.SetInsertPoint(block("start"));
  context_ = entry_->getArg(0);
  table_ = entry_->getArg(1);
  load_buffers();
  run_steps();
  b_.CreateRet(b_.getInt32(0));
  if (failed_) {
    b_.SetInsertPoint(failed_);
    b_.CreateRet(b_.getInt32(1));
  }
  if (!flushes()) return;
  entry_ = run_flushing(*entry_, target_, [](llvm::IRBuilder<>& b, Value* mode) {
    Value* const context = b.GetInsertBlock()->getParent()->getArg(0);
    Value* const to = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), context, offsetof(ContextHeader, caller_mode));
    b.CreateStore(b.CreateZExt(mode, b.getInt64Ty()), to);
  });
}

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

Value* EntryEmitter::address(const View& view) {
  Value* p = slice_address(view.buffer, view.offset, view.terms);
  for (auto c = view.choices.rbegin(); c != view.choices.rend(); ++c) {
    Value* odd = b_.CreateTrunc(iteration(c->loop), b_.getInt1Ty());
    if (c->phase != 0) odd = b_.CreateNot(odd);
    p = b_.CreateSelect(odd, slice_address(c->buffer, c->offset, c->terms), p);
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
      host_call(step);
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

void EntryEmitter::host_call(const Step& step) {
  llvm::Type* pointer = b_.getPtrTy();
  llvm::BasicBlock& start = entry_->getEntryBlock();
  llvm::IRBuilder<> at(&start, start.begin());
  const size_t n = step.views.size();
  Value* pointers = at.CreateAlloca(llvm::ArrayType::get(pointer, std::max<size_t>(n, 1)));
  for (size_t i = 0; i < n; ++i)
    b_.CreateStore(address(step.views[i]), b_.CreateConstInBoundsGEP1_64(pointer, pointers, i));
  Value* function = runtime_function(b_, context_, offsetof(RuntimeTable, host_call));
  auto* type = llvm::FunctionType::get(b_.getInt32Ty(), {pointer, b_.getInt32Ty(), pointer}, false);
  Value* status = nullptr;
  in_callers_mode(b_, target_, options_, context_, [&] {
    status =
        b_.CreateCall(type, function, {context_, b_.getInt32(static_cast<uint32_t>(step.host_function)), pointers});
  });
  leave_if(b_.CreateICmpNE(status, b_.getInt32(0)));
}

void EntryEmitter::leave_if(Value* condition) {
  if (!failed_) failed_ = block("failed");
  llvm::BasicBlock* next = block("called");
  b_.CreateCondBr(condition, failed_, next);
  b_.SetInsertPoint(next);
}

}  // namespace

void emit_program(llvm::Module& module, const TargetInfo& target, const CodegenOptions& options,
                  const Program& program) {
  EntryEmitter(module, target, options, program).emit();
}

}  // namespace calque::codegen
