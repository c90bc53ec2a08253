// Operations are declared once per module and identified by name alone, so that IR parsed from text keeps its meaning.
#include "codegen/device/device_ops.h"

#include <array>

namespace calque::codegen {

namespace {

struct DeviceOpInfo {
  DeviceOp op;
  const char* name;
  /// Result, ':', operands. v void, i i32, l i64, f float, s shared pointer, g global pointer, I and F: 4 of i and f.
  const char* signature;
  /// Memory effects: n none, x inaccessible memory only, w unknown.
  char memory;
  bool convergent;
};

constexpr std::array kDeviceOps = {
    DeviceOpInfo{DeviceOp::thread, "cq.thread", "i:", 'n', false},
    DeviceOpInfo{DeviceOp::threads, "cq.threads", "i:", 'n', false},
    DeviceOpInfo{DeviceOp::block, "cq.block", "l:", 'n', false},
    DeviceOpInfo{DeviceOp::blocks, "cq.blocks", "l:", 'n', false},
    DeviceOpInfo{DeviceOp::barrier, "cq.barrier", "v:", 'w', true},
    DeviceOpInfo{DeviceOp::warp_barrier, "cq.warp.barrier", "v:", 'w', true},
    DeviceOpInfo{DeviceOp::shuffle_xor, "cq.shuffle.xor", "i:ii", 'x', true},
    DeviceOpInfo{DeviceOp::shuffle_up, "cq.shuffle.up", "i:ii", 'x', true},
    DeviceOpInfo{DeviceOp::shuffle_index, "cq.shuffle.index", "i:ii", 'x', true},
    DeviceOpInfo{DeviceOp::shared, "cq.shared", "s:i", 'n', false},
    DeviceOpInfo{DeviceOp::mma_f16, "cq.mma.f16", "F:iiiiiiffff", 'x', true},
    DeviceOpInfo{DeviceOp::mma_bf16, "cq.mma.bf16", "F:iiiiiiffff", 'x', true},
    DeviceOpInfo{DeviceOp::mma_tf32, "cq.mma.tf32", "F:iiiiiiffff", 'x', true},
    // Reads rows that other lanes address, hence not only through its operand.
    DeviceOpInfo{DeviceOp::load_matrix, "cq.load.matrix", "I:s", 'w', true},
    DeviceOpInfo{DeviceOp::load_matrix_transposed, "cq.load.matrix.transposed", "I:s", 'w', true},
    DeviceOpInfo{DeviceOp::async_copy, "cq.async.copy", "v:sgi", 'w', false},
    DeviceOpInfo{DeviceOp::async_commit, "cq.async.commit", "v:", 'w', false},
    DeviceOpInfo{DeviceOp::async_wait, "cq.async.wait", "v:i", 'w', false},
};

const DeviceOpInfo& info_of(DeviceOp op) { return kDeviceOps[static_cast<size_t>(op)]; }

llvm::Type* device_type(llvm::LLVMContext& context, char code) {
  llvm::Type* word = llvm::Type::getInt32Ty(context);
  llvm::Type* number = llvm::Type::getFloatTy(context);
  switch (code) {
    case 'v':
      return llvm::Type::getVoidTy(context);
    case 'l':
      return llvm::Type::getInt64Ty(context);
    case 'f':
      return number;
    case 's':
      return llvm::PointerType::get(context, kShared);
    case 'g':
      return llvm::PointerType::get(context, kGlobal);
    case 'I':
      return llvm::StructType::get(context, {word, word, word, word});
    case 'F':
      return llvm::StructType::get(context, {number, number, number, number});
    default:
      return word;
  }
}

llvm::MemoryEffects device_memory(char code) {
  switch (code) {
    case 'n':
      return llvm::MemoryEffects::none();
    case 'x':
      return llvm::MemoryEffects::inaccessibleMemOnly();
    default:
      return llvm::MemoryEffects::unknown();
  }
}

llvm::Function* declare_device_op(llvm::Module& module, const DeviceOpInfo& info) {
  if (llvm::Function* known = module.getFunction(info.name)) return known;
  llvm::LLVMContext& context = module.getContext();
  llvm::SmallVector<llvm::Type*, 10> parameters;
  for (const char* code = info.signature + 2; *code; ++code) parameters.push_back(device_type(context, *code));
  auto* type = llvm::FunctionType::get(device_type(context, *info.signature), parameters, false);
  auto* f = llvm::Function::Create(type, llvm::Function::ExternalLinkage, info.name, module);
  f->setDoesNotThrow();
  f->setMemoryEffects(device_memory(info.memory));
  if (info.memory == 'n') f->addFnAttr(llvm::Attribute::Speculatable);
  f->addFnAttr(llvm::Attribute::WillReturn);
  f->addFnAttr(llvm::Attribute::NoCallback);
  if (info.convergent) f->setConvergent();
  const auto in_range = [&](unsigned bits, uint64_t low, uint64_t end) {
    f->addRangeRetAttr(llvm::ConstantRange(llvm::APInt(bits, low), llvm::APInt(bits, end)));
  };
  if (info.op == DeviceOp::thread) in_range(32, 0, 1024);
  if (info.op == DeviceOp::threads) in_range(32, 1, 1025);
  if (info.op == DeviceOp::block) in_range(64, 0, (uint64_t{1} << 31) - 1);
  if (info.op == DeviceOp::blocks) in_range(64, 1, uint64_t{1} << 31);
  return f;
}

}  // namespace

llvm::Value* device_op(llvm::IRBuilder<>& b, DeviceOp op, llvm::ArrayRef<llvm::Value*> operands) {
  return b.CreateCall(declare_device_op(*b.GetInsertBlock()->getModule(), info_of(op)), operands);
}

std::optional<DeviceOp> device_op_of(const llvm::Function& function) {
  if (!function.getName().starts_with("cq.")) return std::nullopt;
  for (const DeviceOpInfo& info : kDeviceOps)
    if (function.getName() == info.name) return info.op;
  return std::nullopt;
}

std::vector<std::pair<llvm::CallInst*, DeviceOp>> device_ops_in(llvm::Function& function) {
  std::vector<std::pair<llvm::CallInst*, DeviceOp>> out;
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& i : block) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&i);
      if (!call || !call->getCalledFunction()) continue;
      if (const auto op = device_op_of(*call->getCalledFunction())) out.emplace_back(call, *op);
    }
  return out;
}

void forget_aliases_at_barriers(llvm::Module& module) {
  const auto is_barrier = [](const auto& op) {
    return op.second == DeviceOp::barrier || op.second == DeviceOp::warp_barrier;
  };
  for (llvm::Function& f : module) {
    if (llvm::none_of(device_ops_in(f), is_barrier)) continue;
    for (llvm::Argument& argument : f.args())
      if (!argument.hasAttribute(llvm::Attribute::ReadOnly)) argument.removeAttr(llvm::Attribute::NoAlias);
  }
}

void remove_device_ops(llvm::Module& module) {
  for (llvm::Function& f : llvm::make_early_inc_range(module))
    if (device_op_of(f) && f.use_empty()) f.eraseFromParent();
}

}  // namespace calque::codegen
