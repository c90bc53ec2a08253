#pragma once
// How graphs are compiled for one kind of device: the compiler's side of the interface of devices.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compile/executable.h"

namespace calque::runtime {

class Compiler {
 public:
  virtual ~Compiler() = default;
  /// The passes from a traced graph to code, in the order in which they first run.
  virtual std::vector<PassInfo> passes() const = 0;

  // ---- the stages
  virtual Graph simplify(const Graph& graph, const CompileOptions& options, PassLog* log = nullptr) const = 0;
  /// `strides`: the layouts of the inputs, for devices whose inputs may have others than row-major ones.
  virtual kernel::Program plan(const Graph& simplified, std::span<const Strides> strides, const CompileOptions& options,
                               PassLog* log = nullptr) const = 0;
  virtual std::string llvm_ir(const kernel::Program& program, const CompileOptions& options) const = 0;
  /// Assembly or PTX.
  virtual std::string assembly(const kernel::Program& program, const CompileOptions& options) const = 0;

  /// All of them. A graph that the device cannot run is compiled for the host, or for the reference evaluator, and the
  /// log says so. `stored_key`: where to store code on disk (compile/stored_code.h), or empty. Throws CompileError.
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
