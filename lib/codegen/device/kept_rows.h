#pragma once
// Elements of a row that a thread stores in one loop and loads in a later one stay in its registers.
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "codegen/emit/reg.h"
#include "kernel/ir/kernel.h"

namespace calque::codegen {

class KernelEmitter;
class ThreadGroup;

/// Whether the iterations of a loop that fall to a thread of the group are emitted one after the other. Their loads are
/// then in flight at once, and what several loops over a row load or compute stays in registers.
bool is_unrolled(const KernelEmitter& kernel, const ThreadGroup& group, const kernel::Instruction& loop);

class KeptRows {
 public:
  using Instruction = kernel::Instruction;
  using Definitions = std::unordered_map<kernel::Id, const Instruction*>;  ///< the instruction that computes a value

  KeptRows(KernelEmitter& kernel, const ThreadGroup& group, const Definitions& defined);

  /// Whether every load of the buffer reads what its thread has kept.
  bool keeps(int32_t buffer) const { return kept_[static_cast<size_t>(buffer)]; }
  /// Whether a store's elements are kept, and whether they need not be written to memory, since a later loop does.
  bool keeps(const Instruction& store) const { return first_stores_.contains(&store); }
  bool is_dead(const Instruction& store) const { return dead_.contains(&store); }

  /// Iterations of the running thread are counted from the beginning of a loop.
  void begin_loop() { iteration_ = SIZE_MAX; }
  void next_iteration() { ++iteration_; }
  void keep(int32_t buffer, llvm::Value* value);
  llvm::Value* kept(int32_t buffer);

 private:
  struct Access {
    int number;  ///< of the loop, in the order in which they run
    const Instruction *loop, *access;
  };
  struct Accesses {
    std::vector<Access> loads, stores;
    bool elsewhere = false;  ///< accessed outside unrolled loops over rows, or with a predicate or a combiner
  };

  void find(const kernel::Region& region);
  void add_row_loop(const Instruction& loop);
  void add_elsewhere(const Instruction& i);
  void choose(int32_t buffer);
  bool same_elements(const Access& a, const Access& b) const;
  bool same_value(kernel::Id a, kernel::Id b, const Instruction& loop_a, const Instruction& loop_b, int depth) const;

  KernelEmitter& k_;
  const ThreadGroup& group_;
  const Definitions& defined_;
  std::vector<Accesses> accesses_;  ///< by buffer
  std::vector<bool> kept_;          ///< by buffer
  int loops_ = 0;
  std::unordered_set<const Instruction*> first_stores_, dead_;
  std::unordered_map<int32_t, std::vector<llvm::AllocaInst*>> slots_;  ///< by iteration
  size_t iteration_ = SIZE_MAX;
};

}  // namespace calque::codegen
