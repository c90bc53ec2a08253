#pragma once
// Tiling of contractions: the sizes of the tile in registers and of the blocks in caches, and which factors are packed.
// Independent of LLVM.
#include <cstdint>

#include "codegen/llvm/target.h"
#include "kernel/ir/kernel.h"

namespace calque::codegen {

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

/// The memory that a factor of a contraction reads.
struct Access {
  /// One load without predicate at an index that is affine in both parameters, and nothing else.
  bool plain = false;
  int64_t stride[2] = {0, 0};  ///< of a plain load, in elements, by parameter
  int32_t buffer = -1;
  kernel::Id index = kernel::kNone;
};
Access access_of(const kernel::Kernel& kernel, const kernel::Region& factor);

/// A tile: its rows are broadcast elements, its columns vectors.
struct Tile {
  int64_t rows = 1, vectors = 1;
};

/// The most instructions of a tile whose loop over K is fully unrolled.
inline constexpr int64_t kUnrolledInstructions = 768;
/// The most elements of the left factor, shared by many tiles, that registers hold then.
inline constexpr int64_t kSharedElements = 64;

struct Tiling {
  unsigned lanes = 1;
  Tile tile;
  /// K elements per block. The sums of the blocks are added in order; the last block may be shorter. Depends on the
  /// shape alone.
  int64_t k_block = 0;
  /// Rows and columns of the result that one task computes. Tasks at the edges may be smaller.
  int64_t row_block = 0, column_block = 0;
  /// Rows, in whole tasks, that one thread computes together if it runs all of these tasks.
  int64_t max_rows = 0;
  bool pack_lhs = false, pack_rhs = false;
  /// Instructions that compute an element of the right factor inside the tile; 0: it is loaded.
  int64_t computed_rhs = 0;
  /// Rows of the left factor are prefetched while the preceding rows of tiles are computed.
  bool prefetch_lhs = false;
  /// The right factor is streamed: read once from memory, with prefetches.
  bool streams_rhs = false;
  /// One instruction multiplies pairs of bf16 and adds the products.
  bool pairs = false;
};
Tiling choose_tiling(const kernel::Kernel& kernel, const kernel::Instruction& contraction, const TargetInfo& target,
                     bool strict);

}  // namespace calque::codegen
