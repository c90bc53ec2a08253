// Address spaces stay in the code, since the host's processors ignore them. The simulator is called before each access,
// so that no invalid access is ever executed.
#include <cstddef>
#include <unordered_map>

#include "calque/ir/errors.h"

#include "codegen/gpu/device_code.h"
#include "codegen/gpu/device_passes.h"
#include "codegen/gpu/lower_device_ops.h"
#include "codegen/llvm/flush_mode.h"

namespace calque::codegen {

namespace {

// The widest access of PTX.
constexpr uint64_t kWidestAccess = 16;

bool on_device(const llvm::Value* pointer) {
  const unsigned space = pointer->getType()->getPointerAddressSpace();
  return space == kGlobal || space == kShared;
}

// One kernel.
class SimulatorLowering {
 public:
  explicit SimulatorLowering(llvm::Function& kernel)
      : kernel_(kernel), module_(*kernel.getParent()), b_(kernel.getContext()) {}
  void run();

 private:
  struct DeviceAccess {
    llvm::Value* pointer;
    llvm::Type* type;
    llvm::Align alignment;
    int32_t kind;
  };

  void change_signature();
  llvm::Value* member(size_t offset, llvm::Type* type);
  llvm::Value* pointer_member(size_t offset) { return member(offset, b_.getPtrTy()); }
  llvm::Value* call(size_t offset, llvm::Type* result, llvm::SmallVector<llvm::Value*, 8> operands, bool site = true);
  llvm::Value* local(llvm::Type* type);
  llvm::Value* array_of(llvm::ArrayRef<llvm::Value*> values);
  llvm::Value* struct_of(llvm::Value* array, llvm::Type* type);
  static std::optional<DeviceAccess> access_of(llvm::Instruction& i);
  void refuse_hidden_accesses(const llvm::Instruction& i) const;
  void announce(llvm::Instruction& i, const DeviceAccess& access);
  void lower(llvm::CallInst& call, DeviceOp op);
  llvm::Value* lowered(llvm::CallInst& call, DeviceOp op);
  llvm::Value* shuffle(const llvm::CallInst& call, int32_t mode);
  llvm::Value* mma(const llvm::CallInst& call, int32_t shape);
  llvm::Value* load_matrix(const llvm::CallInst& call, bool transposed);

  llvm::Function& kernel_;
  llvm::Module& module_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;
  llvm::Instruction* start_ = nullptr;  ///< the first instruction after the values that are loaded once
  std::unordered_map<size_t, llvm::Value*> members_, functions_;
  int32_t site_ = 0;
};

void SimulatorLowering::change_signature() {
  llvm::Type* pointer = b_.getPtrTy();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {pointer, pointer}, false);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "", module_);
  function_->takeName(&kernel_);
  function_->setDoesNotThrow();
  if (kernel_.hasFnAttribute(kFlushAttribute)) function_->addFnAttr(kernel_.getFnAttribute(kFlushAttribute));
  function_->splice(function_->end(), &kernel_);
  b_.SetInsertPoint(&function_->getEntryBlock(), function_->getEntryBlock().begin());
  for (llvm::Argument& argument : kernel_.args()) {
    llvm::Value* slot = b_.CreateConstGEP1_64(pointer, function_->getArg(1), argument.getArgNo());
    argument.replaceAllUsesWith(b_.CreateLoad(argument.getType(), slot));
  }
  start_ = &*b_.GetInsertPoint();
}

/// A member of SimulatedThread, loaded once at the start.
llvm::Value* SimulatorLowering::member(size_t offset, llvm::Type* type) {
  llvm::Value*& known = members_[offset];
  if (!known) {
    const llvm::IRBuilder<>::InsertPointGuard guard(b_);
    b_.SetInsertPoint(start_);
    known = b_.CreateLoad(type, b_.CreateConstGEP1_64(b_.getInt8Ty(), function_->getArg(0), offset));
  }
  return known;
}

/// Calls a function of the table: the thread comes first, the site last.
llvm::Value* SimulatorLowering::call(size_t offset, llvm::Type* result, llvm::SmallVector<llvm::Value*, 8> operands,
                                     bool site) {
  llvm::Value* table = pointer_member(offsetof(SimulatedThread, table));
  llvm::Value*& target = functions_[offset];
  if (!target) {
    const llvm::IRBuilder<>::InsertPointGuard guard(b_);
    b_.SetInsertPoint(start_);
    target = b_.CreateLoad(b_.getPtrTy(), b_.CreateConstGEP1_64(b_.getInt8Ty(), table, offset));
  }
  operands.insert(operands.begin(), function_->getArg(0));
  if (site) operands.push_back(b_.getInt32(static_cast<uint32_t>(site_)));
  llvm::SmallVector<llvm::Type*, 8> types;
  for (const llvm::Value* operand : operands) types.push_back(operand->getType());
  llvm::CallInst* made = b_.CreateCall(llvm::FunctionType::get(result, types, false), target, operands);
  made->setDoesNotThrow();
  return made;
}

