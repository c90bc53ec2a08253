#pragma once
// A graph compiled for a device: the host interprets the steps of its program and launches their kernels.
#include <memory>
#include <span>
#include <string>

#include "codegen/gpu/device_code.h"
#include "compile/executable.h"
#include "kernel/lower/build.h"
#include "kernel/schedule_gpu/schedule_gpu.h"

namespace calque::runtime {

/// A program that runs on a device. All inputs and outputs are in device memory, dense and row-major.
class DeviceProgram {
 public:
  virtual ~DeviceProgram() = default;
  /// Starts one call. Propagates exceptions of host functions. Throws DeviceFailure.
  virtual void run(std::span<void* const> inputs, std::span<void* const> outputs) const = 0;
};

/// The scheduled program of a simplified graph for options.device (for the CPU, with default GPU limits).
kernel::Program plan_for_device(const Graph& simplified, const CompileOptions& options, PassLog* log = nullptr);
/// How programs are built for options.device, and what their schedule depends on.
kernel::BuildOptions device_build_options(const CompileOptions& options, PassLog* log);
kernel::GpuLimits gpu_limits(const CompileOptions& options);
/// The counterpart of `simplified_graph` for devices.
Graph simplified_for_device(const Graph& graph, const CompileOptions& options, PassLog* log = nullptr);
/// Code generation options for options.device. Throws DeviceError when it is not available.
codegen::DeviceOptions device_code_options(const CompileOptions& options);
/// The executable of code that was generated for the graph in another process, on such a device. Throws CompileError
/// when the device refuses the code.
std::shared_ptr<const Executable> load_device_executable(const Graph& graph, kernel::Program program,
                                                         const codegen::DeviceImage& image,
                                                         const CompileOptions& options);
/// PTX of the graph for options.device; when that is the CPU, for the first GPU or else the oldest supported target.
std::string ptx_of(const Graph& graph, CompileOptions options);

}  // namespace calque::runtime
