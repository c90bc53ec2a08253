#pragma once
// From a graph to a program: plans each graph, builds the kernels of each fusion group, lays out control flow as steps
// of the entry function and assigns every intermediate value its offset in one workspace.
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
  size_t most_buffers = plan::kMostBuffers;
  /// Of the compilation; may be null.
  PassLog* log = nullptr;
};

/// The passes before those over programs (program_passes.h), apart from those of the plan.
inline constexpr PassInfo kPreparePass = {"prepare", "rewrites what kernels and steps have no form for"},
                          kCanonicalizePass = {"canonicalize", "puts equations into canonical order"},
                          kLowerPass = {"lower", "lowers fusion groups to kernels and control flow to steps"};

/// All passes from a simplified graph to a program, in the order in which they first run: on the graph, on the plan of
/// each graph and sub-graph, on the program.
std::vector<PassInfo> build_passes(ParallelLoops parallel_loops);

/// The pass kLowerPass.
Program lower(const plan::PlannedGraph& planned, const BuildOptions& options);

/// Builds the program of a simplified graph without call-like equations. Throws CompileError for what the CPU cannot
/// run (complex numbers).
Program build_program(const Graph& graph, const BuildOptions& options = {});
/// The same from the graph that kPreparePass, or kCanonicalizePass, made.
Program build_prepared(const Graph& graph, const BuildOptions& options);
Program build_canonical(const Graph& graph, const BuildOptions& options);

}  // namespace calque::kernel
