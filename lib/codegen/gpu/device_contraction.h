#pragma once
// Emits one contraction of a kernel for a block of threads: device_contraction.cpp has the steps through the depth and
// what is done with the sums, device_factors.cpp how factors come into shared memory, device_products.cpp how they come
// out of it and are multiplied.
#include "codegen/cpu/tiling.h"
#include "codegen/gpu/device_emitter.h"
#include "kernel/schedule_gpu/tiles.h"

namespace calque::codegen {

class DeviceContraction {
 public:
  DeviceContraction(DeviceEmitter& kernel, const kernel::Instruction& i);
  void emit();

 private:
  using Unit = kernel::Tiles::Unit;

  /// A factor, and its part of a step in shared memory. A row there lies along the depth (`inner`) or along the other,
  /// free index. Pieces of 16 bytes of a row are permuted by the row's number, so that the rows that threads read
  /// together do not meet in one bank.
  struct Factor {
    size_t which = 0;
    Access access;
    int64_t tile = 0;  ///< of the free index: in a tile, and in the whole
    int64_t whole = 0;
    bool along_depth = false;  ///< neighbouring threads fetch neighbours along the depth, else along the free index
    bool async = false;        ///< copied 16 bytes at a time, past the registers
    bool inner = false;
    int64_t row_bytes = 0;
    unsigned shift = 0;  ///< piece p of row r is where piece p ^ ((r >> shift) & mask) would be
    unsigned mask = 0;
    int64_t offset = 0;  ///< in a stage
    int64_t bytes = 0;   ///< of a stage
    /// The last tile begins early, where it has all its rows or columns; those of the tile before are nobody's.
    bool shifted = false;
    llvm::Value *first = nullptr, *begin = nullptr;  ///< i64: of the tile, and of what it is to finish
    Values from;                                     ///< async: where the thread's pieces come from in the first step
    Values valid;                             ///< async: bytes of the pieces that exist along the free index; null: all
    llvm::SmallVector<llvm::Value*, 8> lane;  ///< i32: where the thread's fragments begin, by what is permuted on top
    /// Some tile goes beyond the end.
    bool ragged() const { return whole % tile != 0 && !shifted; }
    int64_t rows(int64_t depth) const { return inner ? tile : depth; }
    int64_t row_length(int64_t depth) const { return inner ? depth : tile; }
  };
  /// Of the loop over steps, in places of shared memory (i32): what is multiplied, what comes after it (in the last
  /// step the same), and where step `fetched` goes.
  struct Step {
    llvm::Value *here = nullptr, *following = nullptr, *there = nullptr, *fetched = nullptr;
    Values sums;
    Values fragments;  ///< for the next multiplication
  };
  /// The thread's place among rows of pieces that the threads of a block share out.
  struct Place {
    llvm::Value *row, *piece;
  };

  // ---- device_contraction.cpp
  void choose_layout(Factor& f);
  void find_tile();
  void find_lanes();
  void steps();
  void one_step(Step& now);
  void meet();
  llvm::Value* after(llvm::Value* place);
  void begin_copies(llvm::Value* stage, llvm::Value* step);
  void finish(const Values& sums);
  void stage_sums(const Values& sums, int64_t slice, llvm::Value* to);
  void finish_slice(int64_t slice, llvm::Value* from);
  int64_t finished_lanes() const;
  void epilogue(llvm::Value* m, llvm::Value* n, llvm::Value* sum, int64_t lanes);
  int64_t total_bytes() const { return static_cast<int64_t>(total_->getPrimitiveSizeInBits() / 8); }
  int64_t slices() const { return is_scalar() ? thread_rows_ : t_.warp_rows / kFragmentRows; }
  int64_t slice_rows() const { return is_scalar() ? kLaneRows : kFragmentRows; }
  int64_t staged_row() const { return t_.warp_columns + kStagedPad; }

