// A kernel's function and the position of a thread in the grid. Blocks hold whole thread groups. Threads whose group is
// beyond the last one return at once, without affecting any barrier: a group that is a block shares it with no other.
#include "codegen/gpu/device_emitter.h"

#include <algorithm>

#include "calque/ir/errors.h"

#include "codegen/llvm/flush_mode.h"
#include "kernel/buffers/call_sites.h"
#include "kernel/ir/tiles.h"

namespace calque::codegen {

using kernel::Instruction;
using kernel::Region;
using llvm::Value;

namespace {

constexpr int64_t kMostBlocks = INT32_MAX;

void index_definitions(const Region& region, std::unordered_map<kernel::Id, const Instruction*>& defined) {
  for (const Instruction& i : region.instructions) {
    for (const kernel::Id r : i.results) defined[r] = &i;
    for (const Region& inner : i.regions) index_definitions(inner, defined);
  }
}

}  // namespace

DeviceEmitter::DeviceEmitter(llvm::Module& module, const TargetInfo& target, const CodegenOptions& options,
                             const kernel::Kernel& kernel, std::vector<bool> overlaps, std::string name)
    : KernelEmitter(module, target, options, kernel, std::move(overlaps), {}), name_(std::move(name)) {
  if (!kernel.launch) refuse("it is not scheduled for a GPU");
  launch_ = *kernel.launch;
  group_size_ = launch_.group_size;
  if (launch_.threads % 32 != 0 || (group_size_ != 1 && group_size_ != 32 && group_size_ != launch_.threads))
    refuse("thread groups of " + std::to_string(group_size_) + " threads in blocks of " +
           std::to_string(launch_.threads));
  index_definitions(kernel.body, defined_);
  std::vector<int> stores(kernel.buffers.size());
  find_contended(kernel.body, false, stores);
  for (size_t b = 0; b < stores.size(); ++b)
    contended_.push_back(stores[b] > 1 || (stores[b] == 1 && analysis_.loaded(static_cast<int32_t>(b))));
}

DeviceKernel DeviceEmitter::emit_device() {
  const std::vector<llvm::Type*> parameters(kernel_.buffers.size(), b_.getPtrTy(kGlobal));
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), parameters, false);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name_, module_);
  function_->setDoesNotThrow();
  for (unsigned i = 0; i < kernel_.buffers.size(); ++i) {
    buffers_.push_back(function_->getArg(i));
    const auto number = static_cast<int32_t>(i);
    if (overlaps_.empty() || !overlaps_[i]) function_->addParamAttr(i, llvm::Attribute::NoAlias);
    if (!analysis_.stored(number)) function_->addParamAttr(i, llvm::Attribute::ReadOnly);
    const auto align = static_cast<uint64_t>(std::max<int64_t>(kernel_.buffers[i].alignment, 1));
    function_->addParamAttr(i, llvm::Attribute::getWithAlignment(module_.getContext(), llvm::Align(align)));
  }
  b_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "start", function_));
  compute_thread_position();
  const int64_t in_block = launch_.threads / group_size_;
  const int64_t blocks = ceil_div(launch_.groups, in_block);
  if (blocks > kMostBlocks) refuse("a grid of " + std::to_string(blocks) + " blocks is more than a GPU takes");
  cooperative_ = is_group();
  Value* const here =
      blocks * in_block == launch_.groups ? nullptr : b_.CreateICmpSLT(group_index_, integer(launch_.groups));
  when(here, [&] { run(kernel_.body); });
  b_.CreateRetVoid();
  return {function_, {name_, blocks, launch_.threads, shared_bytes_}};
}

void DeviceEmitter::compute_thread_position() {
  Value* const thread = op(DeviceOp::thread);
  Value* const block = op(DeviceOp::block);
  lane_ = b_.CreateAnd(thread, b_.getInt32(31));
  warp_ = b_.CreateLShr(thread, 5);
  if (group_size_ == launch_.threads) {
    group_index_ = block;
    rank_ = b_.CreateZExt(thread, b_.getInt64Ty());
    return;
  }
  const auto in_block = static_cast<uint64_t>(launch_.threads / group_size_);
  Value* const within = group_size_ == 1 ? thread : warp_;
  group_index_ =
      add(b_.CreateMul(block, b_.getInt64(in_block), "", true, true), b_.CreateZExt(within, b_.getInt64Ty()));
  rank_ = group_size_ == 1 ? integer(0) : b_.CreateZExt(lane_, b_.getInt64Ty());
  if (group_size_ == 32) warp_ = b_.getInt32(0);
}

void DeviceEmitter::when(Value* condition, const std::function<void()>& body) {
  where(condition, {}, [&] {
    body();
    return Values{};
  });
}

Values DeviceEmitter::where(Value* condition, const Values& otherwise, const std::function<Values()>& body) {
  if (!condition) return body();
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition)) return known->isOne() ? body() : otherwise;
  return where_any(condition, otherwise, body);
}

void DeviceEmitter::barrier() {
  if (group_size_ > 32)
    op(DeviceOp::barrier);
  else if (group_size_ == 32)
    op(DeviceOp::warp_barrier);
}

int32_t DeviceEmitter::allocate_shared(int64_t bytes) {
  const int32_t offset = shared_bytes_;
  shared_bytes_ += static_cast<int32_t>((bytes + 15) / 16 * 16);
  return offset;
}

std::vector<DeviceKernel> emit_device_program(llvm::Module& module, const kernel::Program& program,
                                              const DeviceOptions& options) {
  TargetInfo target;
  target.vector_bits = 128;
  target.half_conversion = options.half_conversion;
  target.fma = true;
  CodegenOptions code;
  code.strict = options.strict;
  code.fast_math = options.fast_math;
  code.flush_subnormals = options.flush_subnormals;
  std::vector<DeviceKernel> kernels;
  const kernel::CallSites calls(program);
  for (size_t k = 0; k < program.kernels.size(); ++k) {
    std::string name = "k" + std::to_string(k) + "_" + program.kernels[k].name;
    std::replace_if(name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
    DeviceEmitter emitter(module, target, code, program.kernels[k], calls.overlaps(k), std::move(name));
    kernels.push_back(emitter.emit_device());
    if (options.flush_subnormals) kernels.back().function->addFnAttr(kFlushAttribute, "preserve-sign,preserve-sign");
  }
  return kernels;
}

}  // namespace calque::codegen
