#include "codegen/cpu/join_kernels.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "codegen/cpu/inline_kernel.h"
#include "codegen/cpu/partition_module.h"
#include "codegen/llvm/llvm.h"
#include "codegen/llvm/llvm_passes.h"

namespace calque::codegen {

namespace {

// Instructions of a kernel, and of a function that kernels are joined to: the time of code generation is superlinear.
constexpr unsigned kShortKernel = 160, kLongestJoined = 400;

bool is_alloca(const llvm::Instruction& i) { return llvm::isa<llvm::AllocaInst>(i); }

/// The kernel that an instruction calls, if it is one to be joined.
llvm::Function* joinable_kernel(const llvm::Instruction& i, Joined which) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&i);
  llvm::Function* kernel = call ? call->getCalledFunction() : nullptr;
  if (!kernel || !kernel->hasLocalLinkage() || kernel->isDeclaration() || !kernel->getReturnType()->isVoidTy())
    return nullptr;
  if (which == Joined::short_kernels && !kernel->hasFnAttribute(kShortAttribute)) return nullptr;
  if (kernel->hasNUsesOrMore(3) || kernel->getInstructionCount() > kShortKernel) return nullptr;
  const auto is_call = [&](const llvm::User* user) {
    const auto* c = llvm::dyn_cast<llvm::CallInst>(user);
    return c && c->getCalledFunction() == kernel;
  };
  if (!std::ranges::all_of(kernel->users(), is_call)) return nullptr;
  // The frames of joined kernels would have memory for all of them.
  if (which == Joined::short_kernels && std::ranges::any_of(kernel->getEntryBlock(), is_alloca)) return nullptr;
  return kernel;
}

/// Calls of short kernels between which there are only addresses.
class Run {
 public:
  explicit Run(std::vector<llvm::Function*>& made) : made_(made) {}
  void add(llvm::CallInst& call, llvm::Function& kernel) {
    const unsigned length = kernel.getInstructionCount();
    if (!calls_.empty() && (length_ + length > kLongestJoined || !fits(kernel))) join();
    calls_.push_back(&call);
    length_ += length;
  }
  bool is_empty() const { return calls_.empty(); }
  llvm::CallInst& first() const { return *calls_.front(); }
  /// Joins what there is; the next call begins another run.
  void join();

 private:
  bool fits(const llvm::Function& kernel) const {
    const llvm::Function& other = *first().getCalledFunction();
    return kernel.getAttributes().getFnAttrs() == other.getAttributes().getFnAttrs();
  }

  std::vector<llvm::Function*>& made_;  ///< the joined functions
  std::vector<llvm::CallInst*> calls_;
  unsigned length_ = 0;
};

/// A pointer as a base, a parameter of the joined function, and an offset.
struct Address {
  llvm::Value* base;
  int64_t offset;
};

Address address_of(llvm::Value* pointer, const llvm::DataLayout& layout) {
  llvm::APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
  llvm::Value* base = pointer->stripAndAccumulateConstantOffsets(layout, offset, true);
  return {base, offset.getSExtValue()};
}

/// Outside of the entry block allocas would be dynamic.
void move_allocas(llvm::Function& kernel, llvm::BasicBlock& to) {
  for (llvm::Instruction& i : llvm::make_early_inc_range(kernel.getEntryBlock()))
    if (is_alloca(i)) i.moveBefore(to, to.begin());
}

/// Moves the blocks of `kernel` behind those of the function of `b`, which goes on where the kernel returned.
void append(llvm::Function& kernel, llvm::IRBuilder<>& b) {
  std::vector<llvm::ReturnInst*> returns;
  for (llvm::BasicBlock& block : kernel)
    if (auto* r = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator())) returns.push_back(r);
  llvm::BasicBlock *start = &kernel.getEntryBlock(), *end = b.GetInsertBlock();
  llvm::Function* joined = end->getParent();
  llvm::BasicBlock* behind = returns.size() == 1 ? returns[0]->getParent() : nullptr;
  if (behind == start) behind = end;
  if (returns.size() != 1) behind = llvm::BasicBlock::Create(b.getContext());
  for (llvm::ReturnInst* r : returns) {
    if (returns.size() > 1) llvm::BranchInst::Create(behind, r->getIterator());
    r->eraseFromParent();
  }
  start->replaceSuccessorsPhiUsesWith(end);
  end->splice(end->end(), start);
  start->eraseFromParent();
  joined->splice(joined->end(), &kernel);
  if (!behind->getParent()) behind->insertInto(joined);
  b.SetInsertPoint(behind);
}

