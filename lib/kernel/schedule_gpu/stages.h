#pragma once
// Which stages a kernel has on a GPU: between two of them all threads of the grid wait for each other.
#include <map>
#include <vector>

#include "kernel/schedule_gpu/parallel_scatter.h"
#include "kernel/schedule_gpu/schedule_gpu.h"
#include "kernel/schedule_gpu/split_reductions.h"

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
  clear_winners,    ///< a scatter whose last updates win: see parallel_scatter.h
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
  /// `changed`: by buffer, that the kernel writes its memory, perhaps through another buffer.
  Stages(const Kernel& kernel, const std::vector<bool>& changed, const GpuLimits& limits);

  const std::vector<Stage>& all() const { return stages_; }
  /// The loops around all stages: rows so long and so few that each is cut into stages of its own; most often none.
  const std::vector<const Instruction*>& rows() const { return rows_; }
  /// The instructions that the stages are made of: the kernel's outermost, or those of the rows' innermost loop.
  const std::vector<Instruction>& instructions() const {
    return rows_.empty() ? k_.body.instructions : rows_.back()->regions[0].instructions;
  }
  /// Scalar code that can be computed again anywhere.
  bool is_light(const Instruction& i) const;
  const Scatter& scatter(const Instruction& i) const { return scatters_.at(&i); }
  /// The reductions in the body of a nest that need nothing but scalar code before them, of one extent and without
  /// effects.
  std::vector<const Instruction*> column_sums(const std::vector<const Instruction*>& nest) const;

 private:
  bool loads_changed(const Region& r) const;
  bool find_rows(const Instruction& nest);
  Stage& group_stage();
  void grid_stage(Item item) { stages_.push_back({true, {item}}); }
  void place(size_t at);
  Cut cut_of(const Instruction& i) const;

  const Kernel& k_;
  const GpuLimits& limits_;
  const std::vector<bool>& changed_;
  std::vector<const Instruction*> rows_;
  std::vector<Stage> stages_;
  std::map<const Instruction*, Scatter> scatters_;
};

}  // namespace calque::kernel
