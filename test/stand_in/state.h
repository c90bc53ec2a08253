#pragma once
// State of the stand-in for CUDA's driver: live handles, the streams' queues, and detected misuse. The work of a stream
// is deferred until it is waited for.
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "codegen/gpu/device_code.h"
#include "runtime/cuda/cuda_driver.h"
#include "runtime/simulator/simulated_memory.h"

namespace stand_in {

using calque::runtime::cuda::Status;
inline constexpr Status kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kInvalidContext = 201, kOtherGpu = 209,
                        kInvalidPtx = 218, kInvalidHandle = 400, kNotFound = 500, kLaunchFailed = 719;

/// A device's primary context.
struct Context {
  int references = 0;
  Status sticky = kSuccess;  ///< the error of a failed kernel
};
struct Stream;
struct Event {
  Stream* stream = nullptr;
  uint64_t recorded = 0, reached = 0;  ///< number of recordings, and the latest that the stream has reached
};
using Work = std::function<Status()>;
struct Stream {
  Context* context = nullptr;
  std::deque<Work> queue;
  bool captures = false;  ///< submitted work is recorded in place of being executed
  std::vector<Work> captured;
};
struct Module {
  std::map<std::string, size_t> parameters;  ///< of each entry in the PTX
  const calque::codegen::SimulatedProgram* program = nullptr;
};
struct Function {
  Module* module = nullptr;
  std::string name;
  size_t kernel = 0, parameters = 0;
  int dynamic_shared = 48 << 10;
};
/// PTX that is compiled to a cubin.
struct Link {
  Context* context = nullptr;
  std::string ptx, cubin;
};
struct Node;
struct Graph {
  std::vector<Node*> nodes;
};
struct Node {
  Graph* graph = nullptr;
  std::vector<Node*> before = {};
  enum class Kind : uint8_t { kernel, copy, store, graph } kind = Kind::kernel;
  Work work;
  const Function* function = nullptr;
  size_t size = 1;  ///< units of work
};
struct GraphExec {
  Graph* graph = nullptr;
  std::vector<Node*> order;  ///< a legal order, as different from the order of creation as possible
  std::map<Node*, Work> work;
};

/// The handles of one kind.
template <class T>
class Handles {
 public:
  template <class H>
  H make(T value) {
    auto* object = new T(std::move(value));
    live_.insert(object);
    return reinterpret_cast<H>(object);
  }
  /// Null for dead handles.
  T* find(const void* handle) const {
    auto* object = static_cast<T*>(const_cast<void*>(handle));
    return live_.contains(object) ? object : nullptr;
  }
  bool destroy(const void* handle) {
    T* object = find(handle);
    if (object == nullptr) return false;
    live_.erase(object);
    delete object;
    return true;
  }
  size_t size() const { return live_.size(); }
  template <class Visit>
  void each(Visit&& visit) const {
    for (T* object : live_) visit(*object);
  }

 private:
  std::set<T*> live_;
};

/// Objects of the stand-ins for cuBLASLt and NCCL, defined there.
size_t live_library_objects();
size_t live_communicators();

struct State {
  std::recursive_mutex mutex;
  std::map<int, Context> contexts;  ///< by device
  /// Properties of the machine, as tests set them: number of devices, version of the driver and others.
  std::map<std::string, int> settings{{"devices", 1}, {"version", 12040},      {"major", 9},
                                      {"minor", 0},   {"host_page_tables", 0}, {"foreign_capture", 0},
                                      {"uuid", 0},    {"nccl_version", 22809}, {"nccl_async_error", 0}};
  Handles<Stream> streams;
  Handles<Event> events;
  Handles<Module> modules;
  Handles<Link> links;
  Handles<Function> functions;
  Handles<Graph> graphs;
  Handles<GraphExec> execs;
  calque::runtime::SimulatedMemory memory;
  size_t most_memory = SIZE_MAX;
  std::vector<std::string> problems;
  std::string failure;                            ///< message of a failed kernel
  std::map<const std::byte*, size_t> registered;  ///< page-locked host memory: address, and bytes
  std::map<std::string, int> calls;
  struct Injection {
    Status status = kSuccess;
    int after = 0;
  };
  std::map<std::string, Injection> injections;

  /// Counts a call; the injected failure, if there is one.
  Status enter(const char* entry, bool needs_context);
  Status injected(const char* entry);
  /// The sticky error of the calling thread's context.
  Status sticky() const;
  bool is_registered(const void* from) const;
  Status misuse(const std::string& what, Status status = kInvalidValue) {
    problems.push_back(what);
    return status;
  }
  /// The calling thread's context has no pending work.
  bool idle() const;
  /// Submits work to a stream.
  Status ask(calque::runtime::cuda::Stream stream, Work work);
  /// Executes all pending work of the stream.
  Status drain(Stream& stream);
  Status run_one(Stream& stream);
  /// How a cubin of this GPU and driver begins; the PTX that it was made of follows.
  std::string cubin_header();
  /// The bytes lie in one allocation.
  bool holds(calque::runtime::cuda::Address address, size_t bytes) const;
};
State& state();
/// The calling thread's stack of current contexts.
std::vector<Context*>& current();
/// The calling thread's capture mode: 0 global, 2 relaxed.
int& capture_mode();

}  // namespace stand_in
