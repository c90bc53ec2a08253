#include "mpi/group.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "mpi/announcements.h"
#include "mpi/nccl_agreement.h"
#include "mpi/reductions.h"
#include "transform/complex/split_complex.h"

namespace calque::mpi {
namespace {

/// As many ints as MPI counts elements by.
int count_of(int64_t elements, const CollectiveCall& call) {
  if (elements <= INT_MAX) return static_cast<int>(elements);
  fail(
      fmt::format("{}: {} elements in one message, and MPI counts up to {}", function_of(call.kind), elements, INT_MAX),
      call.location);
}

int64_t elements_of(const Type& type) { return type.shape.num_elements(); }
size_t bytes_of(const Type& type) { return static_cast<size_t>(elements_of(type)) * size_of(type.dtype); }

/// The call on real and imaginary parts, where that is the same: a rank whose function is compiled makes it so.
CollectiveCall on_parts(CollectiveCall call) {
  if (call.op != ReduceOp::sum) return call;
  call.operand = transform::joined_type(call.operand);
  call.result = transform::joined_type(call.result);
  return call;
}

bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

template <class T>
std::vector<float> widened(const void* from, int64_t count) {
  const T* const x = static_cast<const T*>(from);
  std::vector<float> out(static_cast<size_t>(count));
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(x[i]);
  return out;
}
template <class T>
void narrow(const std::vector<float>& from, void* to) {
  T* const y = static_cast<T*>(to);
  for (size_t i = 0; i < from.size(); ++i) y[i] = static_cast<T>(from[i]);
}

}  // namespace

std::string_view function_of(Collective kind) {
  switch (kind) {
    case Collective::all_reduce:
      return "mpi::allreduce";
    case Collective::reduce:
      return "mpi::reduce";
    case Collective::broadcast:
      return "mpi::bcast";
    case Collective::all_gather:
      return "mpi::allgather";
    case Collective::gather:
      return "mpi::gather";
    case Collective::scatter:
      return "mpi::scatter";
    case Collective::reduce_scatter:
      return "mpi::reduce_scatter";
    case Collective::all_to_all:
      return "mpi::alltoall";
    case Collective::send_receive:
      return "mpi::sendrecv";
    case Collective::send:
      return "mpi::send";
    case Collective::receive:
      return "mpi::recv";
    case Collective::scan:
      return "mpi::scan";
    default:
      return "mpi::barrier";
  }
}

MpiGroup::MpiGroup(MPI_Comm comm, uint64_t shared_id, int size, int rank, std::vector<int> world_ranks)
    : ProcessGroup(fmt::format("communicator {} of {}", shared_id, size), size, rank),
      comm_(comm),
      shared_id_(shared_id),
      world_ranks_(std::move(world_ranks)) {}

void MpiGroup::require_alive(std::string_view name, const Location& location) const {
  if (state().is_child.load(std::memory_order_relaxed))
    fail(std::string(name) + ": this process was made by fork, and is no rank", location);
  if (alive_.load(std::memory_order_acquire)) return;
  int ended = 0;
  MPI_Finalized(&ended);
  fail(std::string(name) + (ended != 0 ? ": MPI has ended" : ": the communicator was freed, or its session has ended"),
       location);
}

void MpiGroup::free(bool abandon) const {
  alive_.store(false, std::memory_order_release);
  {
    const std::lock_guard lock(routes_mutex_);
    for (const Route& route : routes_)
      if (abandon && route.nccl != nullptr) route.nccl->abandon();
    routes_.clear();
  }
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

void MpiGroup::prepare(const CollectiveCall& call) const {
  require_alive(function_of(call.kind), call.location);
  const State& s = state();
  if (s.threads < MPI_THREAD_SERIALIZED && std::this_thread::get_id() != s.main_thread)
    fail(fmt::format("{}: this MPI lets the thread that has started it call it, and no other", function_of(call.kind)),
         call.location);
}

void MpiGroup::run(const CollectiveCall& call, const void* operand, void* result) const {
  prepare(call);
  State& s = state();
  std::unique_lock lock(s.mutex, std::defer_lock);
  if (s.threads < MPI_THREAD_MULTIPLE) lock.lock();
  const CollectiveCall parts = on_parts(call);
  if (s.checks && is_message(call.kind)) {
    count_of(elements_of(call.kind == Collective::send ? parts.operand : parts.result), call);
    return exchange_announced(*this, parts, operand, result);
  }
  if (s.checks) compare_announcements(*this, parts);
  await_started();
  communicate(parts, operand, result);
}

void MpiGroup::await_started() const {
  std::shared_ptr<Worker::Task> before;
  {
    const std::lock_guard last(last_mutex_);
    before = std::exchange(last_, nullptr);
  }
  if (before != nullptr) before->await();
}

// All ranks take the same route: each step depends on what is the same on all of them.
bool MpiGroup::submit(const CollectiveCall& call, const void* operand, void* result, DeviceQueue& queue) const {
  State& s = state();
  if (!s.nccl || !runtime::NcclCommunicator::takes(call)) return false;
  prepare(call);
  std::unique_lock lock(s.mutex, std::defer_lock);
  if (s.threads < MPI_THREAD_MULTIPLE) lock.lock();
  const std::lock_guard routes(routes_mutex_);
  auto route = std::find_if(routes_.begin(), routes_.end(), [&](const Route& r) { return r.device == queue.device(); });
  const bool is_new = route == routes_.end();
  // Two ranks cannot agree for all.
  if (is_new ? is_message(call.kind) : route->nccl == nullptr) return false;
  if (s.checks) compare_announcements(*this, on_parts(call), is_new ? Memory::new_gpu : Memory::gpu);
  if (is_new) {
    await_started();
    routes_.push_back({queue.device(), agree_on_nccl(*this, queue, call)});
    route = routes_.end() - 1;
    if (route->nccl == nullptr) return false;
  }
  try {
    route->nccl->submit(call, operand, result);
  } catch (const runtime::nccl::Failure& e) {
    fail(fmt::format("{}: {}", function_of(call.kind), e.what()), call.location);
  }
  return true;
}

namespace {

/// Messages that MPI moves by itself.
class PendingMessages final : public ProcessGroup::Pending {
 public:
  PendingMessages(const CollectiveCall& call, MPI_Comm comm, const void* operand, void* result) : call_(call) {
    const MPI_Datatype type = datatype_of(call.operand.dtype);
    const int count = count_of(elements_of(call.operand), call);
    const auto rank = [](int64_t r) { return r < 0 ? MPI_PROC_NULL : static_cast<int>(r); };
    check(MPI_Irecv(result, count, type, rank(call.source), 0, comm, &requests_[0]));
    check(MPI_Isend(operand, count, type, rank(call.peer), 0, comm, &requests_[1]));
    if (call.source < 0 && count != 0) std::memset(result, 0, bytes_of(call.result));
  }
  void finish() override { check(MPI_Waitall(2, requests_, MPI_STATUSES_IGNORE)); }

 private:
  void check(int code) const { require(code, function_of(call_.kind), call_.location); }
  CollectiveCall call_;
  MPI_Request requests_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

/// A collective that the worker carries out.
class PendingCollective final : public ProcessGroup::Pending {
 public:
  explicit PendingCollective(std::shared_ptr<Worker::Task> task) : task_(std::move(task)) {}
  void finish() override { task_->wait(); }

 private:
  std::shared_ptr<Worker::Task> task_;
};

}  // namespace

std::unique_ptr<ProcessGroup::Pending> MpiGroup::start(const CollectiveCall& call, const void* operand,
                                                       void* result) const {
  State& s = state();
  if (s.threads < MPI_THREAD_MULTIPLE || s.checks) {
    run(call, operand, result);
    return nullptr;
  }
  prepare(call);
  const CollectiveCall parts = on_parts(call);
  const std::lock_guard last(last_mutex_);
  if (call.kind == Collective::send_receive && operand != result && last_ == nullptr)
    return std::make_unique<PendingMessages>(parts, comm_, operand, result);
  {
    const std::lock_guard lock(s.mutex);
    if (s.worker == nullptr) s.worker = std::make_unique<Worker>();
  }
  last_ = s.worker->add([this, parts, operand, result] { communicate(parts, operand, result); });
  return std::make_unique<PendingCollective>(last_);
}

void MpiGroup::communicate(const CollectiveCall& call, const void* operand, void* result) const {
  const std::string_view name = function_of(call.kind);
  const DType dtype = call.kind == Collective::receive ? call.result.dtype : call.operand.dtype;
  const bool aliased = operand == result;
  const auto peer = static_cast<int>(call.peer), source = static_cast<int>(call.source);
  const bool is_root = peer == rank();
  const auto check = [&](int code) { require(code, name, call.location); };

  // ---- what combines elements
  const bool combines = call.kind == Collective::all_reduce || call.kind == Collective::reduce ||
                        call.kind == Collective::reduce_scatter || call.kind == Collective::scan;
  if (combines && is_half(dtype)) {
    // Combined in f32, and rounded once.
    std::vector<float> x = dtype == DType::f16 ? widened<float16>(operand, elements_of(call.operand))
                                               : widened<bfloat16>(operand, elements_of(call.operand));
    std::vector<float> y(static_cast<size_t>(elements_of(call.result)));
    CollectiveCall wide = call;
    wide.operand.dtype = wide.result.dtype = DType::f32;
    communicate(wide, x.data(), y.data());
    dtype == DType::f16 ? narrow<float16>(y, result) : narrow<bfloat16>(y, result);
    return;
  }
  if (combines) {
    const MPI_Datatype type = datatype_of(dtype);
    const MPI_Op op = operation_of(call.op, dtype);
    const int count = count_of(elements_of(call.result), call);
    const void* const from = aliased ? MPI_IN_PLACE : operand;
    switch (call.kind) {
      case Collective::all_reduce:
        return check(MPI_Allreduce(from, result, count, type, op, comm_));
      case Collective::scan:
        return check(MPI_Scan(from, result, count, type, op, comm_));
      case Collective::reduce_scatter:
        return check(MPI_Reduce_scatter_block(from, result, count, type, op, comm_));
      default:
        check(is_root ? MPI_Reduce(from, result, count, type, op, peer, comm_)
                      : MPI_Reduce(operand, nullptr, count, type, op, peer, comm_));
        if (!is_root && count != 0) std::memset(result, 0, bytes_of(call.result));
        return;
    }
  }

  // ---- what moves bytes. `count` elements are the block of one rank.
  const MPI_Datatype type = datatype_of(dtype);
  const bool has_rows = call.kind == Collective::scatter || call.kind == Collective::all_to_all;
  const int64_t elements = call.kind == Collective::receive ? elements_of(call.result) : elements_of(call.operand);
  const int count = count_of(has_rows ? elements / size() : elements, call);
  switch (call.kind) {
    case Collective::broadcast:
      if (is_root && !aliased && count != 0) std::memcpy(result, operand, bytes_of(call.operand));
      return check(MPI_Bcast(result, count, type, peer, comm_));
    case Collective::all_gather:
      return check(MPI_Allgather(operand, count, type, result, count, type, comm_));
    case Collective::gather:
      check(MPI_Gather(operand, count, type, is_root ? result : nullptr, count, type, peer, comm_));
      if (!is_root && count != 0) std::memset(result, 0, bytes_of(call.result));
      return;
    case Collective::scatter:
      return check(MPI_Scatter(is_root ? operand : nullptr, count, type, result, count, type, peer, comm_));
    case Collective::all_to_all:
      return check(MPI_Alltoall(aliased ? MPI_IN_PLACE : operand, count, type, result, count, type, comm_));
    case Collective::send:
      return check(MPI_Send(operand, count, type, peer, 0, comm_));
    case Collective::receive:
      return check(MPI_Recv(result, count, type, source, 0, comm_, MPI_STATUS_IGNORE));
    case Collective::send_receive: {
      const int to = peer < 0 ? MPI_PROC_NULL : peer, from = source < 0 ? MPI_PROC_NULL : source;
      check(aliased
                ? MPI_Sendrecv_replace(result, count, type, to, 0, from, 0, comm_, MPI_STATUS_IGNORE)
                : MPI_Sendrecv(operand, count, type, to, 0, result, count, type, from, 0, comm_, MPI_STATUS_IGNORE));
      if (source < 0 && count != 0) std::memset(result, 0, bytes_of(call.result));
      return;
    }
    default:
      return check(MPI_Barrier(comm_));
  }
}

}  // namespace calque::mpi
