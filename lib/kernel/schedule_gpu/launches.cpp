// The kernel's outermost instructions with effects (loops, stores) are assigned, in order, to stages: a nest of
// parallel loops runs over the grid; everything else runs on one thread group, preceded by stages over the grid for
// long reductions and cumulative loops. Scalar code is rematerialized by every stage that needs it; results of loops,
// and values loaded from memory that the kernel writes, are passed from stage to stage in scratch memory. Where the
// only loop is over a few long rows, the same is done inside the loop over rows: every stage runs over all rows.
#include "kernel/schedule_gpu/launches.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "kernel/ir/walk.h"
#include "kernel/schedule/schedule.h"
#include "kernel/schedule_gpu/gpu_tiles.h"
#include "kernel/schedule_gpu/launch_builder.h"
#include "kernel/schedule_gpu/loop_queries.h"
#include "kernel/schedule_gpu/mapping.h"
#include "kernel/schedule_gpu/product_launches.h"
#include "kernel/schedule_gpu/stages.h"
#include "primitives/elementwise/arithmetic.h"

namespace calque::kernel {

using namespace primitives;

namespace {

class Launches {
 public:
  Launches(const Kernel& kernel, const std::vector<bool>& changed, const GpuLimits& limits)
      : k_(kernel),
        limits_(limits),
        plan_(kernel, changed, limits),
        top_(plan_.instructions()),
        stages_(plan_.all()),
        owner_(kernel.values.size(), -1) {
    for (size_t n = 0; n < top_.size(); ++n)
      for (const Id r : top_[n].results) owner_[static_cast<size_t>(r)] = static_cast<int64_t>(n);
    for (const Instruction* l : plan_.rows()) rows_ *= l->extent;
  }

  KernelLaunches run() {
    find_crossing();
    for (size_t s = 0; s < stages_.size(); ++s) build(s);
    return std::move(out_);
  }

 private:
  // ---- values that cross stages
  void find_crossing() {
    for (size_t s = 0; s < stages_.size(); ++s) {
      std::set<Id> seen;
      for (const Item& item : stages_[s].items) need(s, top_[item.at], seen, item.phase);
    }
  }

  /// The stage that computes the results of an outermost instruction.
  size_t stage_of(size_t at) const {
    for (size_t s = 0; s < stages_.size(); ++s)
      for (const Item& item : stages_[s].items)
        if (item.at == at && (item.phase == Phase::whole || item.phase == Phase::partials)) return s;
    return SIZE_MAX;
  }

  /// Initial values of a loop that is split into chunks are used where the partials are combined.
  static std::vector<Id> used_in(const Instruction& i, Phase phase) {
    return phase == Phase::chunks || phase == Phase::apply ? free_in_regions(i) : free_values(i);
  }

  void need(size_t s, const Instruction& i, std::set<Id>& seen, Phase phase) {
    const auto used = used_in(i, phase);
    for (const Id id : used) {
      if (!seen.insert(id).second) continue;
      const int64_t at = owner_[static_cast<size_t>(id)];
      if (at < 0) continue;
      const Instruction& by = top_[static_cast<size_t>(at)];
      if (plan_.is_rematerializable(by)) {
        need(s, by, seen, Phase::whole);
        continue;
      }
      const size_t from = stage_of(static_cast<size_t>(at));
      if (from == s) continue;
      if (scratch_.count(id) == 0) {
        out_.scratch.push_back({k_.values[static_cast<size_t>(id)], Shape{rows_}});
        scratch_[id] = static_cast<int32_t>(out_.scratch.size()) - 1;
      }
    }
  }

