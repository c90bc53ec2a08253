// All entry points are resolved when the library is opened, so that none is found missing later.
#include "runtime/cuda/cuda_driver.h"

#include <atomic>

#include <dlfcn.h>

#include "calque/ir/errors.h"

#include "ir/fork.h"

namespace calque::runtime::cuda {
namespace {

std::atomic<bool> forked{false};

/// A forked child has neither the contexts nor the driver's threads.
void watch_for_forks() {
  process_wide([] {
    static constinit ForkHooks hooks{.in_child = [] { forked.store(true); }};
    at_fork(hooks);
    return &hooks;
  });
}

/// The remedy for a failure, or nothing.
const char* remedy(Status status) {
  switch (status) {
    case kDeviceUnavailable:
      return "another process has the device to itself (exclusive compute mode), or it is being reset";
    case 3:
      return "CUDA was initialized before the process was forked, or not at all";
    case kDeinitialized:
      return "the program ends: the driver has shut down";
    case 34:
      return "this is the toolkit's stub of the driver: the loader must find the driver's own libcuda.so.1";
    case 100:
      return "CUDA_VISIBLE_DEVICES may hide the GPUs, or a container was started without them";
    case 209:
    case kUnsupportedPtx:
      return "the driver is too old for the code: a newer one is needed";
    case 221:
      return "libnvidia-ptxjitcompiler.so.1, a part of the driver, is not on the loader's path";
    case 223:
      return "CUDA_DISABLE_PTX_JIT or CUDA_DISABLE_JIT is set: unset it";
    case 802:
      return "the machine's fabric manager is not running yet";
    case 803:
      return "libcuda.so.1 and the kernel's driver are of different versions: restart the machine, or mend the "
             "container";
    case 804:
      return "a compatibility libcuda.so.1 comes before the driver's own on the loader's path";
    default:
      return nullptr;
  }
}

}  // namespace

std::string Driver::describe(Status status) const {
  const char *name = nullptr, *text = nullptr;
  if (error_name == nullptr || error_name(status, &name) != kSuccess || name == nullptr) {
    return "error " + std::to_string(status);
  }
  std::string all = name;
  if (error_text(status, &text) == kSuccess && text != nullptr) all += std::string(", ") + text;
  if (const char* what = remedy(status)) all += std::string(" (") + what + ")";
  return all;
}

// According to the driver's documentation: "leaves the process in an inconsistent state and any further CUDA work will
// return the same error", hardware errors, and contexts that were destroyed by other code.
bool loses_context(Status status) {
  switch (status) {
    case kDeinitialized:
    case 214:  // uncorrectable errors of memory
    case 220:  // uncorrectable errors of links
    case 226:  // contained uncorrectable errors
    case kIllegalAddress:
    case 702:  // a kernel ran too long
    case 703:
    case 709:  // the context is destroyed
    case 710:  // an assertion on the device
    case 714:  // hardware stack
    case 715:  // illegal instruction
    case 716:  // misaligned address
    case 717:  // address space
    case 718:  // program counter
    case kLaunchFailed:
    case 721:  // tensor memory was not given back
    case 810:  // the server that shares the GPU ended this client
    case 911:  // a device outside
      return true;
    default:
      return false;
  }
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

bool is_forked() { return forked.load(std::memory_order_relaxed); }

std::shared_ptr<const Driver> open_driver(const std::string& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    throw DeviceError("CUDA's driver cannot be opened: " + std::string(reason ? reason : library));
  }
  auto driver = std::make_shared<Driver>();
  const char* missing = nullptr;
#define CALQUE_X(member, symbol, parameters)                                       \
  driver->member = reinterpret_cast<Status(*) parameters>(dlsym(handle, #symbol)); \
  if (driver->member == nullptr && missing == nullptr) missing = #symbol;
  CALQUE_CUDA_FUNCTIONS(CALQUE_X)
#undef CALQUE_X
  const std::string needed = "; a driver of CUDA " + version_text(kOldestDriver) + " or later is needed";
  if (driver->driver_version != nullptr && driver->driver_version(&driver->version) == kSuccess &&
      driver->version < kOldestDriver) {
    throw DeviceError("CUDA's driver " + library + " is of CUDA " + version_text(driver->version) + needed);
  }
  if (missing != nullptr) throw DeviceError("CUDA's driver " + library + " has no " + missing + needed);
  driver->load_simulated =
      reinterpret_cast<decltype(driver->load_simulated)>(dlsym(handle, "calqueModuleLoadSimulated"));
  watch_for_forks();
  if (const Status status = driver->init(0); status != kSuccess) {
    throw DeviceError("CUDA's driver does not start: " + driver->describe(status));
  }
  return driver;
}

}  // namespace calque::runtime::cuda
