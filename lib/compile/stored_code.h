#pragma once
// Executables in the cache on disk: what a call needs beside the types and layouts, which the key determines.
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "codegen/code_image.h"
#include "codegen/gpu/device_code.h"
#include "compile/executable.h"

namespace calque::runtime {

/// What an executable is stored under: everything that the code depends on, and the library that made it. Empty if
/// executables of these options are not stored: the cache is off, the code is quickly made or sanitized, or the passes
/// are to be dumped.
std::string stored_key(const ExecutableKey& key);

/// The executable of the graph that is stored under the key, or null. A stored executable that cannot be used is
/// removed, or replaced once the graph is compiled.
std::shared_ptr<const Executable> load_executable(const std::string& key, const Graph& graph,
                                                  std::span<const Strides> strides, const CompileOptions& options,
                                                  CompileReport& report);
/// Stores an executable, unless it calls functions of the user. Fails silently.
void store_executable(const std::string& key, const Executable& executable, const codegen::CodeImage& image,
                      size_t kernels) noexcept;
/// The same for a device's.
void store_executable(const std::string& key, const kernel::Program& program,
                      const codegen::DeviceImage& image) noexcept;
/// The cache on disk of functions of lib/math, or null when it is off.
const codegen::MathStore* stored_functions();

}  // namespace calque::runtime
