// Allocations are exactly as large as requested, so that the simulator detects accesses beyond them.
#include "runtime/simulator/simulated_device.h"

#include <bit>
#include <cstring>
#include <new>

#include "ir/fork.h"
#include "runtime/simulator/simulator.h"

namespace calque::runtime {
namespace {

struct SimulatedCode final : LoadedProgram {
  std::shared_ptr<const codegen::SimulatedProgram> program;
  std::vector<size_t> parameters;  ///< how many, by kernel
  std::string blame;
};

class SimulatedDevice final : public KernelDevice {
 public:
  SimulatedDevice() : KernelDevice(gpu_sim()) {}
  std::string code_key() const override { return "simulator"; }
  codegen::DeviceOptions::Form code_form() const override { return codegen::DeviceOptions::Form::simulated; }
  void* allocate(size_t bytes) override;
  void release(void* memory, size_t) noexcept override {
    if (memory != nullptr) memory_.release(memory);
  }
  void upload(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void download(void* to, const void* from, size_t bytes, const Mark*) override { std::memcpy(to, from, bytes); }
  void copy(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void store(void* to, uint32_t value, size_t bytes) override {
    static_assert(std::endian::native == std::endian::little);
    std::memcpy(to, &value, bytes);
  }
  std::shared_ptr<const LoadedProgram> load(const kernel::Program& program, const codegen::DeviceOptions&,
                                            const codegen::DeviceImage& image, const std::string& blame) override {
    auto code = std::make_shared<SimulatedCode>();
    code->program = codegen::link_simulated(image.simulated, image.functions);
    for (const kernel::Kernel& k : program.kernels) code->parameters.push_back(k.num_parameters());
    code->blame = blame;
    return code;
  }
  void launch(const LoadedProgram& program, int32_t kernel, void* const* addresses) override;
  void synchronize() override {}

 private:
  SimulatedMemory memory_;
};

void* SimulatedDevice::allocate(size_t bytes) try {
  return bytes == 0 ? nullptr : memory_.allocate(bytes);
} catch (const std::bad_alloc&) {
  throw DeviceFailure("gpu_sim: out of memory, " + std::to_string(bytes) + " bytes asked for, " +
                      std::to_string(memory_.live_bytes()) + " in use");
}

void SimulatedDevice::launch(const LoadedProgram& program, int32_t kernel, void* const* addresses) try {
  const auto& code = static_cast<const SimulatedCode&>(program);
  const auto number = static_cast<size_t>(kernel);
  runtime::launch(*code.program, number, std::span(addresses, code.parameters[number]), memory_);
} catch (const DeviceError& e) {
  throw DeviceFailure("gpu_sim: " + std::string(e.what()) + static_cast<const SimulatedCode&>(program).blame);
}

}  // namespace

KernelDevice& simulated_device() {
  return process_wide([] { return new SimulatedDevice; });
}

}  // namespace calque::runtime
