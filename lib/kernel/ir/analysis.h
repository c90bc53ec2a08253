#pragma once
// Facts about a kernel that schedules and emitters need: which values differ between the lanes of a vectorised loop,
// the width of its elements, the size of its body, the ranges of index expressions.
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "kernel/ir/kernel.h"

namespace calque::kernel {

/// Bounds of an i64 value.
struct IndexRange {
  int64_t low = INT64_MIN, high = INT64_MAX;
  bool within(int64_t a, int64_t b) const { return low >= a && high <= b; }
};

struct LoopFacts {
  /// Bytes of the widest element that varies between lanes; 64-bit values used only for addresses do not count.
  int element_bytes = 1;
  /// Instructions of the body, nested ones included.
  int64_t cost = 0;
  /// The body contains loops.
  bool nested = false;
  /// An iteration may run twice with the same effect on memory: no buffer is both loaded and stored, but
  /// for local ones.
  bool idempotent = true;
};

class KernelAnalysis {
 public:
  explicit KernelAnalysis(const Kernel& kernel);

  /// The value differs between the lanes of the vectorised loop that encloses its definition.
  bool varying(Id id) const { return varying_[id]; }
  /// The scalar instruction or constant that defines a value, else null.
  const Instruction* definition(Id id) const { return defined_[id]; }
  /// Bounds of an i64 value; the full range when unknown.
  IndexRange range(Id id) const { return ranges_[id]; }
  /// Of a vectorised loop, a reduction, or a loop over the threads of a group.
  const LoopFacts& facts(const Instruction& loop) const { return facts_.at(&loop); }
  /// A lower bound of a float, unless it is NaN.
  double lower_bound(Id id, int depth = 0) const;
  /// Whether a call of the function is inlined: true in loops of at least kLongLoop iterations with few functions.
  bool inlined(const Instruction& function) const { return inlined_.contains(&function); }
  /// The number of such calls in the kernel.
  size_t inlined_functions() const { return inlined_.size(); }
  /// Some instruction uses the value as an operand.
  bool used(Id id) const { return used_[id]; }
  bool loaded(int32_t buffer) const { return loaded_[buffer]; }
  bool stored(int32_t buffer) const { return stored_[buffer]; }
  /// The buffer is local to iterations of a vectorised loop, or of a loop inside one: each lane has its own.
  bool is_lane_private(int32_t buffer) const { return lane_private_[buffer]; }
  /// Instructions of the whole kernel.
  int64_t size() const { return size_; }

 private:
  bool walk(const Region& region, bool vector);
  bool visit(const Instruction& i, bool vector);
  bool is_word_of_random_bits(const Instruction& i) const;
  void mark_data(const Region& region);
  void mark_used(const Region& region);
  LoopFacts measure(const Region& region);
  void record(const Region& region);
  void choose_inlined(const Region& region, double times);
  bool set(Id id, bool varying);
  void compute_range(const Instruction& i);

  const Kernel& kernel_;
  std::vector<bool> varying_, data_, used_, loaded_, stored_, lane_private_;
  std::vector<IndexRange> ranges_;
  std::vector<const Instruction*> defined_;  ///< by value: the scalar instruction or constant that defines it
  std::unordered_map<const Instruction*, LoopFacts> facts_;
  std::unordered_set<const Instruction*> inlined_;
  int64_t size_ = 0;
};

/// Instructions of a region, nested ones and those of functions included.
int64_t instruction_count(const Kernel& kernel, const Region& region);

/// Whether the result of a reduction or cumulative loop depends on the order of its terms.
bool is_rounded(const Kernel& kernel, const Instruction& loop);

}  // namespace calque::kernel
