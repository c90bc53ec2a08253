// A tile of r rows and v vectors needs v vector loads, r broadcasts and r * v multiplications for every K element. It
// must leave registers for a row of the right factor and one broadcast. The caches determine the blocks: the left
// factor of a row of tiles stays in the first level while the block of the right factor is streamed from the second. A
// factor with contiguous rows may be read without packing: the copy would cost more than faster reads gain.
#include "codegen/cpu/tiling.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_map>

#include "codegen/emit/analysis.h"
#include "primitives/registry.h"

namespace calque::codegen {

using kernel::Id;
using kernel::Instruction;
using kernel::Kernel;
using kernel::Op;
using kernel::Region;
using namespace primitives;

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

/// The length of nearly equal blocks of `length`, in whole units, none longer than `most`.
int64_t equal_blocks(int64_t length, int64_t most, int64_t unit) {
  const int64_t blocks = ceil_div(length, std::max(unit, most / unit * unit));
  return std::min(length, ceil_div(ceil_div(length, blocks), unit) * unit);
}

/// An index as a * first parameter + b * second parameter + an invariant.
struct Affine {
  int64_t a = 0, b = 0;
  std::optional<int64_t> constant;
};

class AccessFinder {
 public:
  AccessFinder(const Kernel& kernel, const Region& region) : kernel_(kernel), region_(region) {
    constants(kernel.body);
    forms_[region.parameters[0]] = {1, 0, std::nullopt};
    forms_[region.parameters[1]] = {0, 1, std::nullopt};
  }

  Access find() {
    Access out;
    int loads = 0, others = 0;
    for (const Instruction& i : region_.instructions) {
      switch (i.op) {
        case Op::constant:
          break;
        case Op::scalar:
          if (!index(i)) ++others;
          break;
        case Op::load:
          ++loads;
          others += i.operands.size() > 1;
          load(i, out);
          break;
        case Op::yield:
          if (loads != 1 || i.operands[0] != loaded_) ++others;
          break;
        default:
          ++others;
      }
    }
    out.plain = loads == 1 && others == 0 && known_;
    return out;
  }

 private:
  void constants(const Region& r) {
    for (const Instruction& i : r.instructions) {
      if (i.op == Op::constant && kernel_.values[static_cast<size_t>(i.results[0])] == DType::i64)
        forms_[i.results[0]] = {0, 0, i.literal.as<int64_t>()};
      for (const Region& inner : i.regions) constants(inner);
    }
  }

  /// Values defined outside the region are invariant.
  std::optional<Affine> form(Id id) const {
    if (const auto at = forms_.find(id); at != forms_.end()) return at->second;
    if (inside_.count(id)) return std::nullopt;
    return Affine{};
  }

  /// Whether the instruction is arithmetic on indices.
  bool index(const Instruction& i) {
    const Id result = i.results[0];
    inside_[result] = true;
    if (kernel_.values[static_cast<size_t>(result)] != DType::i64 || i.operands.size() != 2) return false;
    const auto x = form(i.operands[0]), y = form(i.operands[1]);
    if (!x || !y) return i.primitive == id_of<Div> || i.primitive == id_of<Rem>;
    if (i.primitive == id_of<Add>) {
      forms_[result] = {x->a + y->a, x->b + y->b, std::nullopt};
    } else if (i.primitive == id_of<Sub>) {
      forms_[result] = {x->a - y->a, x->b - y->b, std::nullopt};
    } else if (i.primitive == id_of<Mul> && y->constant) {
      forms_[result] = {x->a * *y->constant, x->b * *y->constant, std::nullopt};
    } else if (x->a == 0 && x->b == 0 && y->a == 0 && y->b == 0) {
      forms_[result] = {};
    }
    return true;
  }

  void load(const Instruction& i, Access& out) {
    loaded_ = i.results[0];
    inside_[loaded_] = true;
    out.buffer = i.buffer;
    out.index = i.operands[0];
    const auto at = form(i.operands[0]);
    known_ = at.has_value();
    if (!at) return;
    out.stride[0] = at->a;
    out.stride[1] = at->b;
  }

