#include "codegen/jit/optimization_level.h"

#include <algorithm>

#include "codegen/cpu/outline.h"
#include "codegen/cpu/partition_module.h"
#include "codegen/scalar/math_functions.h"

namespace calque::codegen {

namespace {

// A module with a longer basic block is mostly straight-line code: it is compiled with less optimization.
constexpr size_t kStraight = 500;

// Straight-line code with this proportion of calls spends its time in them: register allocation between two calls
// hardly matters.
bool is_mostly_calls(const llvm::Module& module) {
  constexpr size_t kLong = 64, kInstructionsPerCall = 4;
  size_t all = 0, straight = 0, calls = 0;
  for (const llvm::Function& f : module) {
    for (const llvm::BasicBlock& block : f) {
      all += block.size();
      if (block.size() < kLong) continue;
      straight += block.size();
      calls += static_cast<size_t>(std::count_if(block.begin(), block.end(), [](const llvm::Instruction& i) {
        const auto* call = llvm::dyn_cast<llvm::CallInst>(&i);
        return call && call->getCalledFunction() && is_math_function(*call->getCalledFunction());
      }));
    }
  }
  return straight * 10 >= all * 9 && calls * kInstructionsPerCall >= straight;
}

}  // namespace

bool is_forwarding_module(const llvm::Module& module) {
  return std::all_of(module.begin(), module.end(),
                     [](const llvm::Function& f) { return f.isDeclaration() || only_forwards_pointers(f); });
}

llvm::CodeGenOptLevel level_for(const llvm::Module& module, const CodegenOptions& options) {
  if (options.quick || is_forwarding_module(module)) return llvm::CodeGenOptLevel::None;
  // Only optimization replaces divisions by estimated reciprocals.
  if (!options.fast_math && is_mostly_calls(module)) return llvm::CodeGenOptLevel::None;
  size_t longest = 0;
  for (const llvm::Function& f : module)
    for (const llvm::BasicBlock& block : f) longest = std::max(longest, block.size());
  return longest > kStraight ? llvm::CodeGenOptLevel::Less : llvm::CodeGenOptLevel::Default;
}

bool is_worth_scheduling(const llvm::Module& module) {
  bool has_segments = false;
  for (const llvm::Function& f : module) {
    if (f.hasFnAttribute(kSegmentAttribute)) {
      has_segments = true;
      continue;
    }
    for (const llvm::BasicBlock& block : f)
      if (block.size() > kStraight) return true;
  }
  return !has_segments;
}

size_t instruction_count(const llvm::Module& module) {
  size_t n = 0;
  for (const llvm::Function& f : module) n += f.getInstructionCount();
  return n;
}

}  // namespace calque::codegen
