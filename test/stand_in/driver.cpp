// The entry points of CUDA's driver that Calque uses, without a GPU: devices, contexts, memory, streams, events.
#include <cstring>

#include "state.h"

using namespace stand_in;  // NOLINT: everything here is the stand-in's
namespace cuda = calque::runtime::cuda;

namespace {

constexpr int kNumber = 77;  // of device 0, so that ordinals and device handles differ

Status device(int number) {
  return number >= kNumber && number < kNumber + state().settings["devices"] ? kSuccess : 101;
}

Status enqueue(cuda::Stream stream, Work work) { return state().ask(stream, std::move(work)); }

void* pointer(cuda::Address address) { return reinterpret_cast<void*>(static_cast<uintptr_t>(address)); }

template <class Value>
Status store(cuda::Address to, Value value, size_t count, cuda::Stream stream) {
  if (!state().holds(to, count * sizeof(Value))) return state().misuse("a store outside every allocation");
  return enqueue(stream, [=] {
    for (size_t i = 0; i < count; ++i)
      std::memcpy(static_cast<std::byte*>(pointer(to)) + i * sizeof(Value), &value, sizeof(Value));
    return kSuccess;
  });
}

}  // namespace

#define ENTER(needs_context)     \
  State& s = state();            \
  std::lock_guard lock(s.mutex); \
  if (const Status failure = s.enter(__func__, needs_context); failure != kSuccess) return failure
// Calls that fail after a kernel has failed.
#define ENTER_ALIVE() \
  ENTER(true);        \
  if (s.sticky() != kSuccess) return s.sticky()

