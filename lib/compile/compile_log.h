#pragma once
// Reports of compilations: a line with the time of each pass (CALQUE_LOG=compile), and the program after each pass in
// a file (CALQUE_DUMP).
#include <cstddef>
#include <string>

#include "calque/ir/graph.h"

#include "ir/pass_log.h"

namespace calque::runtime {

/// A log of the passes of one compilation, which keeps the texts if CALQUE_DUMP is set.
PassLog new_pass_log();

/// Times are in seconds.
struct CompileReport {
  /// Whether the code was compiled, not found in the cache.
  bool compiled = false;
  std::string title;     ///< of the function, with its source location if that is known
  size_t equations = 0;  ///< as traced
  size_t kernels = 0;
  double trace = 0;  ///< running the lambda
  double key = 0;    ///< hashing the graph
  double load = 0;   ///< reading and linking code of the cache on disk; 0: it was made here
  PassLog passes = new_pass_log();
  double total = 0;  ///< wall time, without tracing: modules are compiled in parallel
};

/// The title of the report, else the graph's name, else "graph".
std::string title_of(const CompileReport& report, const Graph& graph);

/// The first pass. The caller, which traced the graph, records it in the log.
inline constexpr PassInfo kTracePass = {"trace", "records a graph by running the function on tracers"};

/// Writes the line if it is requested and something was compiled.
void log_compilation(const std::string& title, const CompileReport& report);
/// Writes the texts that the log keeps to files NN-PASS.txt in the folder that CALQUE_DUMP names, in the order in which
/// the passes ran; numbers go on from one compilation of the process to the next. A folder that cannot be written to is
/// reported once.
void dump_passes(const std::string& title, const PassLog& passes) noexcept;

}  // namespace calque::runtime
