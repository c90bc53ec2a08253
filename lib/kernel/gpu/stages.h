#pragma once
// Which stages a kernel has on a GPU: between two of them all threads of the grid wait for each other.
#include <map>
#include <vector>

#include "kernel/gpu/scatter.h"
#include "kernel/gpu/schedule.h"
#include "kernel/gpu/split.h"

namespace calque::kernel {

/// What a stage does of an outermost instruction.
enum class Phase : uint8_t {
  whole,
  pieces,           ///< a long loop: its pieces
  partials,         ///< what the pieces make, and the iterations behind them
  apply,            ///< a cumulative loop: the pieces again, from what comes before each
  column_pieces,    ///< a nest that sums columns: pieces of the columns
  column_partials,  ///< the nest, with the pieces' sums
  side_by_side,     ///< a scatter whose updates need no order
  clear_winners,    ///< a scatter whose last updates win: see scatter.h
  claim,
  store_winners
};

struct Item {
  size_t at = 0;  ///< outermost instruction
  Phase phase = Phase::whole;
  Cut cut = {};
};

/// One launch: over the grid, or of one group of threads.
struct Stage {
  bool grid = false;
  std::vector<Item> items;
};

class Stages {
 public:
  Stages(const Kernel& kernel, const GpuLimits& limits);

  const std::vector<Stage>& all() const { return stages_; }
  /// Scalar code that can be computed again anywhere.
  bool is_light(const Instruction& i) const;
  const Scatter& scatter(const Instruction& i) const { return scatters_.at(&i); }
  /// The reductions in the body of a nest that need nothing but scalar code before them, of one extent and without
  /// effects.
  std::vector<const Instruction*> column_sums(const std::vector<const Instruction*>& nest) const;

 private:
  void mark_stored(const Region& r);
  bool loads_changed(const Region& r) const;
  Stage& group_stage();
  void grid_stage(Item item) { stages_.push_back({true, {item}}); }
  void place(size_t at);
  Cut cut_of(const Instruction& i) const;

  const Kernel& k_;
  const GpuLimits& limits_;
  std::vector<bool> stored_;  ///< buffers
  std::vector<Stage> stages_;
  std::map<const Instruction*, Scatter> scatters_;
};

}  // namespace calque::kernel