extern "C" {

Status cuInit(unsigned) {
  ENTER(false);
  return kSuccess;
}
Status cuDriverGetVersion(int* version) {
  ENTER(false);
  *version = s.settings["version"];
  return kSuccess;
}
Status cuGetErrorName(Status status, const char** name) {
  switch (status) {
    case kInvalidValue:
      *name = "CUDA_ERROR_INVALID_VALUE";
      return kSuccess;
    case kOutOfMemory:
      *name = "CUDA_ERROR_OUT_OF_MEMORY";
      return kSuccess;
    case kInvalidContext:
      *name = "CUDA_ERROR_INVALID_CONTEXT";
      return kSuccess;
    case cuda::kDeinitialized:
      *name = "CUDA_ERROR_DEINITIALIZED";
      return kSuccess;
    case cuda::kDeviceUnavailable:
      *name = "CUDA_ERROR_DEVICE_UNAVAILABLE";
      return kSuccess;
    case cuda::kIllegalAddress:
      *name = "CUDA_ERROR_ILLEGAL_ADDRESS";
      return kSuccess;
    case kInvalidPtx:
      *name = "CUDA_ERROR_INVALID_PTX";
      return kSuccess;
    case kLaunchFailed:
      *name = "CUDA_ERROR_LAUNCH_FAILED";
      return kSuccess;
    default:
      *name = "CUDA_ERROR_UNKNOWN";
      return status == 999 ? kSuccess : kInvalidValue;
  }
}
Status cuGetErrorString(Status status, const char** text) {
  *text = status == kLaunchFailed ? state().failure.c_str() : "as the stand-in was told";
  return kSuccess;
}

Status cuDeviceGetCount(int* count) {
  ENTER(false);
  *count = s.settings["devices"];
  return kSuccess;
}
Status cuDeviceGet(int* number, int ordinal) {
  ENTER(false);
  *number = kNumber + ordinal;
  return ordinal < s.settings["devices"] ? kSuccess : 101;
}
Status cuDeviceGetAttribute(int* value, int attribute, int number) {
  ENTER(false);
  const std::map<int, int> values{{16, 4},
                                  {75, s.settings["major"]},
                                  {76, s.settings["minor"]},
                                  {97, 227 << 10},
                                  {100, s.settings["host_page_tables"]}};
  const auto found = values.find(attribute);
  if (found == values.end()) return s.misuse("an unknown attribute");
  *value = found->second;
  return device(number);
}
Status cuDeviceGetName(char* name, int length, int number) {
  ENTER(false);
  std::strncpy(name, "Stand-in", static_cast<size_t>(length));
  return device(number);
}
Status cuDeviceTotalMem_v2(size_t* bytes, int number) {
  ENTER(false);
  *bytes = size_t{1} << 30;
  return device(number);
}
Status cuDeviceGetUuid(unsigned char* uuid, int number) {
  ENTER(false);
  for (int i = 0; i < 16; ++i) uuid[i] = static_cast<unsigned char>(i);
  uuid[0] = static_cast<unsigned char>(number - kNumber);
  uuid[1] = static_cast<unsigned char>(s.settings["uuid"]);
  return device(number);
}
Status cuDevicePrimaryCtxRetain(cuda::Context* context, int number) {
  ENTER(false);
  if (const Status status = device(number); status != kSuccess) return status;
  ++s.contexts[number].references;
  *context = reinterpret_cast<cuda::Context>(&s.contexts[number]);
  return kSuccess;
}
Status cuDevicePrimaryCtxRelease_v2(int number) {
  ENTER(false);
  if (s.contexts[number].references-- == 0) return s.misuse("the context is released too often");
  return device(number);
}
Status cuCtxPushCurrent_v2(cuda::Context context) {
  ENTER(false);
  for (auto& [number, one] : s.contexts) {
    if (reinterpret_cast<cuda::Context>(&one) != context || one.references == 0) continue;
    current().push_back(&one);
    return kSuccess;
  }
  return s.misuse("no context", kInvalidContext);
}
Status cuCtxPopCurrent_v2(cuda::Context* context) {
  ENTER(true);
  *context = reinterpret_cast<cuda::Context>(current().back());
  current().pop_back();
  return kSuccess;
}
Status cuThreadExchangeStreamCaptureMode(int* mode) {
  ENTER(false);
  std::swap(*mode, capture_mode());
  return kSuccess;
}

Status cuStreamCreate(cuda::Stream* stream, unsigned flags) {
  ENTER_ALIVE();
  if (flags != cuda::kStreamNonBlocking) return s.misuse("a stream that waits for the NULL stream");
  *stream = s.streams.make<cuda::Stream>({current().back(), {}, false, {}});
  return kSuccess;
}
Status cuStreamDestroy_v2(cuda::Stream stream) {
  ENTER(true);
  Stream* found = s.streams.find(stream);
  if (found != nullptr && !found->queue.empty()) s.misuse("a stream with work is destroyed");
  return s.streams.destroy(stream) ? kSuccess : s.misuse("no stream is destroyed", kInvalidHandle);
}
Status cuStreamSynchronize(cuda::Stream stream) {
  ENTER(true);
  Stream* found = s.streams.find(stream);
  return found != nullptr ? s.drain(*found) : s.misuse("no stream is waited for", kInvalidHandle);
}
Status cuEventSynchronize(cuda::Event event) {
  ENTER(true);
  Event* e = s.events.find(event);
  if (e == nullptr) return s.misuse("no event is waited for", kInvalidHandle);
  while (e->reached < e->recorded && !e->stream->queue.empty()) s.run_one(*e->stream);
  return s.sticky();
}
Status cuEventCreate(cuda::Event* event, unsigned) {
  ENTER_ALIVE();
  *event = s.events.make<cuda::Event>({});
  return kSuccess;
}
Status cuEventRecord(cuda::Event event, cuda::Stream stream) {
  ENTER(true);
  Event* e = s.events.find(event);
  if (e == nullptr) return s.misuse("no event is recorded", kInvalidHandle);
  e->stream = s.streams.find(stream);
  return enqueue(stream, [&s, e, number = ++e->recorded] {
    if (s.events.find(e) != nullptr) e->reached = number;  // it may have been destroyed
    return kSuccess;
  });
}
Status cuEventDestroy_v2(cuda::Event event) {
  ENTER(true);
  return s.events.destroy(event) ? kSuccess : s.misuse("no event is destroyed", kInvalidHandle);
}

Status cuMemAlloc_v2(cuda::Address* memory, size_t bytes) {
  ENTER_ALIVE();
  if (bytes == 0) return s.misuse("no bytes are allocated");
  if (s.memory.live_bytes() + bytes > s.most_memory) return kOutOfMemory;
  *memory = reinterpret_cast<uintptr_t>(s.memory.allocate(bytes));
  return kSuccess;
}
Status cuMemFree_v2(cuda::Address memory) {
  ENTER_ALIVE();
  if (!s.idle()) s.misuse("memory is freed while there is work");
  if (s.memory.find(pointer(memory)).begin != memory) return s.misuse("what was not allocated is freed");
  s.memory.release(pointer(memory));
  return kSuccess;
}
Status cuMemcpyHtoDAsync_v2(cuda::Address to, const void* from, size_t bytes, cuda::Stream stream) {
  ENTER(true);
  if (!s.holds(to, bytes)) return s.misuse("a copy from the host leaves its allocation");
  const auto* first = static_cast<const std::byte*>(from);
  if (s.is_registered(first) || s.settings["host_page_tables"] != 0) {  // read when the stream executes the copy
    return enqueue(stream, [to, first, bytes] {
      std::memcpy(pointer(to), first, bytes);
      return kSuccess;
    });
  }
  return enqueue(stream, [to, copy = std::vector<std::byte>(first, first + bytes)] {
    std::memcpy(pointer(to), copy.data(), copy.size());
    return kSuccess;
  });
}
Status cuMemcpyDtoHAsync_v2(void* to, cuda::Address from, size_t bytes, cuda::Stream stream) {
  ENTER(true);
  if (!s.holds(from, bytes)) return s.misuse("a copy to the host leaves its allocation");
  return enqueue(stream, [=] {
    std::memcpy(to, pointer(from), bytes);
    return kSuccess;
  });
}
// Memory that is unknown to the driver has no attributes.
Status cuPointerGetAttribute(void* value, int attribute, cuda::Address address) {
  ENTER(true);
  if (attribute != cuda::kMemoryType) return s.misuse("an attribute that pointers do not have");
  const bool of_device = s.holds(address, 1);
  if (!of_device && !s.is_registered(pointer(address))) return kInvalidValue;
  const unsigned type = of_device ? 2 : 1;
  std::memcpy(value, &type, sizeof type);
  return kSuccess;
}
Status cuMemcpyDtoDAsync_v2(cuda::Address to, cuda::Address from, size_t bytes, cuda::Stream stream) {
  ENTER(true);
  if (!s.holds(from, bytes) || !s.holds(to, bytes)) return s.misuse("a copy leaves its allocation");
  return enqueue(stream, [=] {
    std::memcpy(pointer(to), pointer(from), bytes);
    return kSuccess;
  });
}
Status cuMemsetD8Async(cuda::Address to, unsigned char value, size_t count, cuda::Stream stream) {
  ENTER(true);
  return store(to, value, count, stream);
}
Status cuMemsetD16Async(cuda::Address to, unsigned short value, size_t count, cuda::Stream stream) {
  ENTER(true);
  return store(to, value, count, stream);
}
Status cuMemsetD32Async(cuda::Address to, unsigned value, size_t count, cuda::Stream stream) {
  ENTER(true);
  return store(to, value, count, stream);
}

// ---- interface of tests

/// The call of `entry` after the next `after` ones fails.
void standInFail(const char* entry, Status status, int after) {
  std::lock_guard lock(state().mutex);
  state().injections[entry] = {status, after};
}
/// Whether all injected failures have happened.
bool standInFailed() {
  std::lock_guard lock(state().mutex);
  return state().injections.empty();
}
int standInCalls(const char* entry) {
  std::lock_guard lock(state().mutex);
  return state().calls[entry];
}
void standInLimitMemory(size_t bytes) {
  std::lock_guard lock(state().mutex);
  state().most_memory = bytes;
}
/// See State::settings.
void standInSet(const char* setting, int value) {
  std::lock_guard lock(state().mutex);
  state().settings[setting] = value;
}
/// Page-locks host memory; with 0 bytes, unlocks it.
void standInRegister(const void* memory, size_t bytes) {
  std::lock_guard lock(state().mutex);
  const auto* first = static_cast<const std::byte*>(memory);
  if (bytes == 0)
    state().registered.erase(first);
  else
    state().registered[first] = bytes;
}
size_t standInLive(const char* kind) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  const std::string k = kind;
  if (k == "stream") return s.streams.size();
  if (k == "event") return s.events.size();
  if (k == "module") return s.modules.size();
  if (k == "link") return s.links.size();
  if (k == "graph") return s.graphs.size() + s.execs.size();
  if (k == "work") {
    size_t all = 0;
    s.streams.each([&](const Stream& stream) { all += stream.queue.size(); });
    return all;
  }
  if (k == "memory") return s.memory.live_allocations();
  if (k == "library") return live_library_objects();
  if (k == "communicator") return live_communicators();
  if (k == "context") {
    int references = 0;
    for (const auto& [number, context] : s.contexts) references += context.references;
    return static_cast<size_t>(references);
  }
  return SIZE_MAX;
}
/// Moves the next detected misuse to `text`. False if there is none.
bool standInProblem(char* text, size_t bytes) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (s.problems.empty()) return false;
  std::strncpy(text, s.problems.front().c_str(), bytes - 1);
  text[bytes - 1] = '\0';
  s.problems.erase(s.problems.begin());
  return true;
}

}  // extern "C"
