#pragma once
// Compiles device code from LLVM IR text whose device operations are calls of `cq.*` functions (device_ops.h), as
// device_llvm_ir prints it. No LLVM name appears here.
#include "codegen/gpu/device_code.h"

namespace calque::codegen {

/// `functions` names the kernels of the text. Throws CompileError, with line and column where the text is malformed.
PtxProgram ptx_of_text(const std::string& ir, const DeviceFunctions& functions, const DeviceOptions& options);
std::shared_ptr<const SimulatedProgram> simulated_of_text(const std::string& ir, const DeviceFunctions& functions);

}  // namespace calque::codegen