  // ---- small parts
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
  int64_t copied_alone(const Factor& f) const;
  void prepare_copies(Factor& f);
  llvm::Value* address(const Factor& f, llvm::Value* free, llvm::Value* term);
  Place place(int64_t number, int64_t row_pieces) { return place(integer(number), row_pieces); }
  Place place(llvm::Value* number, int64_t row_pieces);
  int64_t shares(int64_t pieces) const { return ceil_div(pieces, t_.threads); }
  llvm::Value* takes_part(int64_t pieces);
  llvm::Value* in_row(const Factor& f, llvm::Value* row, llvm::Value* byte);
  void copy(const Factor& f, llvm::Value* stage, llvm::Value* step);
  /// What the thread fetches of a computed factor, all of whose terms exist, to be stored when there is time.
  Values fetch(const Factor& f, llvm::Value* step);
  void store(const Factor& f, llvm::Value* stage, const Values& units);
  void compute(const Factor& f, llvm::Value* stage, llvm::Value* step);
  bool is_short(const Factor& f) const;
  int64_t pack(const Factor& f) const { return f.along_depth == f.inner && unit_bytes_ == 2 ? 2 : 1; }
  int64_t units(const Factor& f) const { return f.tile * depth_ / pack(f); }
  int64_t run(const Factor& f) const { return (f.along_depth ? depth_ : f.tile) / pack(f); }
  llvm::Value* unit(const Factor& f, const Place& p, llvm::Value* step, bool whole);
  llvm::Value* element(const Factor& f, llvm::Value* free, llvm::Value* term, bool whole);
  void store_unit(const Factor& f, const Place& p, llvm::Value* stage, llvm::Value* unit);

  // ---- device_products.cpp
  void prepare_fragments(Factor& f);
  llvm::Value* fragment_at(const Factor& f, llvm::Value* stage, int64_t row, int64_t piece, int64_t byte = 0);
  void multiply_scalars(llvm::Value* stage, Values& sums);
  /// Multiplies the fragments that there are, behind which `next` take their place.
  void multiply_matrices(Step& now, Values next);
  int64_t unit_terms() const { return t_.unit == Unit::tf32 ? 8 : 16; }
  Values terms(const Factor& f, llvm::Value* stage, int64_t term, Values& held);
  /// All that one multiplication takes: four words for 16 rows of the left factor each, then of the right one for 16
  /// columns each.
  Values fragments(llvm::Value* stage, int64_t number);
  Values fragment(const Factor& f, llvm::Value* stage, int64_t step, int64_t number);
  Values turned_fragment(const Factor& f, llvm::Value* stage, int64_t step, int64_t number);
  llvm::Value* multiply_add(llvm::Value* a, llvm::Value* b, llvm::Value* sum);
  /// Of the factor's free index within the warp's tile: where the thread's element j is, and that of lane `lane`.
  int64_t group(const Factor& f) const;

  static constexpr int64_t kLaneRows = 4, kLaneColumns = 8;           ///< lanes of a warp, with the scalar unit
  static constexpr int64_t kFragmentRows = 16, kFragmentColumns = 8;  ///< of sums, with the others
  static constexpr int64_t kPiece = 16, kStagedPad = 8;

  DeviceEmitter& k_;
  llvm::IRBuilder<>& b_;
  const kernel::Instruction& i_;
  kernel::Tiles t_;
  const DType factor_, sum_;
  int64_t depth_ = 0, stages_ = 0, steps_ = 0, stage_bytes_ = 0, unit_bytes_ = 0;
  llvm::Type *unit_ = nullptr, *total_ = nullptr;  ///< of elements in shared memory, and of sums in registers
  Factor lhs_, rhs_;
  bool reads_ahead_ = false;             ///< fragments are read one multiplication ahead, over the meetings too
  std::vector<const Factor*> computed_;  ///< those that are not copied
  int64_t thread_rows_ = 0, thread_columns_ = 0;  ///< of a thread's sums, with the scalar unit
  llvm::Value* shared_ = nullptr;
  llvm::Value* thread_ = nullptr;                             ///< i32, in the block
  llvm::Value *warp_row_ = nullptr, *warp_column_ = nullptr;  ///< i32, of the warp's tile in the block's
  llvm::Value *lane_row_ = nullptr, *lane_column_ = nullptr;  ///< i32
};

}  // namespace calque::codegen
