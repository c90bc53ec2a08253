#pragma once
// From a planned graph to a program: builds the kernels of each fusion group, and lays out control flow as steps of the
// entry function.
#include <string>
#include <vector>

#include "kernel/ir/program.h"
#include "plan/plan.h"

namespace calque::kernel {

/// The loops of the entry function that may run their iterations on several threads.
enum class ParallelLoops : uint8_t {
  none,
  maps,  ///< loops without carries
  sums,  ///< also loops whose carries are all sums, which are then summed in a different order, fixed by the program
};

struct BuildOptions {
  /// Strides of the inputs in elements; empty, or an empty entry, means row-major.
  std::vector<Shape::Dims> input_strides;
  /// By input: whether its memory may be overwritten. Missing entries mean no.
  std::vector<bool> donated = {};
  /// A donated input may be reused for an output of another dtype: kernels then have two buffers over the same memory,
  /// which is valid only on one thread at a time.
  bool donates_across_dtypes = true;
  /// Alignment in bytes of inputs, outputs and constants, where it exceeds that of their elements.
  int64_t alignment = 1;
  ParallelLoops parallel_loops = ParallelLoops::none;
  /// Approximate limit of a kernel: see plan::kMostBuffers.
  plan::MachineLimits limits = {};
};

/// By input of a graph: whether it is donated and dense, so that results may take over its memory.
std::vector<bool> owned_inputs(const Graph& graph, const BuildOptions& options);

/// Lowers fusion groups to kernels and control flow to steps; the passes over programs follow (program_passes.h).
Program lower(const plan::PlannedGraph& planned, const BuildOptions& options);

}  // namespace calque::kernel
