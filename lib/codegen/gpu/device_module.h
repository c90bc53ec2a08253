#pragma once
// A module of device code between the emitter and PTX or the simulator.
#include <memory>

#include "codegen/gpu/device_backend.h"
#include "codegen/gpu/device_code.h"
#include "codegen/llvm/backend_target.h"

namespace calque::codegen {

struct DeviceModule {
  DeviceModule() { throw_errors_of(context); }
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::vector<llvm::Function*> kernels;
  DeviceFunctions functions;
};

/// Runs the last passes and emits code. `backend` is the one that optimised the module.
PtxProgram finish_ptx(DeviceModule& device, DeviceBackend& backend);
SimulatedObject finish_simulated(DeviceModule& device);

}  // namespace calque::codegen
