// The kernel's outermost instructions with effects (loops, stores) are grouped, in their order, into stages: a nest of
// parallel loops runs over the grid; everything else runs on one group of threads, but long reductions and cumulative
// loops have stages over the grid before it. Scalar code is computed again by every stage that needs it; what a loop
// gave, and what was loaded from memory that the kernel changes, goes from stage to stage through scratch memory. Where
// few long rows are the only loop, the same is done inside the loop over rows: every stage runs over all rows.
#include "kernel/schedule_gpu/launches.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "kernel/schedule/schedule.h"
#include "kernel/schedule_gpu/instruction_copier.h"
#include "kernel/schedule_gpu/loop_queries.h"
#include "kernel/schedule_gpu/mapping.h"
#include "kernel/schedule_gpu/stages.h"
#include "kernel/schedule_gpu/tiles.h"
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

  /// The stage that has an outermost instruction's results.
  size_t stage_of(size_t at) const {
    for (size_t s = 0; s < stages_.size(); ++s)
      for (const Item& item : stages_[s].items)
        if (item.at == at && (item.phase == Phase::whole || item.phase == Phase::partials)) return s;
    return SIZE_MAX;
  }

  /// Initial values of a loop in pieces enter with what the pieces make.
  static std::vector<Id> used_in(const Instruction& i, Phase phase) {
    return phase == Phase::pieces || phase == Phase::apply ? free_in_regions(i) : free_values(i);
  }

  void need(size_t s, const Instruction& i, std::set<Id>& seen, Phase phase) {
    const auto used = used_in(i, phase);
    for (const Id id : used) {
      if (!seen.insert(id).second) continue;
      const int64_t at = owner_[static_cast<size_t>(id)];
      if (at < 0) continue;
      const Instruction& by = top_[static_cast<size_t>(at)];
      if (plan_.is_light(by)) {
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
  struct Building {
    KernelLaunches::One one;
    std::map<int32_t, int32_t> buffers, scratch;
    Copier copier;
    Id row = kNone;
    Building(const Kernel& from, const std::vector<Type>& types)
        : copier(from, one.kernel, [this, &from](int32_t b) { return buffer(from, b); }), types_(types) {}
    Building(const Building&) = delete;
    Building& operator=(const Building&) = delete;

    int32_t buffer(const Kernel& from, int32_t b) {
      if (const auto it = buffers.find(b); it != buffers.end()) return it->second;
      one.kernel.buffers.push_back(from.buffers[static_cast<size_t>(b)]);
      one.buffers.push_back({b, -1});
      return buffers[b] = static_cast<int32_t>(one.buffers.size()) - 1;
    }
    int32_t scratch_buffer(int32_t s) {
      if (const auto it = scratch.find(s); it != scratch.end()) return it->second;
      const Type& type = types_[static_cast<size_t>(s)];
      one.kernel.buffers.push_back({type.dtype, type.shape.num_elements(), true, 64});
      one.buffers.push_back({-1, s});
      return scratch[s] = static_cast<int32_t>(one.buffers.size()) - 1;
    }

   private:
    const std::vector<Type>& types_;
  };

  void build(size_t s) {
    const Stage& stage = stages_[s];
    auto building = std::make_unique<Building>(k_, out_.scratch);
    Building& b = *building;
    Kernel& kernel = b.one.kernel;
    kernel.name = stages_.size() == 1 ? k_.name : k_.name + "_" + std::to_string(s);
    b.copier.keeps_contractions = stage.grid && keeps_contraction(top_[stage.items[0].at]);
    in_rows(b, [&](Region& body) {
      for (const Item& item : stage.items) {
        fetch(s, b, body, top_[item.at], item.phase);
        emit(b, body, item);
        if (item.phase == Phase::whole || item.phase == Phase::partials) leave(b, body, top_[item.at]);
      }
    });
    mark_written(kernel);
    count(kernel);
    if (stage.grid || !plan_.rows().empty())
      map_to_grid(kernel, limits_);
    else
      map_to_group(kernel, limits_);
    out_.launches.push_back(std::move(b.one));
  }

  /// Runs `emit` on the kernel's body; with rows, on that of loops over all of them, whose number is then `b.row`.
  void in_rows(Building& b, const std::function<void(Region&)>& emit) {
    Copier& c = b.copier;
    Region& root = b.one.kernel.body;
    const auto& rows = plan_.rows();
    const std::function<void(Region&, size_t)> level = [&](Region& to, size_t l) {
      if (l == rows.size()) return emit(to);
      const Region& around = l == 0 ? k_.body : rows[l - 1]->regions[0];
      for (const Instruction& i : around.instructions)
        if (&i != rows[l] && plan_.is_light(i)) c.copy_into(to, i);
      to.instructions.push_back(c.parallel(rows[l]->extent, [&](Region& body, Id index) {
        c.set(rows[l]->regions[0].parameters[0], index);
        b.row = b.row == kNone ? index : place_in_row(c, body, b.row, rows[l]->extent, index);
        level(body, l + 1);
      }));
    };
    level(root, 0);
  }

  /// row * extent + index.
  static Id place_in_row(Copier& c, Region& to, Id row, int64_t extent, Id index) {
    const Id first = c.scalar(to, id_of<Mul>, DType::i64, {row, c.index(to, extent)});
    return c.scalar(to, id_of<Add>, DType::i64, {first, index});
  }

  /// Tiles, where the contraction is the only work of its nest.
  bool keeps_contraction(const Instruction& i) const {
    if (i.op == Op::contraction) return choose_tiles(k_, i, limits_.fast_math).has_value();
    if (!is_parallel(i)) return false;
    const Region& body = nest_of(i).back()->regions[0];
    const Instruction* product = nullptr;
    for (const Instruction& inner : body.instructions) {
      if (inner.op == Op::contraction && !product)
        product = &inner;
      else if (!plan_.is_light(inner))
        return false;
    }
    return product && choose_tiles(k_, *product, limits_.fast_math).has_value();
  }

  /// What the instruction needs of outside: scalar code again, the rest from scratch.
  void fetch(size_t s, Building& b, Region& body, const Instruction& i, Phase phase) {
    const auto used = used_in(i, phase);
    for (const Id id : used) {
      if (b.copier.knows(id)) continue;
      const auto at = owner_[static_cast<size_t>(id)];
      if (at < 0) continue;
      const Instruction& by = top_[static_cast<size_t>(at)];
      if (plan_.is_light(by)) {
        fetch(s, b, body, by, Phase::whole);
        b.copier.copy_into(body, by);
      } else {
        const int32_t buffer = b.scratch_buffer(scratch_.at(id));
        b.copier.set(id, b.copier.load(body, buffer, place_of(b, body)));
      }
    }
  }

  /// Of a value that crosses stages, in its scratch.
  static Id place_of(Building& b, Region& body) { return b.row == kNone ? b.copier.index(body, 0) : b.row; }

  /// Results that later stages want.
  void leave(Building& b, Region& body, const Instruction& i) {
    for (const Id r : i.results) {
      const auto it = scratch_.find(r);
      if (it == scratch_.end()) continue;
      b.copier.store(body, b.scratch_buffer(it->second), place_of(b, body), b.copier.of(r));
    }
  }

  void emit(Building& b, Region& body, const Item& item) {
    const Instruction& i = top_[item.at];
    Copier& c = b.copier;
    switch (item.phase) {
      case Phase::whole:
        c.copy_into(body, i);
        break;
      case Phase::pieces:
      case Phase::apply: {
        const Partials partials = partials_of(b, item, i, 1);
        body.instructions.push_back(c.parallel(item.cut.pieces, [&](Region& inside, Id piece) {
          item.phase == Phase::pieces ? reduce_piece(c, inside, i, item.cut, piece, partials)
                                      : scan_piece(c, inside, i, item.cut, piece, partials);
        }));
        break;
      }
      case Phase::partials: {
        const Partials partials = partials_of(b, item, i, 1);
        is_cumulative(i) ? scan_partials(c, body, i, item.cut, partials)
                         : reduce_partials(c, body, i, item.cut, partials);
        break;
      }
      case Phase::column_pieces:
      case Phase::column_partials:
        columns(b, item);
        break;
      case Phase::side_by_side:
        update_side_by_side(c, body, i, plan_.scatter(i));
        break;
      case Phase::clear_winners:
        clear_winners(c, body, winners(b, i), k_.buffers[static_cast<size_t>(plan_.scatter(i).store->buffer)].extent);
        break;
      case Phase::claim:
        claim(c, body, i, plan_.scatter(i), winners(b, i));
        break;
      case Phase::store_winners:
        store_winners(c, body, i, plan_.scatter(i), winners(b, i));
        break;
    }
  }

  /// Scratch for the results of a loop's pieces, made when the first stage asks. `size`: positions of the nest.
  Partials partials_of(Building& b, const Item& item, const Instruction& loop, int64_t size) {
    auto& numbers = partials_[&loop];
    if (numbers.empty())
      for (const Id r : loop.results) {
        out_.scratch.push_back({k_.values[static_cast<size_t>(r)], Shape{rows_ * item.cut.pieces * size}});
        numbers.push_back(static_cast<int32_t>(out_.scratch.size()) - 1);
      }
    Partials partials;
    for (const int32_t n : numbers) partials.buffers.push_back(b.scratch_buffer(n));
    partials.place = [&b, pieces = item.cut.pieces](Region& to, Id piece) {
      return b.row == kNone ? piece : place_in_row(b.copier, to, b.row, pieces, piece);
    };
    return partials;
  }

  /// Scratch that holds a number for every element that a scatter may store to.
  int32_t winners(Building& b, const Instruction& loop) {
    auto& numbers = partials_[&loop];
    if (numbers.empty()) {
      const int64_t extent = k_.buffers[static_cast<size_t>(plan_.scatter(loop).store->buffer)].extent;
      out_.scratch.push_back({DType::i32, Shape{extent}});
      numbers.push_back(static_cast<int32_t>(out_.scratch.size()) - 1);
    }
    return b.scratch_buffer(numbers[0]);
  }

  // The nest, with its reductions over pieces (a further loop around it) or from the pieces.
  void columns(Building& b, const Item& item) {
    Copier& c = b.copier;
    const auto nest = nest_of(top_[item.at]);
    const auto sums = plan_.column_sums(nest);
    int64_t size = 1;
    for (const Instruction* l : nest) size *= l->extent;
    std::vector<Id> indices;
    const auto place = [&](Region& to, Id piece) {
      Id at = piece;
      for (size_t l = 0; l < nest.size(); ++l) {
        const Id scaled = c.scalar(to, id_of<Mul>, DType::i64, {at, c.index(to, nest[l]->extent)});
        at = c.scalar(to, id_of<Add>, DType::i64, {scaled, indices[l]});
      }
      return at;
    };
    const auto innermost = [&](Region& to, Id piece) {
      for (const Instruction& i : nest.back()->regions[0].instructions) {
        const bool is_sum = std::find(sums.begin(), sums.end(), &i) != sums.end();
        if (is_sum) {
          Partials partials = partials_of(b, item, i, size);
          partials.place = place;
          piece == kNone ? reduce_partials(c, to, i, item.cut, partials)
                         : reduce_piece(c, to, i, item.cut, piece, partials);
        } else if (piece == kNone || needed_by(sums, i, *nest.back())) {
          c.copy_into(to, i);
        }
      }
    };
    const std::function<void(Region&, size_t, Id)> level = [&](Region& to, size_t l, Id piece) {
      to.instructions.push_back(c.parallel(nest[l]->extent, [&](Region& inside, Id index) {
        indices.push_back(index);
        c.set(nest[l]->regions[0].parameters[0], index);
        if (l + 1 == nest.size()) return innermost(inside, piece);
        for (const Instruction& i : nest[l]->regions[0].instructions)
          if (&i == nest[l + 1])
            level(inside, l + 1, piece);
          else
            c.copy_into(inside, i);
      }));
    };
    Region& body = b.one.kernel.body;
    if (item.phase == Phase::column_partials) return level(body, 0, kNone);
    body.instructions.push_back(
        c.parallel(item.cut.pieces, [&](Region& inside, Id piece) { level(inside, 0, piece); }));
  }

  /// Scalar code of the loop's body that some of the sums need.
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

  /// What a launch moves and computes, counted as the CPU's schedule does.
  static void count(Kernel& kernel) {
    Kernel copy = kernel;
    schedule(copy);
    kernel.bytes_read = copy.bytes_read;
    kernel.bytes_written = copy.bytes_written;
    kernel.flops = copy.flops;
  }

  static void mark_written(Kernel& kernel) {
    for (Buffer& b : kernel.buffers) b.written = false;
    const std::function<void(const Region&)> walk = [&](const Region& r) {
      for (const Instruction& i : r.instructions) {
        if (i.op == Op::store) kernel.buffers[static_cast<size_t>(i.buffer)].written = true;
        for (const Region& inner : i.regions) walk(inner);
      }
    };
    walk(kernel.body);
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
};

}  // namespace

KernelLaunches split_into_launches(const Kernel& kernel, const std::vector<bool>& changed, const GpuLimits& limits) {
  return Launches(kernel, changed, limits).run();
}

}  // namespace calque::kernel
