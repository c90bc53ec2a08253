// What goes wrong and is caught, on all ranks; and what is unusual, but right, and must not be taken for a mistake.
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "mpi/ranks.h"

namespace calque::test {
namespace {

using D = Array<double>;

void expect_error(const std::function<void()>& mistake, const std::string& text, Loc at = Loc::current()) {
  std::string message = "nothing";
  try {
    mistake();
  } catch (const Error& e) {
    message = e.what();
  }
  if (message.find(text) == std::string::npos) {
    std::cerr << "got: " << message << "\nwant: " << text << std::endl;
    std::abort();
  }
  (void)at;
}

void check_no_session(const std::string& reason) {
  expect_error([] { mpi::world(); }, "mpi::world: " + reason);
  expect_error([] { mpi::allreduce(D{1}, mpi::Communicator{1}); }, "mpi::allreduce: " + reason);
  expect_error([] { (void)mpi::Communicator{1}.rank(); }, "mpi::Communicator::rank: " + reason);
}

void check_arguments(const mpi::Communicator& world) {
  const int size = world.size();
  const std::string last = std::to_string(size - 1);
  const D x{1, 2};
  expect_error([] { mpi::Session second; }, "mpi::Session: there is a session already (mistakes.cpp:");
  expect_error([&] { mpi::bcast(x, size, world); }, "the root is " + std::to_string(size) + ", and the ranks of");
  expect_error([&] { mpi::reduce(x, -1, world); }, "the root is -1, and the ranks of communicator 1 of");
  expect_error([&] { mpi::gather(x, size, world); }, "are 0 to " + last + " (mistakes.cpp:");
  expect_error([&] { mpi::send(x, mpi::null_rank, world); }, "mpi::send: dest is -1");
  expect_error([&] { mpi::recv(x, size, world); }, "mpi::recv: source is");
  expect_error([&] { mpi::sendrecv(x, 0, -2, world); }, "mpi::sendrecv: source is -2");
  expect_error([&] { mpi::scatter(D::zeros({size + 1}), 0, world); }, "mpi::scatter: needs [" + std::to_string(size));
  expect_error([&] { mpi::alltoall(D(1.0), world); }, "mpi::alltoall: needs [" + std::to_string(size));
  expect_error([&] { mpi::allreduce(Array<bool>{true}, world); }, "use all or any, or cast it");
  expect_error([&] { mpi::allreduce(x, world, mpi::all); }, "all needs bool, got f64[2]");
  expect_error([&] { mpi::allreduce(Array<std::complex<double>>{1.0}, world, mpi::max); }, "max needs an order");
  expect_error([&] { mpi::allreduce(x, mpi::Communicator()); }, "mpi::allreduce: the communicator is empty (mistakes");
  expect_error([&] { mpi::allreduce(x, mpi::Communicator{99}); }, "there is no communicator 99 (mistakes.cpp:");
  expect_error([&] { world.free(); }, "mpi::Communicator::free: that of all ranks cannot be freed");
  expect_error([&] { mpi::from_mpi_comm(MPI_COMM_NULL); }, "it is MPI_COMM_NULL (mistakes.cpp:");
  // The same in compiled functions.
  expect_error([&] { jit([&](auto v) { return mpi::bcast(v, size, world); })(x); }, "the root is");
  expect_error([&] { jit([&](auto v) { return mpi::scatter(v, 0, world); })(D::zeros({size + 1})); }, "needs [");
  expect_error([&] { grad([&](auto v) { return sum(mpi::recv(v, 0, world)); })(x); }, "recv");

  // By reference: the communicator that a function has found when it was traced stays that of its code.
  mpi::Communicator part = world.split(0);
  const auto f = jit([&part](auto v) { return mpi::allreduce(v, part); });
  expect_equal(f(x), x * size, "a communicator by reference");
  const mpi::Communicator other = world.split(0);
  part.free();
  expect_error([&] { f(x); }, "mpi::allreduce: the communicator was freed");
  expect_error([&] { part.free(); }, "mpi::Communicator::free: the communicator was freed");
  expect_error([&] { (void)part.size(); }, "mpi::Communicator::size: the communicator was freed");
  expect_equal(mpi::allreduce(x, other), x * size, "another communicator");
}

/// Views, bool, empty and 0-d arrays, at once and compiled.
void check_arrays(const mpi::Communicator& world) {
  const int size = world.size(), rank = world.rank();
  const D m = D::arange(12).reshape({3, 4}) * (rank + 1.0);
  const D sums = D::arange(12).reshape({3, 4}) * (size * (size + 1) / 2.0);
  expect_equal(mpi::allreduce(transpose(m), world), D(transpose(sums)), "a transposed view");
  expect_equal(mpi::allreduce(D(m.at(all, range(0, 4, 2))), world), D(sums.at(all, range(0, 4, 2))), "a strided view");
  expect_equal(mpi::bcast(broadcast_to(D(rank + 1.0), {2, 3}), size - 1, world), D::full({2, 3}, 1.0 * size), "splat");
  const auto views =
      jit([&](auto v) { return mpi::allreduce(transpose(v), world) + transpose(mpi::bcast(flip(v), 0, world)); });
  expect_equal(D(views(m)), D(transpose(sums) + transpose(flip(D(D::arange(12).reshape({3, 4}))))), "views, compiled");
  expect_equal(mpi::allreduce(D::zeros({0, 3}), world), D::zeros({0, 3}), "empty");
  expect_equal(D(jit([&](auto v) { return mpi::alltoall(v, world); })(D::zeros({size, 0}))), D::zeros({size, 0}),
               "empty");
  expect_equal(mpi::allgather(D(1.0 * rank), world), D(D::arange(size)), "0-d");
  expect_equal(mpi::scatter(D::arange(size), 0, world), D(1.0 * rank), "0-d");
  expect(mpi::allreduce(rank == 0, world, mpi::any).item(), "bool");
  expect(mpi::allreduce(rank == 0, world, mpi::all).item() == (size == 1), "bool");
}

/// Messages that fit each other whatever functions make the calls.
void check_messages(const mpi::Communicator& world) {
  const int rank = world.rank(), size = world.size();
  if (size < 2) return;
  // More than MPI takes before it is received.
  for (const int64_t n : {int64_t{1}, int64_t{100000}}) {
    const D x = D::full({n}, rank + 1.0);
    const auto f = [&](auto v) {
      if (rank == 0) return mpi::sendrecv(v, 1, 1, world) + 0.0;
      if (rank > 1) return v + 0.0;
      const auto got = mpi::recv(v, 0, world);
      mpi::send(v, 0, world);
      return got + 0.0;
    };
    const D want = D::full({n}, rank == 0 ? 2.0 : rank == 1 ? 1.0 : rank + 1.0);
    expect_equal(D(f(x)), want, "sendrecv with recv and send");
    expect_equal(D(jit(f)(x)), want, "sendrecv with recv and send, compiled");
    // Around the ring, one by one.
    D token = x;
    if (rank != 0) token = mpi::recv(x, rank - 1, world);
    mpi::send(token, (rank + 1) % size, world);
    if (rank == 0) token = mpi::recv(x, size - 1, world);
    expect_equal(token, D::full({n}, 1.0), "a token");
  }
  // Two messages between the same ranks, in the order in which they are sent; different types.
  if (rank == 0) {
    mpi::send(D{1}, 1, world);
    mpi::send(Array<float>{2, 3}, 1, world);
  } else if (rank == 1) {
    expect_equal(mpi::recv(D{0}, 0, world), D{1}, "the first message");
    expect_equal(mpi::recv(Array<float>{0, 0}, 0, world), Array<float>{2, 3}, "the second message");
  }
}

/// Two threads, each with a communicator of its own, in an order of their own on each rank.
void check_threads(const mpi::Communicator& world) {
  const mpi::Communicator mine = world.split(0), others = world.split(0);
  const int rank = world.rank(), size = world.size(), next = (rank + 1) % size, previous = (rank + size - 1) % size;
  const auto work = [&](const mpi::Communicator& comm, double factor) {
    const auto f = jit([comm, factor](auto v) { return mpi::allreduce(v * factor, comm); });
    for (int i = 0; i < 50; ++i) {
      expect_equal(f(D{1.0 * i}), D{factor * i * size}, "a thread's sum");
      expect_equal(mpi::sendrecv(D{factor * rank}, next, previous, comm), D{factor * previous}, "a thread's message");
    }
  };
  std::thread thread([&] { work(others, 3.0); });
  work(mine, 2.0);
  thread.join();
}

void expect_error_of_thread(const mpi::Communicator& world) {
  std::thread thread([&] {
    expect_error([&] { mpi::barrier(world); }, "mpi::barrier: this MPI lets the thread that has started it call it");
  });
  thread.join();
}

/// Ranks whose results do not all depend on what was communicated still differentiate together.
void check_derivatives(const mpi::Communicator& world) {
  const int rank = world.rank(), size = world.size();
  const auto some_use_it = [&](auto v) {
    const auto all = mpi::allreduce(v * v, world);
    return rank == 0 ? sum(all) : sum(v);
  };
  const double own = rank == 0 ? 0.0 : 1.0;
  const D w = D{1, 2} + 1.0 * rank;
  expect_close(D(jit(grad(some_use_it))(w)), D(2.0 * w + own), 1e-12, "a sum that one rank uses");
  // Where other ranks pass constants, 0 times the argument makes them take part.
  const auto root_has_it = [&](auto v) {
    const auto rows = rank == 0 ? broadcast_to(v, {size, 2}) * 1.0 : D::zeros({size, 2}) + 0.0 * v;
    return sum(square(mpi::scatter(rows, 0, world)));
  };
  expect_close(D(jit(grad(root_has_it))(w)), rank == 0 ? D(2.0 * size * w) : D::zeros({2}), 1e-12,
               "the root's argument");
}

/// A child of fork is no rank: its calls are errors, and the end of its session does not concern the job.
void check_fork(const mpi::Communicator& world, const std::function<void()>& end_of_session) {
  const pid_t child = fork();
  if (child == 0) {
    expect_error([&] { mpi::allreduce(D{1}, world); }, "mpi::allreduce: this process was made by fork, and is no rank");
    expect_error([&] { (void)world.split(0); }, "mpi::Communicator::split: this process was made by fork");
    end_of_session();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "fork");
  expect_equal(mpi::allreduce(D{1}, world), D{1.0 * world.size()}, "after fork");
}

void check_all(const mpi::Communicator& world) {
  check_arguments(world);
  check_arrays(world);
  check_messages(world);
  check_derivatives(world);
}

}  // namespace
}  // namespace calque::test

