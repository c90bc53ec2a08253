// Whole programs: loops of thousands of calls without growth, gradients of the whole, spmd against one process, the
// simulator.
#include <fstream>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "mpi/ranks.h"

namespace calque::test {
namespace {

using D = Array<double>;

size_t resident_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmRSS:", 0) == 0) return std::stoul(line.substr(6));
  }
  return 0;
}

void check_long_loops(const mpi::Communicator& world) {
  const int size = world.size(), rank = world.rank();
  // Where ranks share processors, each call waits for its turn of one.
  const int calls = size <= static_cast<int>(std::thread::hardware_concurrency()) ? 10000 : 200;
  const auto f = jit([&](auto x) {
    return fori_loop(
        0, calls,
        [&](auto, auto c) {
          const auto mean = mpi::allreduce(c, world) / static_cast<double>(size);
          return mpi::sendrecv(mean, (rank + 1) % size, (rank + size - 1) % size, world) + 1.0;
        },
        x);
  });
  const D x = D::full({100}, static_cast<double>(rank));
  const D first = f(x);
  const size_t before = resident_kilobytes();
  for (int i = 0; i < 5; ++i) expect_equal(f(x), first, "a loop");
  expect_close(first, D::full({100}, (size - 1) / 2.0 + calls), 1e-9, "many calls");
  expect(resident_kilobytes() < before + 8000, "no growth");
}

/// Ten thousand calls on a donated array: it stays where it is, and no memory is added.
void check_donated_loops(const mpi::Communicator& world) {
  const double part = 1.0 / world.size();
  const auto step = jit([&](auto x) { return mpi::allreduce(x, world) * part + 1.0; }, {.donate = {0}});
  D x = D::zeros({1000});
  const std::string plan = step.lower(x).plan().str();
  expect(plan.find("workspace 0 bytes") != std::string::npos && plan.find("copied") == std::string::npos, plan);
  const double* const memory = x.host().data();
  x = step(x);
  const size_t before = resident_kilobytes();
  for (int i = 1; i < 10000; ++i) x = step(x);
  expect(x.host().data() == memory, "the memory of the donated array");
  expect(resident_kilobytes() < before + 8000, "no growth");
  expect_close(x, D::full({1000}, 10000.0), 1e-9, "a donated array");
}

/// The derivative of the sum of what all ranks return, against differences.
void check_gradients(const mpi::Communicator& world) {
  const int rank = world.rank(), size = world.size();
  const auto loss = [&](auto w) {
    const auto all = mpi::allgather(sin(w), world);
    const auto total = mpi::allreduce(sum(square(w)), world);
    const auto from = mpi::sendrecv(w * w, (rank + 1) % size, (rank + size - 1) % size, world);
    return sum(prod(all, {0})) + total * sum(from) + sum(mpi::scan(w, world) * mpi::bcast(w, size - 1, world));
  };
  const D w = D{0.3, 0.7, -0.4} + 0.1 * rank;
  const D gradient = jit(grad(loss))(w);
  constexpr double kStep = 1e-6;
  for (int r = 0; r < size; ++r) {
    for (int i = 0; i < 3; ++i) {
      const auto moved = [&](double step) { return rank == r ? w.set(i, w[i] + step) : w; };
      const D up = mpi::allreduce(loss(moved(kStep)), world), down = mpi::allreduce(loss(moved(-kStep)), world);
      const D difference = (up - down) / (2 * kStep);
      if (rank == r) expect_close(D(gradient[i]), difference, 1e-5, "a derivative of the whole");
    }
  }
}

void check_spmd(const mpi::Communicator& world) {
  const int rank = world.rank(), size = world.size();
  const auto f = [](auto x, auto scale) {
    const auto centred = x - pmean(x, "i");
    return scale * centred / sqrt(pmean(sum(square(centred)), "i")) + axis_index("i") * 1.0;
  };
  const int64_t rows = 2 * size;
  const D whole = sin(D::arange(rows * 3) * 1.1).reshape({rows, 3});
  const D want = vmap(f, {.in_axes = {0, none}, .axis_name = "i"})(whole, D(2.0));
  const auto shards = mpi::spmd(f, world, {.in = {0, none}, .out = {0}});
  const D got = shards(whole.at(range(2 * rank, 2 * rank + 2)), D(2.0));
  expect_close(got, D(want.at(range(2 * rank, 2 * rank + 2))), 1e-12, "spmd");
  expect_close(D(jit(shards)(whole.at(range(2 * rank, 2 * rank + 2)), D(2.0))), got, 1e-12, "compiled spmd");
}

void check_simulator(const mpi::Communicator& world) {
  JitOptions options;
  options.device = Device{Device::Kind::gpu_sim, 0};
  const auto f = jit([&](auto x) { return mpi::allreduce(x * 2.0, world) + 1.0; }, options);
  expect_equal(f(D{1, 2}).to(cpu()), D{2.0 * world.size() + 1, 4.0 * world.size() + 1}, "the simulator");
}

/// Calls that kernels overlap, on a thread of their own and as messages, between calls that are made at once.
void check_overlap(const mpi::Communicator& world) {
  const int rank = world.rank(), size = world.size(), next = (rank + 1) % size, previous = (rank + size - 1) % size;
  const auto f = jit([&](auto x, auto y) {
    return fori_loop(
        0, 20,
        [&](auto, auto state) {
          const auto [v, w] = state;
          const auto total = mpi::allreduce(v, world) / static_cast<double>(size);
          const auto sent = mpi::sendrecv(w, next, previous, world);
          const auto busy = sin(w) * cos(w * 1.1) + exp(w * -0.5);
          const auto small = mpi::allreduce(sum(busy), world);
          return std::tuple{total * 0.5 + v * 0.5, busy * 0.1 + sent * 0.9 + small * 1e-9};
        },
        std::tuple{x, y});
  });
  const D x = D::full({20000}, 1.0 + rank), y = sin(D::arange(20000) * 0.01 + 1.0 * rank);
  std::ostringstream plan;
  plan << f.explain(x, y);
  expect(plan.str().find("overlapped: all_reduce of f64[20000]") != std::string::npos, plan.str());
  expect(plan.str().find("overlapped: send_receive of f64[20000]") != std::string::npos, plan.str());
  const auto [v, w] = f(x, y);
  // The same at once.
  D a = x, b = y;
  for (int i = 0; i < 20; ++i) {
    const D total = mpi::allreduce(a, world) / static_cast<double>(size);
    const D sent = mpi::sendrecv(b, next, previous, world);
    const D busy = sin(b) * cos(b * 1.1) + exp(b * -0.5);
    const D small = mpi::allreduce(D(sum(busy)), world);
    a = total * 0.5 + a * 0.5;
    b = busy * 0.1 + sent * 0.9 + small * 1e-9;
  }
  expect_close(v, a, 1e-12, "overlapped sums");
  expect_close(w, b, 1e-9, "overlapped messages");
}

}  // namespace
}  // namespace calque::test

int main(int argc, char** argv) {
  using namespace calque::test;
  calque::mpi::Session session(argc, argv);
  const calque::mpi::Communicator world = calque::mpi::world();
  check_gradients(world);
  check_spmd(world);
  check_simulator(world);
  check_overlap(world);
  check_long_loops(world);
  check_donated_loops(world);
  if (world.rank() == 0) std::cout << "programs of " << world.size() << " ranks: all right\n";
}
