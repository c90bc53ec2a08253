// Routines against the reference evaluator and against what defines them, in programs of all devices.
#include <cmath>
#include <limits>
#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

#include "compile/executable.h"
#include "kernel/text/parse.h"
#include "reference/evaluate.h"
#include "runtime/call/device_dispatch.h"
#include "runtime/process/environment.h"
#include "support/stages.h"

namespace calque {
namespace {

using testing::HasSubstr;

template <class T>
std::vector<T> numbers(size_t count, uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<T> out(count);
  for (T& v : out) v = static_cast<T>(uniform(bits));
  return out;
}

/// Positive definite matrices: g gᵀ + n I; above the diagonal, which is not read, NaN.
template <class T>
Array<T> definite(int64_t batch, int64_t n, uint64_t seed) {
  const auto g = numbers<T>(static_cast<size_t>(batch * n * n), seed);
  std::vector<T> a(g.size(), std::numeric_limits<T>::quiet_NaN());
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j <= i; ++j) {
        double sum = i == j ? static_cast<double>(n) : 0;
        for (int64_t k = 0; k < n; ++k)
          sum +=
              double(g[static_cast<size_t>((b * n + i) * n + k)]) * double(g[static_cast<size_t>((b * n + j) * n + k)]);
        a[static_cast<size_t>((b * n + i) * n + j)] = static_cast<T>(sum);
      }
  return Array<T>::from(a, {batch, n, n});
}

/// Well conditioned triangles, on both sides of the diagonal.
template <class T>
Array<T> triangles(int64_t batch, int64_t n, uint64_t seed) {
  auto a = numbers<T>(static_cast<size_t>(batch * n * n), seed);
  for (int64_t i = 0; i < batch * n * n; ++i) {
    a[static_cast<size_t>(i)] /= static_cast<T>(std::max<int64_t>(n, 1));
    if (i % (n * n) % (n + 1) == 0) a[static_cast<size_t>(i)] += T(2);
  }
  return Array<T>::from(a, {batch, n, n});
}

template <class T>
std::string shape_text(int64_t batch, int64_t n, int64_t m) {
  return std::string(sizeof(T) == 4 ? "f32" : "f64") + "[" + std::to_string(batch) + "," + std::to_string(n) + "," +
         std::to_string(m) + "]";
}

template <class T>
Graph cholesky_graph(int64_t batch, int64_t n) {
  const std::string type = shape_text<T>(batch, n, n);
  return parse("calque 1\ngraph f(%0: " + type + ") {\n  %1 = cholesky %0\n  return %1\n}\n");
}

template <class T>
Graph solve_graph(int64_t batch, int64_t n, int64_t m, bool lower, bool transpose, bool unit) {
  const auto word = [](bool b) { return std::string(b ? "true" : "false"); };
  return parse("calque 1\ngraph f(%0: " + shape_text<T>(batch, n, n) + ", %1: " + shape_text<T>(batch, n, m) +
               ") {\n  %2 = triangular_solve[lower=" + word(lower) + ", transpose=" + word(transpose) +
               ", unit_diagonal=" + word(unit) + "] %0 %1\n  return %2\n}\n");
}

template <class T>
Graph lu_graph(int64_t batch, int64_t m, int64_t n) {
  return parse("calque 1\ngraph f(%0: " + shape_text<T>(batch, m, n) + ") {\n  %1, %2 = lu %0\n  return %1, %2\n}\n");
}

template <class T>
Graph qr_graph(int64_t batch, int64_t m, int64_t n) {
  return parse("calque 1\ngraph f(%0: " + shape_text<T>(batch, m, n) + ") {\n  %1, %2 = qr %0\n  return %1, %2\n}\n");
}

template <class T>
AnyArray matrices(int64_t batch, int64_t m, int64_t n, uint64_t seed) {
  return Array<T>::from(numbers<T>(static_cast<size_t>(batch * m * n), seed), {batch, m, n}).any();
}

std::vector<AnyArray> run_all(const Graph& graph, const std::vector<AnyArray>& inputs, Device device = cpu()) {
  std::vector<const AnyArray*> pointers;
  std::vector<runtime::Strides> strides;
  for (const AnyArray& input : inputs) {
    pointers.push_back(&input);
    strides.push_back(row_major_strides(input.shape()));
  }
  runtime::CompileOptions options;
  options.device = device;
  const auto executable = runtime::find_executable(graph, strides, options);
  if (device == cpu()) return runtime::execute(*executable, pointers);
  return runtime::execute_on_device(*executable, pointers, device);
}

AnyArray run(const Graph& graph, const std::vector<AnyArray>& inputs, Device device = cpu()) {
  return run_all(graph, inputs, device)[0];
}

template <class T>
void expect_close(const AnyArray& got, const AnyArray& want, double tolerance) {
  ASSERT_EQ(got.type(), want.type());
  const T* const a = static_cast<const T*>(got.data());
  const T* const b = static_cast<const T*>(want.data());
  for (int64_t i = 0; i < got.size(); ++i) {
    if (std::isnan(b[i])) {
      ASSERT_TRUE(std::isnan(a[i])) << i;
    } else {
      ASSERT_NEAR(double(a[i]), double(b[i]), tolerance * std::max(1.0, std::fabs(double(b[i])))) << i;
    }
  }
}

const int64_t kSizes[] = {0, 1, 2, 3, 7, 12, 13, 31, 64, 100, 129, 255, 257, 300, 513};

TEST(Routines, CholeskyOfEverySizeEqualsTheReference) {
  for (const int64_t n : kSizes) {
    SCOPED_TRACE(n);
    const AnyArray a = definite<double>(1, n, 1).any(), b = definite<float>(1, n, 2).any();
    expect_close<double>(run(cholesky_graph<double>(1, n), {a}),
                         reference::evaluate(cholesky_graph<double>(1, n), std::vector{a})[0], 1e-13 * double(n + 1));
    expect_close<float>(run(cholesky_graph<float>(1, n), {b}),
                        reference::evaluate(cholesky_graph<float>(1, n), std::vector{b})[0], 1e-6 * double(n + 1));
  }
}

TEST(Routines, TriangularSolvesOfEveryFormEqualTheReference) {
  for (const auto& [n, m] :
       {std::pair<int64_t, int64_t>{0, 3}, {3, 0}, {1, 1}, {7, 1}, {13, 5}, {64, 3}, {100, 300}, {257, 2}})
    for (const bool lower : {false, true})
      for (const bool transpose : {false, true})
        for (const bool unit : {false, true}) {
          SCOPED_TRACE(testing::Message() << n << " " << m << " " << lower << transpose << unit);
          const Graph graph = solve_graph<double>(2, n, m, lower, transpose, unit);
          const std::vector<AnyArray> inputs = {
              triangles<double>(2, n, 3).any(),
              Array<double>::from(numbers<double>(static_cast<size_t>(2 * n * m), 4), {2, n, m}).any()};
          expect_close<double>(run(graph, inputs), reference::evaluate(graph, inputs)[0], 1e-12 * double(n + 1));
        }
}

TEST(Routines, BatchesAndDevices) {
  for (const int64_t batch : {0, 1, 5, 300}) {
    SCOPED_TRACE(batch);
    constexpr int64_t kRows = 70;  // more than a kernel factors
    const Graph graph = cholesky_graph<float>(batch, kRows);
    const AnyArray a = definite<float>(batch, kRows, 5).any();
    const AnyArray want = reference::evaluate(graph, std::vector{a})[0], got = run(graph, {a});
    expect_close<float>(got, want, 1e-6 * double(kRows));
    // The host computes the routine for the simulator, too.
    EXPECT_TRUE(identical(run(graph, {a}, gpu_sim()), got));
  }
}

TEST(Routines, LuAndQrOfEveryShapeEqualTheReference) {
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{0, 3},
                             {1, 1},
                             {13, 13},
                             {16, 40},
                             {40, 17},
                             {65, 64},
                             {100, 33},
                             {31, 300},
                             {129, 129},
                             {257, 130},
                             {300, 300}}) {
    SCOPED_TRACE(testing::Message() << m << " x " << n);
    const std::vector<AnyArray> a = {matrices<double>(2, m, n, 11)}, b = {matrices<float>(2, m, n, 12)};
    for (const Graph& graph : {lu_graph<double>(2, m, n), qr_graph<double>(2, m, n)}) {
      const auto got = run_all(graph, a), want = reference::evaluate(graph, a);
      expect_close<double>(got[0], want[0], 1e-10);
      if (got[1].type().dtype == DType::f64)
        expect_close<double>(got[1], want[1], 1e-10);
      else
        EXPECT_TRUE(identical(got[1], want[1]));
    }
    const Graph qr = qr_graph<float>(2, m, n);
    const auto got = run_all(qr, b), want = reference::evaluate(qr, b);
    for (size_t i = 0; i < 2; ++i) expect_close<float>(got[i], want[i], 2e-3);
  }
}