  // ---- building
  void build(size_t s) {
    const Stage& stage = stages_[s];
    auto building = std::make_unique<LaunchBuilder>(k_, out_.scratch);
    LaunchBuilder& b = *building;
    Kernel& kernel = b.entry.kernel;
    kernel.name = stages_.size() == 1 ? k_.name : k_.name + "_" + std::to_string(s);
    b.copier.keeps_contractions = stage.grid && keeps_contraction(top_[stage.items[0].at]);
    in_rows(b, [&](Region& body) {
      for (const Item& item : stage.items) {
        fetch(s, b, body, top_[item.at], item.phase);
        emit(b, body, item);
        if (item.phase == Phase::whole || item.phase == Phase::partials) store_results(b, body, top_[item.at]);
      }
    });
    b.finish();
    mark_written(kernel);
    count(kernel);
    if (!stage.grid && plan_.rows().empty()) kernel.launch = kOneGroup;
    out_.launches.push_back(std::move(b.entry));
  }

  /// Runs `emit` on the kernel's body, or inside loops over all rows, where `b.row` is the number of the row.
  void in_rows(LaunchBuilder& b, const std::function<void(Region&)>& emit) {
    InstructionCopier& c = b.copier;
    Region& root = b.entry.kernel.body;
    const auto& rows = plan_.rows();
    const std::function<void(Region&, size_t)> level = [&](Region& to, size_t l) {
      if (l == rows.size()) return emit(to);
      const Region& outer = l == 0 ? k_.body : rows[l - 1]->regions[0];
      for (const Instruction& i : outer.instructions)
        if (&i != rows[l] && plan_.is_rematerializable(i)) c.copy_into(to, i);
      to.instructions.push_back(c.parallel(rows[l]->extent, [&](Region& body, Id index) {
        c.set(rows[l]->regions[0].parameters[0], index);
        b.row = b.row == kNone ? index : index_in_row(c, body, b.row, rows[l]->extent, index);
        level(body, l + 1);
      }));
    };
    level(root, 0);
  }

  /// Whether the instruction is a contraction in tiles, or a nest whose only work is one.
  bool keeps_contraction(const Instruction& i) const {
    if (i.op == Op::contraction) return choose_gpu_tiles(k_, i, limits_.fast_math).has_value();
    if (!is_parallel(i)) return false;
    const Region& body = nest_of(i).back()->regions[0];
    const Instruction* product = nullptr;
    for (const Instruction& inner : body.instructions) {
      if (inner.op == Op::contraction && !product)
        product = &inner;
      else if (!plan_.is_rematerializable(inner))
        return false;
    }
    return product && choose_gpu_tiles(k_, *product, limits_.fast_math).has_value();
  }

  /// Makes the instruction's free values available: scalar code is rematerialized, the rest loaded from scratch.
  void fetch(size_t s, LaunchBuilder& b, Region& body, const Instruction& i, Phase phase) {
    const auto used = used_in(i, phase);
    for (const Id id : used) {
      if (b.copier.knows(id)) continue;
      const auto at = owner_[static_cast<size_t>(id)];
      if (at < 0) continue;
      const Instruction& by = top_[static_cast<size_t>(at)];
      if (plan_.is_rematerializable(by)) {
        fetch(s, b, body, by, Phase::whole);
        b.copier.copy_into(body, by);
      } else {
        const int32_t buffer = b.scratch_buffer(scratch_.at(id));
        b.copier.set(id, b.copier.load(body, buffer, scratch_index(b, body)));
      }
    }
  }

  /// Element index of a value that crosses stages, in its scratch.
  static Id scratch_index(LaunchBuilder& b, Region& body) { return b.row == kNone ? b.copier.index(body, 0) : b.row; }

  /// Stores results that later stages use to scratch.
  void store_results(LaunchBuilder& b, Region& body, const Instruction& i) {
    for (const Id r : i.results) {
      const auto it = scratch_.find(r);
      if (it == scratch_.end()) continue;
      b.copier.store(body, b.scratch_buffer(it->second), scratch_index(b, body), b.copier.of(r));
    }
  }

