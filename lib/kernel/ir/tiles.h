#pragma once
// Tiles of matrix products and of elementwise loops, which a schedule chooses and the code generator reads.
#include <cstdint>

namespace calque::kernel {

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

/// The most instructions of a tile on a CPU whose loop over K is fully unrolled.
inline constexpr int64_t kUnrolledInstructions = 768;
/// The most elements of the left factor, shared by many tiles, that registers hold then.
inline constexpr int64_t kSharedElements = 64;

/// On a CPU: the tile in registers, the blocks in caches, and which factors are packed.
struct CpuTiles {
  /// The tile: its rows are broadcast elements, its columns vectors of `lanes` elements.
  int64_t rows = 1, vectors = 1;
  unsigned lanes = 1;
  /// Rows and columns of the result that one task computes. Tasks at the edges may be smaller.
  int64_t row_block = 0, column_block = 0;
  /// K elements per block. The sums of the blocks are added in order; the last block may be shorter. Depends on the
  /// shape alone.
  int64_t k_block = 0;
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
  friend bool operator==(const CpuTiles&, const CpuTiles&) = default;
};

/// On a GPU: a block of threads computes one tile of accumulators in a loop over K, whose steps have their factors in
/// shared memory.
struct GpuTiles {
  int64_t rows = 0, columns = 0;            ///< of the result, per block
  int64_t step_k = 0;                       ///< K of one step
  int32_t stages = 1;                       ///< steps whose factors are in shared memory or being copied there
  int32_t threads = 256;                    ///< of the block
  int32_t warp_rows = 0, warp_columns = 0;  ///< of the result, per warp
  enum class Unit : uint8_t { scalar, f16, bf16, tf32 } unit = Unit::scalar;  ///< scalar: fused multiply-add, any dtype
  /// The number of tiles of a result.
  int64_t count(int64_t result_rows, int64_t result_columns) const {
    return ceil_div(result_rows, rows) * ceil_div(result_columns, columns);
  }
  friend bool operator==(const GpuTiles&, const GpuTiles&) = default;
};

/// On a GPU: one side of the rectangles that the iterations of two loops of a nest are distributed in, so that accesses
/// with unit stride along either loop are contiguous. A thread runs a rectangle of iterations, a warp a rectangle of
/// threads, a block a rectangle of warps.
struct ThreadTile {
  int32_t iterations = 0;  ///< of the loop, per thread; 0: the loop has no tile
  int32_t warp = 0;        ///< threads of a warp along the loop
  int32_t block = 0;       ///< threads of a block along the loop
  explicit operator bool() const { return iterations != 0; }
  /// Iterations per block.
  int64_t per_block() const { return int64_t{iterations} * block; }
  friend bool operator==(const ThreadTile&, const ThreadTile&) = default;
};

}  // namespace calque::kernel