TEST(Routines, BatchesOfLuAndQrAndDevices) {
  for (const int64_t batch : {0, 1, 5, 300}) {
    SCOPED_TRACE(batch);
    const std::vector<AnyArray> a = {matrices<float>(batch, 19, 17, 13)};
    for (const Graph& graph : {lu_graph<float>(batch, 19, 17), qr_graph<float>(batch, 19, 17)}) {
      const auto want = reference::evaluate(graph, a), got = run_all(graph, a), there = run_all(graph, a, gpu_sim());
      expect_close<float>(got[0], want[0], 1e-3);
      for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(identical(there[i], got[i])) << i;
    }
  }
}

/// Panels and strips of both widths, tall and wide.
TEST(Routines, ThreadsChangeNoBitOfLuAndQr) {
  const int saved = runtime::environment().num_threads;
  const std::vector<std::pair<Graph, AnyArray>> cases = {
      {lu_graph<float>(1, 700, 500), matrices<float>(1, 700, 500, 14)},
      {lu_graph<double>(1, 1100, 1300), matrices<double>(1, 1100, 1300, 15)},
      {lu_graph<double>(200, 20, 20), matrices<double>(200, 20, 20, 16)},
      {qr_graph<float>(1, 500, 600), matrices<float>(1, 500, 600, 17)},
      {qr_graph<double>(1, 450, 300), matrices<double>(1, 450, 300, 18)},
      {qr_graph<double>(200, 20, 20), matrices<double>(200, 20, 20, 19)}};
  std::vector<std::vector<AnyArray>> first;
  for (const int threads : {1, 2, 7}) {
    runtime::mutable_environment().num_threads = threads;
    for (size_t c = 0; c < cases.size(); ++c) {
      const auto got = run_all(cases[c].first, {cases[c].second});
      if (first.size() == c) first.push_back(got);
      for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(identical(got[i], first[c][i])) << threads << " " << c;
    }
  }
  runtime::mutable_environment().num_threads = saved;
}

