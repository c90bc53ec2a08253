#include "codegen/cpu/partition_module.h"

#include <algorithm>

#include "calque/ir/errors.h"

#include "codegen/llvm/llvm_target.h"

namespace calque::codegen {

namespace {

// Approximate instructions of a partition of a module; a module of less than twice as many is usually not partitioned.
constexpr size_t kPartition = 1500;
// More instructions of functions that only forward pointers are a partition of any module.
constexpr size_t kFewToForward = kPartition / 2;
// A shorter function is inexpensive to compile at any optimization level.
constexpr size_t kFewInstructions = 32;
// A longer function of steps with loops and branches is compiled without optimization.
constexpr size_t kLongSteps = 700;

/// An instruction of steps other than calls: of loops, branches, and the choice of buffers by an iteration number.
bool is_control_of_steps(const llvm::Instruction& i) {
  return i.isTerminator() || llvm::isa<llvm::IntrinsicInst>(i) || i.getType()->isIntOrPtrTy() ||
         (llvm::isa<llvm::StoreInst>(i) && i.getOperand(0)->getType()->isIntegerTy());
}

/// An instruction that only reads, writes or computes addresses of buffers, or calls.
bool forwards_pointers(const llvm::Instruction& i) {
  switch (i.getOpcode()) {
    case llvm::Instruction::Load:
      // Merged segments load distances of buffers. Stored or computed with, integers are no distances.
      return i.getType()->isPointerTy() || i.getType()->isIntegerTy(64);
    case llvm::Instruction::Store:
      return i.getOperand(0)->getType()->isPointerTy();
    case llvm::Instruction::GetElementPtr:
    case llvm::Instruction::Alloca:
    case llvm::Instruction::Ret:
      return true;
    case llvm::Instruction::Call:
      return !llvm::isa<llvm::IntrinsicInst>(i);
    default:
      return false;
  }
}

size_t num_instructions(const llvm::Function& f) {
  size_t n = 0;
  for (const llvm::BasicBlock& block : f) n += block.size();
  return n;
}

/// Materializes references of functions that moved to another module: declarations of functions, copies of constant
/// tables.
class References final : public llvm::ValueMaterializer {
 public:
  explicit References(llvm::Module& to) : to_(to) {}
  llvm::Value* materialize(llvm::Value* value) override {
    if (auto* f = llvm::dyn_cast<llvm::Function>(value)) {
      if (f->getParent() == &to_) return nullptr;
      auto* declared = llvm::Function::Create(f->getFunctionType(), llvm::Function::ExternalLinkage, f->getName(), to_);
      declared->setAttributes(f->getAttributes());
      declared->setCallingConv(f->getCallingConv());
      declared->setDSOLocal(f->isDSOLocal());
      return declared;
    }
    if (auto* table = llvm::dyn_cast<llvm::GlobalVariable>(value)) {
      auto* copy = new llvm::GlobalVariable(to_, table->getValueType(), table->isConstant(), table->getLinkage(),
                                            table->getInitializer(), table->getName());
      copy->copyAttributesFrom(table);
      return copy;
    }
    return nullptr;
  }

 private:
  llvm::Module& to_;
};

/// Moves functions to a module of the same context.
void move_functions(const std::vector<llvm::Function*>& functions, llvm::Module& to) {
  for (llvm::Function* f : functions) {
    f->removeFromParent();
    to.getFunctionList().push_back(f);
  }
  References references(to);
  llvm::ValueToValueMapTy known;
  for (llvm::Function* f : functions)
    for (llvm::BasicBlock& block : *f)
      for (llvm::Instruction& i : block)
        for (llvm::Use& use : i.operands())
          if (llvm::isa<llvm::Constant>(use) && !llvm::isa<llvm::ConstantData>(use))
            use.set(llvm::MapValue(use.get(), known, llvm::RF_None, nullptr, &references));
}

std::string to_bitcode(const llvm::Module& module) {
  llvm::SmallVector<char, 0> bytes;
  llvm::BitcodeWriter writer(bytes);
  writer.writeModule(module);
  writer.writeStrtab();
  return {bytes.begin(), bytes.end()};
}

}  // namespace

bool only_forwards_pointers(const llvm::Function& f) {
  if (f.size() == 1 && f.front().size() > kFewInstructions &&
      std::all_of(f.front().begin(), f.front().end(), forwards_pointers))
    return true;
  // The steps of a short loop are worth optimizing. In a long one their cost is negligible against the calls.
  return f.hasFnAttribute(kStepsAttribute) && num_instructions(f) > kLongSteps &&
         std::all_of(f.begin(), f.end(), [](const llvm::BasicBlock& block) {
           return std::all_of(block.begin(), block.end(), [](const llvm::Instruction& i) {
             return forwards_pointers(i) || is_control_of_steps(i);
           });
         });
}

Partitions partition_functions(llvm::Module& module) {
  size_t all = 0, forwards = 0;
  std::vector<llvm::Function*> work, forwarding;
  for (llvm::Function& f : module) {
    if (f.hasFnAttribute(llvm::Attribute::AlwaysInline)) return {{}};  // must not be partitioned
    if (f.isDeclaration()) continue;
    const size_t count = num_instructions(f);
    all += count;
    if (only_forwards_pointers(f)) {
      forwards += count;
      forwarding.push_back(&f);
    } else {
      work.push_back(&f);
    }
  }
  if (all < 2 * kPartition && forwards < kFewToForward) return {{}};
  Partitions partitions;
  size_t in_partition = kPartition;
  for (llvm::Function* f : work) {
    if (in_partition >= kPartition) {
      partitions.emplace_back();
      in_partition = 0;
    }
    partitions.back().push_back(f);
    in_partition += num_instructions(*f);
  }
  if (!forwarding.empty()) partitions.push_back(std::move(forwarding));
  return partitions;
}

std::vector<std::string> extract_partitions(llvm::Module& module, const Partitions& partitions) {
  for (llvm::Function& f : module) {
    if (!f.hasInternalLinkage()) continue;
    f.setLinkage(llvm::GlobalValue::ExternalLinkage);
    // Objects may be more than 2 GiB apart: calls and addresses go through tables instead of relative offsets.
    f.setDSOLocal(false);
  }
  std::vector<std::unique_ptr<llvm::Module>> modules;  // functions still to be moved refer to moved ones
  std::vector<std::string> texts;
  for (const auto& functions : partitions) {
    modules.push_back(std::make_unique<llvm::Module>(module.getName(), module.getContext()));
    llvm::Module& partition = *modules.back();
    partition.setTargetTriple(module.getTargetTriple());
    partition.setDataLayout(module.getDataLayout());
    move_functions(functions, partition);
    texts.push_back(to_bitcode(partition));
  }
  return texts;
}

std::unique_ptr<llvm::Module> read_partition(const std::string& text, llvm::LLVMContext& context) {
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(text, "calque"), context);
  if (!module) throw CompileError("compile: a partition of the module is lost: " + llvm::toString(module.takeError()));
  return std::move(*module);
}

}  // namespace calque::codegen
