#pragma once
// Compiles optimized code on a background thread while calls run quickly made code (calque::tier::automatic).
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "compile/executable.h"

namespace calque::runtime {

/// What the background thread compiles: a program or, where there is none, a graph.
struct PendingCompilation {
  std::shared_ptr<kernel::Program> program;
  std::optional<Graph> graph;
  std::vector<Strides> strides;
  CompileOptions options;
  codegen::CodegenOptions code;
  /// Under which the code is stored on disk (see stored_code.h); empty: it is not.
  std::string stored_key;
  std::string title;  ///< for the log
  size_t equations = 0;
};

/// Whether background compilation is possible now: false while many programs are pending (their memory is bounded so)
/// and once the process is ending.
bool can_optimize_later();
/// Compiles what is pending on the background thread and replaces the entry of `executable`, unless that is gone by
/// then. If this fails, calls keep running the code that they have, and the reason is logged.
void optimize_later(const std::shared_ptr<const Executable>& executable, PendingCompilation pending);

}  // namespace calque::runtime