TEST(Routines, MatricesWithoutAFactorAreNaN) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const int64_t n : {5, 300})
    for (const double planted : {-1.0, 0.0, nan, -inf})
      for (const int64_t at : {int64_t{0}, n / 2, n - 1}) {
        SCOPED_TRACE(testing::Message() << n << " " << planted << " at " << at);
        std::vector<double> a(static_cast<size_t>(3 * n * n), 0);
        for (int64_t b = 0; b < 3; ++b)
          for (int64_t i = 0; i < n; ++i) a[static_cast<size_t>((b * n + i) * n + i)] = 4;
        a[static_cast<size_t>((n + at) * n + at)] = planted;
        const Graph graph = cholesky_graph<double>(3, n);
        const AnyArray input = Array<double>::from(a, {3, n, n}).any();
        expect_close<double>(run(graph, {input}), reference::evaluate(graph, std::vector{input})[0], 0);
      }
}

TEST(Routines, ThreadsChangeNoBit) {
  const int saved = runtime::environment().num_threads;
  const AnyArray large = definite<float>(1, 700, 6).any(), many = definite<float>(200, 20, 7).any();
  const std::vector<AnyArray> sides = {triangles<float>(1, 300, 8).any(),
                                       Array<float>::from(numbers<float>(300 * 500, 9), {1, 300, 500}).any()};
  std::vector<AnyArray> first;
  for (const int threads : {1, 2, 7}) {
    runtime::mutable_environment().num_threads = threads;
    const std::vector<AnyArray> got = {run(cholesky_graph<float>(1, 700), {large}),
                                       run(cholesky_graph<float>(200, 20), {many}),
                                       run(solve_graph<float>(1, 300, 500, true, false, false), sides)};
    if (first.empty()) first = got;
    for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(identical(got[i], first[i])) << threads << " " << i;
  }
  runtime::mutable_environment().num_threads = saved;
}

/// In loops of the entry, beside kernels, with operands that kernels compute.
TEST(Routines, AreStepsOfLoops) {
  const Graph graph = parse(R"(calque 1
graph f(%0: f64[40,40]) {
  %1 = scan[carry=1, consts=0, length=4, reverse=false, unroll=1] %0 {
    (%0: f64[40,40]) {
      %1 = cholesky %0
      %2 = transpose[perm=[1,0]] %1
      %3 = add %1 %2
      %4 = dot_general[lhs_batch=[], lhs_contract=[1], rhs_batch=[], rhs_contract=[0]] %3 %3
      return %4
    }
  }
  return %1
}
)");
  const AnyArray flat = definite<double>(1, 40, 10).any();
  const AnyArray a = AnyArray({DType::f64, {40, 40}}, flat.storage());
  expect_close<double>(run(graph, {a}), reference::evaluate(graph, std::vector{a})[0], 1e-11);
  expect_close<double>(run(graph, {a}, gpu_sim()), reference::evaluate(graph, std::vector{a})[0], 1e-11);
}

TEST(Routines, AreInTheTextOfPrograms) {
  const kernel::Program program = test::stages::build_program(solve_graph<float>(2, 30, 3, true, true, false));
  std::ostringstream out;
  out << program;
  EXPECT_THAT(out.str(), HasSubstr("routine r0(m"));
  EXPECT_THAT(out.str(), HasSubstr("routine r0 = triangular_solve 3 (f32[2,30,30], f32[2,30,3]) gives (f32[2,30,3])"));
  std::ostringstream again;
  again << kernel::parse_program(out.str());
  EXPECT_EQ(again.str(), out.str());
}

}  // namespace
}  // namespace calque
