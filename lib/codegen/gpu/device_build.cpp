// One emitter and one set of passes serve both PTX and the simulator; only the last pass differs.
#include "codegen/gpu/device_build.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <sstream>
#include <utility>

#include "calque/ir/errors.h"

#include "codegen/device/device_emitter.h"
#include "codegen/gpu/device_module.h"
#include "codegen/llvm/flush_mode.h"
#include "codegen/llvm/module_pass.h"
#include "codegen/llvm/read_llvm_ir.h"
#include "codegen/llvm/watched.h"
#include "kernel/buffers/call_sites.h"

namespace calque::codegen {

namespace {

constexpr std::string_view kEmitLlvm = "emit-llvm", kOptimizeLlvm = "optimize-llvm", kMachineCode = "machine-code",
                           kLaunchAttribute = "cq-launch";

TargetInfo target_of(const kernel::Program& program, const DeviceOptions& options) {
  size_t most = 0;
  for (const kernel::Kernel& k : program.kernels) {
    most = std::max(most, k.num_parameters());
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
  code.form = CodegenOptions::Form::object;  // with the functions of lib/math
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
    kernel.function->addFnAttr(kLaunchAttribute, std::to_string(kernel.blocks) + ' ' + std::to_string(kernel.threads) +
                                                     ' ' + std::to_string(kernel.shared_bytes));
  }
}

/// Finds the kernels of a module by their attribute.
void find_kernels(DeviceModule& device) {
  for (llvm::Function& f : *device.module) {
    if (!f.hasFnAttribute(kLaunchAttribute)) continue;
    DeviceFunction described{f.getName().str(), 0, 0, 0};
    std::istringstream launch(f.getFnAttribute(kLaunchAttribute).getValueAsString().str());
    if (!(launch >> described.blocks >> described.threads >> described.shared_bytes) || f.isDeclaration() ||
        described.blocks < 1 || described.threads < 1 || described.threads % 32 != 0 || described.threads > 1024 ||
        described.shared_bytes < 0)
      throw CompileError("LLVM IR: " + described.name + " has no launch of blocks, threads and bytes of shared memory");
    device.kernels.push_back(&f);
    device.functions.push_back(described);
  }
}

TargetInfo target_of(const DeviceModule& device, const DeviceOptions& options) {
  size_t most = 0;
  for (const llvm::Function* kernel : device.kernels) most = std::max(most, kernel->arg_size());
  return ptx_target(options.arch, most > kFewParameters);
}

LlvmOwned<DeviceModule> new_module(const std::string& name) {
  auto device = make_llvm_owned<DeviceModule>();
  device->context.setDiscardValueNames(true);
  device->module = std::make_unique<llvm::Module>(name, device->context);
  return device;
}

LlvmOwned<DeviceModule> read_module(const std::string& llvm_ir) {
  auto device = new_module("graph");
  read_llvm_ir(*device->module, llvm_ir);
  find_kernels(*device);
  return device;
}

}  // namespace

size_t most_buffers(const DeviceOptions& options) {
  // A kernel may be split into launches later, which pass values to each other through further buffers.
  const bool few = options.newest_ptx != 0 && options.newest_ptx < kPtxOfManyParameters;
  return few ? kFewParameters / 4 * 3 : kMostParameters / 4 * 3;
}

struct DeviceBuild::State {
  State(const kernel::Program& scheduled, const DeviceOptions& how)
      : program(&scheduled), options(how), device(new_module(scheduled.name)), backend(target_of(scheduled, how)) {}
  State(const std::string& llvm_ir, const DeviceOptions& how)
      : options(how), device(read_module(llvm_ir)), backend(target_of(*device, how)) {
    backend->retarget(*device->module);
  }

  void emit_llvm() {
    backend->retarget(*device->module);
    run_on(*device->module, options.log, kEmitLlvm, [&] { emit_kernels(*device, *program, options); });
    backend->retarget(*device->module);
#ifndef NDEBUG
    std::string text;
    llvm::raw_string_ostream out(text);
    if (llvm::verifyModule(*device->module, &out)) throw CompileError("compile: malformed LLVM IR: " + text);
#endif
  }

  void optimize() {
    const Watched watched(options.watch, *device->module);
    run_on(*device->module, options.log, kOptimizeLlvm, [&] { backend->optimize(*device->module); });
  }

  void make_machine_code() {
    const Watched watched(options.watch, *device->module);
    Stopwatch stopwatch;
    if (options.form == DeviceOptions::Form::ptx) {
      PtxProgram made = finish_ptx(*device, *backend);
      image.functions = std::move(made.functions);
      image.ptx = std::move(made.ptx);
    } else {
      SimulatedObject made = finish_simulated(*device);
      image.functions = std::move(made.functions);
      image.simulated = std::move(made.object);
    }
    if (options.log != nullptr)
      options.log->add(kMachineCode, stopwatch.lap(), PassLog::Over::whole,
                       [&](std::ostream& out) { out << image.ptx; });
  }

  std::optional<LlvmScope> scope{std::in_place};  ///< around all that follows
  const kernel::Program* program = nullptr;       ///< null if the module is read
  DeviceOptions options;
  LlvmOwned<DeviceModule> device;
  BorrowedDeviceBackend backend;
  DeviceImage image;
};

struct DevicePasses {
  template <void (DeviceBuild::State::*work)()>
  static void pass(DeviceBuild& build) {
    try {
      inside_llvm([&] { ((*build.state_).*work)(); });
    } catch (...) {  // it may have passed through LLVM, whose objects are then never touched again
      build.state_->scope.reset();
      keep_for_good(build.state_.release());
      throw;
    }
  }

  using State = DeviceBuild::State;
  static constexpr DevicePass kList[] = {
      {{kEmitLlvm, "emits LLVM IR of the kernels, device operations as calls of `cq.*` functions"},
       &pass<&State::emit_llvm>},
      {{kOptimizeLlvm, "passes over LLVM IR that PTX and the simulator share"}, &pass<&State::optimize>},
      {{kMachineCode, "lowers device operations and generates PTX, or the simulator's code for the host"},
       &pass<&State::make_machine_code>},
  };
};

std::span<const DevicePass> device_passes() { return DevicePasses::kList; }

DeviceBuild::DeviceBuild(const kernel::Program& program, const DeviceOptions& options)
    : state_(inside_llvm([&] { return std::make_unique<State>(program, options); })) {}

DeviceBuild::DeviceBuild(const std::string& llvm_ir, const DeviceOptions& options)
    : state_(inside_llvm([&] { return std::make_unique<State>(llvm_ir, options); })) {}

DeviceBuild::~DeviceBuild() = default;

std::string DeviceBuild::llvm_ir() const {
  return inside_llvm([&] {
    std::string text;
    llvm::raw_string_ostream out(text);
    state_->device->module->print(out, nullptr);
    return text;
  });
}

DeviceImage& DeviceBuild::image() { return state_->image; }

}  // namespace calque::codegen
