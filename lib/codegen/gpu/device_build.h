#pragma once
// Device code of a program in the making, and the passes that make it. Independent of LLVM.
#include <memory>
#include <span>
#include <string>

#include "codegen/gpu/device_code.h"
#include "ir/pass_log.h"
#include "kernel/ir/program.h"

namespace calque::codegen {

/// What the passes from a program to device code read and write. Constructed, used and destroyed on one thread.
class DeviceBuild {
 public:
  /// `program` is scheduled for a GPU; emit-llvm reads it. Throws CompileError for kernels with more buffers than the
  /// options' PTX allows, and for unknown architectures.
  DeviceBuild(const kernel::Program& program, const DeviceOptions& options);
  /// From the text of LLVM IR that emit-llvm or optimize-llvm left: kernels have the attribute `cq-launch`. Throws
  /// CompileError, with line and column where the text is malformed.
  DeviceBuild(const std::string& llvm_ir, const DeviceOptions& options);
  ~DeviceBuild();
  DeviceBuild(const DeviceBuild&) = delete;
  DeviceBuild& operator=(const DeviceBuild&) = delete;

  /// LLVM IR, before machine-code: device operations are calls of `cq.*` functions, and `cq-launch` are blocks, threads
  /// of a block and bytes of shared memory.
  std::string llvm_ir() const;
  /// After machine-code: PTX, or the object that the simulator runs.
  DeviceImage& image();

  struct State;

 private:
  friend struct DevicePasses;
  std::unique_ptr<State> state_;
};

struct DevicePass {
  PassInfo info;
  void (*run)(DeviceBuild& build) = nullptr;
};

/// The passes in order. Each records itself in the log of the build's options.
std::span<const DevicePass> device_passes();

}  // namespace calque::codegen
