#pragma once
// How a contraction is cut into tiles: sizes of the tile that lives in registers, of the blocks that live in caches,
// and what is packed. No LLVM name appears here.
#include <cstdint>

#include "codegen/llvm/target.h"
#include "kernel/ir/kernel.h"

namespace calque::codegen {

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

/// What a factor of a contraction reads.
struct Access {
  /// One load without predicate at an index that is affine in both parameters, and nothing else.
  bool plain = false;
  int64_t stride[2] = {0, 0};  ///< of a plain load, in elements, by parameter
  int32_t buffer = -1;
  kernel::Id index = kernel::kNone;
};
Access access_of(const kernel::Kernel& kernel, const kernel::Region& factor);

/// Rows of a tile: elements broadcast; its columns: vectors.
struct Tile {
  int64_t rows = 1, vectors = 1;
};

/// Instructions of a tile's terms that are written out one after the other, without a loop.
inline constexpr int64_t kStraightInstructions = 768;
/// Elements of the left factor that many tiles share and that registers still hold then.
inline constexpr int64_t kSharedElements = 64;

struct Tiling {
  unsigned lanes = 1;
  Tile tile;
  /// Sums are cut into blocks of so many terms, which are added in order; the last one may be shorter. Fixed by the
  /// shape alone.
  int64_t depth_block = 0;
  /// Elements of the result that one task computes. The last ones may be smaller.
  int64_t row_block = 0, column_block = 0;
  /// Rows of tasks that are computed together, if one thread has them all: whole tasks.
  int64_t most_rows = 0;
  bool pack_lhs = false, pack_rhs = false;
  /// Instructions that compute an element of the right factor where it is multiplied; 0: it is read.
  int64_t computed_rhs = 0;
  /// Rows of the left factor are asked for while the rows of tiles before them are computed.
  bool fetch_lhs = false;
  /// The right factor is read once, from memory, and asked for ahead.
  bool passes = false;
  /// bf16 pairs are multiplied and added by one instruction.
  bool pairs = false;
};
Tiling choose_tiling(const kernel::Kernel& kernel, const kernel::Instruction& contraction, const TargetInfo& target,
                     bool strict);

}  // namespace calque::codegen