llvm::Value* SimulatorLowering::local(llvm::Type* type) {
  llvm::BasicBlock& entry = function_->getEntryBlock();
  return llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(type);
}

llvm::Value* SimulatorLowering::array_of(llvm::ArrayRef<llvm::Value*> values) {
  llvm::Type* element = values[0]->getType();
  llvm::Value* array = local(llvm::ArrayType::get(element, values.size()));
  for (size_t i = 0; i < values.size(); ++i)
    b_.CreateStore(values[i], b_.CreateConstGEP1_64(element, array, static_cast<uint64_t>(i)));
  return array;
}

llvm::Value* SimulatorLowering::struct_of(llvm::Value* array, llvm::Type* type) {
  llvm::Value* out = llvm::PoisonValue::get(type);
  for (unsigned i = 0; i < type->getStructNumElements(); ++i) {
    llvm::Type* element = type->getStructElementType(i);
    out = b_.CreateInsertValue(out, b_.CreateLoad(element, b_.CreateConstGEP1_64(element, array, i)), i);
  }
  return out;
}

std::optional<SimulatorLowering::DeviceAccess> SimulatorLowering::access_of(llvm::Instruction& i) {
  std::optional<DeviceAccess> out;
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&i)) {
    const int32_t kind = load->isAtomic() ? SimulatorTable::atomic : SimulatorTable::load;
    out = {load->getPointerOperand(), load->getType(), load->getAlign(), kind};
  } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&i)) {
    const int32_t kind = store->isAtomic() ? SimulatorTable::atomic : SimulatorTable::store;
    out = {store->getPointerOperand(), store->getValueOperand()->getType(), store->getAlign(), kind};
  } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&i)) {
    out = {exchange->getPointerOperand(), exchange->getNewValOperand()->getType(), exchange->getAlign(),
           SimulatorTable::atomic};
  } else if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&i)) {
    out = {update->getPointerOperand(), update->getValOperand()->getType(), update->getAlign(), SimulatorTable::atomic};
  }
  return out && on_device(out->pointer) ? out : std::nullopt;
}

/// Rejects instructions that may access device memory without the simulator's knowledge.
void SimulatorLowering::refuse_hidden_accesses(const llvm::Instruction& i) const {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&i);
  if (call && call->getCalledFunction() && device_op_of(*call->getCalledFunction())) return;
  const bool silent = !i.mayReadOrWriteMemory() || (call && llvm::isa<llvm::AssumeInst>(call)) ||
                      (call && llvm::cast<llvm::Instruction>(call)->isLifetimeStartOrEnd());
  if (silent || llvm::isa<llvm::FenceInst>(i)) return;
  const bool hidden =
      call && (!llvm::isa<llvm::IntrinsicInst>(call) || llvm::any_of(call->args(), [](const llvm::Use& operand) {
        return operand->getType()->isPointerTy() && on_device(operand);
      }));
  if (!hidden) return;
  std::string text;
  llvm::raw_string_ostream(text) << i;
  throw CompileError(function_->getName().str() + ": the simulator cannot follow" + text);
}

/// One call for each access that PTX makes; the size of such an access is also its alignment.
void SimulatorLowering::announce(llvm::Instruction& i, const DeviceAccess& access) {
  const uint64_t bytes = module_.getDataLayout().getTypeStoreSize(access.type);
  const bool shared = access.pointer->getType()->getPointerAddressSpace() == kShared;
  const int32_t kind = access.kind + (shared ? SimulatorTable::shared : 0);
  b_.SetInsertPoint(&i);
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t most = std::min({kWidestAccess, access.alignment.value(), llvm::bit_floor(bytes - done)});
    llvm::Value* address = done == 0 ? access.pointer : b_.CreateConstGEP1_64(b_.getInt8Ty(), access.pointer, done);
    address = b_.CreateAddrSpaceCast(address, b_.getPtrTy());
    call(offsetof(SimulatorTable, access), b_.getVoidTy(),
         {address, b_.getInt64(most), b_.getInt32(static_cast<uint32_t>(kind))});
    done += most;
  }
  ++site_;
}

llvm::Value* SimulatorLowering::shuffle(const llvm::CallInst& c, int32_t mode) {
  return call(offsetof(SimulatorTable, shuffle), b_.getInt32Ty(),
              {c.getArgOperand(0), b_.getInt32(static_cast<uint32_t>(mode)), c.getArgOperand(1)});
}

