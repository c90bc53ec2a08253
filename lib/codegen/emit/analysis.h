#pragma once
// Facts about a kernel that the emitter needs before it starts: which values differ between the lanes of a vectorised
// loop, the width of its elements, the size of its body, the ranges of index expressions. Independent of LLVM.
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "codegen/scalar/scalar_op.h"
#include "kernel/ir/kernel.h"

namespace calque::codegen {

struct Range {
  int64_t low = INT64_MIN, high = INT64_MAX;
  bool within(int64_t a, int64_t b) const { return low >= a && high <= b; }
};

struct LoopFacts {
  /// Bytes of the widest element that varies between lanes; 64-bit values used only for addresses do not count.
  int element_bytes = 1;
  /// Instructions of the body, nested ones included.
  int64_t cost = 0;
  /// Vectors that one iteration of a vectorised loop processes at once.
  int vectors = 1;
  /// The body contains loops.
  bool nested = false;
  /// An iteration may run twice with the same effect on memory: no buffer is both loaded and stored.
  bool idempotent = true;
};

class Analysis {
 public:
  explicit Analysis(const kernel::Kernel& kernel);

  /// The value differs between the lanes of the vectorised loop that encloses its definition.
  bool varying(kernel::Id id) const { return varying_[id]; }
  /// Bounds of an i64 value; the full range when unknown.
  Range range(kernel::Id id) const { return ranges_[id]; }
  const LoopFacts& facts(const kernel::Instruction& loop) const { return facts_.at(&loop); }
  /// A lower bound of a float, unless it is NaN.
  double lower_bound(kernel::Id id, int depth = 0) const;
  /// The column reductions of a vectorised loop whose columns are so long and whose rows so wide that traversing memory
  /// row by row is faster; else empty. They have the same extent and do not depend on each other.
  std::vector<const kernel::Instruction*> column_reductions(const kernel::Instruction& loop) const;
  /// Whether a call of the function is inlined: true in loops of at least kLongLoop iterations with few functions.
  bool inlined(const kernel::Instruction& function) const { return inlined_.contains(&function); }
  /// Some instruction uses the value as an operand.
  bool used(kernel::Id id) const { return used_[id]; }
  bool loaded(int32_t buffer) const { return loaded_[buffer]; }
  bool stored(int32_t buffer) const { return stored_[buffer]; }
  /// Instructions of the whole kernel.
  int64_t size() const { return size_; }

 private:
  bool walk(const kernel::Region& region, bool vector);
  bool visit(const kernel::Instruction& i, bool vector);
  void mark_data(const kernel::Region& region);
  void mark_used(const kernel::Region& region);
  LoopFacts measure(const kernel::Region& region);
  void record(const kernel::Region& region);
  void choose_inlined(const kernel::Region& region, double times);
  int vectors(const kernel::Instruction& loop) const;
  bool is_column_reduction(const kernel::Instruction& i) const;
  bool set(kernel::Id id, bool varying);
  void compute_range(const kernel::Instruction& i);

  const kernel::Kernel& kernel_;
  std::vector<bool> varying_, data_, used_, loaded_, stored_;
  std::vector<Range> ranges_;
  std::vector<const kernel::Instruction*> defined_;  ///< by value: the scalar instruction or constant that defines it
  std::unordered_map<const kernel::Instruction*, LoopFacts> facts_;
  std::unordered_set<const kernel::Instruction*> inlined_;
  int64_t size_ = 0;
};

/// Instructions of a region, nested ones and those of functions included.
int64_t instruction_count(const kernel::Kernel& kernel, const kernel::Region& region);

}  // namespace calque::codegen
