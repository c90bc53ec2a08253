#pragma once
// One compilation: how a function is compiled, and the function in the form that the passes so far have given it.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calque/device.h"
#include "calque/ir/graph.h"

#include "codegen/gpu/device_build.h"
#include "codegen/native_build.h"
#include "compile/compile_options.h"
#include "kernel/lower/build.h"
#include "kernel/schedule_cpu/schedule_cpu.h"
#include "kernel/schedule_gpu/schedule_gpu.h"
#include "plan/plan.h"

namespace calque::runtime {

/// What passes (compile/passes.h) read and write. Used and destroyed on one thread; after an exception of a pass it is
/// only destroyed.
struct Compilation {
  /// For options.device; with `kind` gpu and options.device the CPU: for a GPU of the default limits. `strides`: the
  /// layouts of the inputs, for devices whose inputs may have others than row-major ones. `log` may be null.
  Compilation(Device::Kind kind, const CompileOptions& options, PassLog* log = nullptr);
  Compilation(Graph graph, std::span<const Strides> strides, const CompileOptions& options, PassLog* log = nullptr);
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  // ---- how
  Device::Kind kind;
  PassLog* log;
  kernel::BuildOptions build;
  codegen::CodegenOptions native;
  kernel::GpuLimits gpu;
  codegen::DeviceOptions device;
  /// Functions of constants are folded as the generated code would compute them.
  math::MathForms forms() const;

  // ---- the function; each form is made of the one before, which the later passes do not read
  Graph graph;
  std::optional<plan::PlannedGraph> plan;
  /// Of the graph until a schedule rewrites it. Shared, since it may be compiled again.
  std::shared_ptr<kernel::Program> program;
  std::optional<kernel::CpuSchedule> schedule;
  /// LLVM IR that was read back, in place of a program.
  std::string llvm_ir;
  std::optional<codegen::NativeBuild> native_code;
  std::optional<codegen::DeviceBuild> device_code;
};

/// How code is generated for the host, and for options.device. Throws DeviceError when that is not available.
codegen::CodegenOptions codegen_options(const CompileOptions& options);
codegen::DeviceOptions device_code_options(const CompileOptions& options);
/// How programs are built for a CPU, and for options.device.
kernel::BuildOptions build_options(const CompileOptions& options);
kernel::BuildOptions device_build_options(const CompileOptions& options);
/// What the schedule for options.device depends on.
kernel::GpuLimits gpu_limits(const CompileOptions& options);

}  // namespace calque::runtime
