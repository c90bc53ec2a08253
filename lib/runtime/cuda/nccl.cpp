// What moves elements moves bytes. Maxima and minima of floats are not NCCL's: of a NaN and a number it keeps the
// number (fmax), and here NaN is the result.
#include "runtime/cuda/nccl.h"

#include <optional>
#include <utility>
#include <vector>

#include <dlfcn.h>

#include "ir/environment.h"
#include "ir/fork.h"
#include "ir/log.h"
#include "ir/values/bytes.h"
#include "runtime/cuda/library_search.h"

namespace calque::runtime {

namespace nccl {

std::string version_text(int version) {
  const int unit = version < 10000 ? 1000 : 10000;
  return std::to_string(version / unit) + "." + std::to_string(version % unit / 100) + "." +
         std::to_string(version % 100);
}

std::string description(const Library& library) { return version_text(library.version) + ", " + library.path; }

std::shared_ptr<const Library> open_library(const std::string& path, bool loaded, std::string& problem) {
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | (loaded ? RTLD_NOLOAD : 0));
  if (handle == nullptr) {
    const char* reason = loaded ? nullptr : dlerror();
    problem = path + " cannot be opened" + (reason != nullptr ? ": " + std::string(reason) : "");
    return nullptr;
  }
  auto library = std::make_shared<Library>();
  const char* missing = nullptr;
#define CALQUE_X(member, symbol, parameters)                                        \
  library->member = reinterpret_cast<Status(*) parameters>(dlsym(handle, #symbol)); \
  if (library->member == nullptr && missing == nullptr) missing = #symbol;
  CALQUE_NCCL_FUNCTIONS(CALQUE_X)
#undef CALQUE_X
  library->error_text = reinterpret_cast<const char* (*)(Status)>(dlsym(handle, "ncclGetErrorString"));
  library->last_error = reinterpret_cast<const char* (*)(Communicator)>(dlsym(handle, "ncclGetLastError"));
  if (library->error_text == nullptr && missing == nullptr) missing = "ncclGetErrorString";
  const std::string needed = "; version " + version_text(kOldestVersion) + " or later is needed";
  if (library->get_version != nullptr && library->get_version(&library->version) == kSuccess &&
      library->version < kOldestVersion) {
    problem = path + " is NCCL " + version_text(library->version) + needed;
  } else if (missing != nullptr) {
    problem = path + " has no " + missing + needed;
  }
  if (!problem.empty()) {
    dlclose(handle);
    return nullptr;
  }
  Dl_info info{};
  const bool found = dladdr(reinterpret_cast<const void*>(library->init), &info) != 0 && info.dli_fname != nullptr;
  library->path = found ? info.dli_fname : path;
  return library;
}

const std::shared_ptr<const Library>& library() {
  return process_wide([] {
    const SearchList search = library_search("CALQUE_LIBNCCL", {"libnccl.so.2"});
    return new const std::shared_ptr<const Library>(first_that_opens(search, "CALQUE_LIBNCCL", &open_library));
  });
}

bool is_wanted() {
  const char* const named = variable("CALQUE_LIBNCCL");
  return named == nullptr || (*named != '\0' && std::string_view(named) != "off");
}

}  // namespace nccl

namespace {

/// An element as NCCL combines it.
struct Elements {
  nccl::DataType type;
  size_t count = 1;  ///< of an array's element: the two parts of a complex number
};

std::optional<Elements> elements_of(DType dtype) {
  switch (dtype) {
    case DType::i8:
      return Elements{nccl::kI8};
    case DType::bool_:
    case DType::u8:
      return Elements{nccl::kU8};
    case DType::i32:
      return Elements{nccl::kI32};
    case DType::u32:
      return Elements{nccl::kU32};
    case DType::i64:
      return Elements{nccl::kI64};
    case DType::u64:
      return Elements{nccl::kU64};
    case DType::f16:
      return Elements{nccl::kF16};
    case DType::bf16:
      return Elements{nccl::kBf16};
    case DType::f32:
      return Elements{nccl::kF32};
    case DType::f64:
      return Elements{nccl::kF64};
    case DType::c64:
      return Elements{nccl::kF32, 2};
    case DType::c128:
      return Elements{nccl::kF64, 2};
    default:
      return std::nullopt;
  }
}

std::optional<nccl::Operation> operation_of(ReduceOp op, DType dtype) {
  switch (op) {
    case ReduceOp::sum:
      return nccl::kSum;
    case ReduceOp::prod:
      if (is_complex(dtype)) return std::nullopt;
      return nccl::kProd;
    case ReduceOp::max:
      if (!is_integer(dtype)) return std::nullopt;
      return nccl::kMax;
    case ReduceOp::min:
      if (!is_integer(dtype)) return std::nullopt;
      return nccl::kMin;
    case ReduceOp::all:  // of bytes that are 0 or 1
      return nccl::kMin;
    case ReduceOp::any:
      return nccl::kMax;
  }
  return std::nullopt;
}

std::byte* row_of(const void* array, int64_t row, size_t bytes) {
  return static_cast<std::byte*>(const_cast<void*>(array)) + static_cast<size_t>(row) * bytes;
}

}  // namespace

bool NcclCommunicator::takes(const CollectiveCall& call) {
  switch (call.kind) {
    case Collective::all_reduce:
    case Collective::reduce:
    case Collective::reduce_scatter:
      return elements_of(call.operand.dtype).has_value() && operation_of(call.op, call.operand.dtype).has_value();
    case Collective::scan:
    case Collective::barrier:
      return false;
    default:
      return true;
  }
}

nccl::UniqueId NcclCommunicator::unique_id(const nccl::Library& library, DeviceQueue& queue) {
  nccl::UniqueId id{};
  queue.with_stream(nullptr, [&](void*) {
    const nccl::Status status = library.get_unique_id(&id);
    if (status != nccl::kSuccess) throw nccl::Failure(std::string("NCCL reports ") + library.error_text(status));
  });
  return id;
}

NcclCommunicator::NcclCommunicator(std::shared_ptr<const nccl::Library> library, DeviceQueue& queue,
                                   const nccl::UniqueId& id, int size, int rank)
    : library_(std::move(library)), queue_(queue), size_(size), rank_(rank) {
  queue_.with_stream(nullptr, [&](void*) {
    const nccl::Status status = library_->init(&communicator_, size_, id, rank_);
    if (status != nccl::kSuccess) communicator_ = nullptr;
    require(status);
  });
}

NcclCommunicator::~NcclCommunicator() {
  try {
    const bool ends = abandoned_ || !failure_.empty();
    if (!ends) queue_.synchronize();
    queue_.with_stream(nullptr,
                       [&](void*) { ends ? library_->abort(communicator_) : library_->destroy(communicator_); });
  } catch (const std::exception& e) {
    library_log().error("NCCL is not ended: {}", e.what());
  }
}

void NcclCommunicator::require(nccl::Status status) {
  if (status == nccl::kSuccess) return;
  failure_ = std::string("NCCL reports ") + library_->error_text(status);
  const char* const details = library_->last_error != nullptr ? library_->last_error(communicator_) : nullptr;
  if (details != nullptr && *details != '\0') failure_ += std::string(", ") + details;
  throw nccl::Failure(failure_);
}

void NcclCommunicator::submit(const CollectiveCall& call, const Call& make) {
  queue_.with_stream(to_string(call.kind).data(),
                     [&](void* stream) { require(make(static_cast<nccl::Stream>(stream))); });
}

/// Messages of one call, which are all on their way at the same time.
struct NcclCommunicator::Message {
  NcclCommunicator& self;
  nccl::Stream stream;
  void send(const void* from, size_t bytes, int64_t peer) {
    self.require(self.library_->send(from, bytes, nccl::kU8, static_cast<int>(peer), self.communicator_, stream));
  }
  void receive(void* to, size_t bytes, int64_t peer) {
    self.require(self.library_->receive(to, bytes, nccl::kU8, static_cast<int>(peer), self.communicator_, stream));
  }
};

void NcclCommunicator::exchange(const CollectiveCall& call, const std::function<void(Message&)>& messages) {
  submit(call, [&](nccl::Stream stream) {
    require(library_->group_start());
    try {
      Message m{*this, stream};
      messages(m);
    } catch (...) {
      library_->group_end();
      throw;
    }
    return library_->group_end();
  });
}

void NcclCommunicator::submit(const CollectiveCall& call, const void* operand, void* result) {
  if (!failure_.empty()) throw nccl::Failure("an earlier call has failed: " + failure_);
  nccl::Status status = nccl::kSuccess;
  require(library_->async_error(communicator_, &status));
  require(status);
  // Of zero bytes there is nothing to communicate, on all ranks.
  if (bytes_of(call.kind == Collective::receive ? call.result : call.operand) != 0) run(call, operand, result);
}

void NcclCommunicator::run(const CollectiveCall& call, const void* operand, void* result) {
  const bool receives = call.kind == Collective::receive;
  const size_t bytes = bytes_of(receives ? call.result : call.operand);
  const size_t row = bytes / static_cast<size_t>(size_);
  const Elements elements = elements_of(call.operand.dtype).value_or(Elements{nccl::kU8});
  const int type = elements.type, root = static_cast<int>(call.peer);
  const int op = operation_of(call.op, call.operand.dtype).value_or(nccl::kSum);
  const size_t result_count = static_cast<size_t>(call.result.shape.num_elements()) * elements.count;
  // A message cannot be received where one is sent from.
  std::shared_ptr<void> copy;
  if (operand == result && (call.kind == Collective::all_to_all || call.kind == Collective::send_receive)) {
    copy = queue_.scratch(bytes);
    queue_.copy(copy.get(), operand, bytes);
    operand = copy.get();
  }
  const auto others = [&](const auto& use) {
    for (int64_t r = 0; r < size_; ++r)
      if (r != rank_) use(r);
  };
  switch (call.kind) {
    case Collective::all_reduce:
      return submit(call, [&](nccl::Stream stream) {
        return library_->all_reduce(operand, result, result_count, type, op, communicator_, stream);
      });
    case Collective::reduce:
      submit(call, [&](nccl::Stream stream) {
        return library_->reduce(operand, result, result_count, type, op, root, communicator_, stream);
      });
      if (rank_ != root) queue_.fill_zeros(result, bytes);
      return;
    case Collective::broadcast:
      return submit(call, [&](nccl::Stream stream) {
        return library_->broadcast(operand, result, bytes, nccl::kU8, root, communicator_, stream);
      });
    case Collective::all_gather:
      return submit(call, [&](nccl::Stream stream) {
        return library_->all_gather(operand, result, bytes, nccl::kU8, communicator_, stream);
      });
    case Collective::reduce_scatter:
      return submit(call, [&](nccl::Stream stream) {
        return library_->reduce_scatter(operand, result, result_count, type, op, communicator_, stream);
      });
    case Collective::gather:
      if (rank_ != root) {
        exchange(call, [&](Message& m) { m.send(operand, bytes, root); });
        return queue_.fill_zeros(result, bytes_of(call.result));
      }
      queue_.copy(row_of(result, rank_, bytes), operand, bytes);
      return exchange(call,
                      [&](Message& m) { others([&](int64_t r) { m.receive(row_of(result, r, bytes), bytes, r); }); });
    case Collective::scatter:
      if (rank_ != root) return exchange(call, [&](Message& m) { m.receive(result, row, root); });
      queue_.copy(result, row_of(operand, rank_, row), row);
      return exchange(call, [&](Message& m) { others([&](int64_t r) { m.send(row_of(operand, r, row), row, r); }); });
    case Collective::all_to_all:
      queue_.copy(row_of(result, rank_, row), row_of(operand, rank_, row), row);
      return exchange(call, [&](Message& m) {
        others([&](int64_t r) {
          m.send(row_of(operand, r, row), row, r);
          m.receive(row_of(result, r, row), row, r);
        });
      });
    case Collective::send_receive:
      exchange(call, [&](Message& m) {
        if (call.peer >= 0) m.send(operand, bytes, call.peer);
        if (call.source >= 0) m.receive(result, bytes, call.source);
      });
      if (call.source < 0) queue_.fill_zeros(result, bytes);
      return;
    case Collective::send:
      return exchange(call, [&](Message& m) { m.send(operand, bytes, call.peer); });
    case Collective::receive:
      return exchange(call, [&](Message& m) { m.receive(result, bytes, call.source); });
    case Collective::scan:
    case Collective::barrier:
      return;  // not taken
  }
}

}  // namespace calque::runtime
