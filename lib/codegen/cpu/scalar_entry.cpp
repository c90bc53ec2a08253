// An entry that takes and returns scalars in registers. Arguments, result and workspace are on the stack, and in
// registers once the kernels are inlined.
#include <algorithm>

#include "codegen/cpu/entry.h"
#include "codegen/cpu/entry_emitter.h"

namespace calque::codegen {

using kernel::BufferKind;
using kernel::Step;
using llvm::Value;

namespace {

// The most workspace bytes that a scalar entry has on its stack.
constexpr int64_t kScalarWorkspace = 4096;

/// Dtypes that C passes and returns in a register.
bool is_scalar(DType d) { return !is_complex(d) && (!is_floating(d) || size_of(d) >= 4); }

bool has_loop_on_threads(const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    return step.threads || std::any_of(step.blocks.begin(), step.blocks.end(), has_loop_on_threads);
  });
}

}  // namespace

llvm::Type* EntryEmitter::memory_type(DType d) const {
  llvm::LLVMContext& context = module_.getContext();
  if (d == DType::f32) return llvm::Type::getFloatTy(context);
  if (d == DType::f64) return llvm::Type::getDoubleTy(context);
  return llvm::Type::getIntNTy(context, static_cast<unsigned>(8 * size_of(d)));
}

// Requires a program that calls nothing: a kernel that makes calls uses its context.
bool EntryEmitter::scalar_possible() const {
  if (!options_.scalar_arguments || program_.num_outputs != 1 || !program_.host_functions.empty() ||
      !program_.routines.empty() || program_.workspace_bytes > kScalarWorkspace || has_loop_on_threads(program_.steps))
    return false;
  if (std::any_of(kernels_.begin(), kernels_.end(), [](auto* kernel) { return !kernel->getArg(0)->use_empty(); }))
    return false;
  const auto& types = *options_.scalar_arguments;
  return std::all_of(types.begin(), types.end(), is_scalar) &&
         std::all_of(program_.buffers.begin(), program_.buffers.end(), [](const kernel::ProgramBuffer& b) {
           return b.kind != BufferKind::output || (b.type.shape.rank() == 0 && is_scalar(b.type.dtype));
         });
}

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

}  // namespace calque::codegen
