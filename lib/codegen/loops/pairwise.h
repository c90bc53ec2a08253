#pragma once
// Pairwise combination of a sequence of partial results.
#include <functional>

#include "codegen/loops/accumulators.h"

namespace calque::codegen {

/// Combines partial results as a binary counter propagates carries: level k holds the pending combination of 2^k of
/// them.
class PairwiseCombination {
 public:
  /// The address of result r of the pending combination at a level.
  using Slot = std::function<llvm::Value*(size_t r, llvm::Value* level)>;
  /// `types`: values of the types of the results.
  PairwiseCombination(KernelEmitter& kernel, const Accumulators& accumulators, const Values& types, Slot slot)
      : k_(kernel), accumulators_(accumulators), types_(types), slot_(std::move(slot)) {}
  Values load(llvm::Value* level) const;
  /// Adds partial result `number` and propagates it through the levels that are full.
  void add(llvm::Value* number, const Values& partial) const;
  /// The combination of all `count` partial results.
  Values total(int64_t count) const;

 private:
  KernelEmitter& k_;
  const Accumulators& accumulators_;
  const Values& types_;
  const Slot slot_;
};

}  // namespace calque::codegen
