#pragma once
// The runtime's interface of a device: its memory, the limits of code for it, and for GPUs the launches of kernels. How
// graphs are compiled for it is compile/compiler.h. Work is executed in submission order, as on one stream; only
// `download` and `synchronize` wait for it. Released memory may be reused by work that is submitted later.
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calque/device.h"
#include "calque/ir/any_array.h"
#include "calque/ir/collectives.h"
#include "calque/ir/errors.h"
#include "calque/ir/location.h"

#include "codegen/gpu/device_code.h"
#include "kernel/schedule_gpu/schedule_gpu.h"
#include "runtime/memory/workspace.h"

namespace calque::runtime {

/// A failure of a device.
class DeviceFailure : public CallFailure {
  using CallFailure::CallFailure;
};

/// The code of a program, ready to be launched. Dropping it unloads it.
class LoadedProgram {
 public:
  virtual ~LoadedProgram() = default;
};

/// A point in the order of a device's work.
class Mark {
 public:
  virtual ~Mark() = default;
};

/// One unit of work.
struct Command {
  enum class Kind : uint8_t { launch, copy, store };
  Kind kind = Kind::launch;
  int32_t kernel = -1;             ///< launch: of the program
  std::vector<void*> addresses{};  ///< launch: of the kernel's buffers; copy: to, from; store: to
  size_t bytes = 0;                ///< copy, store
  uint32_t value = 0;              ///< store: the lowest 1, 2 or 4 bytes
};

using MakeCommands = std::function<std::vector<Command>()>;

/// What the library asks of every device: the CPU, GPUs and the simulator.
class DeviceApi {
 public:
  virtual ~DeviceApi() = default;
  Device device() const { return device_; }

  // ---- code
  /// Properties that the schedule of kernels depends on. These, `arch` and `newest_ptx` also hold for a device that
  /// launches no kernels, where PTX is only printed.
  virtual kernel::GpuLimits limits() const { return {}; }
  /// The architecture that PTX is made for: sm_90a.
  virtual std::string arch() const { return "sm_80"; }
  /// The form of the code that it loads.
  virtual codegen::DeviceOptions::Form code_form() const { return codegen::DeviceOptions::Form::ptx; }
  /// The newest PTX that its driver reads: 84 is 8.4. 0: any.
  virtual int newest_ptx() const { return 0; }
  /// Identifies everything but the graph and the host's target that code for this device depends on.
  virtual std::string code_key() const = 0;
  /// Whether code may combine floats in an order that varies between runs, unless it is compiled as deterministic.
  virtual bool varies_order_of_sums() const = 0;

  // ---- memory
  /// 256-byte aligned, uninitialized memory; null for zero bytes. Throws DeviceFailure when out of memory.
  virtual void* allocate(size_t bytes) = 0;
  virtual void release(void* memory, size_t bytes) noexcept = 0;
  /// The bytes at `from` may change when it returns.
  virtual void upload(void* to, const void* from, size_t bytes) = 0;
  /// Waits for all submitted work, or only for the work before the mark.
  virtual void download(void* to, const void* from, size_t bytes, const Mark* mark = nullptr) = 0;
  virtual void copy(void* to, const void* from, size_t bytes) = 0;
  /// The array in the memory of this device; the same array if it is there already.
  virtual AnyArray put(const AnyArray& array) = 0;
  /// Returns unused memory to the system.
  virtual void trim() {}

  // ---- order
  virtual void synchronize() = 0;
  /// Marks the current point in the order of work. Null if work is synchronous.
  virtual std::shared_ptr<const Mark> mark() { return nullptr; }

  /// For groups of processes that communicate among arrays in the device's memory. Null if its arrays are communicated
  /// through the host's.
  virtual DeviceQueue* queue() { return nullptr; }

  /// The hardware and its driver, in words.
  virtual std::string description() const { return {}; }

 protected:
  explicit DeviceApi(Device device) : device_(device) {}

 private:
  Device device_;
};

/// A device with memory of its own that launches kernels: a GPU or the simulator.
class KernelDevice : public DeviceApi {
 public:
  bool varies_order_of_sums() const override { return true; }
  AnyArray put(const AnyArray& array) override;
  /// Adds to the code that was generated for a scheduled program what the device itself makes of it. `stored`: other
  /// processes will load it too. Throws CompileError.
  virtual void complete([[maybe_unused]] codegen::DeviceImage& image, [[maybe_unused]] const kernel::Program& program,
                        [[maybe_unused]] const codegen::DeviceOptions& options, [[maybe_unused]] bool stored) {}
  /// Loads code that was generated for, and completed, of the same program for the same options, here or in another
  /// process whose device has the same `code_key`. Initializes no code generator. `blame` is appended to the messages
  /// of its errors. Throws CompileError when the device refuses the code.
  virtual std::shared_ptr<const LoadedProgram> load(const kernel::Program& program,
                                                    const codegen::DeviceOptions& options,
                                                    const codegen::DeviceImage& image, const std::string& blame) = 0;
  virtual void launch(const LoadedProgram& program, int32_t kernel, void* const* addresses) = 0;
  /// Stores the lowest `bytes` (1, 2 or 4) bytes of `value`.
  virtual void store(void* to, uint32_t value, size_t bytes) = 0;
  void submit(const LoadedProgram& program, const Command& command);
  /// Submits a chain of the program: work that is the same in every call but for the addresses of the program's
  /// buffers, with which `commands` makes it.
  virtual void submit_chain(const LoadedProgram& program, [[maybe_unused]] size_t chain,
                            [[maybe_unused]] std::span<void* const> buffers, const MakeCommands& commands) {
    for (const Command& command : commands()) submit(program, command);
  }

 protected:
  using DeviceApi::DeviceApi;
};

/// Whether arrays on the device are in the host's memory, so that code for it is called with their addresses. Asked
/// about every argument of every call, therefore no virtual function.
constexpr bool has_host_memory(Device device) { return device.kind == Device::Kind::cpu; }

/// The device, which lives as long as the process. Throws DeviceError, beginning with `operation`, when it is not
/// available.
DeviceApi& device_api(Device device, std::string_view operation = "device", Location location = {});
/// The same for a device that launches kernels. Throws DeviceError for others.
KernelDevice& kernel_device(Device device, std::string_view operation = "device", Location location = {});

}  // namespace calque::runtime
