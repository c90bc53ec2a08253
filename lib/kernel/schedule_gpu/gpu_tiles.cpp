// Larger tiles load less per multiplication, but all multiprocessors must be kept busy: the chosen tile is the one
// whose last block finishes first. The choice depends only on the shape of the product and the dtype of its factors, so
// that all callers get the same tile.
#include "kernel/schedule_gpu/gpu_tiles.h"

#include <algorithm>
#include <array>
#include <span>

#include "kernel/ir/tiles.h"

namespace calque::kernel {

namespace {

constexpr int64_t kProcessors = 132;
/// Bytes of a factor's row along K in one step, and of all factors in shared memory.
constexpr int64_t kStepBytes = 64, kSharedBytes = 96 * 1024;
/// Products smaller than this run as plain loops.
constexpr int64_t kLeastSide = 8, kLeastElements = 256, kLeastK = 4;

struct TileShape {
  int32_t rows, columns, warp_rows, warp_columns;
  double speed;  ///< relative to the largest, with enough blocks
};

constexpr std::array kMatrixShapes = {TileShape{128, 256, 64, 64, 1.0}, TileShape{128, 128, 64, 32, 0.85},
                                      TileShape{128, 64, 32, 32, 0.7},  TileShape{64, 128, 32, 32, 0.7},
                                      TileShape{64, 64, 32, 32, 0.55},  TileShape{64, 32, 32, 16, 0.35},
                                      TileShape{32, 64, 16, 32, 0.35},  TileShape{32, 32, 16, 16, 0.25},
                                      TileShape{16, 64, 16, 16, 0.2},   TileShape{64, 16, 16, 16, 0.2}};

// The first needs more registers than there are for elements of 8 bytes.
constexpr std::array kScalarShapes = {
    TileShape{128, 128, 32, 64, 1.0}, TileShape{128, 64, 32, 32, 0.95}, TileShape{64, 128, 32, 32, 0.95},
    TileShape{64, 64, 32, 32, 0.85},  TileShape{64, 32, 32, 16, 0.6},   TileShape{32, 64, 16, 32, 0.6},
    TileShape{32, 32, 16, 16, 0.45},  TileShape{16, 64, 16, 16, 0.35},  TileShape{64, 16, 16, 16, 0.35}};

std::optional<GpuTiles::Unit> unit_of(DType factor, bool fast_math) {
  if (factor == DType::f16) return GpuTiles::Unit::f16;
  if (factor == DType::bf16) return GpuTiles::Unit::bf16;
  if (factor == DType::f32 && fast_math) return GpuTiles::Unit::tf32;
  if (is_bool(factor) || is_complex(factor)) return std::nullopt;
  return GpuTiles::Unit::scalar;
}

/// How often the loops around the product execute it; nothing if it is not in the region.
std::optional<int64_t> repetitions(const Region& region, const Instruction& product) {
  for (const Instruction& i : region.instructions) {
    if (&i == &product) return 1;
    for (const Region& inner : i.regions)
      if (const auto n = repetitions(inner, product)) return *n * (i.op == Op::loop ? i.extent : 1);
  }
  return std::nullopt;
}

TileShape choose_shape(std::span<const TileShape> shapes, const Instruction& product, int64_t batch) {
  TileShape best = shapes[0];
  double least = 1e300;
  for (const TileShape& s : shapes) {
    const int64_t count = batch * ceil_div(product.rows, s.rows) * ceil_div(product.columns, s.columns);
    const double time = static_cast<double>(ceil_div(count, kProcessors) * s.rows * s.columns) / s.speed;
    if (time >= least) continue;
    least = time;
    best = s;
  }
  return best;
}

}  // namespace

std::optional<GpuTiles> choose_gpu_tiles(const Kernel& kernel, const Instruction& contraction, bool fast_math) {
  const int64_t rows = contraction.rows, columns = contraction.columns;
  if (std::min(rows, columns) < kLeastSide || rows * columns < kLeastElements || contraction.extent < kLeastK)
    return std::nullopt;
  const Id factor = contraction.regions[0].instructions.back().operands[0];
  const DType dtype = kernel.values[static_cast<size_t>(factor)];
  const auto unit = unit_of(dtype, fast_math);
  if (!unit) return std::nullopt;
  const bool scalar = *unit == GpuTiles::Unit::scalar;
  std::span<const TileShape> shapes = kMatrixShapes;
  if (scalar) shapes = std::span(kScalarShapes).subspan(size_of(dtype) == 8 ? 1 : 0);
  const TileShape s = choose_shape(shapes, contraction, repetitions(kernel.body, contraction).value_or(1));
  GpuTiles t;
  t.rows = s.rows;
  t.columns = s.columns;
  t.warp_rows = s.warp_rows;
  t.warp_columns = s.warp_columns;
  t.unit = *unit;
  t.threads = 32 * (s.rows / s.warp_rows) * (s.columns / s.warp_columns);
  // Integers narrower than a register are widened to one.
  const auto bytes =
      scalar ? std::max<int64_t>(4, static_cast<int64_t>(size_of(dtype))) : static_cast<int64_t>(size_of(dtype));
  t.step_k = kStepBytes / bytes;
  t.stages = static_cast<int32_t>(std::min<int64_t>(4, kSharedBytes / (kStepBytes * (t.rows + t.columns))));
  return t;
}

}  // namespace calque::kernel
