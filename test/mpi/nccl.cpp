// Arrays on GPUs: every collective through NCCL against the same through host memory, on the stand-in for CUDA's driver
// and NCCL, of which each rank has a GPU of its own; ranks that cannot use it; failures.
#include <complex>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "gpu/stand_in.h"
#include "mpi/ranks.h"

namespace calque::test {
namespace {

using D = Array<double>;
using F = Array<float>;
using mpi::Communicator;
using mpi::Op;

/// The number of this process among those that mpirun has started, before it has started MPI.
int rank_before_mpi() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"})
    if (const char* const rank = std::getenv(name)) return std::atoi(rank);
  return 0;
}

int calls_of(const std::vector<const char*>& entries) {
  int all = 0;
  for (const char* entry : entries) all += StandIn::get().calls(entry);
  return all;
}
int nccl_calls() {
  return calls_of(
      {"ncclAllReduce", "ncclReduce", "ncclBroadcast", "ncclAllGather", "ncclReduceScatter", "ncclGroupEnd"});
}

void expect_no_misuse() {
  for (const std::string& problem : StandIn::get().problems()) expect(false, problem);
}

/// Rank r's argument: small numbers, exact in every type and order of summation.
template <class T>
Array<T> argument(int rank, const Shape& shape) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < shape.num_elements(); ++i) numbers.push_back(static_cast<double>((i * 7 + rank * 5) % 3 + 1));
  const D x = D::from(numbers).reshape(shape);
  if constexpr (std::is_same_v<T, bool>) {
    return x > 1.0;
  } else if constexpr (ComplexElem<T>) {
    return cast<T>(x) * T(0, 1) + cast<T>(D(1.0 * rank));
  } else {
    return cast<T>(x);
  }
}

/// f of an array on the GPU, at once or compiled, is that of one on the host. `through_nccl`: and made one call of
/// NCCL.
template <bool Compiled, class T, class Function>
void check(const Function& f, const Array<T>& x, bool through_nccl, const std::string& what) {
  const auto want = f(x);
  const Array<T> there = x.to(gpu());
  const auto run = [&](const auto& g, const std::string& how) {
    const int before = nccl_calls();
    const auto got = g(there);
    expect(got.device() == gpu(), what + how + ": the result is on " + to_string(got.device()));
    expect(nccl_calls() - before == (through_nccl && x.size() != 0 ? 1 : 0), what + how + ": calls of NCCL");
    expect_equal(got.to(cpu()), want, what + how);
    expect_equal(there.to(cpu()), x, what + how + ", the operand");
  };
  run(f, " at once");
  if constexpr (Compiled) run(jit([&](auto v) { return f(v); }), " compiled");
}

template <class T>
constexpr bool has_nccl_op(Op op) {
  constexpr bool integer = std::is_integral_v<T> && sizeof(T) != 2;  // there is no type of 16-bit integers
  if (op == Op::sum) return ComplexElem<T> || !std::is_integral_v<T> || integer;
  if (op == Op::prod) return !ComplexElem<T> && (!std::is_integral_v<T> || integer);
  return integer;  // bool too
}

template <class T, bool Compiled = false>
void check_type(const Communicator& comm, int64_t count, int root) {
  const int rank = comm.rank(), size = comm.size();
  const Array<T> x = argument<T>(rank, {count}), m = argument<T>(rank + 50, {size, count});
  const std::string name = std::string(calque::name(dtype_of<T>)) + "[" + std::to_string(count) + "] ";
  std::vector<Op> ops{Op::sum, Op::prod, Op::max, Op::min};
  if (std::is_same_v<T, bool>) ops = {Op::all, Op::any};
  if (ComplexElem<T>) ops = {Op::sum, Op::prod};
  for (const Op op : ops) {
    const std::string what = name + std::string(to_string(op)) + " ";
    const bool nccl = has_nccl_op<T>(op);
    check<Compiled>([&](const auto& v) { return mpi::allreduce(v, comm, op); }, x, nccl, what + "allreduce");
    check<Compiled>([&](const auto& v) { return mpi::reduce(v, root, comm, op); }, x, nccl, what + "reduce");
    check<Compiled>([&](const auto& v) { return mpi::reduce_scatter(v, comm, op); }, m, nccl, what + "reduce_scatter");
    check<Compiled>([&](const auto& v) { return mpi::scan(v, comm, op); }, x, false, what + "scan");
  }
  check<Compiled>([&](const auto& v) { return mpi::bcast(v, root, comm); }, x, true, name + "bcast");
  check<Compiled>([&](const auto& v) { return mpi::allgather(v, comm); }, x, true, name + "allgather");
  check<Compiled>([&](const auto& v) { return mpi::gather(v, root, comm); }, x, true, name + "gather");
  check<Compiled>([&](const auto& v) { return mpi::scatter(v, root, comm); }, m, true, name + "scatter");
  check<Compiled>([&](const auto& v) { return mpi::alltoall(v, comm); }, m, true, name + "alltoall");
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  check<Compiled>([&](const auto& v) { return mpi::sendrecv(v, next, previous, comm); }, x, true, name + "sendrecv");
  check<Compiled>(
      [&](const auto& v) { return mpi::sendrecv(v, rank + 1 < size ? rank + 1 : mpi::null_rank, rank - 1, comm); }, x,
      true, name + "chain");
  if (size > 1 && count > 0) {
    const Array<T> there = x.to(gpu());
    if (rank == 0) mpi::send(there, 1, comm);
    if (rank == 1) {
      const Array<T> got = mpi::recv(there, 0, comm);
      expect(got.device() == gpu(), name + "recv: the device");
      expect_equal(got.to(cpu()), argument<T>(0, {count}), name + "recv");
    }
  }
}

