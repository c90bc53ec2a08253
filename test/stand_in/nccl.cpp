// The entry points of NCCL that Calque uses, among processes and threads of this machine: what a rank contributes is a
// file in a folder that the unique id names. A call contributes at once, as if the work before it was done by then, and
// reads what others contribute in stream order.
#include "runtime/cuda/nccl.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>
#include <type_traits>

#include "calque/ir/dtype.h"

#include "state.h"

using namespace stand_in;  // NOLINT: everything here is the stand-in's
namespace cuda = calque::runtime::cuda;
namespace nccl = calque::runtime::nccl;
namespace fs = std::filesystem;

namespace {

constexpr Status kSystemError = 2, kInvalidArgument = 4, kInvalidUsage = 5;

struct Communicator {
  fs::path folder;
  int size = 1, rank = 0;
  Context* context = nullptr;
  uint64_t calls = 0;                        ///< of all ranks
  std::map<int, uint64_t> sent, received{};  ///< messages, by peer
  std::shared_ptr<bool> aborted = std::make_shared<bool>(false);
};

Handles<Communicator>& communicators() {
  static auto& all = *new Handles<Communicator>;
  return all;
}

using Bytes = std::vector<char>;

void write(const fs::path& path, const Bytes& bytes) {
  const fs::path unfinished = path.string() + ".unfinished";
  std::ofstream(unfinished, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  fs::rename(unfinished, path);
}

/// Waits for the file. False if it does not come.
bool read(const fs::path& path, Bytes& bytes, const bool& aborted) {
  const auto start = std::chrono::steady_clock::now();
  while (!fs::exists(path)) {
    if (aborted || std::chrono::steady_clock::now() - start > std::chrono::seconds(30)) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  std::ifstream in(path, std::ios::binary);
  bytes.assign(std::istreambuf_iterator<char>(in), {});
  return true;
}

size_t size_of(int type) {
  switch (type) {
    case nccl::kI8:
    case nccl::kU8:
      return 1;
    case nccl::kF16:
    case nccl::kBf16:
      return 2;
    case nccl::kI32:
    case nccl::kU32:
    case nccl::kF32:
      return 4;
    default:
      return 8;
  }
}

template <class T>
T combined(T x, T y, int operation) {
  // 16-bit floats are rounded after each operation.
  using Wide = std::conditional_t<std::is_same_v<T, calque::float16> || std::is_same_v<T, calque::bfloat16>, float, T>;
  const auto a = static_cast<Wide>(x), b = static_cast<Wide>(y);
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    if (operation == nccl::kSum) return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    if (operation == nccl::kProd) return static_cast<T>(uint64_t{static_cast<U>(a)} * static_cast<U>(b));
    return (operation == nccl::kMax) == (a > b) ? a : b;
  } else {
    if (operation == nccl::kSum) return static_cast<T>(a + b);
    if (operation == nccl::kProd) return static_cast<T>(a * b);
    return static_cast<T>(operation == nccl::kMax ? std::fmax(a, b) : std::fmin(a, b));
  }
}

template <class T>
void combine_into(char* to, const char* from, size_t count, int operation) {
  for (size_t i = 0; i < count; ++i) {
    T x, y;
    std::memcpy(&x, to + i * sizeof(T), sizeof(T));
    std::memcpy(&y, from + i * sizeof(T), sizeof(T));
    x = combined(x, y, operation);
    std::memcpy(to + i * sizeof(T), &x, sizeof(T));
  }
}

void combine_into(char* to, const char* from, size_t count, int type, int operation) {
  const auto as = [&]<class T>(T) { combine_into<T>(to, from, count, operation); };
  switch (type) {
    case nccl::kI8:
      return as(int8_t{});
    case nccl::kU8:
      return as(uint8_t{});
    case nccl::kI32:
      return as(int32_t{});
    case nccl::kU32:
      return as(uint32_t{});
    case nccl::kI64:
      return as(int64_t{});
    case nccl::kU64:
      return as(uint64_t{});
    case nccl::kF16:
      return as(calque::float16{});
    case nccl::kBf16:
      return as(calque::bfloat16{});
    case nccl::kF32:
      return as(float{});
    default:
      return as(double{});
  }
}

uintptr_t address(const void* memory) { return reinterpret_cast<uintptr_t>(memory); }

Bytes bytes_at(const void* memory, size_t bytes) {
  const char* const first = static_cast<const char*>(memory);
  return Bytes(first, first + bytes);
}

/// A message of a group.
struct Message {
  bool sends = false;
  Communicator* communicator = nullptr;
  void* memory = nullptr;
  size_t bytes = 0;
  int peer = 0;
  cuda::Stream stream = nullptr;
};
struct Group {
  int depth = 0;
  std::vector<Message> messages;
};
Group& group() {
  thread_local Group one;
  return one;
}

/// The communicator of a call on arrays in the memory of its device; null, and the status, if it is none.
Communicator* checked(State& s, nccl::Communicator handle, cuda::Stream stream, Status& status) {
  Communicator* const c = communicators().find(handle);
  const Stream* const queue = s.streams.find(stream);
  status = kSuccess;
  if (c == nullptr || queue == nullptr)
    status = s.misuse("a collective of nothing", kInvalidArgument);
  else if (queue->context != c->context || current().back() != c->context)
    status = s.misuse("a collective on the stream of another device", kInvalidUsage);
  return status == kSuccess ? c : nullptr;
}

using Use = std::function<void(const std::vector<Bytes>& parts)>;

/// One call of all ranks: contributes `part`, and calls `use` with the parts of all in stream order.
Status collective(State& s, nccl::Communicator handle, cuda::Stream stream, const std::string& what, const void* from,
                  size_t from_bytes, void* to, size_t to_bytes, Use use) {
  Status status = kSuccess;
  Communicator* const c = checked(s, handle, stream, status);
  if (c == nullptr) return status;
  if (group().depth != 0) return s.misuse("a collective in a group of messages", kInvalidUsage);
  if (!s.holds(address(from), from_bytes) || !s.holds(address(to), to_bytes))
    return s.misuse("a collective leaves its allocation", kInvalidArgument);
  if (const Status before = s.drain(*s.streams.find(stream)); before != kSuccess) return 1;
  // What the ranks must agree on comes first.
  Bytes part(what.begin(), what.end());
  part.push_back('\n');
  const Bytes elements = bytes_at(from, from_bytes);
  part.insert(part.end(), elements.begin(), elements.end());
  const std::string name = "call" + std::to_string(c->calls++) + ".";
  write(c->folder / (name + std::to_string(c->rank)), part);
  return s.ask(stream, [&s, what, name, to, to_bytes, use, folder = c->folder, size = c->size, aborted = c->aborted] {
    std::vector<Bytes> parts(static_cast<size_t>(size));
    for (int r = 0; r < size; ++r) {
      Bytes& got = parts[static_cast<size_t>(r)];
      if (!read(folder / (name + std::to_string(r)), got, *aborted))
        return *aborted ? kSuccess : s.misuse("a rank waits for others in vain", kLaunchFailed);
      const auto end = std::find(got.begin(), got.end(), '\n');
      if (std::string(got.begin(), end) != what)
        return s.misuse("ranks make different calls: " + what + " and " + std::string(got.begin(), end), kLaunchFailed);
      got.erase(got.begin(), end + 1);
    }
    if (!s.holds(address(to), to_bytes))
      return s.misuse("an array was freed before its collective was done", kLaunchFailed);
    use(parts);
    return kSuccess;
  });
}

Bytes combination(const std::vector<Bytes>& parts, int type, int operation) {
  Bytes all = parts[0];
  for (size_t r = 1; r < parts.size(); ++r)
    combine_into(all.data(), parts[r].data(), all.size() / size_of(type), type, operation);
  return all;
}

std::string name_of(const char* call, size_t count, int type, int operation, int root) {
  return std::string(call) + " of " + std::to_string(count) + " of type " + std::to_string(type) + ", operation " +
         std::to_string(operation) + ", root " + std::to_string(root);
}

bool is_known(int type, int operation) {
  return type >= nccl::kI8 && type <= nccl::kBf16 && operation >= nccl::kSum && operation <= nccl::kMin;
}

std::string message_name(int from, int to, uint64_t number) {
  return "message" + std::to_string(from) + "." + std::to_string(to) + "." + std::to_string(number);
}

/// Messages that are on their way at the same time.
Status exchange(State& s, std::vector<Message> messages) {
  for (const Message& m : messages) {
    if (!m.sends) continue;
    for (const Message& other : messages)
      if (!other.sends && address(m.memory) < address(other.memory) + other.bytes &&
          address(other.memory) < address(m.memory) + m.bytes)
        return s.misuse("a message is received where one is sent from", kInvalidUsage);
    if (const Status before = s.drain(*s.streams.find(m.stream)); before != kSuccess) return 1;
    Communicator& c = *m.communicator;
    write(c.folder / message_name(c.rank, m.peer, c.sent[m.peer]++), bytes_at(m.memory, m.bytes));
  }
  for (const Message& m : messages) {
    if (m.sends) continue;
    Communicator& c = *m.communicator;
    const fs::path path = c.folder / message_name(m.peer, c.rank, c.received[m.peer]++);
    const Status status = s.ask(m.stream, [&s, m, path, aborted = c.aborted] {
      Bytes got;
      if (!read(path, got, *aborted))
        return *aborted ? kSuccess : s.misuse("a rank waits for a message in vain", kLaunchFailed);
      if (got.size() != m.bytes) return s.misuse("a message of another size", kLaunchFailed);
      if (!s.holds(address(m.memory), m.bytes)) return s.misuse("an array was freed before its message", kLaunchFailed);
      std::memcpy(m.memory, got.data(), got.size());
      return kSuccess;
    });
    if (status != kSuccess) return status;
  }
  return kSuccess;
}

Status message(State& s, bool sends, const void* memory, size_t bytes, int type, int peer, nccl::Communicator handle,
               cuda::Stream stream) {
  Status status = kSuccess;
  Communicator* const c = checked(s, handle, stream, status);
  if (c == nullptr) return status;
  bytes *= size_of(type);
  if (peer < 0 || peer >= c->size || !is_known(type, nccl::kSum))
    return s.misuse("a message to or from no rank", kInvalidArgument);
  if (!s.holds(address(memory), bytes)) return s.misuse("a message leaves its allocation", kInvalidArgument);
  const Message m{sends, c, const_cast<void*>(memory), bytes, peer, stream};
  if (group().depth == 0) return exchange(s, {m});
  group().messages.push_back(m);
  return kSuccess;
}

/// The last rank removes the folder.
void leave(const Communicator& c) {
  write(c.folder / ("end." + std::to_string(c.rank)), {});
  for (int r = 0; r < c.size; ++r)
    if (!fs::exists(c.folder / ("end." + std::to_string(r)))) return;
  std::error_code error;
  fs::remove_all(c.folder, error);
}

}  // namespace

size_t stand_in::live_communicators() { return communicators().size(); }

#define ENTER(needs_context)     \
  State& s = state();            \
  std::lock_guard lock(s.mutex); \
  if (const Status failure = s.enter(__func__, needs_context); failure != kSuccess) return failure

extern "C" {

Status ncclGetVersion(int* version) {
  ENTER(false);
  *version = s.settings["nccl_version"];
  return kSuccess;
}
const char* ncclGetErrorString(Status status) {
  return status == kSystemError ? "unhandled system error" : "invalid usage";
}
const char* ncclGetLastError(nccl::Communicator) { return "as the stand-in was told"; }
Status ncclGetUniqueId(nccl::UniqueId* id) {
  ENTER(false);
  std::string folder = (fs::temp_directory_path() / "calque_nccl_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr || folder.size() >= sizeof id->bytes) return kSystemError;
  std::strncpy(id->bytes, folder.c_str(), sizeof id->bytes);
  return kSuccess;
}
Status ncclCommInitRank(nccl::Communicator* communicator, int size, nccl::UniqueId id, int rank) {
  ENTER(true);
  Communicator made{id.bytes, size, rank, current().back(), 0, {}, {}};
  // Failures are those of a rank alone, of which the others do not know.
  write(made.folder / ("start." + std::to_string(rank)), {});
  for (int r = 0; r < size; ++r) {
    Bytes other;
    if (!read(made.folder / ("start." + std::to_string(r)), other, *made.aborted))
      return s.misuse("a rank does not start", kSystemError);
  }
  if (const Status failure = s.injected("ncclCommInitRank, at its end"); failure != kSuccess) {
    leave(made);
    return failure;
  }
  *communicator = communicators().make<nccl::Communicator>(std::move(made));
  return kSuccess;
}
Status ncclCommDestroy(nccl::Communicator communicator) {
  ENTER(true);
  const Communicator* const c = communicators().find(communicator);
  if (c == nullptr) return s.misuse("no communicator is destroyed", kInvalidArgument);
  if (!s.idle()) s.misuse("a communicator is destroyed while there is work");
  leave(*c);
  communicators().destroy(communicator);
  return kSuccess;
}
Status ncclCommAbort(nccl::Communicator communicator) {
  ENTER(true);
  const Communicator* const c = communicators().find(communicator);
  if (c == nullptr) return s.misuse("no communicator is aborted", kInvalidArgument);
  *c->aborted = true;
  leave(*c);
  communicators().destroy(communicator);
  return kSuccess;
}
Status ncclCommGetAsyncError(nccl::Communicator communicator, Status* status) {
  ENTER(false);
  if (communicators().find(communicator) == nullptr) return s.misuse("no communicator is asked", kInvalidArgument);
  *status = s.settings["nccl_async_error"];
  return kSuccess;
}
Status ncclGroupStart() {
  ENTER(false);
  ++group().depth;
  return kSuccess;
}
Status ncclGroupEnd() {
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (group().depth == 0) return s.misuse("a group ends that has not begun", kInvalidUsage);
  if (--group().depth != 0) return kSuccess;
  const std::vector<Message> messages = std::exchange(group().messages, {});
  if (const Status failure = s.enter(__func__, false); failure != kSuccess) return failure;
  return exchange(s, messages);
}
Status ncclAllReduce(const void* from, void* to, size_t count, int type, int operation, nccl::Communicator communicator,
                     cuda::Stream stream) {
  ENTER(true);
  if (!is_known(type, operation)) return s.misuse("a sum of no type", kInvalidArgument);
  const size_t bytes = count * size_of(type);
  return collective(s, communicator, stream, name_of(__func__, count, type, operation, 0), from, bytes, to, bytes,
                    [=](const std::vector<Bytes>& parts) {
                      const Bytes all = combination(parts, type, operation);
                      std::memcpy(to, all.data(), all.size());
                    });
}
Status ncclReduce(const void* from, void* to, size_t count, int type, int operation, int root,
                  nccl::Communicator communicator, cuda::Stream stream) {
  ENTER(true);
  if (!is_known(type, operation)) return s.misuse("a sum of no type", kInvalidArgument);
  const Communicator* const c = communicators().find(communicator);
  const bool is_root = c != nullptr && c->rank == root;
  const size_t bytes = count * size_of(type);
  return collective(s, communicator, stream, name_of(__func__, count, type, operation, root), from, bytes,
                    is_root ? to : const_cast<void*>(from), bytes, [=](const std::vector<Bytes>& parts) {
                      const Bytes all = combination(parts, type, operation);
                      if (is_root) std::memcpy(to, all.data(), all.size());
                    });
}
Status ncclBroadcast(const void* from, void* to, size_t count, int type, int root, nccl::Communicator communicator,
                     cuda::Stream stream) {
  ENTER(true);
  const Communicator* const c = communicators().find(communicator);
  const bool is_root = c != nullptr && c->rank == root;
  const size_t bytes = count * size_of(type);
  return collective(s, communicator, stream, name_of(__func__, count, type, 0, root), is_root ? from : to,
                    is_root ? bytes : 0, to, bytes, [=](const std::vector<Bytes>& parts) {
                      const Bytes& all = parts[static_cast<size_t>(root)];
                      std::memcpy(to, all.data(), all.size());
                    });
}
Status ncclAllGather(const void* from, void* to, size_t count, int type, nccl::Communicator communicator,
                     cuda::Stream stream) {
  ENTER(true);
  const Communicator* const c = communicators().find(communicator);
  const size_t bytes = count * size_of(type), ranks = c != nullptr ? static_cast<size_t>(c->size) : 1;
  if (c != nullptr && address(from) >= address(to) && address(from) < address(to) + ranks * bytes &&
      address(from) != address(to) + static_cast<size_t>(c->rank) * bytes)
    return s.misuse("rows are gathered over one of them", kInvalidUsage);
  return collective(s, communicator, stream, name_of(__func__, count, type, 0, 0), from, bytes, to, ranks * bytes,
                    [=](const std::vector<Bytes>& parts) {
                      for (size_t r = 0; r < parts.size(); ++r)
                        std::memcpy(static_cast<char*>(to) + r * bytes, parts[r].data(), bytes);
                    });
}
Status ncclReduceScatter(const void* from, void* to, size_t count, int type, int operation,
                         nccl::Communicator communicator, cuda::Stream stream) {
  ENTER(true);
  if (!is_known(type, operation)) return s.misuse("a sum of no type", kInvalidArgument);
  const Communicator* const c = communicators().find(communicator);
  const size_t bytes = count * size_of(type), ranks = c != nullptr ? static_cast<size_t>(c->size) : 1;
  const size_t row = c != nullptr ? static_cast<size_t>(c->rank) : 0;
  return collective(s, communicator, stream, name_of(__func__, count, type, operation, 0), from, ranks * bytes, to,
                    bytes, [=](const std::vector<Bytes>& parts) {
                      const Bytes all = combination(parts, type, operation);
                      std::memcpy(to, all.data() + row * bytes, bytes);
                    });
}
Status ncclSend(const void* from, size_t count, int type, int peer, nccl::Communicator communicator,
                cuda::Stream stream) {
  ENTER(true);
  return message(s, true, from, count, type, peer, communicator, stream);
}
Status ncclRecv(void* to, size_t count, int type, int peer, nccl::Communicator communicator, cuda::Stream stream) {
  ENTER(true);
  return message(s, false, to, count, type, peer, communicator, stream);
}

}  // extern "C"