/// With `single`, MPI is started for one thread only; with `ended`, it is ended before the session.
int main(int argc, char** argv) {
  using namespace calque;
  using namespace calque::test;
  const std::string how = argc > 1 ? argv[1] : "";
  check_no_session("no MPI is running; make a cq::mpi::Session first (");
  // The program starts and ends MPI itself, and has sessions one after the other.
  int level = 0;
  MPI_Init_thread(&argc, &argv, how == "single" ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &level);
  {
    std::optional<mpi::Session> session;
    session.emplace();
    check_all(mpi::world());
    if (level == MPI_THREAD_MULTIPLE) {
      check_threads(mpi::world());
    } else {
      expect_error_of_thread(mpi::world());
    }
    check_fork(mpi::world(), [&] { session.reset(); });
  }
  check_no_session("no MPI is running; make a cq::mpi::Session first (");
  std::optional<mpi::Session> session;
  session.emplace();
  const mpi::Communicator world = mpi::world();
  expect_equal(mpi::allreduce(D{1}, world), D{1.0 * world.size()}, "a second session");
  check_messages(world);
  if (world.rank() == 0) std::cout << "mistakes of " << world.size() << " ranks: all right\n";
  if (how != "ended") session.reset();
  MPI_Finalize();
  if (how == "ended") {
    expect_error([&] { mpi::allreduce(D{1}, world); }, "mpi::allreduce: MPI has ended (mistakes.cpp:");
    session.reset();
  }
  expect_error([] { mpi::Session next; }, "mpi::Session: MPI has ended, and cannot be started twice (mistakes.cpp:");
}