void check_collectives(const Communicator& comm) {
  const int root = comm.size() - 1;
  for (const int64_t count : {0, 5}) {
    check_type<bool>(comm, count, root);
    check_type<int8_t>(comm, count, root);
    check_type<uint8_t>(comm, count, 0);
    check_type<int16_t>(comm, count, root);
    check_type<uint16_t>(comm, count, root);
    check_type<int32_t>(comm, count, root);
    check_type<uint32_t>(comm, count, root);
    check_type<int64_t>(comm, count, root);
    check_type<uint64_t>(comm, count, root);
    check_type<float16>(comm, count, root);
    check_type<double>(comm, count, 0);
    check_type<std::complex<double>>(comm, count, root);
  }
  check_type<bfloat16, true>(comm, 5, root);
  check_type<float, true>(comm, 5, root);
  check_type<std::complex<float>, true>(comm, 5, root);
}

/// Communication between kernels, in loops, in the order in which it is written, without waiting for the device.
void check_programs(const Communicator& world) {
  StandIn& driver = StandIn::get();
  const int rank = world.rank(), size = world.size(), next = (rank + 1) % size, previous = (rank + size - 1) % size;
  const auto f = jit([&](auto x) {
    return fori_loop(
        0, 20,
        [&](auto, auto c) {
          const auto mean = mpi::allreduce(sin(c), world) * (1.0f / static_cast<float>(size));
          const auto sent = mpi::sendrecv(mean + c, next, previous, world);
          const auto rows = mpi::alltoall(stack(std::vector(static_cast<size_t>(size), sent), 0), world);
          return sum(rows, 0) * (0.5f / static_cast<float>(size)) + mean * 0.25f;
        },
        x);
  });
  const F x = F::full({100}, 0.1f * static_cast<float>(rank + 1)), there = x.to(gpu()), want = f(x);
  for (int call = 0; call < 3; ++call) {
    const auto waits = [] { return calls_of({"cuStreamSynchronize", "cuEventSynchronize", "cuMemcpyDtoHAsync_v2"}); };
    f(there);  // memory is there
    const int before = waits();
    const F got = f(there);
    expect(waits() == before, "it waits for the device");
    expect(driver.live("work") != 0, "work is pending");
    expect_close(got.to(cpu()), want, 1e-5, "a loop");
    expect_equal(F(f(there)).to(cpu()), got.to(cpu()), "the same bits");
  }
  // Derivatives and a batch.
  const auto loss = [&](auto w) { return sum(square(mpi::allreduce(w, world)) * mpi::bcast(w, 0, world)); };
  expect_close(F(jit(grad(loss))(there)).to(cpu()), F(jit(grad(loss))(x)), 1e-5, "a derivative");
  const auto each = vmap([&](auto v) { return mpi::allgather(v, world); });
  expect_equal(F(each(there.reshape({10, 10}))).to(cpu()), F(each(x.reshape({10, 10}))), "a batch");
  // Calls of MPI and NCCL on one communicator.
  const auto mixed = jit([&](auto v) {
    const auto total = mpi::allreduce(v, world), greatest = mpi::allreduce(v, world, Op::max);
    mpi::barrier(world);
    return mpi::scan(total, world) + mpi::allgather(greatest, world)[0];
  });
  expect_close(F(mixed(there)).to(cpu()), F(mixed(x)), 1e-5, "calls of both");
  // A function that follows its data runs its effects once.
  const auto branches = jit(
      [&](auto v) {
        const auto total = mpi::allreduce(v, world);
        if (sum(total) > 0.0f) return mpi::allreduce(total * 2.0f, world);
        return total;
      },
      {.branches = branches::trace});
  for (int call = 0; call < 2; ++call) {
    const int before = nccl_calls();
    const F got = branches(there);
    expect(nccl_calls() == before + 2,
           std::to_string(nccl_calls() - before) + " calls of a function that follows its data");
    expect_close(got.to(cpu()), F(branches(x)), 1e-5, "a function that follows its data");
  }
}