void Run::join() {
  const std::vector<llvm::CallInst*> calls = std::exchange(calls_, {});
  length_ = 0;
  if (calls.size() < 2) return;
  llvm::Module& module = *calls[0]->getModule();
  const llvm::DataLayout& layout = module.getDataLayout();
  llvm::SmallMapVector<llvm::Value*, unsigned, 16> parameters;
  for (const llvm::CallInst* call : calls) {
    for (llvm::Value* argument : call->args()) {
      llvm::Value* base = address_of(argument, layout).base;
      if (!llvm::isa<llvm::Constant>(base)) parameters.insert({base, static_cast<unsigned>(parameters.size())});
    }
  }
  llvm::IRBuilder<> b(module.getContext());
  const llvm::Function& first = *calls[0]->getCalledFunction();
  const std::vector<llvm::Type*> types(parameters.size(), b.getPtrTy());
  auto* joined =
      llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), types, false), llvm::Function::InternalLinkage,
                             first.getName() + ".joined" + llvm::Twine(made_.size()), module);
  joined->addFnAttrs(llvm::AttrBuilder(module.getContext(), first.getAttributes().getFnAttrs()));
  b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", joined));
  std::vector<llvm::Value*> arguments;
  for (const auto& [base, index] : parameters) arguments.push_back(base);
  llvm::IRBuilder<>(calls[0]).CreateCall(joined, arguments);
  for (llvm::CallInst* call : calls) {
    llvm::Function* kernel = call->getCalledFunction();
    if (!kernel->hasOneUse()) {
      llvm::ValueToValueMapTy values;
      kernel = llvm::CloneFunction(kernel, values);
    }
    annotate_aliases(*kernel);
    for (llvm::Argument& a : kernel->args()) {
      llvm::Value* argument = call->getArgOperand(a.getArgNo());
      const Address address = address_of(argument, layout);
      const auto* parameter = parameters.find(address.base);
      if (parameter != parameters.end()) {
        argument = joined->getArg(parameter->second);
        if (address.offset != 0 && !a.use_empty())
          argument = b.CreateConstGEP1_64(b.getInt8Ty(), argument, static_cast<uint64_t>(address.offset));
      }
      a.replaceAllUsesWith(argument);
    }
    call->eraseFromParent();
    move_allocas(*kernel, joined->getEntryBlock());
    append(*kernel, b);
    kernel->eraseFromParent();
  }
  b.CreateRetVoid();
  made_.push_back(joined);
}

void join_calls(llvm::BasicBlock& block, Joined which, std::vector<llvm::Function*>& made) {
  Run run(made);
  for (llvm::Instruction& i : llvm::make_early_inc_range(block)) {
    if (llvm::Function* kernel = joinable_kernel(i, which)) {
      run.add(llvm::cast<llvm::CallInst>(i), *kernel);
    } else if (run.is_empty()) {
      continue;
    } else if (llvm::isa<llvm::GetElementPtrInst, llvm::SelectInst, llvm::BinaryOperator, llvm::CastInst,
                         llvm::CmpInst>(i)) {
      i.moveBefore(run.first().getIterator());
    } else {
      run.join();
    }
  }
}

}  // namespace

std::vector<llvm::Function*> join_kernels(llvm::Module& module, Joined which) {
  std::vector<llvm::BasicBlock*> blocks;
  for (llvm::Function& f : module)
    if (which == Joined::all ? f.hasFnAttribute(kStepsAttribute) : !f.hasFnAttribute(kShortAttribute))
      for (llvm::BasicBlock& block : f) blocks.push_back(&block);
  std::vector<llvm::Function*> joined;
  for (llvm::BasicBlock* block : blocks) join_calls(*block, which, joined);
  return joined;
}

}  // namespace calque::codegen
