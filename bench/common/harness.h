// The benchmarks' harness. A task's variants (ours and the rivals) run interleaved in one process, and a figure is a
// ratio of medians of that run: to the task's physical floor, and to the best rival.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

namespace bench {

/// The physical limit of a task at one size: seconds per call and their formula. Zero when there is none.
struct Floor {
  double seconds = 0;
  std::string formula = {};
};

/// The minimum work and traffic of one call, which determine its position on a roofline. Zero when not given.
struct Work {
  double flops = 0;
  double bytes = 0;
};

/// One task at one size, to which variants are added.
struct Task {
  std::string name;
  std::string size;
  Floor floor = {};
  Work work = {};
};

/// Records a variant for the report. Called by `add`.
void describe(const Task& task, const std::string& variant);

/// Adds a variant: one call of `body` is one call of the task. Names of our own variants start with "calque"; all
/// others are rivals.
template <class Body>
void add(const Task& task, const std::string& variant, Body body) {
  describe(task, variant);
  std::string name = task.name + "/" + task.size + "/" + variant;
  benchmark::RegisterBenchmark(name.c_str(), [body = std::move(body)](benchmark::State& state) mutable {
    for (auto _ : state) body();
  });
}

/// Aborts unless `got` is within `rtol * |expected| + atol` of the reference everywhere: variants with wrong results
/// are never timed.
void check(const std::string& what, std::span<const float> got, std::span<const float> expected, double rtol,
           double atol = 0);
void check(const std::string& what, std::span<const double> got, std::span<const double> expected, double rtol,
           double atol = 0);
void check(const std::string& what, double got, double expected, double rtol, double atol = 0);

/// `n` numbers, uniform in [low, high), the same in every run.
std::vector<float> random_floats(size_t n, float low, float high, uint64_t seed);
std::vector<double> random_doubles(size_t n, double low, double high, uint64_t seed);

/// The sizes of a task: those of `--sizes=a,b,...`, or its own defaults.
std::vector<int64_t> sizes(const std::vector<int64_t>& defaults);

/// A power of ten as "10^5", other numbers in digits.
std::string size_name(int64_t n);

/// Records a figure of the machine for the report.
void record(const std::string& what, double value, const std::string& unit);

/// Records the version of a library that the program measures.
void version(const std::string& library, const std::string& version);

/// Records a rival that cannot run and the reason: not installed, or without such an operation.
void skip(const Task& task, const std::string& variant, const std::string& why);

/// Runs the program, each library on one thread (unless OMP_NUM_THREADS or CALQUE_NUM_THREADS are set):
/// `--sizes=`, `--json=FILE` and Google Benchmark's own flags; `declare` registers the variants.
int run(int argc, char** argv, const std::function<void()>& declare);

}  // namespace bench

/// The main function of a benchmark program; the body declares the tasks.
#define CALQUE_BENCH_MAIN(declare) \
  int main(int argc, char** argv) { return bench::run(argc, argv, declare); }
