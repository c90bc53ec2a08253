#pragma once
// How the text of the kernel IR spells its enumerations.
#include <array>
#include <string_view>
#include <type_traits>

#include "kernel/ir/program.h"

namespace calque::kernel {

inline constexpr std::array kCombiners = {Combiner::add,  Combiner::mul, Combiner::max,    Combiner::min,
                                          Combiner::and_, Combiner::or_, Combiner::argmax, Combiner::argmin};

constexpr std::string_view spelling_of(Combiner c) {
  constexpr std::string_view kNames[] = {"add", "mul", "max", "min", "and", "or", "argmax", "argmin"};
  return kNames[static_cast<size_t>(c)];
}

inline constexpr std::array kOrigins = {KernelOrigin::pointwise, KernelOrigin::anchor_op, KernelOrigin::copy};

constexpr std::string_view spelling_of(KernelOrigin origin) {
  return origin == KernelOrigin::pointwise ? "pointwise" : origin == KernelOrigin::copy ? "copy" : "anchor_op";
}

inline constexpr std::array kBufferKinds = {BufferKind::input, BufferKind::output, BufferKind::constant,
                                            BufferKind::workspace};

constexpr std::string_view spelling_of(BufferKind kind) {
  constexpr std::string_view kNames[] = {"input", "output", "constant", "workspace"};
  return kNames[static_cast<size_t>(kind)];
}

constexpr std::string_view spelling_of(LoopKind kind) {
  constexpr std::string_view kNames[] = {"parallel", "sequential", "reduction"};
  return kNames[static_cast<size_t>(kind)];
}

inline constexpr std::array kTileUnits = {GpuTiles::Unit::scalar, GpuTiles::Unit::f16, GpuTiles::Unit::bf16,
                                          GpuTiles::Unit::tf32};

constexpr std::string_view spelling_of(GpuTiles::Unit unit) {
  constexpr std::string_view kNames[] = {"scalar", "f16", "bf16", "tf32"};
  return kNames[static_cast<size_t>(unit)];
}

/// `visit(name, field)` for the fields of tiles, in the order of the text.
template <class Tiles, class Visit>
void for_each_field(Tiles& t, Visit&& visit) {
  if constexpr (std::is_same_v<std::remove_const_t<Tiles>, ThreadTile>) {
    visit("iterations", t.iterations);
    visit("warp", t.warp);
    visit("block", t.block);
  } else if constexpr (std::is_same_v<std::remove_const_t<Tiles>, CpuTiles>) {
    visit("rows", t.rows);
    visit("vectors", t.vectors);
    visit("lanes", t.lanes);
    visit("row_block", t.row_block);
    visit("column_block", t.column_block);
    visit("k_block", t.k_block);
    visit("max_rows", t.max_rows);
    visit("pack_lhs", t.pack_lhs);
    visit("pack_rhs", t.pack_rhs);
    visit("computed_rhs", t.computed_rhs);
    visit("prefetch_lhs", t.prefetch_lhs);
    visit("streams_rhs", t.streams_rhs);
    visit("pairs", t.pairs);
  } else {
    visit("rows", t.rows);
    visit("columns", t.columns);
    visit("step_k", t.step_k);
    visit("stages", t.stages);
    visit("threads", t.threads);
    visit("warp_rows", t.warp_rows);
    visit("warp_columns", t.warp_columns);
    visit("unit", t.unit);
  }
}

}  // namespace calque::kernel
