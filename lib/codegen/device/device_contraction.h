#pragma once
// Emits one contraction of a kernel for a block of threads: the K loop and the epilogue are in device_contraction.cpp,
// loads of factors into shared memory in device_factors.cpp, fragment loads and multiplications in device_products.cpp.
#include "codegen/device/device_memory.h"
#include "codegen/device/thread_group.h"
#include "codegen/emit/emitter.h"
#include "kernel/ir/factor_access.h"
#include "kernel/ir/tiles.h"

namespace calque::codegen {

using kernel::ceil_div;

class DeviceContraction {
 public:
  DeviceContraction(KernelEmitter& kernel, ThreadGroup& group, DeviceMemory& memory, const kernel::Instruction& i);
  /// `tile`: i64, its number (see kernel::GpuTiles).
  void emit(llvm::Value* tile);

 private:
  using Unit = kernel::GpuTiles::Unit;

  /// A factor and its share of one step in shared memory. A row there runs along K (`inner`) or along the other, free
  /// index. The 16-byte chunks of a row are swizzled by the row's number, which avoids bank conflicts between rows that
  /// threads read at the same time.
  struct Factor {
    size_t which = 0;
    kernel::FactorAccess access;
    int64_t tile = 0;  ///< extent of the free index: in a tile, and in the whole
    int64_t whole = 0;
    bool along_k = false;  ///< neighbouring threads load neighbours along K, else along the free index
    bool async = false;    ///< copied asynchronously, 16 bytes at a time, without going through registers
    bool inner = false;
    int64_t row_bytes = 0;
    unsigned shift = 0;  ///< chunk c of row r is stored at chunk c ^ ((r >> shift) & mask)
    unsigned mask = 0;
    int64_t offset = 0;  ///< in a stage
    int64_t bytes = 0;   ///< of a stage
    /// The last tile begins early enough to be whole; it does not store what the tile before it stores.
    bool shifted = false;
    llvm::Value *first = nullptr, *begin = nullptr;  ///< i64: first index of the tile, and first that it stores
    Values from;                                     ///< async: addresses of the thread's chunks in the first step
    Values valid;                             ///< async: bytes of the chunks that exist along the free index; null: all
    llvm::SmallVector<llvm::Value*, 8> lane;  ///< i32: offset of the thread's fragments, by swizzle
    /// Some tile extends beyond the matrix.
    bool ragged() const { return whole % tile != 0 && !shifted; }
    int64_t rows(int64_t k) const { return inner ? tile : k; }
    int64_t row_length(int64_t k) const { return inner ? k : tile; }
  };
  /// State of the K loop. Offsets into shared memory (i32): of the stage that is multiplied, of the next one (in the
  /// last step the same), and of the stage that step `fetched_step` is loaded into.
  struct Step {
    llvm::Value *current = nullptr, *next = nullptr, *destination = nullptr, *fetched_step = nullptr;
    Values accumulators;
    Values fragments;  ///< for the next multiplication
  };
  /// Where an item of the thread lies in a tile whose items (16-byte chunks, or packed elements) are distributed over
  /// the threads of a block, row by row.
  struct TileCoordinate {
    llvm::Value *row, *column;
  };

  // ---- device_contraction.cpp
  void choose_layout(Factor& f);
  void compute_tile(llvm::Value* tile);
  void compute_lanes();
  void k_loop();
  void k_step(Step& now);
  void step_barrier();
  llvm::Value* next_stage(llvm::Value* offset);
  void begin_copies(llvm::Value* stage, llvm::Value* step);
  void finish(const Values& accumulators);
  void stage_accumulators(const Values& accumulators, int64_t slice, llvm::Value* to);
  void finish_slice(int64_t slice, llvm::Value* from);
  int64_t finished_lanes() const;
  void epilogue(llvm::Value* m, llvm::Value* n, llvm::Value* sum, int64_t lanes);
  int64_t accumulator_bytes() const { return static_cast<int64_t>(accumulator_type_->getPrimitiveSizeInBits() / 8); }
  int64_t slices() const { return is_scalar() ? thread_rows_ : t_.warp_rows / kFragmentRows; }
  int64_t slice_rows() const { return is_scalar() ? kLaneRows : kFragmentRows; }
  int64_t staged_row() const { return t_.warp_columns + kStagedPad; }

