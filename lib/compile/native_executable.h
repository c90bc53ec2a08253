#pragma once
// Executables of native code for the host.
#include "compile/executable.h"

namespace calque::runtime {

/// Stores the executable on disk under the key (see stored_code.h), unless that is empty. Throws CompileError.
std::shared_ptr<const Executable> make_native_executable(const Graph& graph, std::span<const Strides> strides,
                                                         const CompileOptions& options, const std::string& stored_key,
                                                         CompileReport& report);
/// Whether calls may run quickly made code while the background thread optimizes it.
bool may_run_quick_code_first(const CompileOptions& options);
/// Has the background thread optimize quickly made code of the graph that was stored on disk.
void optimize_stored(const std::shared_ptr<Executable>& executable, const Graph& graph,
                     std::span<const Strides> strides, const CompileOptions& options, const std::string& stored_key,
                     const CompileReport& report);
/// Sets the entry of the executable's code, and the types and layouts of the graph's inputs and outputs.
void set_interface(Executable& executable, const Graph& graph, std::span<const Strides> strides);
/// The processor and what CALQUE_CPU chooses now: part of every cache key.
std::string target_key();

}  // namespace calque::runtime
