#pragma once
// From a graph to a program: plans each graph, builds a kernel for each group, lays out control flow as steps of the
// entry function and gives every intermediate value its place in one workspace.
#include <string>
#include <vector>

#include "kernel/ir/program.h"
#include "plan/plan.h"

namespace calque::kernel {

/// Which loops of the entry function may run their iterations on several threads.
enum class ParallelLoops : uint8_t {
  none,
  maps,  ///< those that carry nothing from one iteration to the next
  sums,  ///< also those that carry nothing but sums, which are then summed in another order: one fixed by the program
};

struct BuildOptions {
  /// Strides of the inputs in elements; empty, or an empty entry, means row-major.
  std::vector<Shape::Dims> input_strides;
  /// By input: its memory may be overwritten. Shorter means no.
  std::vector<bool> donated = {};
  /// A donated input may take an output of another dtype: kernels then have two buffers in one place, which only one
  /// thread at a time can bear.
  bool donates_across_dtypes = true;
  /// Bytes to which inputs, outputs and constants are aligned, where that is more than their elements'.
  int64_t alignment = 1;
  ParallelLoops parallel_loops = ParallelLoops::none;
  /// Of a kernel, about: see plan::kMostBuffers.
  size_t most_buffers = plan::kMostBuffers;
};

/// Builds the program of a simplified graph without call-like equations. Throws CompileError for what
/// the CPU cannot run (complex numbers).
Program build_program(const Graph& graph, const BuildOptions& options = {});

}  // namespace calque::kernel
