#include "compile/compilation.h"

#include <utility>

#include "compile/stored_code.h"
#include "compile/watchdog.h"
#include "runtime/device/device_api.h"
#include "runtime/process/environment.h"

namespace calque::runtime {
namespace {

// The minimum alignment of device allocations.
constexpr int64_t kDeviceAlignment = 64;

}  // namespace

codegen::CodegenOptions codegen_options(const CompileOptions& options) {
  codegen::CodegenOptions o;
  o.strict = options.strict;
  o.fast_math = options.fast_math;
  o.flush_subnormals = options.flush_subnormals || options.fast_math;
  o.sanitize = environment().sanitize;
  o.watch = compile_watchdog();
  o.math = stored_functions();
  return o;
}

codegen::DeviceOptions device_code_options(const CompileOptions& options) {
  const DeviceApi& api = device_api(options.device);
  codegen::DeviceOptions code{.form = api.code_form(),
                              .strict = options.strict,
                              .fast_math = options.fast_math,
                              .flush_subnormals = options.flush_subnormals || options.fast_math};
  code.arch = api.arch();
  code.newest_ptx = api.newest_ptx();
  code.watch = compile_watchdog();
  return code;
}

kernel::BuildOptions build_options(const CompileOptions& options) {
  kernel::BuildOptions build;
  build.donated = options.donated;
  build.parallel_loops = options.strict ? kernel::ParallelLoops::maps : kernel::ParallelLoops::sums;
  return build;
}

/// An H200 multiplies and adds 1.9e13 times a second and moves 4e12 bytes: 38 operations in the time of a load and a
/// store of 4 bytes. Integers and the functions of the special units are slower.
constexpr double kDeviceOperationsPerPass = 24;

kernel::BuildOptions device_build_options(const CompileOptions& options) {
  kernel::BuildOptions build;
  build.alignment = kDeviceAlignment;
  build.donates_across_dtypes = false;
  build.donated = options.donated;
  build.limits.most_buffers = codegen::most_buffers(device_code_options(options));
  build.limits.operations_per_pass = kDeviceOperationsPerPass;
  return build;
}

kernel::GpuLimits gpu_limits(const CompileOptions& options) {
  kernel::GpuLimits limits = device_api(options.device).limits();
  limits.fast_math = options.fast_math;
  limits.deterministic = options.deterministic || options.strict;
  if (options.strict) limits.has_library = nullptr;
  return limits;
}

Compilation::Compilation(Device::Kind for_kind, const CompileOptions& options, PassLog* pass_log)
    : kind(for_kind), log(pass_log) {
  if (kind == Device::Kind::cpu) {
    build = build_options(options);
    native = codegen_options(options);
    native.log = log;
  } else {
    build = device_build_options(options);
    gpu = gpu_limits(options);
    device = device_code_options(options);
    device.log = log;
  }
}

Compilation::Compilation(Graph traced, std::span<const Strides> strides, const CompileOptions& options,
                         PassLog* pass_log)
    : Compilation(options.device.kind, options, pass_log) {
  graph = std::move(traced);
  if (kind == Device::Kind::cpu) build.input_strides.assign(strides.begin(), strides.end());
}

math::MathForms Compilation::forms() const {
  if (kind == Device::Kind::cpu) return codegen::math_forms(native);
  return {.fused = true, .estimates = false, .fast_math = device.fast_math && !device.strict};
}

}  // namespace calque::runtime
