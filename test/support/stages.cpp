#include "support/stages.h"

#include <utility>

#include "compile/passes.h"
#include "kernel/lower/program_passes.h"

namespace calque::test::stages {
namespace {

using runtime::Compilation;

std::string_view last_cpu_pass() { return kernel::cpu_passes().back().info.name; }

/// A compilation of a program without a schedule.
struct Native : Compilation {
  Native(const kernel::Program& unscheduled, const codegen::CodegenOptions& options)
      : Compilation(Device::Kind::cpu, {}, options.log) {
    native = options;
    program = std::make_shared<kernel::Program>(unscheduled);
  }
  std::string_view after = runtime::last_program_pass(Device::Kind::cpu);
};

codegen::DeviceImage image_of(const kernel::Program& scheduled, const codegen::DeviceOptions& options) {
  codegen::DeviceBuild build(scheduled, options);
  for (const codegen::DevicePass& pass : codegen::device_passes()) pass.run(build);
  return std::move(build.image());
}

}  // namespace

kernel::Program build_program(const Graph& simplified, const kernel::BuildOptions& options, PassLog* log) {
  Compilation c(Device::Kind::cpu, {}, log);
  c.build = options;
  c.graph = simplified;
  runtime::run_passes(c, runtime::kLastSimplification, runtime::last_program_pass(c.kind));
  return std::move(*c.program);
}

kernel::Program schedule_for_gpu(const kernel::Program& program, const kernel::GpuLimits& limits, PassLog* log) {
  Compilation c(Device::Kind::gpu, {}, log);
  c.gpu = limits;
  c.program = std::make_shared<kernel::Program>(program);
  runtime::run_passes(c, kernel::program_passes().back().info.name, runtime::last_program_pass(c.kind));
  return std::move(*c.program);
}

kernel::Program schedule_for_cpu(const kernel::Program& program, const codegen::CodegenOptions& options) {
  Native c(program, options);
  runtime::run_passes(c, c.after, last_cpu_pass());
  return std::move(*c.program);
}

std::shared_ptr<const codegen::CompiledProgram> compile(const kernel::Program& program,
                                                        const codegen::CodegenOptions& options) {
  Native c(program, options);
  runtime::run_passes(c, c.after);
  return c.native_code->linked();
}

std::string llvm_ir(const kernel::Program& program, const codegen::CodegenOptions& options) {
  Native c(program, options);
  return runtime::make_llvm_ir(c, c.after);
}

std::string assembly(const kernel::Program& program, const codegen::CodegenOptions& options) {
  Native c(program, options);
  return runtime::make_assembly(c, c.after);
}

std::string object(const kernel::Program& program, const codegen::CodegenOptions& options) {
  Native c(program, options);
  return runtime::make_object(c, c.after);
}

std::string ptx(const kernel::Program& scheduled, const codegen::DeviceOptions& options) {
  codegen::DeviceOptions code = options;
  code.form = codegen::DeviceOptions::Form::ptx;
  return image_of(scheduled, code).ptx;
}

std::string device_llvm_ir(const kernel::Program& scheduled, const codegen::DeviceOptions& options) {
  codegen::DeviceBuild build(scheduled, options);
  for (const codegen::DevicePass& pass : codegen::device_passes().first(codegen::device_passes().size() - 1))
    pass.run(build);
  return build.llvm_ir();
}

std::shared_ptr<const codegen::SimulatedProgram> simulated(const kernel::Program& scheduled,
                                                           const codegen::DeviceOptions& options) {
  codegen::DeviceOptions code = options;
  code.form = codegen::DeviceOptions::Form::simulated;
  codegen::DeviceImage image = image_of(scheduled, code);
  return codegen::link_simulated(image.simulated, std::move(image.functions));
}

codegen::DeviceImage device_image(runtime::KernelDevice& device, const kernel::Program& scheduled,
                                  const codegen::DeviceOptions& options) {
  codegen::DeviceOptions code = options;
  code.form = device.code_form();
  codegen::DeviceImage image = image_of(scheduled, code);
  device.complete(image, scheduled, code, false);
  return image;
}

}  // namespace calque::test::stages
