#pragma once
// A graph compiled for a device: the host interprets the steps of its program and launches their kernels.
#include <memory>
#include <span>
#include <string>

#include "codegen/gpu/device_code.h"
#include "compile/executable.h"

namespace calque::runtime {

/// A program that runs on a device. All inputs and outputs are in device memory, dense and row-major.
class DeviceProgram {
 public:
  virtual ~DeviceProgram() = default;
  /// Starts one call. Propagates exceptions of host functions. Throws DeviceFailure.
  virtual void run(std::span<void* const> inputs, std::span<void* const> outputs) const = 0;
};

/// The executable of code that was generated for the graph in another process, on such a device. Throws CompileError
/// when the device refuses the code.
std::shared_ptr<const Executable> load_device_executable(const Graph& graph, kernel::Program program,
                                                         const codegen::DeviceImage& image,
                                                         const CompileOptions& options);
/// PTX of the graph for options.device; when that is the CPU, for the first GPU or else the oldest supported target.
std::string ptx_of(const Graph& graph, CompileOptions options);

}  // namespace calque::runtime
