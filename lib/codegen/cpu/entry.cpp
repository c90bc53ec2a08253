// Emits the kernels and the entry function. Pointers to buffers are loaded once, at its start.
#include "codegen/cpu/entry.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
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
// Kernels of one form share a function if there are so many of them: a loop of C++ over a parameter made them.
constexpr size_t kManyKernels = 4;
// A kernel of fewer operations per buffer would take its buffers' pointers in about the time that it runs.
constexpr int64_t kOperationsPerPointer = 100;

/// Its function can be that of all kernels of its form. Products pack, and threads run, functions of their own.
bool can_share_form(const kernel::Kernel& kernel) {
  return !kernel::contains(kernel.body, [](const kernel::Instruction& i) {
    return i.op == kernel::Op::contraction || (i.op == kernel::Op::loop && i.threads);
  });
}

bool same_constant(const kernel::Instruction& a, const kernel::Instruction& b) {
  return std::memcmp(a.literal.bytes, b.literal.bytes, sizeof a.literal.bytes) == 0;
}

llvm::Constant* constant_of(const kernel::Instruction& i, DType dtype, llvm::LLVMContext& context) {
  const bool is_double = dtype == DType::f64;
  const llvm::APFloat value = is_double ? llvm::APFloat(i.literal.as<double>()) : llvm::APFloat(i.literal.as<float>());
  return llvm::ConstantFP::get(context, value);
}
}  // namespace

/// One function for kernels of one form: those constants whose values differ are loaded.
void EntryEmitter::emit_form(const std::vector<size_t>& kernels) {
  const kernel::Kernel& first = program_.kernels[kernels[0]];
  std::vector<std::vector<const kernel::Instruction*>> constants;  // by kernel
  for (const size_t k : kernels) constants.push_back(kernel::floating_point_constants(program_.kernels[k]));
  std::vector<size_t> differ;  // positions in these lists
  for (size_t n = 0; n < constants[0].size(); ++n)
    if (std::any_of(constants.begin(), constants.end(),
                    [&](const auto& list) { return !same_constant(*list[n], *constants[0][n]); }))
      differ.push_back(n);
  std::vector<kernel::Id> loaded;
  for (const size_t n : differ) loaded.push_back(constants[0][n]->results[0]);
  const auto dtype = [&](size_t n) { return first.values[static_cast<size_t>(constants[0][n]->results[0])]; };
  llvm::StructType* type = nullptr;
  for (size_t m = 0; m < kernels.size() && !differ.empty(); ++m) {
    std::vector<llvm::Constant*> fields;
    for (const size_t n : differ) fields.push_back(constant_of(*constants[m][n], dtype(n), module_.getContext()));
    llvm::Constant* const value = llvm::ConstantStruct::getAnon(module_.getContext(), fields);
    type = llvm::cast<llvm::StructType>(value->getType());
    constants_[kernels[m]] =
        new llvm::GlobalVariable(module_, type, true, llvm::GlobalValue::PrivateLinkage, value, "calque_constants");
  }
  CpuEmitter emitter({module_, target_, options_}, first, overlaps_[kernels[0]], {});
  llvm::Function* const function = differ.empty() ? emitter.emit() : emitter.emit_loading(std::move(loaded), type);
  for (const size_t k : kernels) {
    workspace_offsets_[k].clear();
    kernels_[k] = function;
    may_fail_[k] = emitter.may_fail();
  }
}

void EntryEmitter::share_forms() {
  if (options_.fast_math || program_.kernels.size() < kManyKernels) return;  // with fast_math bits depend on constants
  std::unordered_multimap<uint64_t, size_t> known;                           // by hash: positions in `forms`
  std::vector<std::vector<size_t>> forms;
  for (size_t k = 0; k < program_.kernels.size(); ++k) {
    const kernel::Kernel& kernel = program_.kernels[k];
    const auto pointers = static_cast<int64_t>(kernel.num_parameters());
    if (!workspace_offsets_[k].empty() && kernel.flops < kOperationsPerPointer * pointers) continue;
    if (!can_share_form(kernel)) continue;
    const uint64_t hash = kernel::hash_of_form(kernel);
    const auto [begin, end] = known.equal_range(hash);
    const auto same = std::find_if(begin, end, [&](const auto& entry) {
      const size_t first = forms[entry.second][0];
      return overlaps_[first] == overlaps_[k] && kernel::same_form(program_.kernels[first], kernel);
    });
    if (same == end) {
      known.emplace(hash, forms.size());
      forms.push_back({k});
    } else {
      forms[same->second].push_back(k);
    }
  }
  for (const std::vector<size_t>& form : forms)
    if (form.size() >= kManyKernels) emit_form(form);
}

void EntryEmitter::emit_kernels() {
  const kernel::CallSites calls(program_);
  const size_t count = program_.kernels.size();
  for (size_t k = 0; k < count; ++k) {
    workspace_offsets_.push_back(calls.workspace_offsets(k));
    overlaps_.push_back(calls.overlaps(k));
  }
  kernels_.resize(count);
  may_fail_.resize(count);
  constants_.resize(count);
  share_forms();
  std::unordered_multimap<uint64_t, size_t> emitted;  // by hash: kernels whose code others with the same code share
  for (size_t k = 0; k < count; ++k) {
    if (kernels_[k]) continue;
    const kernel::Kernel& kernel = program_.kernels[k];
    const uint64_t hash = kernel::hash_of_code(kernel);
    if (workspace_offsets_[k].empty()) {
      const auto [begin, end] = emitted.equal_range(hash);
      const auto same = std::find_if(begin, end, [&](const auto& e) {
        return overlaps_[e.second] == overlaps_[k] && kernel::same_code(program_.kernels[e.second], kernel);
      });
      if (same != end) {
        kernels_[k] = kernels_[same->second];
        may_fail_[k] = may_fail_[same->second];
        continue;
      }
      emitted.emplace(hash, k);
    }
    CpuEmitter emitter({module_, target_, options_}, kernel, overlaps_[k], workspace_offsets_[k]);
    kernels_[k] = emitter.emit();
    may_fail_[k] = emitter.may_fail();
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
