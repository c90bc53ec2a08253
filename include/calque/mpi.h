#pragma once
// Communication among the ranks of an MPI job, in compiled functions and outside. Not part of calque.h: it needs MPI
// (the target calque::mpi).
//
// Every rank calls the same operations of a communicator in the same order. On tracers an operation is recorded and
// happens whenever the compiled function runs, in the order in which it was written; on arrays, numbers and Eigen
// objects it happens at once. A tree is communicated leaf by leaf.
//
// Derivatives are those of the whole, of all ranks' results by all ranks' arguments: `grad(f)(x)` is the derivative of
// the sum of what f returns on all ranks by this rank's x. All ranks must differentiate the same way.
//
// Errors of all functions: Error when no MPI is running, when the communicator is empty or was freed, or when MPI
// reports a failure; ShapeError for a rank out of range, DTypeError for a type that the operation does not combine.
#include <cstdint>
#include <string_view>
#include <type_traits>

// The C++ bindings, which MPI no longer has, would only be in the way.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include "calque/calque.h"

namespace calque::mpi {

/// MPI from its construction to its destruction, which ends MPI if it has started it. An exception that leaves `main`
/// is printed with the rank, and the whole job ends: no rank waits for one that is gone.
class Session {
 public:
  /// Starts MPI, unless it is running. Throws Error when it has ended, or there is another session.
  explicit Session(int argc = 0, char** argv = nullptr, Loc loc = Loc::current());
  /// Waits for all ranks and ends MPI. The job is aborted if an exception is on its way, or if an operation of this
  /// rank has failed and others do not end within five seconds.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  bool ends_mpi_ = false;
  int exceptions_ = 0;
};

/// Ranks that communicate. A value: copies are the same communicator, and as an argument of a compiled function it is
/// static. It is valid until the session ends.
struct Communicator {
  /// The number of the communicator in this process; 0: empty.
  uint64_t id = 0;

