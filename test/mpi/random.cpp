// Random programs of collectives in loops and branches: compiled, and differentiated, against one process that computes
// what all ranks have.
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "mpi/ranks.h"

namespace calque::test {
namespace {

using D = Array<double>;

enum class Step {
  local,
  allreduce,
  reduce,
  bcast,
  scan,
  ring,
  chain,
  gather,
  rows,
  alltoall,
  product,
  loop,
  branch,
  count
};

/// What all ranks do, to a vector of 2 * size elements.
struct Program {
  struct Instruction {
    Step step;
    int root;
    double factor;
    std::vector<Program> parts{};
  };
  std::vector<Instruction> steps{};
};

Program draw_program(std::mt19937& draw, int size, int depth) {
  Program program;
  for (unsigned left = draw() % 4 + 2; left > 0; --left) {
    Program::Instruction i{static_cast<Step>(draw() % static_cast<unsigned>(Step::count)),
                           static_cast<int>(draw() % static_cast<unsigned>(size)), (draw() % 100) / 100.0 - 0.4};
    const bool has_parts = i.step == Step::loop || i.step == Step::branch;
    if (has_parts && depth == 0) i.step = Step::ring;
    if (has_parts && depth > 0) {
      i.parts.push_back(draw_program(draw, size, depth - 1));
      i.parts.push_back(draw_program(draw, size, depth - 1));
    }
    program.steps.push_back(std::move(i));
  }
  return program;
}

template <class X>
X run(const Program& program, X x, const mpi::Communicator& comm) {
  const int rank = comm.rank(), size = comm.size();
  const double mean = 1.0 / size;
  for (const Program::Instruction& i : program.steps) {
    switch (i.step) {
      case Step::local:
        x = sin(x * (1.0 + i.factor)) + 0.1 * rank;
        break;
      case Step::allreduce:
        x = x + i.factor * mpi::allreduce(x, comm) * mean;
        break;
      case Step::reduce:
        x = x * 0.5 + mpi::reduce(x, i.root, comm) * mean;
        break;
      case Step::bcast:
        x = x + i.factor * mpi::bcast(x, i.root, comm);
        break;
      case Step::scan:
        x = x * 0.5 + mpi::scan(x, comm) * mean;
        break;
      case Step::ring:
        x = x * 0.5 + mpi::sendrecv(x, (rank + 1) % size, (rank + size - 1) % size, comm);
        break;
      case Step::chain:
        x = x * 0.5 + mpi::sendrecv(x, rank + 1 < size ? rank + 1 : mpi::null_rank, rank - 1, comm);
        break;
      case Step::gather:
        x = mpi::scatter(mpi::gather(x, i.root, comm) + 0.1, i.root, comm);
        break;
      case Step::rows: {
        const auto row = mpi::reduce_scatter(x.reshape({size, 2}), comm) * mean;
        x = x + i.factor * mpi::allgather(row, comm).reshape({2 * size});
        break;
      }
      case Step::alltoall:
        x = mpi::alltoall(x.reshape({size, 2}), comm).reshape({2 * size});
        break;
      case Step::product:
        x = x + i.factor * mpi::allreduce(cos(x), comm, mpi::prod);
        break;
      case Step::loop:
        x = fori_loop(0, 3, [&](auto, auto c) { return run(i.parts[0], c, comm); }, x);
        break;
      default: {
        // The same branch on all ranks.
        const auto all = mpi::allreduce(sum(x), comm);
        x = cond(
            all > i.factor, [&](auto c) { return run(i.parts[0], c, comm); },
            [&](auto c) { return run(i.parts[1], c, comm); }, x);
      }
    }
  }
  return x;
}

using All = std::vector<std::vector<double>>;

/// The same for the vectors of all ranks.
All run_all(const Program& program, All x) {
  const size_t size = x.size(), n = 2 * size;
  const double mean = 1.0 / static_cast<double>(size);
  for (const Program::Instruction& i : program.steps) {
    if (i.step == Step::loop) {
      for (int k = 0; k < 3; ++k) x = run_all(i.parts[0], x);
      continue;
    }
    if (i.step == Step::branch) {
      double all = 0;
      for (const auto& each : x) {
        for (const double v : each) all += v;
      }
      x = run_all(i.parts[all > i.factor ? 0 : 1], x);
      continue;
    }
    const auto root = static_cast<size_t>(i.root);
    All y = x;
    for (size_t r = 0; r < size; ++r) {
      for (size_t k = 0; k < n; ++k) {
        double sum = 0, up_to = 0, product = 1;
        for (size_t s = 0; s < size; ++s) {
          sum += x[s][k];
          if (s <= r) up_to += x[s][k];
          product *= std::cos(x[s][k]);
        }
        const double v = x[r][k];
        const size_t before = (r + size - 1) % size;
        double& out = y[r][k];
        if (i.step == Step::local) out = std::sin(v * (1.0 + i.factor)) + 0.1 * static_cast<double>(r);
        if (i.step == Step::allreduce || i.step == Step::rows) out = v + i.factor * sum * mean;
        if (i.step == Step::reduce) out = v * 0.5 + (r == root ? sum * mean : 0.0);
        if (i.step == Step::bcast) out = v + i.factor * x[root][k];
        if (i.step == Step::scan) out = v * 0.5 + up_to * mean;
        if (i.step == Step::ring) out = v * 0.5 + x[before][k];
        if (i.step == Step::chain) out = v * 0.5 + (r > 0 ? x[before][k] : 0.0);
        if (i.step == Step::gather) out = v + 0.1;
        if (i.step == Step::alltoall) out = x[k / 2][2 * r + k % 2];
        if (i.step == Step::product) out = v + i.factor * product;
      }
    }
    x = std::move(y);
  }
  return x;
}

void check(unsigned seed, const mpi::Communicator& world) {
  std::mt19937 draw(seed);
  const int size = world.size();
  const auto ranks = static_cast<size_t>(size), mine = static_cast<size_t>(world.rank());
  const Program program = draw_program(draw, size, 2);
  All x(ranks, std::vector<double>(2 * ranks)), direction = x;
  for (size_t r = 0; r < ranks; ++r) {
    for (size_t k = 0; k < 2 * ranks; ++k) {
      x[r][k] = (draw() % 1000) / 500.0 - 1.0;
      direction[r][k] = (draw() % 1000) / 500.0 - 1.0;
    }
  }
  const std::string name = "program " + std::to_string(seed);
  const auto f = [&](auto v) { return run(program, v, world); };
  const All want = run_all(program, x);
  const D x_mine = D::from(x[mine]);
  expect_close(D(jit(f)(x_mine)), D::from(want[mine]), 1e-9, name);

  // The derivative of the sum of squares of all ranks in a direction.
  const D gradient = jit(grad([&](auto v) { return sum(square(f(v))); }))(x_mine);
  const double slope = D(mpi::allreduce(D(sum(gradient * D::from(direction[mine]))), world)).item();
  const auto value = [&](double step) {
    All moved = x;
    double total = 0;
    for (size_t r = 0; r < ranks; ++r) {
      for (size_t k = 0; k < 2 * ranks; ++k) moved[r][k] += step * direction[r][k];
    }
    for (const auto& each : run_all(program, moved)) {
      for (const double v : each) total += v * v;
    }
    return total;
  };
  constexpr double kStep = 1e-7;  // programs that iterate sines curve sharply
  const double difference = (value(kStep) - value(-kStep)) / (2 * kStep);
  expect(std::abs(slope - difference) <= 1e-5 * (1 + std::abs(difference)),
         name + ": derivative " + std::to_string(slope) + ", by differences " + std::to_string(difference));
}

}  // namespace
}  // namespace calque::test

int main(int argc, char** argv) {
  using namespace calque::test;
  const unsigned first = argc > 1 ? static_cast<unsigned>(std::stoul(argv[1])) : 0;
  const unsigned count = argc > 2 ? static_cast<unsigned>(std::stoul(argv[2])) : 8;
  calque::mpi::Session session(argc, argv);
  const calque::mpi::Communicator world = calque::mpi::world();
  for (unsigned seed = first; seed < first + count; ++seed) check(seed, world);
  if (world.rank() == 0) std::cout << count << " random programs of " << world.size() << " ranks: all right\n";
}
