#pragma once
// Parts of the list of passes for tests of what stands below it: a program of a graph, and code of a program.
#include <memory>
#include <string>

#include "calque/ir/graph.h"

#include "codegen/codegen.h"
#include "codegen/gpu/device_code.h"
#include "kernel/ir/program.h"
#include "kernel/lower/build.h"
#include "kernel/schedule_gpu/schedule_gpu.h"
#include "runtime/device/device_api.h"

namespace calque::test::stages {

/// The program of a simplified graph, before it is scheduled for a target. `log` may be null.
kernel::Program build_program(const Graph& simplified, const kernel::BuildOptions& options = {},
                              PassLog* log = nullptr);
/// The program scheduled for a GPU.
kernel::Program schedule_for_gpu(const kernel::Program& program, const kernel::GpuLimits& limits,
                                 PassLog* log = nullptr);
/// The program scheduled for a CPU.
kernel::Program schedule_for_cpu(const kernel::Program& program, const codegen::CodegenOptions& options = {});

/// Code of a program that has no schedule yet.
std::shared_ptr<const codegen::CompiledProgram> compile(const kernel::Program& program,
                                                        const codegen::CodegenOptions& options);
std::string llvm_ir(const kernel::Program& program, const codegen::CodegenOptions& options);
std::string assembly(const kernel::Program& program, const codegen::CodegenOptions& options);
std::string object(const kernel::Program& program, const codegen::CodegenOptions& options);

/// Code of a program that is scheduled for a GPU.
std::string ptx(const kernel::Program& scheduled, const codegen::DeviceOptions& options);
std::string device_llvm_ir(const kernel::Program& scheduled, const codegen::DeviceOptions& options);
std::shared_ptr<const codegen::SimulatedProgram> simulated(const kernel::Program& scheduled,
                                                           const codegen::DeviceOptions& options);
/// In the form that the device loads.
codegen::DeviceImage device_image(runtime::KernelDevice& device, const kernel::Program& scheduled,
                                  const codegen::DeviceOptions& options);

}  // namespace calque::test::stages
