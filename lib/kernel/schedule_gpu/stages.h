#pragma once
// The stages of a kernel on a GPU. All threads of the grid synchronize between two stages.
#include <map>
#include <vector>

#include "kernel/schedule_gpu/parallel_scatter.h"
#include "kernel/schedule_gpu/schedule_gpu.h"
#include "kernel/schedule_gpu/split_reductions.h"

namespace calque::kernel {

/// The part of an outermost instruction that a stage runs.
enum class Phase : uint8_t {
  whole,
  chunks,           ///< a long loop: reduces its chunks
  partials,         ///< combines the chunks' partials, and runs the remaining iterations
  apply,            ///< a cumulative loop: runs each chunk from the combination of all earlier ones
  column_chunks,    ///< a nest that reduces columns: reduces chunks of the columns
  column_partials,  ///< the nest, from the chunks' partials
  lhs,              ///< a nest around a product: stores the computed factors
  rhs,
  product,           ///< computes the products alone
  epilogue,          ///< what the nest does with them
  parallel_updates,  ///< a scatter whose updates need no order
  clear_winners,     ///< a scatter whose last updates win (parallel_scatter.h)
  claim,
  store_winners
};

struct Item {
  size_t at = 0;  ///< index of the outermost instruction
  Phase phase = Phase::whole;
  LoopSplit split = {};
  size_t round = 0;  ///< of column_chunks
};

/// One launch: over the grid, or of one thread group.
struct Stage {
  bool grid = false;
  std::vector<Item> items;
};

class Stages {
 public:
  /// `changed`: by buffer, whether the kernel writes its memory, possibly through another buffer.
  Stages(const Kernel& kernel, const std::vector<bool>& changed, const GpuLimits& limits);

  const std::vector<Stage>& all() const { return stages_; }
  /// The loops around all stages, usually none: over rows so long and so few that each is split over the grid.
  const std::vector<const Instruction*>& rows() const { return rows_; }
  /// The instructions that are assigned to stages: the kernel's outermost, or those of the innermost loop over rows.
  const std::vector<Instruction>& instructions() const {
    return rows_.empty() ? k_.body.instructions : rows_.back()->regions[0].instructions;
  }
  /// Scalar code that can be recomputed in any stage.
  bool is_rematerializable(const Instruction& i) const;
  const Scatter& scatter(const Instruction& i) const { return scatters_.at(&i); }
  /// The reductions in the body of a nest that have one extent and no effects: those that depend on scalar code only,
  /// then those that depend on these and so on.
  using Sums = std::vector<const Instruction*>;
  std::vector<Sums> column_sums(const std::vector<const Instruction*>& nest) const;
  /// What is moved out of a product that a library is to compute; null if nothing is.
  struct ProductSplit {
    bool lhs = false, rhs = false, epilogue = false;
  };
  const ProductSplit* product_split(const Instruction& i) const {
    const auto found = products_.find(&i);
    return found == products_.end() ? nullptr : &found->second;
  }

 private:
  bool loads_changed(const Region& r) const;
  bool find_rows(const Instruction& nest);
  Stage& group_stage();
  void grid_stage(Item item) { stages_.push_back({true, {item}}); }
  void assign(size_t at);
  LoopSplit split_of(const Instruction& i) const;
  bool leave_product_to_library(const Instruction& i);

  const Kernel& k_;
  const GpuLimits& limits_;
  const std::vector<bool>& changed_;
  std::vector<const Instruction*> rows_;
  std::vector<Stage> stages_;
  std::map<const Instruction*, Scatter> scatters_;
  std::map<const Instruction*, ProductSplit> products_;
};

}  // namespace calque::kernel
