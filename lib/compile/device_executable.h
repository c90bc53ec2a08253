#pragma once
// A graph compiled for a device: the steps of its program are walked on the host, which launches what they name.
#include <memory>
#include <span>
#include <string>

#include "codegen/gpu/device_code.h"
#include "compile/executable.h"

namespace calque::runtime {

/// What runs on a device. All inputs and outputs lie in its memory, dense and row-major.
class DeviceProgram {
 public:
  virtual ~DeviceProgram() = default;
  /// Starts one call. Throws what a host function throws, and DeviceFailure.
  virtual void run(std::span<void* const> inputs, std::span<void* const> outputs) const = 0;
};

/// The scheduled program of a simplified graph for a device (of any GPU, when `device` is the CPU).
kernel::Program plan_for_device(const Graph& simplified, const CompileOptions& options);
/// What `simplified_graph` is for a device.
Graph simplified_for_device(const Graph& graph, const CompileOptions& options);
/// The options of code for options.device. Throws DeviceError when it is not there.
codegen::DeviceOptions device_code_options(const CompileOptions& options);
/// PTX of the graph for options.device; when that is the CPU, for the first GPU, or the oldest that is supported.
std::string ptx_of(const Graph& graph, CompileOptions options);

/// Compiles for options.device. What cannot run there runs on the host, and the log says so. Throws CompileError.
std::shared_ptr<const Executable> make_device_executable(const Graph& graph, const CompileOptions& options,
                                                         CompileReport& report);

}  // namespace calque::runtime
