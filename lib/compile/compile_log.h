#pragma once
// What CALQUE_LOG=compile shows: one line for each compilation, which says where its time went.
#include <cstddef>
#include <string>

#include "codegen/codegen.h"

namespace calque::runtime {

/// Times are seconds.
struct CompileReport {
  /// The code was not there yet.
  bool compiled = false;
  size_t equations = 0;  ///< as traced
  size_t kernels = 0;
  double trace = 0;     ///< running the lambda
  double key = 0;       ///< hashing the graph
  double simplify = 0;  ///< inlining, folding, sharing
  double plan = 0;      ///< what becomes a kernel
  double build = 0;     ///< the kernels, steps and workspace of the program
  codegen::CodegenTimes code;
  double total = 0;  ///< from the clock: modules are compiled side by side
};

/// Writes the line if it is asked for and something was compiled.
void log_compilation(const std::string& title, const CompileReport& report);

}  // namespace calque::runtime
