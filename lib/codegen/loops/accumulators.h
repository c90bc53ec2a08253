#pragma once
// The accumulators of a reduction or a cumulative loop: where they start, what an iteration contributes to them, and
// how two of them are combined.
#include "codegen/emit/reg.h"
#include "kernel/ir/kernel.h"

namespace calque::codegen {

class KernelEmitter;

/// Combines two values of a combiner other than argmax and argmin, which combine pairs.
llvm::Value* combine(KernelEmitter& kernel, kernel::Combiner c, DType d, llvm::Value* a, llvm::Value* b);

/// Each method returns one LLVM value for each result of the loop: vectors of lanes if `vectorised` or if the result
/// varies between lanes, else scalars. f16 and bf16 accumulate in f32.
class Accumulators {
 public:
  Accumulators(KernelEmitter& kernel, const kernel::Instruction& loop) : k_(kernel), i_(loop) {}
  Values identities(bool vectorised) const;
  /// The initial values of the loop, in its caller's vectors.
  Values initial() const;
  /// What the iteration `index` contributes; vectorised: it is that of the first lane.
  Values contributions(llvm::Value* index, bool vectorised) const;
  Values combine(const Values& a, const Values& b) const;
  /// Combining a contribution a second time changes nothing.
  bool is_idempotent() const;
  /// (a0 + a1) + (a2 + a3) of four accumulators that follow each other in `a`.
  Values combine_four(const Values& a) const;
  /// The identities in lanes that are not active. Null: all lanes are.
  Values masked(const Values& v, llvm::Value* mask) const;
  /// Combines the upper half of the lanes with the lower half until one lane is left.
  Values fold_lanes(Values v) const;
  /// Defines the results of the loop.
  void set_results(const Values& v) const;
  /// Combines the initial values with the total, which gives the results.
  void finish(const Values& total) const { set_results(combine(initial(), total)); }

 private:
  KernelEmitter& k_;
  const kernel::Instruction& i_;
};

/// Accumulators that sums and products of floats are distributed over, in turn.
inline constexpr int64_t kAccumulators = 4;

}  // namespace calque::codegen
