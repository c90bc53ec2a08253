// All work is on one stream, so that a released block of the memory pool may be reused at once.
#include "runtime/cuda/cuda_device.h"

#include <atomic>
#include <unordered_map>

#include <xxhash.h>

#include "codegen/gpu/device_build.h"
#include "ir/environment.h"
#include "ir/fork.h"
#include "ir/log.h"
#include "runtime/cuda/cubin.h"
#include "runtime/cuda/cuda_events.h"
#include "runtime/cuda/cuda_program.h"
#include "runtime/cuda/ptx_support.h"
#include "runtime/device/device_pool.h"

namespace calque::runtime {
namespace {

using cuda::Address;
using cuda::address_of;

/// Identifies modules: the code, and its launch configurations.
std::string key_of(const kernel::Program& program, const codegen::DeviceImage& image) {
  const XXH128_hash_t hash = XXH3_128bits(image.ptx.data(), image.ptx.size());
  std::string key = std::to_string(hash.low64) + "," + std::to_string(hash.high64);
  for (size_t k = 0; k < image.functions.size(); ++k) {
    const codegen::DeviceFunction& f = image.functions[k];
    for (const int64_t n : {f.blocks, int64_t{f.threads}, int64_t{f.shared_bytes},
                            static_cast<int64_t>(program.kernels[k].num_parameters())})
      key += "," + std::to_string(n);
  }
  return key;
}

/// The stream of a device.
class CudaQueue final : public DeviceQueue {
 public:
  CudaQueue(KernelDevice& api, CudaContext& context) : api_(api), context_(context) {}
  Device device() const override { return api_.device(); }
  std::string hardware() const override { return context_.uuid(); }
  void with_stream(const char* label, const std::function<void(void* stream)>& use) override {
    const CudaContext::Current current(context_);
    use(context_.stream());
    if (label != nullptr) context_.launches().add(label);
  }
  void copy(void* to, const void* from, size_t bytes) override {
    if (bytes != 0 && to != from) api_.copy(to, from, bytes);
  }
  void fill_zeros(void* to, size_t bytes) override {
    if (bytes == 0) return;
    const CudaContext::Current current(context_);
    context_.check(context_.driver().store8(address_of(to), 0, bytes, context_.stream()), "a store");
  }
  std::shared_ptr<void> scratch(size_t bytes) override {
    return {api_.allocate(bytes), [api = &api_, bytes](void* memory) { api->release(memory, bytes); }};
  }
  void synchronize() override { context_.synchronize(); }

 private:
  KernelDevice& api_;
  CudaContext& context_;
};

class CudaDevice final : public KernelDevice {
 public:
  CudaDevice(std::shared_ptr<const cuda::Driver> driver, int number)
      : KernelDevice(gpu(number)), context_(std::move(driver), number) {}
  ~CudaDevice() override { free_all(pool_.clear()); }

  kernel::GpuLimits limits() const override {
    return {.processors = context_.processors(),
            .has_library = [this] { return library_.is_found(); },
            .library_flops = least_library_flops().load(std::memory_order_relaxed)};
  }
  std::string arch() const override { return context_.arch(); }
  int newest_ptx() const override { return runtime::newest_ptx(context_.driver().version); }
  std::string description() const override {
    return context_.name() + ", " + context_.arch() + ", " + std::to_string(context_.processors()) +
           " multiprocessors, " + std::to_string(context_.memory() >> 20) + " MiB, driver of CUDA " +
           cuda::version_text(context_.driver().version);
  }
  std::string code_key() const override {
    return context_.arch() + "," + std::to_string(context_.capability()) + "," +
           std::to_string(context_.driver().version) + "," + std::to_string(context_.processors()) + "," +
           std::to_string(context_.shared_bytes_of_block()) + "," +
           std::to_string(least_library_flops().load(std::memory_order_relaxed));
  }
  void* allocate(size_t bytes) override;
  void release(void* memory, size_t bytes) noexcept override;
  void upload(void* to, const void* from, size_t bytes) override;
  void download(void* to, const void* from, size_t bytes, const Mark* mark) override;
  std::shared_ptr<const Mark> mark() override;
  void copy(void* to, const void* from, size_t bytes) override {
    const CudaContext::Current current(context_);
    context_.check(context_.driver().copy(address_of(to), address_of(from), bytes, context_.stream()), "a copy");
  }
  void store(void* to, uint32_t value, size_t bytes) override;
  void complete(codegen::DeviceImage& image, const kernel::Program& program, const codegen::DeviceOptions& options,
                bool stored) override;
  std::shared_ptr<const LoadedProgram> load(const kernel::Program& program, const codegen::DeviceOptions& options,
                                            const codegen::DeviceImage& image, const std::string& blame) override;
  void launch(const LoadedProgram& program, int32_t kernel, void* const* addresses) override {
    static_cast<const CudaProgram&>(program).launch(kernel, addresses);
  }
  void submit_chain(const LoadedProgram& program, size_t chain, std::span<void* const> buffers,
                    const MakeCommands& commands) override {
    if (!static_cast<const CudaProgram&>(program).replay(chain, buffers, commands)) {
      KernelDevice::submit_chain(program, chain, buffers, commands);
    }
  }
  void synchronize() override { context_.synchronize(); }
  DeviceQueue* queue() override { return &queue_; }
  void trim() override {
    context_.synchronize();
    free_all(pool_.clear());
    events_.clear();
    library_.trim();
  }