  const Kernel& kernel_;
  const Region& region_;
  std::unordered_map<Id, Affine> forms_;
  std::unordered_map<Id, bool> inside_;
  Id loaded_ = kernel::kNone;
  bool known_ = false;
};

struct Registers {
  int64_t total = 16;
  bool broadcast_operand = false;  ///< a multiplication can take a broadcast from memory
};

/// Approximate cycles of one K element of a tile: two multiplications and two loads per cycle, a latency of four cycles
/// between K elements, half a vector per cycle from the second-level cache.
double cycles(const Tile& t) {
  const auto r = static_cast<double>(t.rows), v = static_cast<double>(t.vectors);
  return std::max({r * v / 2, (r + v) / 2, 2 * v, 4.0});
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

Tile choose_tile(int64_t rows, int64_t vectors, int64_t max_rows, const Registers& registers) {
  Tile best;
  double least = 1e300;
  for (int64_t r = 1; r <= std::min<int64_t>(rows, max_rows); ++r) {
    for (int64_t v = 1; v <= std::min<int64_t>(vectors, 12); ++v) {
      const int64_t used = r * v + v + (registers.broadcast_operand ? 1 : 2);
      if (used > registers.total - 1 && r * v > 1) continue;
      if (registers.total == 32 && r * v > 28) continue;
      const Tile t{r, v};
      // Larger tiles read less, especially of the right factor, which is in a farther cache: they win ties.
      const double c = cover(rows, vectors, t) * (1 + 0.04 / static_cast<double>(r) + 0.01 / static_cast<double>(v));
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

}  // namespace

Access access_of(const Kernel& kernel, const Region& factor) { return AccessFinder(kernel, factor).find(); }

Tiling choose_tiling(const Kernel& kernel, const Instruction& i, const TargetInfo& target, bool strict) {
  Tiling t;
  const DType sum = kernel.values[static_cast<size_t>(i.regions[2].parameters[2])];
  const DType factor = kernel.values[static_cast<size_t>(i.regions[0].instructions.back().operands[0])];
  const auto bytes = static_cast<int64_t>(size_of(sum));
  const int64_t widest = target.vector_bits / 8 / bytes;
  const auto columns = static_cast<uint64_t>(i.columns);
  const bool masks = target.masked_memory(static_cast<int>(bytes));
  const uint64_t fitting = masks ? std::bit_ceil(columns) : std::bit_floor(columns);
  t.lanes = static_cast<unsigned>(std::min(static_cast<uint64_t>(widest), fitting));
  t.pairs = factor == DType::bf16 && target.bf16_pairs && t.lanes == 16 && i.rows >= kPairedRows && !strict;
  const Registers registers{target.avx512 || !target.x86 ? 32 : 16, target.avx512};

  const Access lhs = access_of(kernel, i.regions[0]), rhs = access_of(kernel, i.regions[1]);
  const int64_t lhs_bytes = i.rows * i.extent * bytes, rhs_bytes = i.columns * i.extent * bytes;
  // Contiguous elements of the dtype that is multiplied: whole pairs of 16-bit ones.
  const bool lhs_contiguous = lhs.plain && lhs.stride[1] == 1 && (t.pairs ? i.extent % 2 == 0 : factor == sum);
  const bool lhs_by_rows = lhs_contiguous && lhs_bytes > kSmallFactor;
  // A tile of all rows uses every element of the right factor once: a computed one need not be stored. The loop over K
  // is best unrolled then, to share subexpressions.
  const int64_t computed = instruction_count(kernel, i.regions[1]);
  const bool once =
      !rhs.plain && !t.pairs && t.lanes > 1 && i.rows <= (registers.total - 4) / 2 && computed <= kComputedInline;
  t.computed_rhs = once ? computed : 0;
  const int64_t vectors = ceil_div(i.columns, t.lanes);
  t.tile = once ? tile_of_all_rows(i, std::min<int64_t>(vectors, 2), computed)
                : choose_tile(i.rows, vectors, lhs_by_rows ? kUnpackedRows : 28, registers);
  int64_t panel = t.tile.vectors * t.lanes;
  const bool small = !t.pairs && lhs.plain && (i.columns <= 2 * panel || lhs_bytes <= kSmallFactor);
  t.pack_lhs = !lhs_contiguous && !small;
  t.pack_rhs =
      t.pairs || (rhs.plain ? rhs.stride[1] != 1 : !once) || (i.rows > 2 * t.tile.rows && rhs_bytes > kSmallFactor);

  // With few rows, packing would not reuse elements more often: the right factor is streamed once, in whole rows.
  t.streams_rhs = !t.pack_rhs && rhs_bytes > kBlockBytes;
  if (t.streams_rhs) t.tile.vectors = std::min(t.tile.vectors, kStreamedVectors);
  panel = t.tile.vectors * t.lanes;
  const int64_t max_k = t.streams_rhs ? kStreamedK : i.extent <= kWholeK ? kWholeK : kKBlock;
  const int64_t blocks = ceil_div(i.extent, max_k);
  t.prefetch_lhs = lhs_by_rows && !t.streams_rhs && lhs_bytes > kFarFactor;
  t.k_block = std::min(i.extent, ceil_div(ceil_div(i.extent, blocks), 8) * 8);
  t.column_block = equal_blocks(
      i.columns, t.streams_rhs ? kStreamedColumns : std::max(panel, kBlockBytes / (t.k_block * bytes)), panel);
  const int64_t tasks = i.threads ? kTasks / ceil_div(i.columns, t.column_block) : 1;
  t.row_block =
      equal_blocks(i.rows, std::clamp(i.rows / std::max<int64_t>(tasks, 1), kTaskRows, kRowBlock), t.tile.rows);
  t.max_rows = std::max<int64_t>(1, kRowBlock / t.row_block) * t.row_block;

  return t;
}

}  // namespace calque::codegen
