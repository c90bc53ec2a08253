// Memory is the host's, exactly as large as what was asked for, so that the simulator sees an access beyond it.
#include "runtime/gpu/simulated_device.h"

#include <bit>
#include <cstdlib>
#include <cstring>

namespace calque::runtime {
namespace {

struct SimulatedCode final : LoadedProgram {
  std::shared_ptr<const codegen::SimulatedProgram> program;
  std::string blame;
};

class SimulatedDevice final : public DeviceApi {
 public:
  SimulatedDevice() : DeviceApi(gpu_sim()) {}
  std::string code_key() const override { return "simulator"; }
  void* allocate(size_t bytes) override {
    return bytes == 0 ? nullptr : std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  }
  void release(void* memory, size_t) noexcept override { std::free(memory); }
  void upload(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void download(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void copy(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void store(void* to, uint32_t value, size_t bytes) override {
    static_assert(std::endian::native == std::endian::little);
    std::memcpy(to, &value, bytes);
  }
  std::shared_ptr<const LoadedProgram> load(const kernel::Program& program, const codegen::DeviceOptions& options,
                                            const std::string& blame) override {
    auto code = std::make_shared<SimulatedCode>();
    code->program = codegen::compile_simulated(program, options);
    code->blame = blame;
    return code;
  }
  void launch(const LoadedProgram& program, int32_t kernel, void* const* addresses) override;
  void synchronize() override {}
};

void SimulatedDevice::launch(const LoadedProgram& program, int32_t kernel, void* const* addresses) {
  const auto& code = static_cast<const SimulatedCode&>(program);
  code.program->function(static_cast<size_t>(kernel))(nullptr, addresses);
}

}  // namespace

DeviceApi& simulated_device() {
  static DeviceApi& one = *new SimulatedDevice;
  return one;
}

}  // namespace calque::runtime
