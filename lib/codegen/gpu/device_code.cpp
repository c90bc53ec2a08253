// One emitter and one set of passes serve both PTX and the simulator; only the last pass differs.
#include "codegen/gpu/device_code.h"

#include <algorithm>
#include <cctype>

#include "calque/ir/errors.h"

#include "codegen/device/device_emitter.h"
#include "codegen/gpu/device_module.h"
#include "codegen/llvm/flush_mode.h"
#include "codegen/llvm/module_pass.h"
#include "codegen/llvm/watched.h"
#include "kernel/buffers/call_sites.h"

namespace calque::codegen {

namespace {

constexpr std::string_view kEmitLlvm = "emit-llvm", kOptimizeLlvm = "optimize-llvm", kMachineCode = "machine-code";

constexpr PassInfo kPasses[] = {
    {kEmitLlvm, "emits LLVM IR of the kernels, device operations as calls of `cq.*` functions"},
    {kOptimizeLlvm, "passes over LLVM IR that PTX and the simulator share"},
    {kMachineCode, "lowers device operations and generates PTX, or the simulator's code for the host"},
};

TargetInfo target_of(const kernel::Program& program, const DeviceOptions& options) {
  size_t most = 0;
  for (const kernel::Kernel& k : program.kernels) {
    most = std::max(most, k.buffers.size());
    if (most > kMostParameters)
      throw CompileError("compile: kernel " + k.name + " reads and writes " + std::to_string(most) +
                         " arrays, a GPU's takes " + std::to_string(kMostParameters) + " at most");
  }
  if (most > kFewParameters && options.newest_ptx != 0 && options.newest_ptx < kPtxOfManyParameters)
    throw CompileError("compile: a kernel reads and writes " + std::to_string(most) + " arrays: more than " +
                       std::to_string(kFewParameters) +
                       " need PTX 8.1, a driver of CUDA 12.1 or later; this one reads PTX up to " +
                       std::to_string(options.newest_ptx / 10) + "." + std::to_string(options.newest_ptx % 10));
  return ptx_target(options.arch, most > kFewParameters);
}

void emit_kernels(DeviceModule& device, const kernel::Program& program, const DeviceOptions& options) {
  TargetInfo target;
  target.vector_bits = 128;
  target.half_conversion = options.half_conversion;
  target.fma = true;
  CodegenOptions code;
  code.strict = options.strict;
  code.fast_math = options.fast_math;
  code.flush_subnormals = options.flush_subnormals;
  const kernel::CallSites calls(program);
  for (size_t k = 0; k < program.kernels.size(); ++k) {
    std::string name = "k" + std::to_string(k) + "_" + program.kernels[k].name;
    std::replace_if(name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
    DeviceEmitter emitter({*device.module, target, code}, program.kernels[k], calls.overlaps(k), name);
    const DeviceKernel kernel = emitter.emit();
    if (options.flush_subnormals) kernel.function->addFnAttr(kFlushAttribute, "preserve-sign,preserve-sign");
    device.kernels.push_back(kernel.function);
    device.functions.push_back({name, kernel.blocks, kernel.threads, kernel.shared_bytes});
  }
}

LlvmOwned<DeviceModule> emit_device_module(const kernel::Program& program, const DeviceOptions& options,
                                           DeviceBackend& backend) {
  auto device = make_llvm_owned<DeviceModule>();
  device->context.setDiscardValueNames(true);
  device->module = std::make_unique<llvm::Module>(program.name, device->context);
  backend.retarget(*device->module);
  run_on(*device->module, options.log, kEmitLlvm, [&] { emit_kernels(*device, program, options); });
  backend.retarget(*device->module);
#ifndef NDEBUG
  std::string text;
  llvm::raw_string_ostream out(text);
  if (llvm::verifyModule(*device->module, &out)) throw CompileError("compile: malformed LLVM IR: " + text);
#endif
  const Watched watched(options.watch, *device->module);
  run_on(*device->module, options.log, kOptimizeLlvm, [&] { backend.optimize(*device->module); });
  return device;
}

}  // namespace

size_t most_buffers(const DeviceOptions& options) {
  // A kernel may be split into launches later, which pass values to each other through further buffers.
  const bool few = options.newest_ptx != 0 && options.newest_ptx < kPtxOfManyParameters;
  return few ? kFewParameters / 4 * 3 : kMostParameters / 4 * 3;
}

std::span<const PassInfo> device_passes() { return kPasses; }

PtxProgram compile_ptx(const kernel::Program& program, const DeviceOptions& options) {
  return inside_llvm([&] {
    const BorrowedDeviceBackend backend(target_of(program, options));
    const auto device = emit_device_module(program, options, *backend);
    const Watched watched(options.watch, *device->module);
    Stopwatch stopwatch;
    PtxProgram made = finish_ptx(*device, *backend);
    if (options.log != nullptr)
      options.log->add(kMachineCode, stopwatch.lap(), PassLog::Over::whole,
                       [&](std::ostream& out) { out << made.ptx; });
    return made;
  });
}

std::string device_llvm_ir(const kernel::Program& program, const DeviceOptions& options) {
  return inside_llvm([&] {
    const BorrowedDeviceBackend backend(target_of(program, options));
    std::string text;
    llvm::raw_string_ostream out(text);
    emit_device_module(program, options, *backend)->module->print(out, nullptr);
    return text;
  });
}

SimulatedObject compile_simulated_object(const kernel::Program& program, const DeviceOptions& options) {
  return inside_llvm([&] {
    const BorrowedDeviceBackend backend(target_of(program, options));
    const auto device = emit_device_module(program, options, *backend);
    const Watched watched(options.watch, *device->module);
    Stopwatch stopwatch;
    SimulatedObject made = finish_simulated(*device);
    if (options.log != nullptr) options.log->add(kMachineCode, stopwatch.lap());
    return made;
  });
}

std::shared_ptr<const SimulatedProgram> compile_simulated(const kernel::Program& program,
                                                          const DeviceOptions& options) {
  SimulatedObject made = compile_simulated_object(program, options);
  return link_simulated(made.object, std::move(made.functions));
}

}  // namespace calque::codegen