  void emit(LaunchBuilder& b, Region& body, const Item& item) {
    const Instruction& i = top_[item.at];
    InstructionCopier& c = b.copier;
    switch (item.phase) {
      case Phase::whole:
        c.copy_into(body, i);
        break;
      case Phase::chunks:
      case Phase::apply: {
        const Partials partials = partials_of(b, item, i, 1);
        body.instructions.push_back(c.parallel(item.split.chunks, [&](Region& inside, Id chunk) {
          item.phase == Phase::chunks ? reduce_chunk(c, inside, i, item.split, chunk, partials)
                                      : scan_chunk(c, inside, i, item.split, chunk, partials);
        }));
        break;
      }
      case Phase::partials: {
        const Partials partials = partials_of(b, item, i, 1);
        is_cumulative(i) ? scan_partials(c, body, i, item.split, partials)
                         : reduce_partials(c, body, i, item.split, partials);
        break;
      }
      case Phase::column_chunks:
      case Phase::column_partials:
        columns(b, item);
        break;
      case Phase::lhs:
      case Phase::rhs:
      case Phase::product:
      case Phase::epilogue:
        products_.emit(b, top_[item.at], item.phase);
        break;
      case Phase::parallel_updates:
        update_in_parallel(c, body, i, plan_.scatter(i));
        break;
      case Phase::clear_winners:
        clear_winners(c, body, i, plan_.scatter(i), winners(b, i),
                      k_.buffers[static_cast<size_t>(plan_.scatter(i).store->buffer)].extent);
        break;
      case Phase::claim:
        claim(c, body, i, plan_.scatter(i), winners(b, i));
        break;
      case Phase::store_winners:
        store_winners(c, body, i, plan_.scatter(i), winners(b, i));
        break;
    }
  }

  /// Scratch for the partials of a loop's chunks, added by the first stage that uses it. `size`: iterations of the
  /// nest.
  Partials partials_of(LaunchBuilder& b, const Item& item, const Instruction& loop, int64_t size) {
    auto& numbers = partials_[&loop];
    if (numbers.empty())
      for (const Id r : loop.results) {
        out_.scratch.push_back({k_.values[static_cast<size_t>(r)], Shape{rows_ * item.split.chunks * size}});
        numbers.push_back(static_cast<int32_t>(out_.scratch.size()) - 1);
      }
    Partials partials;
    for (const int32_t n : numbers) partials.buffers.push_back(b.scratch_buffer(n));
    partials.index = [&b, chunks = item.split.chunks](Region& to, Id chunk) {
      return b.row == kNone ? chunk : index_in_row(b.copier, to, b.row, chunks, chunk);
    };
    return partials;
  }

  /// Scratch that holds a number for every element that a scatter may store to.
  int32_t winners(LaunchBuilder& b, const Instruction& loop) {
    auto& numbers = partials_[&loop];
    if (numbers.empty()) {
      const int64_t extent = k_.buffers[static_cast<size_t>(plan_.scatter(loop).store->buffer)].extent;
      out_.scratch.push_back({DType::i32, Shape{extent}});
      numbers.push_back(static_cast<int32_t>(out_.scratch.size()) - 1);
    }
    return b.scratch_buffer(numbers[0]);
  }

