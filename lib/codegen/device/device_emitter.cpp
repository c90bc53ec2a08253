#include "codegen/device/device_emitter.h"

#include <algorithm>

#include "kernel/ir/tiles.h"

namespace calque::codegen {

using llvm::Value;

namespace {
constexpr int64_t kMostBlocks = INT32_MAX;
}  // namespace

DeviceKernel DeviceEmitter::emit() {
  llvm::LLVMContext& context = k_.module().getContext();
  llvm::IRBuilder<>& b = k_.builder();
  const auto& buffers = k_.kernel().buffers;
  const std::vector<llvm::Type*> parameters(k_.kernel().num_parameters(), b.getPtrTy(kGlobal));
  auto* type = llvm::FunctionType::get(b.getVoidTy(), parameters, false);
  llvm::Function& function = *llvm::Function::Create(type, llvm::Function::ExternalLinkage, name_, k_.module());
  function.setDoesNotThrow();
  std::vector<Value*> pointers;
  for (unsigned i = 0; i < parameters.size(); ++i) {
    pointers.push_back(function.getArg(i));
    const auto number = static_cast<int32_t>(i);
    if (!k_.buffers().overlaps(number)) function.addParamAttr(i, llvm::Attribute::NoAlias);
    if (!k_.analysis().stored(number)) function.addParamAttr(i, llvm::Attribute::ReadOnly);
    const auto align = static_cast<uint64_t>(std::max<int64_t>(buffers[i].alignment, 1));
    function.addParamAttr(i, llvm::Attribute::getWithAlignment(context, llvm::Align(align)));
  }
  k_.buffers().bind(std::move(pointers), nullptr);
  k_.begin_function(function);
  group_.compute_position();
  const kernel::Launch& launch = group_.launch();
  const int64_t in_block = launch.threads / launch.group_size;
  const int64_t blocks = kernel::ceil_div(launch.groups, in_block);
  if (blocks > kMostBlocks) k_.refuse("a grid of " + std::to_string(blocks) + " blocks is more than a GPU takes");
  Value* const here =
      blocks * in_block == launch.groups ? nullptr : b.CreateICmpSLT(group_.index(), k_.integer(launch.groups));
  group_.when(here, [&] { k_.run(k_.kernel().body); });
  k_.end_function();
  return {&function, blocks, launch.threads, group_.shared_bytes()};
}

}  // namespace calque::codegen