llvm::Value* SimulatorLowering::mma(const llvm::CallInst& c, int32_t shape) {
  const llvm::SmallVector<llvm::Value*, 10> operands(c.args());
  const llvm::ArrayRef<llvm::Value*> all = operands;
  llvm::Value* sums = array_of(all.slice(6, 4));
  call(offsetof(SimulatorTable, mma), b_.getVoidTy(),
       {b_.getInt32(static_cast<uint32_t>(shape)), array_of(all.slice(0, 4)), array_of(all.slice(4, 2)), sums});
  return struct_of(sums, c.getType());
}

llvm::Value* SimulatorLowering::load_matrix(const llvm::CallInst& c, bool transposed) {
  llvm::Value* out = local(llvm::ArrayType::get(b_.getInt32Ty(), 4));
  llvm::Value* row = b_.CreateAddrSpaceCast(c.getArgOperand(0), b_.getPtrTy());
  call(offsetof(SimulatorTable, load_matrix), b_.getVoidTy(), {row, b_.getInt32(transposed), out});
  return struct_of(out, c.getType());
}

llvm::Value* SimulatorLowering::lowered(llvm::CallInst& c, DeviceOp op) {
  llvm::Type* nothing = b_.getVoidTy();
  switch (op) {
    case DeviceOp::thread:
      return member(offsetof(SimulatedThread, thread), b_.getInt32Ty());
    case DeviceOp::threads:
      return member(offsetof(SimulatedThread, threads), b_.getInt32Ty());
    case DeviceOp::block:
      return member(offsetof(SimulatedThread, block), b_.getInt64Ty());
    case DeviceOp::blocks:
      return member(offsetof(SimulatedThread, blocks), b_.getInt64Ty());
    case DeviceOp::barrier:
      return call(offsetof(SimulatorTable, barrier), nothing, {});
    case DeviceOp::warp_barrier:
      return call(offsetof(SimulatorTable, warp_barrier), nothing, {});
    case DeviceOp::shuffle_xor:
      return shuffle(c, SimulatorTable::xor_lane);
    case DeviceOp::shuffle_up:
      return shuffle(c, SimulatorTable::up);
    case DeviceOp::shuffle_index:
      return shuffle(c, SimulatorTable::index);
    case DeviceOp::shared:
      return b_.CreateAddrSpaceCast(
          b_.CreatePtrAdd(pointer_member(offsetof(SimulatedThread, shared)), c.getArgOperand(0)), c.getType());
    case DeviceOp::mma_f16:
      return mma(c, 0);
    case DeviceOp::mma_bf16:
      return mma(c, 1);
    case DeviceOp::mma_tf32:
      return mma(c, 2);
    case DeviceOp::load_matrix:
      return load_matrix(c, false);
    case DeviceOp::load_matrix_transposed:
      return load_matrix(c, true);
    case DeviceOp::async_copy:
      return call(offsetof(SimulatorTable, async_copy), nothing,
                  {b_.CreateAddrSpaceCast(c.getArgOperand(0), b_.getPtrTy()),
                   b_.CreateAddrSpaceCast(c.getArgOperand(1), b_.getPtrTy()), c.getArgOperand(2)});
    case DeviceOp::async_commit:
      return call(offsetof(SimulatorTable, async_commit), nothing, {}, false);
    case DeviceOp::async_wait:
      return call(offsetof(SimulatorTable, async_wait), nothing, {c.getArgOperand(0)}, false);
  }
  return nullptr;
}

void SimulatorLowering::lower(llvm::CallInst& c, DeviceOp op) {
  b_.SetInsertPoint(&c);
  llvm::Value* result = lowered(c, op);
  if (start_ == &c) start_ = c.getNextNode();
  if (!c.getType()->isVoidTy()) c.replaceAllUsesWith(result);
  c.eraseFromParent();
  ++site_;
}

void SimulatorLowering::run() {
  change_signature();
  std::vector<llvm::Instruction*> all;
  for (llvm::BasicBlock& block : *function_)
    for (llvm::Instruction& i : block) all.push_back(&i);
  for (llvm::Instruction* i : all) {
    if (const auto access = access_of(*i)) {
      announce(*i, *access);
    } else if (auto* c = llvm::dyn_cast<llvm::CallInst>(i); c && c->getCalledFunction()) {
      if (const auto op = device_op_of(*c->getCalledFunction())) {
        lower(*c, *op);
      } else {
        refuse_hidden_accesses(*i);
      }
    }
  }
}

}  // namespace

void lower_to_simulator(llvm::Module& module, llvm::ArrayRef<llvm::Function*> kernels) {
  for (llvm::Function* kernel : kernels) {
    SimulatorLowering(*kernel).run();
    kernel->eraseFromParent();
  }
  for (llvm::Function& f : module)
    if (device_op_of(f) && !f.use_empty())
      throw CompileError(f.getName().str() + ": called outside kernels, where no thread is known");
  remove_device_ops(module);
}

}  // namespace calque::codegen
