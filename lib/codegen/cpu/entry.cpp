// Emits the kernels and the entry function. Pointers to buffers are loaded once, at its start.
#include "codegen/cpu/entry.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include "codegen/cpu/cpu_emitter.h"
#include "codegen/cpu/entry_emitter.h"
#include "codegen/cpu/partition_module.h"
#include "codegen/llvm/function_attributes.h"
#include "kernel/buffers/call_sites.h"
#include "kernel/ir/same_code.h"

namespace calque::codegen {

using kernel::BufferKind;
using kernel::Program;
using llvm::Value;

namespace {
// Pointers to more buffers than this would be spilled.
constexpr size_t kFewBuffers = 64;
}  // namespace

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
    CpuEmitter emitter({module_, target_, options_}, kernel, overlaps[k], workspace_offsets_.back());
    kernels_.push_back(emitter.emit());
    may_fail_.push_back(emitter.may_fail());
  }
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

void emit_program(llvm::Module& module, const TargetInfo& target, const CodegenOptions& options,
                  const Program& program) {
  EntryEmitter(module, target, options, program).emit();
}

}  // namespace calque::codegen
