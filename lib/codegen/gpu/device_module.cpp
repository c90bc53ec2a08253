// Up to the last pass a module is the same for PTX and for the simulator.
#include "codegen/gpu/device_module.h"

#include "calque/ir/errors.h"

#include "codegen/gpu/device_text.h"
#include "codegen/gpu/lower_device_ops.h"
#include "codegen/llvm/flush_mode.h"
#include "codegen/llvm/read_llvm_ir.h"

namespace calque::codegen {

namespace {

constexpr const char* kSimulatedTable = "calque_simulated";

class LinkedSimulation final : public SimulatedProgram {
 public:
  LinkedSimulation(std::vector<Object> objects, DeviceFunctions functions)
      : functions_(std::move(functions)),
        linked_(std::move(objects), kSimulatedTable),
        table_(static_cast<const Function*>(linked_.address())) {}
  Function function(size_t kernel) const override { return table_[kernel]; }
  const DeviceFunctions& functions() const override { return functions_; }

 private:
  DeviceFunctions functions_;
  Linked linked_;
  const Function* table_;
};

/// Kernels are reached through one table, so that their names cannot clash with symbols of the process.
void make_simulated_table(DeviceModule& device) {
  llvm::Module& module = *device.module;
  std::vector<llvm::Constant*> kernels;
  for (const DeviceFunction& described : device.functions) {
    llvm::Function* f = module.getFunction(described.name);
    f->setName("simulated." + described.name);
    f->setLinkage(llvm::GlobalValue::InternalLinkage);
    // Callers built with clang's -fsanitize=function read a signature in front of the called function.
    f->setPrefixData(llvm::ConstantAggregateZero::get(llvm::ArrayType::get(llvm::Type::getInt64Ty(device.context), 2)));
    kernels.push_back(f);
  }
  auto* type = llvm::ArrayType::get(llvm::PointerType::get(device.context, 0), std::max<size_t>(kernels.size(), 1));
  kernels.resize(type->getNumElements(), llvm::Constant::getNullValue(type->getElementType()));
  new llvm::GlobalVariable(module, type, true, llvm::GlobalValue::ExternalLinkage,
                           llvm::ConstantArray::get(type, kernels), kSimulatedTable);
}

LlvmOwned<DeviceModule> read_device_text(const std::string& ir, const DeviceFunctions& functions) {
  auto device = make_llvm_owned<DeviceModule>();
  device->module = std::make_unique<llvm::Module>("text", device->context);
  read_llvm_ir(*device->module, ir);
  device->functions = functions;
  for (const DeviceFunction& described : functions) {
    llvm::Function* f = device->module->getFunction(described.name);
    if (!f || f->isDeclaration()) throw CompileError("device code: no kernel " + described.name);
    device->kernels.push_back(f);
  }
  return device;
}

}  // namespace

PtxProgram finish_ptx(DeviceModule& device, DeviceBackend& backend) {
  std::vector<int32_t> threads;
  for (const DeviceFunction& f : device.functions) threads.push_back(f.threads);
  lower_to_nvvm(*device.module, device.kernels, threads);
  const Object text = backend.emit(*device.module, llvm::CodeGenFileType::AssemblyFile);
  return {std::string(text.begin(), text.end()), device.functions};
}

SimulatedObject finish_simulated(DeviceModule& device) {
  lower_to_simulator(*device.module, device.kernels);
  device.kernels.clear();
  const TargetInfo target = resolve_target({});
  const BorrowedDeviceBackend host(target);
  host->retarget(*device.module);
  for (const DeviceFunction& described : device.functions) {
    llvm::Function& kernel = *device.module->getFunction(described.name);
    if (kernel.hasFnAttribute(kFlushAttribute) && has_flush_mode(target)) run_flushing(kernel, target, {});
  }
  make_simulated_table(device);
  const Object object = host->emit(*device.module, llvm::CodeGenFileType::ObjectFile);
  return {std::string(object.begin(), object.end()), device.functions};
}

std::shared_ptr<const SimulatedProgram> link_simulated(const std::string& object, DeviceFunctions functions) {
  return inside_llvm([&] {
    std::vector<Object> objects;
    objects.emplace_back(object.begin(), object.end());
    return std::make_shared<LinkedSimulation>(std::move(objects), std::move(functions));
  });
}

PtxProgram ptx_of_text(const std::string& ir, const DeviceFunctions& functions, const DeviceOptions& options) {
  return inside_llvm([&] {
    const BorrowedDeviceBackend backend(ptx_target(options.arch));
    const auto device = read_device_text(ir, functions);
    backend->retarget(*device->module);
    backend->optimize(*device->module);
    return finish_ptx(*device, *backend);
  });
}

std::shared_ptr<const SimulatedProgram> simulated_of_text(const std::string& ir, const DeviceFunctions& functions) {
  const SimulatedObject made = inside_llvm([&] {
    const auto device = read_device_text(ir, functions);
    const BorrowedDeviceBackend backend(ptx_target(DeviceOptions().arch));
    backend->retarget(*device->module);
    backend->optimize(*device->module);
    return finish_simulated(*device);
  });
  return link_simulated(made.object, made.functions);
}

}  // namespace calque::codegen
