// A tile of r rows and v vectors needs v vector loads, r broadcasts and r * v multiplications for every K element. It
// must leave registers for a row of the right factor and one broadcast. The caches determine the blocks: the left
// factor of a row of tiles stays in the first level while the block of the right factor is streamed from the second. A
// factor with contiguous rows may be read without packing: the copy would cost more than faster reads gain.
#include "kernel/schedule_cpu/cpu_tiles.h"

#include <algorithm>
#include <bit>

#include "kernel/ir/analysis.h"
#include "kernel/ir/factor_access.h"

namespace calque::kernel {

namespace {

/// The most K elements of a block, if there is more than one: the left factor of a row of tiles takes half of a
/// first-level cache of 32 KiB.
constexpr int64_t kKBlock = 352, kWholeK = 512;
/// Bytes of the block of the right factor: about half of a second-level cache of 1 MiB.
constexpr int64_t kBlockBytes = 576 * 1024;
/// The most rows of tiles over factors that are not packed: the number of ways of a first-level cache, in which rows
/// that are powers of two apart map to the same set.
constexpr int64_t kUnpackedRows = 8;
/// The most instructions that compute an element of the right factor inside a tile.
constexpr int64_t kComputedInline = 48;
/// Bytes of a left factor that does not stay in the second-level cache.
constexpr int64_t kFarFactor = 128 * 1024;
/// K elements and columns of a block, and vectors of a tile, when the right factor is not packed and is streamed from
/// memory: this number of streams of this length is prefetched best.
constexpr int64_t kStreamedK = 8, kStreamedColumns = 4096, kStreamedVectors = 8;
/// Bytes of factors that are read without packing.
constexpr int64_t kSmallFactor = 16 * 1024;
/// With fewer rows, packing bf16 in pairs does not pay off.
constexpr int64_t kPairedRows = 4;
/// Rows for which the right factor's block is packed once.
constexpr int64_t kRowBlock = 1024;
/// The number of tasks that keeps threads busy, if the product is large enough.
constexpr int64_t kTasks = 32;
constexpr int64_t kTaskRows = 64;
/// Multiplications of a product that takes some tens of microseconds, a hundredth of what the code of a tile costs to
/// compile.
constexpr int64_t kShortProduct = 1 << 21;

/// The length of nearly equal blocks of `length`, in whole units, none longer than `most`.
int64_t equal_blocks(int64_t length, int64_t most, int64_t unit) {
  const int64_t blocks = ceil_div(length, std::max(unit, most / unit * unit));
  return std::min(length, ceil_div(ceil_div(length, blocks), unit) * unit);
}

/// A tile: its rows are broadcast elements, its columns vectors.
struct Tile {
  int64_t rows = 1, vectors = 1;
};

/// Approximate cycles of one K element of a tile: two multiplications and two loads per cycle, a latency of five cycles
/// between K elements, half a vector per cycle from the second-level cache.
double cycles(const Tile& t) {
  const auto r = static_cast<double>(t.rows), v = static_cast<double>(t.vectors);
  return std::max({r * v / 2, (r + v) / 2, 2 * v, 5.0});
}

/// Cycles of one K element of all tiles that cover the result.
double cover(int64_t rows, int64_t vectors, const Tile& t) {
  const int64_t full_rows = rows / t.rows, full_vectors = vectors / t.vectors;
  const Tile edge{rows % t.rows, vectors % t.vectors};
  const auto times = [](int64_t n, double c) { return n == 0 ? 0.0 : static_cast<double>(n) * c; };
  double c = times(full_rows * full_vectors, cycles(t));
  if (edge.rows) c += times(full_vectors, cycles({edge.rows, t.vectors}));
  if (edge.vectors) c += times(full_rows, cycles({t.rows, edge.vectors}));
  if (edge.rows && edge.vectors) c += cycles(edge);
  return c;
}

/// The products in the code: tiles at the edges have loops of their own.
int64_t products_in_code(int64_t rows, int64_t columns, int64_t lanes, const Tile& t) {
  const auto sizes = [](int64_t length, int64_t unit, int64_t registers_per_unit, int64_t part) {
    return (length >= unit ? registers_per_unit : 0) + (length % unit == 0 ? 0 : ceil_div(length % unit, part));
  };
  return sizes(rows, t.rows, t.rows, 1) * sizes(columns, t.vectors * lanes, t.vectors, lanes);
}

/// The best tile of at most `max_rows` rows for the product of `i`, in vectors of `lanes` elements.
Tile choose_tile(const Instruction& i, int64_t lanes, int64_t max_rows, const TargetLimits& target) {
  const int64_t rows = i.rows, vectors = ceil_div(i.columns, lanes);
  // A short product is not worth much code: a percent of its time for five products of it.
  const double code = rows * i.columns * i.extent <= kShortProduct ? 0.002 : 0;
  Tile best;
  double least = 1e300;
  for (int64_t r = 1; r <= std::min<int64_t>(rows, max_rows); ++r) {
    for (int64_t v = 1; v <= std::min<int64_t>(vectors, 12); ++v) {
      const int64_t used = r * v + v + (target.broadcast_operands ? 1 : 2);
      if (used > target.vector_registers - 1 && r * v > 1) continue;
      if (target.vector_registers == 32 && r * v > 28) continue;
      const Tile t{r, v};
      // Larger tiles read less, especially of the right factor, which is in a farther cache: they win ties.
      const double c =
          cover(rows, vectors, t) * (1 + 0.04 / static_cast<double>(r) + 0.01 / static_cast<double>(v) +
                                     code * static_cast<double>(products_in_code(rows, i.columns, lanes, t)));
      if (c < least) {
        least = c;
        best = t;
      }
    }
  }
  return best;
}

/// A tile of all rows: as many vectors as keep its loop over K fully unrolled, if that is possible.
Tile tile_of_all_rows(const Instruction& i, int64_t vectors, int64_t computed) {
  const bool unrolled = i.extent * i.rows <= kSharedElements;
  return {i.rows, unrolled ? std::clamp<int64_t>(kUnrolledInstructions / (i.extent * (computed + i.rows)), 1, vectors)
                           : vectors};
}

CpuTiles tiles_of(const Kernel& kernel, const Instruction& i, const TargetLimits& target) {
  CpuTiles t;
  const DType sum = kernel.values[static_cast<size_t>(i.regions[2].parameters[2])];
  const DType factor = kernel.values[static_cast<size_t>(i.regions[0].instructions.back().operands[0])];
  const auto bytes = static_cast<int64_t>(size_of(sum));
  const int64_t widest = target.vector_bits / 8 / bytes;
  const auto columns = static_cast<uint64_t>(i.columns);
  const bool masks = target.masked_memory(bytes);
  const uint64_t fitting = masks ? std::bit_ceil(columns) : std::bit_floor(columns);
  t.lanes = static_cast<unsigned>(std::min(static_cast<uint64_t>(widest), fitting));
  t.pairs = factor == DType::bf16 && target.bf16_pairs && t.lanes == 16 && i.rows >= kPairedRows && !target.strict;
  const FactorAccess lhs = access_of(kernel, i.regions[0]), rhs = access_of(kernel, i.regions[1]);
  const int64_t lhs_bytes = i.rows * i.extent * bytes, rhs_bytes = i.columns * i.extent * bytes;
  // Contiguous elements of the dtype that is multiplied: whole pairs of 16-bit ones.
  const bool lhs_contiguous = lhs.plain && lhs.stride[1] == 1 && (t.pairs ? i.extent % 2 == 0 : factor == sum);
  const bool lhs_by_rows = lhs_contiguous && lhs_bytes > kSmallFactor;
  // A tile of all rows uses every element of the right factor once: a computed one need not be stored. The loop over K
  // is best unrolled then, to share subexpressions.
  const int64_t computed = instruction_count(kernel, i.regions[1]);
  const bool once = !rhs.plain && !t.pairs && t.lanes > 1 && i.rows <= (target.vector_registers - 4) / 2 &&
                    computed <= kComputedInline;
  t.computed_rhs = once ? computed : 0;
  const int64_t vectors = ceil_div(i.columns, t.lanes);
  const Tile tile = once ? tile_of_all_rows(i, std::min<int64_t>(vectors, 2), computed)
                         : choose_tile(i, t.lanes, lhs_by_rows ? kUnpackedRows : 28, target);
  t.rows = tile.rows;
  t.vectors = tile.vectors;
  int64_t panel = t.vectors * t.lanes;
  const bool small = !t.pairs && lhs.plain && (i.columns <= 2 * panel || lhs_bytes <= kSmallFactor);
  t.pack_lhs = !lhs_contiguous && !small;
  t.pack_rhs = t.pairs || (rhs.plain ? rhs.stride[1] != 1 : !once) || (i.rows > 2 * t.rows && rhs_bytes > kSmallFactor);

  // With few rows, packing would not reuse elements more often: the right factor is streamed once, in whole rows.
  t.streams_rhs = !t.pack_rhs && rhs_bytes > kBlockBytes;
  if (t.streams_rhs) t.vectors = std::min(t.vectors, kStreamedVectors);
  panel = t.vectors * t.lanes;
  const int64_t max_k = t.streams_rhs ? kStreamedK : i.extent <= kWholeK ? kWholeK : kKBlock;
  const int64_t blocks = ceil_div(i.extent, max_k);
  t.prefetch_lhs = lhs_by_rows && !t.streams_rhs && lhs_bytes > kFarFactor;
  t.k_block = std::min(i.extent, ceil_div(ceil_div(i.extent, blocks), 8) * 8);
  t.column_block = equal_blocks(
      i.columns, t.streams_rhs ? kStreamedColumns : std::max(panel, kBlockBytes / (t.k_block * bytes)), panel);
  const int64_t tasks = i.threads ? kTasks / ceil_div(i.columns, t.column_block) : 1;
  t.row_block = equal_blocks(i.rows, std::clamp(i.rows / std::max<int64_t>(tasks, 1), kTaskRows, kRowBlock), t.rows);
  t.max_rows = std::max<int64_t>(1, kRowBlock / t.row_block) * t.row_block;
  return t;
}

void visit(const Kernel& kernel, Region& region, const TargetLimits& target) {
  for (Instruction& i : region.instructions) {
    // Empty products are not computed, and have no tiles.
    if (i.op == Op::contraction && i.rows != 0 && i.columns != 0)
      i.cpu_tiles = std::make_shared<const CpuTiles>(tiles_of(kernel, i, target));
    for (Region& inner : i.regions) visit(kernel, inner, target);
  }
}

}  // namespace

void choose_cpu_tiles(Kernel& kernel, const TargetLimits& target) { visit(kernel, kernel.body, target); }

}  // namespace calque::kernel
