// The entry function: steps become branches, loops and calls. Its pointers to buffers are loaded once, at the start.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "calque/ir/errors.h"

#include "codegen/emitter.h"

namespace calque::codegen {

using kernel::BufferKind;
using kernel::Program;
using kernel::Step;
using kernel::StepKind;
using kernel::View;
using llvm::Value;

namespace {

// Bytes of the enclosing buffer that a view of a step may touch.
struct Span {
  int kind = 0;
  int32_t index = 0;
  int64_t begin = 0, end = 0;
};

int64_t dense_bytes(const kernel::ProgramBuffer& b) {
  int64_t last = 0;
  for (size_t axis = 0; axis < b.type.shape.size(); ++axis) {
    if (b.type.shape[axis] == 0) return 0;
    last += (b.type.shape[axis] - 1) * (axis < b.strides.size() ? std::abs(b.strides[axis]) : 0);
  }
  return (last + 1) * static_cast<int64_t>(size_of(b.type.dtype));
}

// A function of the runtime table.
Value* runtime_function(llvm::IRBuilder<>& b, Value* context, size_t offset) {
  const auto field = [&](Value* base, size_t at) {
    return b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, at));
  };
  return field(field(context, offsetof(ContextHeader, table)), offset);
}

class EntryEmitter {
 public:
  EntryEmitter(llvm::Module& module, const TargetInfo& target, const CodegenOptions& options, const Program& program)
      : module_(module), target_(target), options_(options), program_(program), b_(module.getContext()) {}

  void emit();

 private:
  void emit_kernels();
  std::vector<bool> overlaps(int32_t kernel) const;
  void collect(const std::vector<Step>& steps, int32_t kernel, std::vector<bool>& out) const;
  Span span(int32_t buffer, int64_t offset, bool whole, int64_t bytes) const;
  std::vector<Span> spans(const View& view, int64_t bytes) const;
  bool overlap(const View& a, int64_t a_bytes, const View& b, int64_t b_bytes) const;
  void run(const std::vector<Step>& steps);
  void emit(const Step& step);
  void branch(const Step& step);
  void repeat(const Step& step);
  void while_loop(const Step& step);
  void host_call(const Step& step);
  Value* address(const View& view);
  Value* place(int32_t buffer, int64_t first, const std::vector<View::Term>& terms);
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
  std::vector<Value*> buffers_;
  std::vector<Value*> iterations_;
};

Span EntryEmitter::span(int32_t buffer, int64_t offset, bool whole, int64_t bytes) const {
  const kernel::ProgramBuffer& b = program_.buffers[static_cast<size_t>(buffer)];
  Span s{static_cast<int>(b.kind), b.kind == BufferKind::workspace ? 0 : b.index, offset, offset + bytes};
  if (whole) {
    s.begin = 0;
    s.end = dense_bytes(b);
  }
  if (b.kind == BufferKind::workspace) {
    s.begin += b.offset;
    s.end += b.offset;
  }
  return s;
}

std::vector<Span> EntryEmitter::spans(const View& view, int64_t bytes) const {
  std::vector<Span> all{span(view.buffer, view.offset, !view.terms.empty(), bytes)};
  for (const View::Choice& c : view.choices) all.push_back(span(c.buffer, c.offset, !c.terms.empty(), bytes));
  return all;
}

/// Two views that change places with each other never meet.
bool EntryEmitter::overlap(const View& a, int64_t a_bytes, const View& b, int64_t b_bytes) const {
  if (!a.choices.empty() && a.choices.size() == b.choices.size()) {
    const View::Choice &x = a.choices[0], &y = b.choices[0];
    View swapped = b;
    swapped.choices[0].phase = x.phase;
    if (x.phase != y.phase && a == swapped) return false;
  }
  for (const Span& x : spans(a, a_bytes))
    for (const Span& y : spans(b, b_bytes))
      if (x.kind == y.kind && x.index == y.index && x.begin < y.end && y.begin < x.end) return true;
  return false;
}

