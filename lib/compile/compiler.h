#pragma once
// How graphs are compiled for one kind of device: the compiler's side of the interface of devices.
#include <memory>
#include <span>
#include <string>

#include "compile/executable.h"

namespace calque::runtime {

class Compiler {
 public:
  virtual ~Compiler() = default;
  /// Runs the passes of the device (compile/passes.h). A graph that the device cannot run is compiled for the host, or
  /// for the reference evaluator, and the log says so. `stored_key`: where to store code on disk
  /// (compile/stored_code.h), or empty. Throws CompileError.
  virtual std::shared_ptr<const Executable> compile(const Graph& graph, std::span<const Strides> strides,
                                                    const CompileOptions& options, const std::string& stored_key,
                                                    CompileReport& report) const = 0;
};

/// Native code for the host.
const Compiler& host_compiler();
/// Kernels for GPUs and the simulator.
const Compiler& kernel_device_compiler();
const Compiler& compiler_of(Device::Kind kind);

}  // namespace calque::runtime