/// Ranks whose GPUs NCCL does not connect: the same results, through host memory.
void check_without(const Communicator& world) {
  const int before = nccl_calls();
  const F x = argument<float>(world.rank(), {7});
  for (int call = 0; call < 2; ++call) {
    const F got = mpi::allreduce(x.to(gpu()), world);
    expect(got.device() == gpu(), "the device");
    expect_equal(got.to(cpu()), mpi::allreduce(x, world), "through host memory");
  }
  expect(nccl_calls() == before, "no call of NCCL");
}

void check_communicators(const Communicator& world) {
  StandIn& driver = StandIn::get();
  const int rank = world.rank();
  // A message does not decide for all; a collective does.
  const Communicator part = world.split(rank % 2, -rank);
  const auto count = static_cast<float>(part.size());
  const F there = F{1, 2}.to(gpu());
  const size_t live = driver.live("communicator");
  const int before = nccl_calls();
  const int other = (part.rank() + 1) % part.size();
  const int from = (part.rank() + part.size() - 1) % part.size();
  expect_equal(F(mpi::sendrecv(there, other, from, part)).to(cpu()), F{1, 2}, "a message");
  expect(driver.live("communicator") == live && nccl_calls() == before, "messages alone do not start NCCL");
  const F total = mpi::allreduce(there, part);
  expect(driver.live("communicator") == live + 1, "a collective does");
  part.free();
  expect(driver.live("communicator") == live, "freed");
  expect_equal(total.to(cpu()), F{count, 2 * count}, "what was submitted before");
}

}  // namespace
}  // namespace calque::test

int main(int argc, char** argv) {
  using namespace calque;
  using namespace calque::test;
  const std::string what = argc > 1 ? argv[1] : "";
  const int early = rank_before_mpi();
  if (what == "missing" && early == 1) setenv("CALQUE_LIBNCCL", "/nowhere/libnccl.so.2", 1);
  if (what == "off" && early == 1) setenv("CALQUE_LIBNCCL", "off", 1);
  StandIn& driver = StandIn::get();
  driver.set("uuid", what == "shared" && early == 2 ? 0 : early);
  if (what == "old" && early == 1) driver.set("nccl_version", 2804);
  if (what == "versions" && early == 1) driver.set("nccl_version", 22810);
  if (what == "refuses" && early == 1) driver.fail("ncclCommInitRank, at its end", 2);
  if (what == "no_id" && early == 0) driver.fail("ncclGetUniqueId", 2);
  {
    mpi::Session session(argc, argv);
    const mpi::Communicator world = mpi::world();
    const int rank = world.rank();
    const F there = F{1, 2}.to(gpu());
    if (what == "collectives") {
      check_collectives(world);
      const mpi::Communicator part = world.split(rank % 2, -rank);
      if (part.size() > 1) check_type<float>(part, 3, 0);
    } else if (what == "programs") {
      check_programs(world);
      check_communicators(world);
    } else if (what == "fails") {
      mpi::allreduce(there, world);
      if (rank == 1) driver.fail("ncclAllReduce", 2);
      mpi::allreduce(there, world);
    } else if (what == "fails_later") {
      mpi::allreduce(there, world);
      if (rank == 1) driver.set("nccl_async_error", 2);
      mpi::bcast(there, 0, world);
    } else if (what == "fails_in_group") {
      mpi::allreduce(there, world);
      if (rank == 1) driver.fail("ncclSend", 2);
      mpi::alltoall(F::zeros({world.size(), 2}).to(gpu()), world);
    } else if (what == "caught") {
      // Rank 1 does not make the call that the others have submitted: the session ends all the same.
      mpi::allreduce(there, world);
      try {
        if (rank == 1) mpi::bcast(there, 7, world);
        mpi::allreduce(there, world);
      } catch (const Error&) {
      }
    } else if (what == "memories") {
      mpi::allreduce(rank == 0 ? there : there.to(cpu()), world);
    } else {
      check_without(world);
    }
    expect_no_misuse();
  }
  if (driver.live("communicator") != 0) {
    std::cerr << "communicators of NCCL are left\n";
    return 1;
  }
  if (early == 0) std::cout << what << ": all right\n";
}
