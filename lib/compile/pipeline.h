#pragma once
// From a graph to native code: simplify, plan, generate.
#include "compile/executable.h"
#include "kernel/lower/build.h"

namespace calque::runtime {

/// Throws CompileError.
std::shared_ptr<const Executable> make_native_executable(const Graph& graph, std::span<const Strides> strides,
                                                         const CompileOptions& options, CompileReport& report);
/// How programs are built for the CPU, apart from the layouts of the inputs.
kernel::BuildOptions build_options(const CompileOptions& options, PassLog* log);
/// CPU name and features, and other parts of the environment that affect code: part of every cache key.
const std::string& target_key();

}  // namespace calque::runtime