  // ---- helpers
  bool is_asynchronous() const { return lhs_.async || rhs_.async; }
  bool is_scalar() const { return t_.unit == Unit::scalar; }
  llvm::Value* integer(int64_t v) { return b_.getInt64(static_cast<uint64_t>(v)); }
  llvm::Value* word(int64_t v) { return b_.getInt32(static_cast<uint32_t>(v)); }
  llvm::Value* add(llvm::Value* a, llvm::Value* b) { return b_.CreateAdd(a, b, "", true, true); }
  llvm::Value* mul(llvm::Value* a, int64_t b) {
    return b_.CreateMul(a, llvm::ConstantInt::get(a->getType(), static_cast<uint64_t>(b)), "", true, true);
  }
  llvm::Value* wide(llvm::Value* v) { return b_.CreateZExt(v, b_.getInt64Ty()); }
  llvm::Value* smaller(llvm::Value* a, llvm::Value* b) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b); }
  llvm::Value* at(llvm::Value* base, llvm::Value* bytes) { return b_.CreatePtrAdd(base, bytes); }
  llvm::Value* at(llvm::Value* base, int64_t bytes) { return bytes == 0 ? base : at(base, word(bytes)); }

  // ---- device_factors.cpp
  void choose_copy(Factor& f);
  void prepare_copies(Factor& f);
  llvm::Value* address(const Factor& f, llvm::Value* free, llvm::Value* k);
  TileCoordinate coordinate(int64_t number, int64_t row_chunks) { return coordinate(integer(number), row_chunks); }
  TileCoordinate coordinate(llvm::Value* number, int64_t row_chunks);
  int64_t per_thread(int64_t chunks) const { return ceil_div(chunks, t_.threads); }
  llvm::Value* participates(int64_t chunks);
  llvm::Value* swizzled_offset(const Factor& f, llvm::Value* row, llvm::Value* byte);
  void copy(const Factor& f, llvm::Value* stage, llvm::Value* step);
  /// Computes the thread's elements of a factor in registers, to be stored later. All K elements of the step exist.
  Values fetch(const Factor& f, llvm::Value* step);
  void store(const Factor& f, llvm::Value* stage, const Values& values);
  void compute(const Factor& f, llvm::Value* stage, llvm::Value* step);
  bool is_short(const Factor& f) const;
  int64_t pack(const Factor& f) const { return f.along_k == f.inner && element_bytes_ == 2 ? 2 : 1; }
  int64_t packed_count(const Factor& f) const { return f.tile * step_k_ / pack(f); }
  int64_t packed_row(const Factor& f) const { return (f.along_k ? step_k_ : f.tile) / pack(f); }
  llvm::Value* packed(const Factor& f, const TileCoordinate& p, llvm::Value* step, bool whole);
  llvm::Value* element(const Factor& f, llvm::Value* free, llvm::Value* k, bool whole);
  void store_packed(const Factor& f, const TileCoordinate& p, llvm::Value* stage, llvm::Value* value);

  // ---- device_products.cpp
  void prepare_fragments(Factor& f);
  llvm::Value* fragment_at(const Factor& f, llvm::Value* stage, int64_t row, int64_t chunk, int64_t byte = 0);
  void multiply_scalars(llvm::Value* stage, Values& accumulators);
  /// Multiplies the loaded fragments; `next` then replaces them.
  void multiply_matrices(Step& now, Values next);
  int64_t mma_k() const { return t_.unit == Unit::tf32 ? 8 : 16; }
  Values thread_elements(const Factor& f, llvm::Value* stage, int64_t k, Values& held);
  /// All operands of one multiplication: four words per 16 rows of the left factor, then four per 16 columns of the
  /// right one.
  Values fragments(llvm::Value* stage, int64_t number);
  Values fragment(const Factor& f, llvm::Value* stage, int64_t step, int64_t number);
  Values transposed_fragment(const Factor& f, llvm::Value* stage, int64_t step, int64_t number);
  llvm::Value* multiply_add(llvm::Value* a, llvm::Value* b, llvm::Value* sum);
  /// Neighbouring elements of the free index that one thread holds.
  int64_t lane_width(const Factor& f) const;

  static constexpr int64_t kLaneRows = 4, kLaneColumns = 8;           ///< lanes of a warp, with the scalar unit
  static constexpr int64_t kFragmentRows = 16, kFragmentColumns = 8;  ///< accumulators of a fragment, with the others
  static constexpr int64_t kChunkBytes = 16, kStagedPad = 8;

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  ThreadGroup& group_;
  DeviceMemory& memory_;
  const kernel::Instruction& i_;
  kernel::GpuTiles t_;
  const DType factor_dtype_, accumulator_dtype_;
  int64_t step_k_ = 0, stages_ = 0, steps_ = 0, stage_bytes_ = 0, element_bytes_ = 0;
  llvm::Type *element_type_ = nullptr, *accumulator_type_ = nullptr;  ///< in shared memory, and in registers
  Factor lhs_, rhs_;
  bool reads_ahead_ = false;             ///< fragments are loaded one multiplication ahead, across barriers too
  std::vector<const Factor*> computed_;  ///< factors that are not copied
  int64_t thread_rows_ = 0, thread_columns_ = 0;  ///< accumulators of a thread, with the scalar unit
  llvm::Value* shared_ = nullptr;
  llvm::Value* thread_ = nullptr;                             ///< i32, in the block
  llvm::Value *warp_row_ = nullptr, *warp_column_ = nullptr;  ///< i32, of the warp's tile in the block's
  llvm::Value *lane_row_ = nullptr, *lane_column_ = nullptr;  ///< i32
};

}  // namespace calque::codegen