void EntryEmitter::collect(const std::vector<Step>& steps, int32_t kernel, std::vector<bool>& out) const {
  for (const Step& step : steps) {
    for (const auto& inner : step.blocks) collect(inner, kernel, out);
    if (step.kind != StepKind::kernel || step.kernel != kernel) continue;
    const kernel::Kernel& k = program_.kernels[static_cast<size_t>(kernel)];
    const auto bytes = [&](size_t i) {
      return k.buffers[i].extent * static_cast<int64_t>(size_of(k.buffers[i].dtype));
    };
    for (size_t a = 0; a < step.views.size(); ++a)
      for (size_t b = a + 1; b < step.views.size(); ++b) {
        if (!k.buffers[a].written && !k.buffers[b].written) continue;
        if (overlap(step.views[a], bytes(a), step.views[b], bytes(b))) out[a] = out[b] = true;
      }
  }
}

std::vector<bool> EntryEmitter::overlaps(int32_t kernel) const {
  std::vector<bool> out(program_.kernels[static_cast<size_t>(kernel)].buffers.size());
  collect(program_.steps, kernel, out);
  return out;
}

void EntryEmitter::emit_kernels() {
  for (size_t k = 0; k < program_.kernels.size(); ++k) {
    KernelEmitter emitter(module_, target_, options_, program_.kernels[k], overlaps(static_cast<int32_t>(k)));
    kernels_.push_back(emitter.emit());
  }
}

void EntryEmitter::emit() {
  emit_kernels();
  llvm::Type* pointer = b_.getPtrTy();
  auto* type = llvm::FunctionType::get(b_.getInt32Ty(), {pointer, pointer}, false);
  entry_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                                  options_.entry_name.empty() ? kEntryName : options_.entry_name, module_);
  set_function_attributes(*entry_, target_, options_);
  b_.SetInsertPoint(block("start"));
  for (const kernel::ProgramBuffer& buffer : program_.buffers) {
    int64_t position = buffer.index;
    const auto constants = static_cast<int64_t>(program_.constants.size());
    if (buffer.kind == BufferKind::output) position += program_.num_inputs;
    if (buffer.kind == BufferKind::constant) position += program_.num_inputs + program_.num_outputs;
    if (buffer.kind == BufferKind::workspace) position = program_.num_inputs + program_.num_outputs + constants;
    Value* slot = b_.CreateConstInBoundsGEP1_64(pointer, entry_->getArg(1), static_cast<uint64_t>(position));
    Value* base = b_.CreateLoad(pointer, slot);
    if (buffer.kind == BufferKind::workspace && buffer.offset != 0)
      base = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), base, static_cast<uint64_t>(buffer.offset));
    buffers_.push_back(base);
  }
  iterations_.assign(static_cast<size_t>(program_.num_loops), nullptr);
  run(program_.steps);
  b_.CreateRet(b_.getInt32(0));
  if (failed_) {
    b_.SetInsertPoint(failed_);
    b_.CreateRet(b_.getInt32(1));
  }
}

Value* EntryEmitter::iteration(int32_t loop) const {
  Value* number = iterations_[static_cast<size_t>(loop)];
  if (!number) throw CompileError("compile: a view depends on a loop that does not enclose it");
  return number;
}

Value* EntryEmitter::place(int32_t buffer, int64_t first, const std::vector<View::Term>& terms) {
  Value* p = buffers_[static_cast<size_t>(buffer)];
  Value* offset = b_.getInt64(static_cast<uint64_t>(first));
  for (const View::Term& term : terms)
    offset = b_.CreateAdd(offset, b_.CreateMul(iteration(term.loop), b_.getInt64(static_cast<uint64_t>(term.bytes))));
  return b_.CreateInBoundsGEP(b_.getInt8Ty(), p, offset);
}