 private:
  cuda::Status fresh(void*& memory, size_t bytes);
  void free_all(const std::vector<MemoryPool::Block>& blocks) noexcept;

  CudaContext context_;
  CudaQueue queue_{*this, context_};
  CudaEvents events_{context_};
  mutable ProductLibrary library_{context_};
  MemoryPool pool_;
  std::atomic<size_t> held_{0};  ///< bytes of blocks in use by arrays and workspaces
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<const CudaModule>> modules_;  ///< by key_of
};

cuda::Status CudaDevice::fresh(void*& memory, size_t bytes) {
  Address address = 0;
  const cuda::Status status = context_.driver().allocate(&address, MemoryPool::block_bytes(bytes));
  memory = reinterpret_cast<void*>(static_cast<uintptr_t>(address));
  return status;
}

// The driver reads page-locked memory when it executes the copy.
void CudaDevice::upload(void* to, const void* from, size_t bytes) {
  const CudaContext::Current current(context_);
  context_.check(context_.driver().upload(address_of(to), from, bytes, context_.stream()), "a copy from the host");
  if (!context_.is_staged(from, bytes)) CudaMark(context_, events_).wait();
}

// After a mark, the copy is on a separate stream, so that work that was submitted later continues.
void CudaDevice::download(void* to, const void* from, size_t bytes, const Mark* mark) {
  const CudaContext::Current current(context_);
  const uint64_t launched = context_.launches().count();
  if (mark != nullptr) static_cast<const CudaMark*>(mark)->wait();
  const cuda::Stream stream = mark != nullptr ? context_.fetches() : context_.stream();
  context_.check(context_.driver().download(to, address_of(from), bytes, stream), "a copy to the host");
  context_.check(context_.driver().stream_synchronize(stream), "waiting for a copy to the host");
  if (mark == nullptr) context_.launches().ended(launched);
}

std::shared_ptr<const Mark> CudaDevice::mark() {
  const CudaContext::Current current(context_);
  return std::make_shared<CudaMark>(context_, events_);
}

void* CudaDevice::allocate(size_t bytes) {
  if (bytes == 0) return nullptr;
  void* memory = pool_.take(bytes);
  if (memory == nullptr) {
    const CudaContext::Current current(context_);
    cuda::Status status = fresh(memory, bytes);
    if (status == cuda::kOutOfMemory) {
      trim();
      status = fresh(memory, bytes);
    }
    if (status == cuda::kOutOfMemory) {
      throw DeviceFailure(to_string(device()) + ": out of memory, " + std::to_string(bytes) + " bytes asked for, " +
                          std::to_string(held_.load(std::memory_order_relaxed)) + " in use of " +
                          std::to_string(context_.memory()));
    }
    context_.check(status, "memory cannot be allocated");
  }
  held_.fetch_add(MemoryPool::block_bytes(bytes), std::memory_order_relaxed);
  return memory;
}

void CudaDevice::release(void* memory, size_t bytes) noexcept {
  if (memory == nullptr) return;
  held_.fetch_sub(MemoryPool::block_bytes(bytes), std::memory_order_relaxed);
  pool_.give(memory, bytes);
  if (pool_.kept_bytes() > context_.memory() / 2) free_all(pool_.clear(context_.memory() / 4));
}

// Pending work may use these blocks, so Idle waits for it.
void CudaDevice::free_all(const std::vector<MemoryPool::Block>& blocks) noexcept {
  if (blocks.empty()) return;
  const CudaContext::Idle idle(context_);
  if (!idle) return;
  for (const MemoryPool::Block& block : blocks) context_.driver().free(address_of(block.memory));
}

void CudaDevice::store(void* to, uint32_t value, size_t bytes) {
  const CudaContext::Current current(context_);
  const cuda::Driver& driver = context_.driver();
  const cuda::Stream stream = context_.stream();
  const cuda::Status status = bytes == 1 ? driver.store8(address_of(to), static_cast<unsigned char>(value), 1, stream)
                              : bytes == 2
                                  ? driver.store16(address_of(to), static_cast<unsigned short>(value), 1, stream)
                                  : driver.store32(address_of(to), value, 1, stream);
  context_.check(status, "a store");
}

void CudaDevice::complete(codegen::DeviceImage& image, const kernel::Program& program,
                          const codegen::DeviceOptions& options, bool stored) {
  if (program.kernels.empty()) return;
  const cuda::Driver& driver = context_.driver();
  if (stored) {
    const CudaContext::Current current(context_);
    image.cubin = cubin_of(driver, image.ptx);
  }
  if (driver.load_simulated == nullptr) return;
  // A driver that stands in for the GPU's runs the simulator's code.
  codegen::DeviceOptions simulated = options;
  simulated.form = codegen::DeviceOptions::Form::simulated;
  simulated.log = nullptr;
  codegen::DeviceBuild build(program, simulated);
  for (const codegen::DevicePass& pass : codegen::device_passes()) pass.run(build);
  image.simulated = std::move(build.image().simulated);
}

std::shared_ptr<const LoadedProgram> CudaDevice::load(const kernel::Program& program,
                                                      const codegen::DeviceOptions& options,
                                                      const codegen::DeviceImage& image, const std::string& blame) {
  const std::string key = key_of(program, image);
  const auto made = [&](std::shared_ptr<const CudaModule> module) {
    CudaLaunches launches{std::move(module), library_.calls_for(program, options), &library_};
    return std::make_shared<const CudaProgram>(context_, std::move(launches), blame);
  };
  if (program.kernels.empty()) return made(nullptr);
  {
    std::lock_guard lock(mutex_);
    if (const auto found = modules_.find(key); found != modules_.end()) {
      if (auto module = found->second.lock()) return made(std::move(module));
    }
  }
  std::shared_ptr<const codegen::SimulatedProgram> simulated;
  if (context_.driver().load_simulated != nullptr)
    simulated = codegen::link_simulated(image.simulated, image.functions);
  auto module = std::make_shared<const CudaModule>(context_, program, image, std::move(simulated), blame);
  std::lock_guard lock(mutex_);
  std::erase_if(modules_, [](const auto& entry) { return entry.second.expired(); });
  modules_[key] = module;
  return made(std::move(module));
}

std::atomic<const CudaDevices*> in_use{nullptr};

}  // namespace

CudaDevices open_cuda_devices(const std::string& library) {
  CudaDevices all;
  try {
    const auto driver = cuda::open_driver(library);
    all.driver_version = driver->version;
    int count = 0;
    if (const cuda::Status status = driver->device_count(&count); status != cuda::kSuccess) {
      throw DeviceError("CUDA's driver shows no devices: " + driver->describe(status));
    }
    if (count == 0) all.problem = "CUDA's driver shows no devices";
    for (int i = 0; i < count; ++i) {
      std::string problem;
      std::unique_ptr<KernelDevice> device;
      try {
        device = std::make_unique<CudaDevice>(driver, i);
      } catch (const DeviceError& e) {
        problem = e.what();
        library_log().info("{}", problem);
      }
      all.devices.push_back(std::move(device));
      all.problems.push_back(std::move(problem));
    }
  } catch (const DeviceError& e) {
    all.problem = e.what();
    library_log().info("{}", e.what());
  }
  return all;
}

const CudaDevices& cuda_devices() {
  return process_wide([] {
    const char* const library = variable("CALQUE_LIBCUDA");
    const bool named = library != nullptr && *library != '\0';
    const auto* opened = new CudaDevices(open_cuda_devices(named ? library : "libcuda.so.1"));
    in_use.store(opened, std::memory_order_release);
    return opened;
  });
}

const CudaDevices* cuda_devices_in_use() { return in_use.load(std::memory_order_acquire); }

}  // namespace calque::runtime
