#pragma once
// Emits one contraction of a kernel: emit_contraction.cpp emits the loops and tiles, packing.cpp packs the factors.
#include "codegen/emit/emitter.h"
#include "kernel/ir/factor_access.h"
#include "kernel/ir/tiles.h"

namespace calque::codegen {

using kernel::ceil_div;
using kernel::round_up;

class ContractionEmitter {
 public:
  ContractionEmitter(KernelEmitter& kernel, const kernel::Instruction& i)
      : k_(kernel),
        b_(kernel.builder()),
        i_(i),
        t_(*i.cpu_tiles),
        lhs_(access_of(kernel.kernel(), i.regions[0])),
        rhs_(access_of(kernel.kernel(), i.regions[1])),
        factor_(kernel.dtype(i.regions[0].instructions.back().operands[0])),
        sum_(kernel.dtype(i.regions[2].parameters[2])),
        element_(kernel.ops().register_type(sum_)),
        unit_(t_.pairs ? static_cast<llvm::Type*>(kernel.builder().getInt32Ty()) : element_),
        lanes_(t_.lanes),
        panel_(t_.vectors * t_.lanes),
        blocks_(ceil_div(i.extent, t_.k_block)),
        row_block_(i.threads || blocks_ > 1 ? t_.max_rows : i.rows) {}

  void emit();

 private:
  using Body = std::function<void(llvm::Value*)>;