Value* EntryEmitter::address(const View& view) {
  Value* p = place(view.buffer, view.offset, view.terms);
  for (auto c = view.choices.rbegin(); c != view.choices.rend(); ++c) {
    Value* odd = b_.CreateTrunc(iteration(c->loop), b_.getInt1Ty());
    if (c->phase != 0) odd = b_.CreateNot(odd);
    p = b_.CreateSelect(odd, place(c->buffer, c->offset, c->terms), p);
  }
  return p;
}

void EntryEmitter::run(const std::vector<Step>& steps) {
  for (const Step& step : steps) emit(step);
}

void EntryEmitter::emit(const Step& step) {
  switch (step.kind) {
    case StepKind::kernel: {
      std::vector<Value*> arguments{entry_->getArg(0)};
      for (const View& view : step.views) arguments.push_back(address(view));
      b_.CreateCall(kernels_[static_cast<size_t>(step.kernel)], arguments);
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
    // Clamped: what is negative takes the first block, what is too large the last.
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
  llvm::BasicBlock *before = b_.GetInsertBlock(), *head = block("repeat"), *exit = block("done");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::PHINode* number = b_.CreatePHI(b_.getInt64Ty(), 2);
  number->addIncoming(b_.getInt64(0), before);
  Value* iteration = number;
  if (step.reverse) iteration = b_.CreateSub(b_.getInt64(static_cast<uint64_t>(step.count - 1)), number);
  if (step.loop_id >= 0) iterations_[static_cast<size_t>(step.loop_id)] = iteration;
  run(step.blocks[0]);
  if (step.loop_id >= 0) iterations_[static_cast<size_t>(step.loop_id)] = nullptr;
  Value* next = b_.CreateAdd(number, b_.getInt64(1), "", true, true);
  number->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpSLT(next, b_.getInt64(static_cast<uint64_t>(step.count))), head, exit);
  b_.SetInsertPoint(exit);
}

void EntryEmitter::host_call(const Step& step) {
  llvm::Type* pointer = b_.getPtrTy();
  llvm::BasicBlock& start = entry_->getEntryBlock();
  llvm::IRBuilder<> at(&start, start.begin());
  const size_t n = step.views.size();
  Value* pointers = at.CreateAlloca(llvm::ArrayType::get(pointer, std::max<size_t>(n, 1)));
  for (size_t i = 0; i < n; ++i)
    b_.CreateStore(address(step.views[i]), b_.CreateConstInBoundsGEP1_64(pointer, pointers, i));
  Value* context = entry_->getArg(0);
  Value* function = runtime_function(b_, context, offsetof(RuntimeTable, host_call));
  auto* type = llvm::FunctionType::get(b_.getInt32Ty(), {pointer, b_.getInt32Ty(), pointer}, false);
  Value* status =
      b_.CreateCall(type, function, {context, b_.getInt32(static_cast<uint32_t>(step.host_function)), pointers});
  if (!failed_) failed_ = block("failed");
  llvm::BasicBlock* next = block("called");
  b_.CreateCondBr(b_.CreateICmpEQ(status, b_.getInt32(0)), next, failed_);
  b_.SetInsertPoint(next);
}

}  // namespace

void emit_program(llvm::Module& module, const TargetInfo& target, const CodegenOptions& options,
                  const Program& program) {
  EntryEmitter(module, target, options, program).emit();
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
  body(function_->getArg(0), function_->getArg(1));
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

  b_.restoreIP(here);
  Value* const environment = local(record);
  for (unsigned i = 0; i < live.size(); ++i) b_.CreateStore(live[i], b_.CreateStructGEP(record, environment, i));
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {pointer, number, number, pointer, pointer}, false);
  b_.CreateCall(type, runtime_function(b_, context_, offsetof(RuntimeTable, parallel_for)),
                {context_, b_.getInt64(static_cast<uint64_t>(count)), b_.getInt64(static_cast<uint64_t>(grain)), piece,
                 environment});
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
  return memory;
}

}  // namespace calque::codegen
