// Calls of MPI in compiled functions beside plain MPI: a loop of small allreduces, a large one, and an explicit heat
// equation with halo exchange. The program starts itself as a job of two ranks unless it is part of a job. Rank 0
// measures; before each call it tells the other ranks which variant all of them run.
#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include <calque/mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/harness.h"
#include "common/variants.h"
#include "mpi/rivals.h"

namespace cq = calque;

namespace {

using D = cq::Array<double>;

/// Replaces the process by a job of two ranks of this program.
void start_job(char** argv) {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK"}) {
    if (std::getenv(variable) != nullptr) return;
  }
  char self[PATH_MAX] = {};
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return;
  // Open MPI wants to be told that it may run in a container, and on a machine with one core. Others ignore this.
  for (const char* variable :
       {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"})
    setenv(variable, "1", 0);
  std::vector<std::string> words = {"mpirun", "-np", "2", self};
  for (char** argument = argv + 1; *argument != nullptr; ++argument) words.emplace_back(*argument);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execvp("mpirun", pointers.data());
  std::cerr << "bench_mpi: mpirun was not found\n";
  std::exit(EXIT_FAILURE);
}

/// What all ranks have declared, in the same order.
struct Job {
  cq::mpi::Session session;
  cq::mpi::Communicator world = cq::mpi::world();
  MPI_Comm orders = MPI_COMM_NULL;
  std::vector<std::function<void()>> bodies;

  Job() { MPI_Comm_dup(MPI_COMM_WORLD, &orders); }
  ~Job() { MPI_Comm_free(&orders); }

  int next(int order) const {
    MPI_Bcast(&order, 1, MPI_INT, 0, orders);
    return order;
  }
};

constexpr int kEnd = -1;
std::unique_ptr<Job> job;

/// Adds a variant that all ranks run together.
void add_together(const bench::Task& task, const std::string& variant, std::function<void()> body) {
  const int order = static_cast<int>(job->bodies.size());
  job->bodies.push_back(body);
  bench::add(task, variant, [order, body = std::move(body)] {
    job->next(order);
    body();
  });
}

/// Zeros, in memory as that of arrays of this library: large blocks are in huge pages.
std::shared_ptr<double[]> memory(size_t count) {
  constexpr size_t kHugePage = size_t{1} << 21;
  const bool is_large = count * sizeof(double) >= kHugePage;
  const size_t align = is_large ? kHugePage : 64;
  const size_t bytes = (count * sizeof(double) + align - 1) / align * align;
  void* const block = std::aligned_alloc(align, bytes);
  if (block == nullptr) throw std::bad_alloc();
  if (is_large) madvise(block, bytes, MADV_HUGEPAGE);
  std::memset(block, 0, bytes);
  return {static_cast<double*>(block), [](double* p) { std::free(p); }};
}

/// Our variant and the rival, which fills memory; both give the same.
template <class Ours, class Rival>
void add_both(const bench::Task& task, const Ours& ours, const Rival& rival) {
  const D result = ours();
  const auto count = static_cast<size_t>(result.shape().num_elements());
  const auto out = memory(count);
  rival(out.get());
  bench::check(task.name, result.host(), std::span<const double>(out.get(), count), 1e-12, 1e-12);
  add_together(task, "calque", [ours] {
    const D again = ours();
    benchmark::DoNotOptimize(again);
  });
  add_together(task, "c++ with MPI", [rival, out] {
    rival(out.get());
    benchmark::DoNotOptimize(out.get());
    benchmark::ClobberMemory();
  });
}

/// Different on each rank.
std::shared_ptr<double[]> numbers(size_t count) {
  const auto out = memory(count);
  const auto drawn = bench::random_doubles(count, -1, 1, static_cast<uint64_t>(1 + job->world.rank()));
  std::copy(drawn.begin(), drawn.end(), out.get());
  return out;
}

void declare_small() {
  constexpr int kCount = 8, kCalls = 1000;
  const auto world = job->world;
  const auto comm = cq::mpi::mpi_comm(world);
  const auto x = numbers(kCount), spare = memory(kCount);
  const auto f = cq::jit([=](auto v) {
    return cq::fori_loop(
        0, kCalls, [world](auto, auto c) { return cq::mpi::allreduce(c, world) * (1.0 / world.size()); }, v);
  });
  const D array = D::wrap(x.get(), cq::Shape{kCount}, [x](double*) {});
  add_both(
      {"allreduce, 1000 calls", "8"}, [=] { return f(array); },
      [=](double* out) { raw_means(comm, x.get(), out, spare.get(), kCount, kCalls); });
}

void declare_large(int64_t count) {
  const auto world = job->world;
  const auto comm = cq::mpi::mpi_comm(world);
  const auto x = numbers(static_cast<size_t>(count));
  const auto f = cq::jit([world](auto v) { return cq::mpi::allreduce(v, world); });
  const D array = D::wrap(x.get(), cq::Shape{count}, [x](double*) {});
  add_both(
      {"allreduce", std::to_string(count)}, [=] { return f(array); },
      [=](double* out) { raw_sum(comm, x.get(), out, static_cast<int>(count)); });
}

/// The part of a square of n x n cells that is this rank's.
struct Strip {
  int64_t n, rows;
  int above, below;
  explicit Strip(int64_t cells) : n(cells) {
    const int rank = job->world.rank(), size = job->world.size();
    rows = n / size;
    above = rank > 0 ? rank - 1 : cq::mpi::null_rank;
    below = rank + 1 < size ? rank + 1 : cq::mpi::null_rank;
  }
};

/// One kernel, which needs the halo.
auto step_after_halo(const Strip& strip, const cq::mpi::Communicator& world) {
  return [strip, world](auto, auto u) {
    const auto [n, rows, above, below] = strip;
    const auto top = cq::mpi::sendrecv(u.at(cq::range(rows - 1, rows)), below, above, world);
    const auto bottom = cq::mpi::sendrecv(u.at(cq::range(0, 1)), above, below, world);
    const auto wide = pad(cq::concatenate({top, u, bottom}, 0), 0.0, {0, 1}, {0, 1});
    const auto inner = cq::range(1, rows + 1), columns = cq::range(1, n + 1);
    const auto around = wide.at(cq::range(0, rows), columns) + wide.at(cq::range(2, rows + 2), columns) +
                        wide.at(inner, cq::range(0, n)) + wide.at(inner, cq::range(2, n + 2));
    return u + kDiffusion * (around - 4.0 * u);
  };
}

/// What the rows of other ranks contribute to the first and the last row is added to them once it has arrived.
auto step_beside_halo(const Strip& strip, const cq::mpi::Communicator& world) {
  return [strip, world](auto, auto u) {
    const auto [n, rows, above, below] = strip;
    const auto top = cq::mpi::sendrecv(u.at(rows - 1), below, above, world);
    const auto bottom = cq::mpi::sendrecv(u.at(0), above, below, world);
    const auto wide = pad(u, 0.0, {1, 1}, {1, 1});
    const auto inner = cq::range(1, rows + 1), columns = cq::range(1, n + 1);
    const auto around = wide.at(cq::range(0, rows), columns) + wide.at(cq::range(2, rows + 2), columns) +
                        wide.at(inner, cq::range(0, n)) + wide.at(inner, cq::range(2, n + 2));
    const auto own = u + kDiffusion * (around - 4.0 * u);
    return own.add(0, kDiffusion * top).add(rows - 1, kDiffusion * bottom);
  };
}

template <class Step, class Rival>
void declare_heat(const std::string& name, const Strip& strip, const Step& step, const Rival& rival) {
  constexpr int64_t kSteps = 100;
  const auto comm = cq::mpi::mpi_comm(job->world);
  const auto f = cq::jit([=](auto initial) { return cq::fori_loop(0, kSteps, step, initial); });
  const auto [n, rows, above, below] = strip;
  const auto u = numbers(static_cast<size_t>(rows * n));
  const auto wide = static_cast<size_t>((rows + 2) * (n + 2));
  const auto a = memory(wide), b = memory(wide);
  const D array = D::wrap(u.get(), cq::Shape{rows, n}, [u](double*) {});
  add_both(
      {name, std::to_string(n)}, [=] { return f(array); },
      [=, rows = rows, n = n](double* out) { rival(comm, u.get(), out, a.get(), b.get(), rows, n, kSteps); });
}

void declare() {
  job = std::make_unique<Job>();
  declare_small();
  for (const int64_t count : bench::sizes({int64_t{1} << 16, int64_t{1} << 22})) declare_large(count);
  for (const int64_t n : bench::sizes({256, 1024})) {
    if (n > 4096) continue;
    const Strip strip(n);
    declare_heat("heat, 100 steps", strip, step_after_halo(strip, job->world), &raw_heat);
    declare_heat("heat, 100 steps, halo overlapped", strip, step_beside_halo(strip, job->world), &raw_heat_overlapped);
  }
  if (job->world.rank() == 0) return;
  cq::wait_for_compilation();
  for (int order = job->next(0); order != kEnd; order = job->next(0)) job->bodies[static_cast<size_t>(order)]();
  job.reset();
  std::exit(EXIT_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
  start_job(argv);
  const int status = bench::run(argc, argv, declare);
  if (job == nullptr) return status;  // wrong arguments, on all ranks
  job->next(kEnd);
  job.reset();
  return status;
}