  // ---- helpers
  llvm::Value* integer(int64_t v) { return b_.getInt64(static_cast<uint64_t>(v)); }
  llvm::Value* add(llvm::Value* a, llvm::Value* b) { return b_.CreateAdd(a, b, "", true, true); }
  llvm::Value* add(llvm::Value* a, int64_t b) { return b == 0 ? a : add(a, integer(b)); }
  llvm::Value* mul(llvm::Value* a, int64_t b) { return b == 1 ? a : b_.CreateMul(a, integer(b), "", true, true); }
  llvm::Value* sub(llvm::Value* a, llvm::Value* b) { return b_.CreateSub(a, b); }
  llvm::Value* smaller(llvm::Value* a, llvm::Value* b) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b); }
  llvm::Value* at(llvm::Type* type, llvm::Value* base, llvm::Value* offset) {
    return b_.CreateInBoundsGEP(type, base, offset);
  }
  llvm::Value* at(llvm::Type* type, llvm::Value* base, int64_t offset) {
    return offset == 0 ? base : at(type, base, integer(offset));
  }
  llvm::Type* vector(llvm::Type* type, unsigned lanes) { return llvm::FixedVectorType::get(type, lanes); }
  /// for (i = begin; i < end; i += step), possibly without any iteration.
  void loop(llvm::Value* begin, llvm::Value* end, int64_t step, const Body& body);
  /// Emits `body` under a condition.
  void when(llvm::Value* condition, const std::function<void()>& body);
  static bool constant(llvm::Value* v, int64_t& out);

  // ---- factors
  struct Lanes {
    unsigned count;
    llvm::Value* mask = nullptr;
  };
  /// An element of a factor (lanes 0), or a vector of them along one of its two parameters.
  llvm::Value* factor(size_t which, llvm::Value* first, llvm::Value* second, int along, const Lanes& lanes);
  /// The address of a plain factor's element.
  llvm::Value* address(size_t which, llvm::Value* first, llvm::Value* second);
  llvm::Value* widened(llvm::Value* v) { return is_half(factor_) && !t_.pairs ? k_.ops().widen(v, factor_) : v; }
  llvm::Value* interleave(llvm::Value* a, llvm::Value* b, unsigned lanes);
  Values transposed_squares(const Values& from, unsigned lanes);

  // ---- memory
  void allocate();
  void pack_rhs(llvm::Value* n0, llvm::Value* full, llvm::Value* k0, llvm::Value* k_extent);
  using Panel = std::function<void(llvm::Value* to, llvm::Value* n, int64_t vectors, unsigned rest)>;
  void each_panel(llvm::Value* n0, llvm::Value* full, const Panel& body);
  void pack_row(llvm::Value* to, llvm::Value* n, int64_t vectors, unsigned rest, llvm::Value* k0, llvm::Value* k,
                llvm::Value* k_extent);
  void pack_transposed(llvm::Value* to, llvm::Value* n, int64_t vectors, unsigned rest, llvm::Value* k0,
                       llvm::Value* k_extent);
  void pack_lhs(llvm::Value* m, int64_t rows, llvm::Value* k0, llvm::Value* k_extent);
  void pack_lhs_rows(llvm::Value* m, int64_t rows, llvm::Value* k0, llvm::Value* k_extent);
  void pack_lhs_columns(llvm::Value* m, int64_t rows, llvm::Value* k0, llvm::Value* k_extent);
  bool lhs_by_columns() const { return lhs_.plain && lhs_.stride[0] == 1 && lhs_.stride[1] != 1; }
  /// Units of packed factors that pack_transposed reads at once: 16 bytes, within which registers are shuffled at least
  /// cost, or a vector.
  unsigned transposed_units() const { return std::min(lanes_, 16 / static_cast<unsigned>(size_of(sum_))); }
  bool rhs_transposed() const { return rhs_.plain && rhs_.stride[0] == 1 && rhs_.stride[1] != 1; }

  // ---- tiles
  struct TileCoordinates {
    llvm::Value *m, *n;          ///< the tile's first row and column
    llvm::Value *k0, *k_extent;  ///< its first K element, and the number of them
    llvm::Value *row, *panel;    ///< its position within the block, in tiles
    int64_t rows, vectors;
    unsigned rest;  ///< lanes of the last vector that exist; 0: all
  };
  struct Source {
    llvm::Value* base = nullptr;                  ///< null: elements are computed
    int64_t by_row = 0, by_k = 0;                 ///< in elements
    llvm::Type *type = nullptr, *unit = nullptr;  ///< of elements, and of loads
  };
  void block(llvm::Value* m0, llvm::Value* n0, llvm::Value* rows);
  void block_of_k(llvm::Value* m0, llvm::Value* n0, llvm::Value* rows, llvm::Value* number);
  void row_of_tiles(TileCoordinates coordinates, llvm::Value* full);
  void tile(const TileCoordinates& p);
  bool is_unrolled(const TileCoordinates& p, int64_t k_extent) const;
  Source lhs_source(const TileCoordinates& p);
  Source rhs_source(const TileCoordinates& p);
  Values accumulate(const TileCoordinates& p, const Values& start);
  Values rank_one_update(const Source& a, const Source& b, const TileCoordinates& p, llvm::Value* k, int64_t ahead,
                         const Values& accumulators);
  llvm::Value* lhs_at(const Source& a, llvm::Value* k, int64_t ahead, int64_t row);
  llvm::Value* rhs_at(const Source& b, const TileCoordinates& p, llvm::Value* k, int64_t ahead, int64_t vector);
  llvm::Value* multiply_add(llvm::Value* a, llvm::Value* b, llvm::Value* sum);
  Values add_partial_sums(const TileCoordinates& p, const Values& accumulators);
  llvm::Value* partial_sums(const TileCoordinates& p);
  void prefetch(const TileCoordinates& p);
  void prefetch_line(llvm::Value* at, int64_t bytes, bool write);
  void store_partial_sums(const TileCoordinates& p, const Values& accumulators);
  void finish(const TileCoordinates& p, const Values& accumulators);
  void epilogue(llvm::Value* m, llvm::Value* n, llvm::Value* sum, unsigned rest);
  llvm::Value* first_lanes(unsigned count, unsigned lanes);

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const kernel::Instruction& i_;
  const kernel::CpuTiles t_;
  const kernel::FactorAccess lhs_, rhs_;
  const DType factor_, sum_;
  llvm::Type *element_, *unit_;  ///< of accumulators, and of packed factors (pairs of bf16 or elements)
  const unsigned lanes_;
  const int64_t panel_;      ///< columns of a tile
  const int64_t blocks_;     ///< K blocks
  const int64_t row_block_;  ///< rows for which a block of the right factor is packed once
  int64_t row_step_ = 0;     ///< from row to row of the packed left factor, in elements of the factor
  llvm::Value *packed_lhs_ = nullptr, *packed_rhs_ = nullptr, *partial_sums_ = nullptr, *spill_ = nullptr;
  llvm::Value* k_block_index_ = nullptr;  ///< of the current K block
  llvm::Value* column_end_ = nullptr;     ///< one past the last column of the block of the result
};

/// Bytes of a cache line, to which packed factors are aligned.
inline constexpr uint64_t kLine = 64;

}  // namespace calque::codegen
