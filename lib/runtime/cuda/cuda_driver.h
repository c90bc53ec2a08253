#pragma once
// CUDA's driver, loaded at run time: its entry points as a table of pointers, declared as far as they are used. Names,
// numbers and layouts are those of the driver's interface (CUDA 12, stable since 11.4).
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "codegen/gpu/device_code.h"

namespace calque::runtime::cuda {

using Status = int;
inline constexpr Status kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kDeinitialized = 4, kDeviceUnavailable = 46,
                        kUnsupportedPtx = 222, kIllegalAddress = 700, kLaunchFailed = 719;
/// The oldest driver that has all entry points below: of CUDA 11.4.
inline constexpr int kOldestDriver = 11040;
using Address = unsigned long long;
inline Address address_of(const void* memory) { return reinterpret_cast<Address>(memory); }
using Context = struct ContextObject*;
using Stream = struct StreamObject*;
using Event = struct EventObject*;
using Module = struct ModuleObject*;
using Function = struct FunctionObject*;
using Graph = struct GraphObject*;
using GraphExec = struct GraphExecObject*;
using Node = struct NodeObject*;
using Link = struct LinkObject*;

enum DeviceAttribute : int {
  kMultiprocessors = 16,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kSharedMemoryOfBlock = 97,
  kUsesHostPageTables = 100,  ///< it reads host memory directly, page-locked or not
};
enum PointerAttribute : int { kMemoryType = 2 };
enum FunctionAttribute : int { kMaxDynamicSharedMemory = 8 };
enum JitOption : int { kErrorLogBuffer = 5, kErrorLogBytes = 6 };
enum LinkInput : int { kPtxInput = 1 };
inline constexpr unsigned kStreamNonBlocking = 1, kEventDisableTiming = 2;
/// Captures, of this or another thread, do not restrict the thread's other calls.
inline constexpr int kCaptureRelaxed = 2;

struct KernelNode {
  Function function = nullptr;
  unsigned grid_x = 1, grid_y = 1, grid_z = 1, block_x = 1, block_y = 1, block_z = 1, shared_bytes = 0;
  void** parameters = nullptr;
  void** extra = nullptr;
};
struct StoreNode {
  Address to = 0;
  size_t pitch = 0;
  unsigned value = 0, element_bytes = 1;
  size_t width = 1, height = 1;
};
struct CopyNode {
  struct Side {
    size_t x = 0, y = 0, z = 0, level = 0;
    int memory_type = 2;  ///< a device's
    const void* host = nullptr;
    Address device = 0;
    void* array = nullptr;
    void* reserved = nullptr;
    size_t pitch = 0, height = 0;
  };
  Side from, to;
  size_t width = 0, height = 1, depth = 1;
};

// name of the member, name in the library, parameters
#define CALQUE_CUDA_FUNCTIONS(X)                                                                               \
  X(init, cuInit, (unsigned flags))                                                                            \
  X(driver_version, cuDriverGetVersion, (int* version))                                                        \
  X(error_name, cuGetErrorName, (Status status, const char** name))                                            \
  X(error_text, cuGetErrorString, (Status status, const char** text))                                          \
  X(device_count, cuDeviceGetCount, (int* count))                                                              \
  X(device_get, cuDeviceGet, (int* device, int ordinal))                                                       \
  X(device_attribute, cuDeviceGetAttribute, (int* value, int attribute, int device))                           \
  X(device_name, cuDeviceGetName, (char* name, int length, int device))                                        \
  X(device_memory, cuDeviceTotalMem_v2, (size_t* bytes, int device))                                           \
  X(device_uuid, cuDeviceGetUuid, (unsigned char* uuid, int device))                                           \
  X(context_retain, cuDevicePrimaryCtxRetain, (Context * context, int device))                                 \
  X(context_release, cuDevicePrimaryCtxRelease_v2, (int device))                                               \
  X(context_push, cuCtxPushCurrent_v2, (Context context))                                                      \
  X(context_pop, cuCtxPopCurrent_v2, (Context * context))                                                      \
  X(stream_create, cuStreamCreate, (Stream * stream, unsigned flags))                                          \
  X(stream_destroy, cuStreamDestroy_v2, (Stream stream))                                                       \
  X(stream_synchronize, cuStreamSynchronize, (Stream stream))                                                  \
  X(capture_begin, cuStreamBeginCapture_v2, (Stream stream, int mode))                                         \
  X(capture_end, cuStreamEndCapture, (Stream stream, Graph * graph))                                           \
  X(exchange_capture_mode, cuThreadExchangeStreamCaptureMode, (int* mode))                                     \
  X(event_synchronize, cuEventSynchronize, (Event event))                                                      \
  X(event_create, cuEventCreate, (Event * event, unsigned flags))                                              \
  X(event_record, cuEventRecord, (Event event, Stream stream))                                                 \
  X(event_destroy, cuEventDestroy_v2, (Event event))                                                           \
  X(allocate, cuMemAlloc_v2, (Address * memory, size_t bytes))                                                 \
  X(free, cuMemFree_v2, (Address memory))                                                                      \
  X(pointer_attribute, cuPointerGetAttribute, (void* value, int attribute, Address pointer))                   \
  X(upload, cuMemcpyHtoDAsync_v2, (Address to, const void* from, size_t bytes, Stream stream))                 \
  X(download, cuMemcpyDtoHAsync_v2, (void* to, Address from, size_t bytes, Stream stream))                     \
  X(copy, cuMemcpyDtoDAsync_v2, (Address to, Address from, size_t bytes, Stream stream))                       \
  X(store8, cuMemsetD8Async, (Address to, unsigned char value, size_t count, Stream stream))                   \
  X(store16, cuMemsetD16Async, (Address to, unsigned short value, size_t count, Stream stream))                \
  X(store32, cuMemsetD32Async, (Address to, unsigned value, size_t count, Stream stream))                      \
  X(module_load, cuModuleLoadDataEx,                                                                           \
    (Module * module, const void* image, unsigned count, const int* options, void** values))                   \
  X(module_unload, cuModuleUnload, (Module module))                                                            \
  X(link_create, cuLinkCreate_v2, (unsigned count, const int* options, void** values, Link* link))             \
  X(link_add, cuLinkAddData_v2,                                                                                \
    (Link link, int input, void* data, size_t bytes, const char* name, unsigned count, const int* options,     \
     void** values))                                                                                           \
  X(link_complete, cuLinkComplete, (Link link, void** cubin, size_t* bytes))                                   \
  X(link_destroy, cuLinkDestroy, (Link link))                                                                  \
  X(module_function, cuModuleGetFunction, (Function * function, Module module, const char* name))              \
  X(function_set, cuFuncSetAttribute, (Function function, int attribute, int value))                           \
  X(launch, cuLaunchKernel,                                                                                    \
    (Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
     unsigned block_z, unsigned shared_bytes, Stream stream, void** parameters, void** extra))                 \
  X(graph_create, cuGraphCreate, (Graph * graph, unsigned flags))                                              \
  X(graph_destroy, cuGraphDestroy, (Graph graph))                                                              \
  X(graph_add_kernel, cuGraphAddKernelNode,                                                                    \
    (Node * node, Graph graph, const Node* before, size_t count, const KernelNode* kernel))                    \
  X(graph_add_copy, cuGraphAddMemcpyNode,                                                                      \
    (Node * node, Graph graph, const Node* before, size_t count, const CopyNode* copy, Context context))       \
  X(graph_add_store, cuGraphAddMemsetNode,                                                                     \
    (Node * node, Graph graph, const Node* before, size_t count, const StoreNode* store, Context context))     \
  X(graph_add_graph, cuGraphAddChildGraphNode,                                                                 \
    (Node * node, Graph graph, const Node* before, size_t count, Graph child))                                 \
  X(graph_instantiate, cuGraphInstantiateWithFlags, (GraphExec * exec, Graph graph, unsigned long long flags)) \
  X(graph_exec_destroy, cuGraphExecDestroy, (GraphExec exec))                                                  \
  X(graph_launch, cuGraphLaunch, (GraphExec exec, Stream stream))                                              \
  X(graph_set_kernel, cuGraphExecKernelNodeSetParams, (GraphExec exec, Node node, const KernelNode* kernel))   \
  X(graph_set_graph, cuGraphExecChildGraphNodeSetParams, (GraphExec exec, Node node, Graph child))             \
  X(graph_set_copy, cuGraphExecMemcpyNodeSetParams,                                                            \
    (GraphExec exec, Node node, const CopyNode* copy, Context context))                                        \
  X(graph_set_store, cuGraphExecMemsetNodeSetParams,                                                           \
    (GraphExec exec, Node node, const StoreNode* store, Context context))

/// The opened library. It stays open as long as the process runs.
struct Driver {
#define CALQUE_X(member, symbol, parameters) Status(*member) parameters = nullptr;
  CALQUE_CUDA_FUNCTIONS(CALQUE_X)
#undef CALQUE_X
  int version = 0;  ///< of CUDA: 12040 is 12.4
  /// Only in libraries that run kernels on the simulator: passes them the program of a module.
  Status (*load_simulated)(Module module, const codegen::SimulatedProgram* program) = nullptr;

  /// `CUDA_ERROR_OUT_OF_MEMORY, out of memory`, with a remedy for failures of the machine's set-up.
  std::string describe(Status status) const;
};

/// Whether a failure leaves the context unusable for as long as the process runs.
bool loses_context(Status status);
/// 12040: `12.4`.
std::string version_text(int version);
/// Whether this process was forked from one that had opened a driver: CUDA does not work in it.
bool is_forked();

/// Opens a library and initialises it. Throws DeviceError if it is missing, is no driver, or fails to initialise.
std::shared_ptr<const Driver> open_driver(const std::string& library);

}  // namespace calque::runtime::cuda