  // The nest with its reductions over chunks (inside a loop over chunks), or with the reductions of their partials.
  void columns(LaunchBuilder& b, const Item& item) {
    InstructionCopier& c = b.copier;
    const auto nest = nest_of(top_[item.at]);
    const auto rounds = plan_.column_sums(nest);
    // Those of earlier rounds, and of all rounds in the last launch, are known by their partials.
    const size_t known = item.phase == Phase::column_partials ? rounds.size() : item.round;
    Stages::Sums sums;
    for (size_t r = 0; r < std::min(known + 1, rounds.size()); ++r)
      sums.insert(sums.end(), rounds[r].begin(), rounds[r].end());
    const auto is_known = [&](const Instruction* i) {
      return std::any_of(rounds.begin(), rounds.begin() + static_cast<std::ptrdiff_t>(known),
                         [&](const auto& round) { return std::find(round.begin(), round.end(), i) != round.end(); });
    };
    int64_t size = 1;
    for (const Instruction* l : nest) size *= l->extent;
    std::vector<Id> indices;
    const auto partial_index = [&](Region& to, Id chunk) {
      Id at = chunk;
      for (size_t l = 0; l < nest.size(); ++l) {
        const Id scaled = c.scalar(to, id_of<Mul>, DType::i64, {at, c.index(to, nest[l]->extent)});
        at = c.scalar(to, id_of<Add>, DType::i64, {scaled, indices[l]});
      }
      return at;
    };
    const auto innermost = [&](Region& to, Id chunk) {
      for (const Instruction& i : nest.back()->regions[0].instructions) {
        const bool is_sum = std::find(sums.begin(), sums.end(), &i) != sums.end();
        if (is_sum) {
          Partials partials = partials_of(b, item, i, size);
          partials.index = partial_index;
          is_known(&i) ? reduce_partials(c, to, i, item.split, partials)
                       : reduce_chunk(c, to, i, item.split, chunk, partials);
        } else if (chunk == kNone || needed_by(sums, i, *nest.back())) {
          c.copy_into(to, i);
        }
      }
    };
    const std::function<void(Region&, size_t, Id)> level = [&](Region& to, size_t l, Id chunk) {
      to.instructions.push_back(c.parallel(nest[l]->extent, [&](Region& inside, Id index) {
        indices.push_back(index);
        c.set(nest[l]->regions[0].parameters[0], index);
        if (l + 1 == nest.size()) return innermost(inside, chunk);
        for (const Instruction& i : nest[l]->regions[0].instructions)
          if (&i == nest[l + 1])
            level(inside, l + 1, chunk);
          else
            c.copy_into(inside, i);
      }));
    };
    Region& body = b.entry.kernel.body;
    if (item.phase == Phase::column_partials) return level(body, 0, kNone);
    body.instructions.push_back(
        c.parallel(item.split.chunks, [&](Region& inside, Id chunk) { level(inside, 0, chunk); }));
  }

  /// Whether one of the sums depends on `i`, scalar code of the loop's body.
  static bool needed_by(const std::vector<const Instruction*>& sums, const Instruction& i, const Instruction& loop) {
    std::set<Id> wanted;
    for (const Instruction* s : sums)
      for (const Id id : free_values(*s)) wanted.insert(id);
    const auto& all = loop.regions[0].instructions;
    for (size_t n = all.size(); n-- > 0;) {
      const bool wants =
          std::any_of(all[n].results.begin(), all[n].results.end(), [&](Id r) { return wanted.count(r) != 0; });
      if (&all[n] == &i) return wants;
      if (wants && !is_reduction(all[n]))
        for (const Id id : free_values(all[n])) wanted.insert(id);
    }
    return false;
  }

  /// Counts the bytes and operations of a launch as the CPU's schedule does.
  static void count(Kernel& kernel) {
    Kernel copy = kernel;
    schedule(copy);
    kernel.bytes_read = copy.bytes_read;
    kernel.bytes_written = copy.bytes_written;
    kernel.flops = copy.flops;
  }

  static void mark_written(Kernel& kernel) {
    for (Buffer& b : kernel.buffers) b.written = b.local;
    walk(kernel.body, [&](const Instruction& i) {
      if (is_store(i)) kernel.buffers[static_cast<size_t>(i.buffer)].written = true;
    });
  }

  const Kernel& k_;
  const GpuLimits& limits_;
  const Stages plan_;
  const std::vector<Instruction>& top_;
  const std::vector<Stage>& stages_;
  std::vector<int64_t> owner_;  ///< by value: the instruction of `top_` that defines it
  int64_t rows_ = 1;
  std::map<Id, int32_t> scratch_;
  std::map<const Instruction*, std::vector<int32_t>> partials_;
  KernelLaunches out_;
  ProductLaunches products_{k_, plan_, out_.scratch};
};

}  // namespace

KernelLaunches split_into_launches(const Kernel& kernel, const std::vector<bool>& changed, const GpuLimits& limits) {
  return Launches(kernel, changed, limits).run();
}

}  // namespace calque::kernel
