#pragma once
// Compiles optimized code on a background thread while calls run quickly made code (calque::tier::automatic).
#include <memory>
#include <string>

#include "codegen/codegen.h"
#include "compile/executable.h"

namespace calque::runtime {

/// Whether background compilation is possible now: false while many programs are pending (their memory is bounded so)
/// and once the process is ending.
bool can_optimize_later();
/// Compiles `program`, which has its schedule, on the background thread and replaces the entry of `executable`, unless
/// that is gone by then. Stores the optimized code on disk under the key, unless that is empty (see stored_code.h). If
/// this fails, calls keep running the code that they have, and the reason is logged.
void optimize_later(const std::shared_ptr<const Executable>& executable, std::shared_ptr<kernel::Program> program,
                    codegen::CodegenOptions options, std::string stored_key, std::string title, size_t equations);

}  // namespace calque::runtime
