#pragma once
// NCCL, loaded at run time where it is installed: communication among arrays in the memory of GPUs, in the order of
// their streams. Names, numbers and layouts are those of its interface, declared as far as they are used (the same
// since version 2.10).
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "calque/ir/collectives.h"

#include "runtime/cuda/cuda_driver.h"

namespace calque::runtime {

namespace nccl {

using Status = int;
inline constexpr Status kSuccess = 0;
/// 2.10: all of the functions and bf16.
inline constexpr int kOldestVersion = 21000;
using Communicator = struct CommunicatorObject*;
using cuda::Stream;
struct UniqueId {
  char bytes[128];
};
enum DataType : int {
  kI8 = 0,
  kU8 = 1,
  kI32 = 2,
  kU32 = 3,
  kI64 = 4,
  kU64 = 5,
  kF16 = 6,
  kF32 = 7,
  kF64 = 8,
  kBf16 = 9,
};
enum Operation : int { kSum = 0, kProd = 1, kMax = 2, kMin = 3 };

// name of the member, name in the library, parameters
#define CALQUE_NCCL_FUNCTIONS(X)                                                                                    \
  X(get_version, ncclGetVersion, (int* version))                                                                    \
  X(get_unique_id, ncclGetUniqueId, (UniqueId * id))                                                                \
  X(init, ncclCommInitRank, (Communicator * communicator, int size, UniqueId id, int rank))                         \
  X(destroy, ncclCommDestroy, (Communicator communicator))                                                          \
  X(abort, ncclCommAbort, (Communicator communicator))                                                              \
  X(async_error, ncclCommGetAsyncError, (Communicator communicator, Status * status))                               \
  X(group_start, ncclGroupStart, ())                                                                                \
  X(group_end, ncclGroupEnd, ())                                                                                    \
  X(all_reduce, ncclAllReduce,                                                                                      \
    (const void* from, void* to, size_t count, int type, int operation, Communicator communicator, Stream stream))  \
  X(reduce, ncclReduce,                                                                                             \
    (const void* from, void* to, size_t count, int type, int operation, int root, Communicator communicator,        \
     Stream stream))                                                                                                \
  X(broadcast, ncclBroadcast,                                                                                       \
    (const void* from, void* to, size_t count, int type, int root, Communicator communicator, Stream stream))       \
  X(all_gather, ncclAllGather,                                                                                      \
    (const void* from, void* to, size_t count, int type, Communicator communicator, Stream stream))                 \
  X(reduce_scatter, ncclReduceScatter,                                                                              \
    (const void* from, void* to, size_t count, int type, int operation, Communicator communicator, Stream stream))  \
  X(send, ncclSend, (const void* from, size_t count, int type, int peer, Communicator communicator, Stream stream)) \
  X(receive, ncclRecv, (void* to, size_t count, int type, int peer, Communicator communicator, Stream stream))

/// The opened library. It stays open as long as the process runs.
struct Library {
#define CALQUE_X(member, symbol, parameters) Status(*member) parameters = nullptr;
  CALQUE_NCCL_FUNCTIONS(CALQUE_X)
#undef CALQUE_X
  const char* (*error_text)(Status status) = nullptr;
  const char* (*last_error)(Communicator communicator) = nullptr;  ///< null before version 2.13
  int version = 0;                                                 ///< 22809 is 2.28.9
  std::string path;                                                ///< of the loaded file
};

/// 22809: `2.28.9`.
std::string version_text(int version);

/// `2.28.9, /usr/lib/libnccl.so.2`
std::string description(const Library& library);

/// Null, with the reason in `problem`, if the library cannot be opened, lacks a function or is too old. `loaded`: only
/// if the process has loaded it already.
std::shared_ptr<const Library> open_library(const std::string& path, bool loaded, std::string& problem);

/// The library that CALQUE_LIBNCCL names or that the search finds; null if there is none. Searches once.
const std::shared_ptr<const Library>& library();
/// Whether CALQUE_LIBNCCL lets it be used.
bool is_wanted();

/// A failure in NCCL's words.
class Failure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace nccl

/// One rank's part in a communicator of NCCL, with one GPU. Not thread-safe.
class NcclCommunicator {
 public:
  /// Whether NCCL computes what the call means: the same answer for all ranks of a call.
  static bool takes(const CollectiveCall& call);

  /// What all ranks construct it with. Throws nccl::Failure.
  static nccl::UniqueId unique_id(const nccl::Library& library, DeviceQueue& queue);

  /// Waits for the other ranks. Throws nccl::Failure, and what the queue throws.
  NcclCommunicator(std::shared_ptr<const nccl::Library> library, DeviceQueue& queue, const nccl::UniqueId& id, int size,
                   int rank);
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;
  /// Waits for all calls, unless one has failed or others wait in vain.
  ~NcclCommunicator();

  /// Submits the call, one of those that it takes, to the queue. Throws nccl::Failure, also for failures of earlier
  /// calls that were found later, and what the queue throws.
  void submit(const CollectiveCall& call, const void* operand, void* result);
  /// Other ranks do not make the calls that this one waits for: they end without results.
  void abandon() { abandoned_ = true; }

 private:
  struct Message;
  using Call = std::function<nccl::Status(nccl::Stream stream)>;
  void run(const CollectiveCall& call, const void* operand, void* result);
  void submit(const CollectiveCall& call, const Call& make);
  void exchange(const CollectiveCall& call, const std::function<void(Message&)>& messages);
  void require(nccl::Status status);

  const std::shared_ptr<const nccl::Library> library_;
  DeviceQueue& queue_;
  const int size_, rank_;
  nccl::Communicator communicator_ = nullptr;
  bool abandoned_ = false;
  std::string failure_;
};

}  // namespace calque::runtime
