#pragma once
// From a graph to native code: simplify, plan, generate.
#include "compile/executable.h"

namespace calque::runtime {

/// Throws CompileError.
std::shared_ptr<const Executable> make_native_executable(const Graph& graph, std::span<const Strides> strides,
                                                         const CompileOptions& options, CompileReport& report);
/// CPU name and features, and what else of the environment changes code: part of every key.
const std::string& target_key();

}  // namespace calque::runtime
