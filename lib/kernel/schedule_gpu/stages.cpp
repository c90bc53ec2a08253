#include "kernel/schedule_gpu/stages.h"

#include <algorithm>
#include <set>

#include "kernel/schedule_gpu/gpu_tiles.h"
#include "kernel/schedule_gpu/library_product.h"
#include "kernel/schedule_gpu/loop_queries.h"
#include "kernel/schedule_gpu/mapping.h"
#include "primitives/elementwise/convert.h"

namespace calque::kernel {

namespace {

constexpr int64_t kMaxChunks = 1024, kLongChunk = 1024, kChunkMultiple = 32;

LoopSplit split_into(int64_t extent, int64_t chunks) {
  chunks = std::min(chunks, kMaxChunks);
  if (chunks < 2) return {};
  // Long chunks are whole vectors, so that every chunk begins aligned.
  int64_t chunk = extent / chunks;
  if (chunk >= kLongChunk) chunk = round_up(chunk, kChunkMultiple);
  return {extent / chunk, chunk};
}

// Chunks of cumulative loops are whole tiles of a thread group (device_scan.cpp) and begin at aligned elements; so many
// of them that thread groups which end make room for others, with little idle time at the end. The iterations past the
// last chunk, less than one, run on the group that combines the partials, as do the partials.
LoopSplit split_scan(int64_t extent, int64_t least_chunk) {
  constexpr int64_t kMaxScanChunks = 4096, kTile = 1024;
  const int64_t length = std::max(least_chunk, ceil_div(extent, kMaxScanChunks));
  const int64_t rounded = length < kTile ? length : ceil_div(length, kTile) * kTile;
  const int64_t chunks = extent / rounded;
  if (chunks < 2) return {};
  return {chunks, rounded};
}

/// Each next carry is a combination of two operands, one of them the carry.
bool is_plain_scan(const Instruction& i) {
  const Region& body = i.regions[0];
  const Instruction& yield = body.instructions.back();
  for (size_t c = 0; c < i.results.size(); ++c) {
    const bool found = std::any_of(body.instructions.begin(), body.instructions.end(), [&](const Instruction& n) {
      return n.op == Op::scalar && n.results[0] == yield.operands[c] && n.operands.size() == 2 &&
             (n.operands[0] == body.parameters[c + 1] || n.operands[1] == body.parameters[c + 1]);
    });
    if (!found) return false;
  }
  return true;
}

/// The product of a nest whose only work it is.
const Instruction& contraction_in(const Instruction& nest) {
  if (nest.op == Op::contraction) return nest;
  const auto& body = nest_of(nest).back()->regions[0].instructions;
  return *std::find_if(body.begin(), body.end(), [](const Instruction& i) { return i.op == Op::contraction; });
}

/// Its epilogue does nothing but store the sums, as they are or converted.
bool stores_sums(const Kernel& kernel, const Instruction& nest) {
  const Region& epilogue = contraction_in(nest).regions[2];
  return std::all_of(epilogue.instructions.begin(), epilogue.instructions.end(), [&](const Instruction& i) {
    if (i.op == Op::load || !i.regions.empty()) return false;
    const bool on_index = i.op == Op::scalar && kernel.values[static_cast<size_t>(i.results[0])] == DType::i64;
    return i.op != Op::scalar || on_index || i.primitive == primitives::id_of<primitives::Convert>;
  });
}

}  // namespace

Stages::Stages(const Kernel& kernel, const std::vector<bool>& changed, const GpuLimits& limits)
    : k_(kernel), limits_(limits), changed_(changed) {
  const auto staged_of = [&](const std::vector<Instruction>& instructions) {
    std::vector<size_t> staged;
    for (size_t n = 0; n < instructions.size(); ++n)
      if (!is_rematerializable(instructions[n])) staged.push_back(n);
    return staged;
  };
  std::vector<size_t> staged = staged_of(kernel.body.instructions);
  if (staged.size() == 1 && find_rows(kernel.body.instructions[staged[0]])) staged = staged_of(instructions());
  const bool small = rows_.empty() && staged.size() > 1 && work(kernel, kernel.body) < limits.small_work;
  for (const size_t n : staged) {
    if (small)
      group_stage().items.push_back({n});
    else
      assign(n);
  }
}

// Rows so few that one thread group per row would leave most of the device idle. Their bodies contain only loops.
bool Stages::find_rows(const Instruction& nest) {
  if (!is_parallel(nest) || sums_columns(k_, nest)) return false;
  const auto loops = nest_of(nest);
  int64_t count = 1;
  for (const Instruction* l : loops) count *= l->extent;
  if (count == 0 || count * kMaxBlockThreads * 2 > limits_.processors * kThreadsPerProcessor) return false;
  int64_t loops_inside = 0, longest = 0;
  for (const Instruction& i : loops.back()->regions[0].instructions) {
    if (i.op == Op::store || is_rematerializable(i)) continue;
    const bool is_split = (is_reduction(i) && !i.results.empty()) || (is_cumulative(i) && is_plain_scan(i));
    if (!is_split && !is_parallel(i)) return false;
    if (is_split) longest = std::max(longest, i.extent);
    ++loops_inside;
  }
  if (loops_inside == 0 || longest < limits_.long_loop) return false;
  rows_ = loops;
  return true;
}

bool Stages::loads_changed(const Region& r) const {
  return contains(r, [&](const Instruction& i) { return i.op == Op::load && changed_[static_cast<size_t>(i.buffer)]; });
}

bool Stages::is_rematerializable(const Instruction& i) const {
  if (i.op == Op::store || has_loops(i)) return false;
  const Region alone{{}, {i}};
  return !has_stores(alone) && !loads_changed(alone);
}

Stage& Stages::group_stage() {
  if (stages_.empty() || stages_.back().grid) stages_.push_back({false, {}});
  return stages_.back();
}

void Stages::assign(size_t at) {
  const Instruction& i = instructions()[at];
  const LoopSplit split = split_of(i);
  if (is_parallel(i) && split.chunks > 0) {
    for (size_t round = 0; round < column_sums(nest_of(i)).size(); ++round)
      grid_stage({at, Phase::column_chunks, split, round});
    grid_stage({at, Phase::column_partials, split});
  } else if ((is_parallel(i) || i.op == Op::contraction) && leave_product_to_library(i)) {
    const ProductSplit& product = products_.at(&i);
    if (product.lhs) grid_stage({at, Phase::lhs});
    if (product.rhs) grid_stage({at, Phase::rhs});
    grid_stage({at, Phase::product});
    if (product.epilogue) grid_stage({at, Phase::epilogue});
  } else if (is_parallel(i) || i.op == Op::contraction) {
    grid_stage({at});
  } else if (split.chunks > 0) {
    grid_stage({at, Phase::chunks, split});
    group_stage().items.push_back({at, Phase::partials, split});
    if (is_cumulative(i)) grid_stage({at, Phase::apply, split});
  } else if (const auto scatter = scatter_of(k_, i, limits_.deterministic)) {
    scatters_[&i] = *scatter;
    if (scatter->combines || scatter->disjoint)
      grid_stage({at, Phase::parallel_updates});
    else
      for (const Phase phase : {Phase::clear_winners, Phase::claim, Phase::store_winners}) grid_stage({at, phase});
  } else {
    group_stage().items.push_back({at});
  }
}

// A library computes a product alone faster than a generated kernel computes it with its factors and its epilogue. The
// factors or the products are then written and read once more: from about these numbers of terms (for the epilogue) or
// of uses (for a factor) on, that takes less time than the library saves. On an H200: 740 against 440 Tflop/s of bf16,
// 51 against 44 of f32, 4 TB/s.
bool Stages::leave_product_to_library(const Instruction& i) {
  constexpr int64_t kLeast = 512, kLeastOfHalves = 1024;
  if (!limits_.has_library || !rows_.empty()) return false;
  const auto found = library_product_in(k_, i);
  if (!found || found->product.flops() < limits_.library_flops) return false;
  const int64_t least = size_of(found->product.factor) == 2 ? kLeastOfHalves : kLeast;
  const ProductSplit split{found->lhs_computed, found->rhs_computed, !stores_sums(k_, i)};
  const bool pays = (!split.lhs || found->product.columns >= least) && (!split.rhs || found->product.rows >= least) &&
                    (!split.epilogue || found->product.k >= least);
  if (!pays || (!split.lhs && !split.rhs && !split.epilogue)) return false;
  if (!choose_gpu_tiles(k_, contraction_in(i), limits_.fast_math) || !limits_.has_library()) return false;
  products_[&i] = split;
  return true;
}

LoopSplit Stages::split_of(const Instruction& i) const {
  if ((is_reduction(i) && !i.results.empty()) || is_cumulative(i)) {
    const bool whole = i.extent < limits_.long_loop || (is_cumulative(i) && !is_plain_scan(i));
    if (whole) return {};
    return is_cumulative(i) ? split_scan(i.extent, limits_.least_chunk)
                            : split_into(i.extent, i.extent / limits_.least_chunk);
  }
  if (!is_parallel(i) || !rows_.empty()) return {};
  // Columns: few threads with long reductions. They are split so that the threads fill the device.
  const auto nest = nest_of(i);
  const auto sums = column_sums(nest);
  if (sums.empty() || !sums_columns(k_, i)) return {};
  int64_t columns = 1;
  for (const Instruction* l : nest) columns *= l->extent;
  const int64_t wanted = limits_.processors * kThreadsPerProcessor / std::max<int64_t>(columns, 1);
  const int64_t extent = sums[0][0]->extent;
  return split_into(extent, std::min(wanted, extent / limits_.least_rows));
}

std::vector<Stages::Sums> Stages::column_sums(const std::vector<const Instruction*>& nest) const {
  constexpr size_t kMostRounds = 4;
  std::vector<Sums> rounds;
  std::map<Id, size_t> round_of;  // of values that depend on sums: the first round that may use them
  for (const Instruction& i : nest.back()->regions[0].instructions) {
    size_t round = 0;
    for (const Id id : free_values(i))
      if (const auto known = round_of.find(id); known != round_of.end()) round = std::max(round, known->second);
    const bool is_sum = round < kMostRounds && is_reduction(i) && !i.results.empty() && !has_loops(i.regions[0]) &&
                        !has_stores(i.regions[0]) && !loads_changed(i.regions[0]) &&
                        (rounds.empty() || rounds[0][0]->extent == i.extent);
    if (is_sum) {
      if (round == rounds.size()) rounds.emplace_back();
      rounds[round].push_back(&i);
      ++round;
    } else if (!is_rematerializable(i)) {
      round = kMostRounds;
    }
    for (const Id r : i.results) round_of[r] = round;
  }
  return rounds;
}

}  // namespace calque::kernel
