#pragma once
// Schedules a program for a GPU: each kernel becomes one or several launches whose loops are mapped to threads. The
// result is a program of the same kind: values are passed between launches in the workspace, and executed sequentially,
// ignoring the mapping, it computes the same values (if it has no stores with combiners).
#include <functional>
#include <span>
#include <string_view>

#include "ir/pass_log.h"
#include "kernel/ir/program.h"

namespace calque::kernel {

/// Properties of a GPU that the schedule depends on.
struct GpuLimits {
  int32_t processors = 132;        ///< streaming multiprocessors
  int32_t threads_of_block = 256;  ///< default block size
  bool fast_math = false;          ///< f32 products may use tf32
  bool deterministic = false;      ///< floats are never combined in an order that varies from run to run
  /// Kernels of less work (executed instructions) are one launch of one thread group.
  double small_work = 1 << 14;
  /// Reductions and cumulative loops of this extent or more are split into chunks of at least `least_chunk` iterations.
  int64_t long_loop = 1 << 14, least_chunk = 2048;
  /// Whether a library computes matrix products of at least `library_flops` operations; null if it never does. Asked
  /// only where something was fused behind such a product (see split_product in stages.cpp).
  std::function<bool()> has_library;
  double library_flops = 0;
  /// Column reductions with too few threads to fill the device are split into chunks of at least this many rows.
  int64_t least_rows = 32;
};

/// A pass over a program whose workspace has its offsets.
struct GpuPass {
  PassInfo info;
  void (*run)(Program& program, const GpuLimits& limits) = nullptr;
};
/// In order.
std::span<const GpuPass> gpu_passes();

}  // namespace calque::kernel