  /// The number of this process, in [0, size()).
  int rank(Loc loc = Loc::current()) const;
  /// The number of ranks.
  int size(Loc loc = Loc::current()) const;
  /// True unless it is empty.
  explicit operator bool() const { return id != 0; }
  /// The communicator of those ranks that give the same colour, in order of `key`, then of rank. A negative colour
  /// gives an empty one. All ranks call it.
  Communicator split(int colour, int key = 0, Loc loc = Loc::current()) const;
  /// Frees it on all ranks, which all call this. Operations on it are errors from then on. `world()` can't be freed.
  void free(Loc loc = Loc::current()) const;
  friend bool operator==(const Communicator&, const Communicator&) = default;
};

/// All ranks of the job.
Communicator world(Loc loc = Loc::current());

/// The MPI_Comm of a communicator, for calls of MPI itself. This library sends messages of tag 0 through it.
MPI_Comm mpi_comm(const Communicator& comm, Loc loc = Loc::current());
/// The communicator of the ranks of an MPI_Comm: a duplicate, so that messages never mix. All its ranks call this.
Communicator from_mpi_comm(MPI_Comm comm, Loc loc = Loc::current());

/// How contributions are combined. `all` and `any` are of bool.
using Op = ReduceOp;
/// The sum; integers wrap.
inline constexpr Op sum = Op::sum;
/// The product; integers wrap.
inline constexpr Op prod = Op::prod;
/// The greatest element; NaN if one is. Not of complex numbers.
inline constexpr Op max = Op::max;
/// The least element; NaN if one is. Not of complex numbers.
inline constexpr Op min = Op::min;
/// Whether all are true.
inline constexpr Op all = Op::all;
/// Whether one is true.
inline constexpr Op any = Op::any;

/// The rank that stands for none, as MPI_PROC_NULL: what is sent to it is dropped, what is received from it is zeros.
inline constexpr int null_rank = -1;

namespace detail {

std::shared_ptr<const ProcessGroup> group_of(const Communicator& comm, std::string_view name, Location at);
/// Records or makes a call; null without an operand. Of `recv`, x says on which device the result is.
calque::detail::Handle record(std::string_view name, const CollectiveCall& call,
                              const std::shared_ptr<const ProcessGroup>& group, const calque::detail::Operand* x);
AnyArray run(std::string_view name, const CollectiveCall& call, const std::shared_ptr<const ProcessGroup>& group,
             const AnyArray* x);

/// The call on one leaf: a tracer of the result, an array, or for a number a number.
template <class X>
auto call_leaf(std::string_view name, const CollectiveCall& call, const std::shared_ptr<const ProcessGroup>& group,
               const X& x) {
  using Leaf = std::remove_cvref_t<X>;
  if constexpr (TracerLike<Leaf>) {
    CollectiveCall typed = call;
    typed.operand.dtype = dtype_of<elem_t<Leaf>>;
    const calque::detail::Operand operand = calque::detail::operand_of(x, call.location);
    return Leaf(record(name, typed, group, &operand));
  } else {
    const AnyArray array = Leaf(x).any(call.location);
    return Leaf(run(name, call, group, &array));
  }
}

template <class X>
auto call_leaves(std::string_view name, CollectiveCall call, const Communicator& comm, const X& x) {
  const auto group = group_of(comm, name, call.location);
  if constexpr (ArrayLike<X>) {
    return call_leaf(name, call, group, x);
  } else if constexpr (ArithmeticLike<X> || Elem<X>) {
    using T = calque::type_of<calque::detail::literal_dtype<X>()>;
    return call_leaf(name, call, group, Array<T>(static_cast<T>(x)));
  } else {
    return calque::detail::tree_map_at([&](const auto& leaf) { return call_leaf(name, call, group, leaf); },
                                       call.location, x);
  }
}

inline CollectiveCall call_of(Collective kind, Loc loc, int peer = -1, Op op = Op::sum, int source = -1) {
  CollectiveCall call;
  call.kind = kind;
  call.op = op;
  call.peer = peer;
  call.source = source;
  call.location = loc;
  return call;
}

}  // namespace detail

/// The x of all ranks combined, element by element, on every rank. 16-bit floats are combined in f32; by NCCL, on GPUs,
/// in their own type. The transpose of a sum is the sum of the cotangents of all ranks.
template <class X>
auto allreduce(const X& x, const Communicator& comm, Op op = sum, Loc loc = Loc::current()) {
  return detail::call_leaves("mpi::allreduce", detail::call_of(Collective::all_reduce, loc, -1, op), comm, x);
}

/// As `allreduce` on rank `root`; zeros elsewhere. The transpose of a sum is `bcast`.
template <class X>
auto reduce(const X& x, int root, const Communicator& comm, Op op = sum, Loc loc = Loc::current()) {
  return detail::call_leaves("mpi::reduce", detail::call_of(Collective::reduce, loc, root, op), comm, x);
}

/// The x of rank `root`, on every rank. All ranks give an x of the same type and shape. Its transpose is `reduce`.
template <class X>
auto bcast(const X& x, int root, const Communicator& comm, Loc loc = Loc::current()) {
  return detail::call_leaves("mpi::bcast", detail::call_of(Collective::broadcast, loc, root), comm, x);
}

/// The x of all ranks along a new leading axis: [...] to [size, ...]. Its transpose is `reduce_scatter`.
template <class X>
auto allgather(const X& x, const Communicator& comm, Loc loc = Loc::current()) {
  return detail::call_leaves("mpi::allgather", detail::call_of(Collective::all_gather, loc), comm, x);
}

/// As `allgather` on rank `root`; zeros elsewhere. Its transpose is `scatter`.
template <class X>
auto gather(const X& x, int root, const Communicator& comm, Loc loc = Loc::current()) {
  return detail::call_leaves("mpi::gather", detail::call_of(Collective::gather, loc, root), comm, x);
}

/// Row r of the x of rank `root`, on rank r: [size, ...] to [...]. Throws ShapeError when x has not a row for each
/// rank. Its transpose is `gather`.
template <class X>
auto scatter(const X& x, int root, const Communicator& comm, Loc loc = Loc::current()) {
  return detail::call_leaves("mpi::scatter", detail::call_of(Collective::scatter, loc, root), comm, x);
}

/// Row r of the x of all ranks combined, on rank r: [size, ...] to [...]. Throws ShapeError when x has not a row for
/// each rank. The transpose of a sum is `allgather`.
template <class X>
auto reduce_scatter(const X& x, const Communicator& comm, Op op = sum, Loc loc = Loc::current()) {
  return detail::call_leaves("mpi::reduce_scatter", detail::call_of(Collective::reduce_scatter, loc, -1, op), comm, x);
}

/// On rank r, row i is row r of the x of rank i: [size, ...] to the same. Throws ShapeError when x has not a row for
/// each rank. It is its own transpose.
template <class X>
auto alltoall(const X& x, const Communicator& comm, Loc loc = Loc::current()) {
  return detail::call_leaves("mpi::alltoall", detail::call_of(Collective::all_to_all, loc), comm, x);
}

/// Sends x to rank `dest` and returns what rank `source` sends, of the same type and shape. Both may be `null_rank`:
/// then nothing is sent, or zeros are received. Its transpose sends to `source` what came from `dest`.
template <class X>
auto sendrecv(const X& x, int dest, int source, const Communicator& comm, Loc loc = Loc::current()) {
  return detail::call_leaves("mpi::sendrecv", detail::call_of(Collective::send_receive, loc, dest, Op::sum, source),
                             comm, x);
}

/// The x of ranks 0 to r combined, on rank r. The transpose of a sum adds the cotangents of the ranks from r on.
template <class X>
auto scan(const X& x, const Communicator& comm, Op op = sum, Loc loc = Loc::current()) {
  return detail::call_leaves("mpi::scan", detail::call_of(Collective::scan, loc, -1, op), comm, x);
}

/// Sends x to rank `dest`, which calls `recv`. It has no derivative; `sendrecv` has.
template <class X>
void send(const X& x, int dest, const Communicator& comm, Loc loc = Loc::current()) {
  const CollectiveCall call = detail::call_of(Collective::send, loc, dest);
  const auto group = detail::group_of(comm, "mpi::send", loc);
  const auto send_leaf = [&](const auto& leaf) {
    using Leaf = std::remove_cvref_t<decltype(leaf)>;
    if constexpr (TracerLike<Leaf>) {
      CollectiveCall typed = call;
      typed.operand.dtype = dtype_of<elem_t<Leaf>>;
      const calque::detail::Operand operand = calque::detail::operand_of(leaf, loc);
      detail::record("mpi::send", typed, group, &operand);
    } else {
      const AnyArray array = Leaf(leaf).any(loc);
      detail::run("mpi::send", call, group, &array);
    }
    return leaf;
  };
  if constexpr (ArrayLike<X>) {
    send_leaf(x);
  } else if constexpr (ArithmeticLike<X> || Elem<X>) {
    using T = type_of<calque::detail::literal_dtype<X>()>;
    send_leaf(Array<T>(static_cast<T>(x)));
  } else {
    (void)calque::detail::tree_map_at(send_leaf, loc, x);
  }
}

/// What rank `source` sends, of the type and shape of `like`, whose values do not matter. In a trace `like` is a
/// tracer. It has no derivative: throws GradError under grad and jvp; use `sendrecv`.
template <class X>
auto recv(const X& like, int source, const Communicator& comm, Loc loc = Loc::current()) {
  CollectiveCall call = detail::call_of(Collective::receive, loc, -1, Op::sum, source);
  const auto group = detail::group_of(comm, "mpi::recv", loc);
  const auto receive_leaf = [&](const auto& leaf) {
    using Leaf = std::remove_cvref_t<decltype(leaf)>;
    CollectiveCall typed = call;
    typed.result = {dtype_of<elem_t<Leaf>>, leaf.shape()};
    if constexpr (TracerLike<Leaf>) {
      return Leaf(detail::record("mpi::recv", typed, group, nullptr));
    } else {
      const AnyArray array = Leaf(leaf).any(loc);
      return Leaf(detail::run("mpi::recv", typed, group, &array));
    }
  };
  if constexpr (ArrayLike<X>) {
    return receive_leaf(like);
  } else {
    return calque::detail::tree_map_at(receive_leaf, loc, like);
  }
}

/// Returns when all ranks have called it; in a trace whenever the compiled function runs.
void barrier(const Communicator& comm, Loc loc = Loc::current());

/// How the examples of `spmd` are sharded over the ranks, and the axes of arguments and results as for `vmap`.
struct SpmdOptions {
  /// One entry for each argument: the axis along which each rank has its shard, or `none` for what all ranks have
  /// whole. Empty: 0 for all.
  std::vector<AxisSpec> in{};
  /// One entry for the whole result or one for each of its parts. Empty: 0.
  std::vector<AxisSpec> out{};
  /// The name by which `psum` and its kind find the axis. Empty: by any name.
  std::string axis_name{};
};

/// f of one example, on all examples of all ranks, as `vmap(f, {.in_axes = in, .out_axes = out, .axis_name = ...})` of
/// the arrays that the ranks' shards make up in order of rank: each rank gives its shards and gets its shards of the
/// results. `psum`, `pmean`, `pmax`, `pmin`, `all_gather`, `psum_scatter`, `ppermute`, `axis_index` and `axis_size` are
/// those of the whole axis. All ranks have the same number of examples. Errors as those of `vmap`.
template <class F>
[[nodiscard("it returns a function: call it, as in spmd(f, comm)(x)")]]
auto spmd(F&& f, const Communicator& comm, SpmdOptions options = {}, Loc loc = Loc::current()) {
  VmapOptions mapped;
  mapped.in_axes = std::move(options.in);
  mapped.out_axes = std::move(options.out);
  mapped.axis_name = std::move(options.axis_name);
  mapped.processes = detail::group_of(comm, "mpi::spmd", loc);
  return vmap(std::forward<F>(f), std::move(mapped), loc);
}

}  // namespace calque::mpi
