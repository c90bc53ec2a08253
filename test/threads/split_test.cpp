// Parallel results equal single-threaded results bit for bit, however small the chunks are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

#include "reference/evaluate.h"
#include "support/native.h"
#include "support/random/random.h"
#include "support/random/random_graph.h"
#include "support/sanitizers.h"
#include "support/splitting.h"
#include "transform/simplify/inline_calls.h"

namespace calque::test {
namespace {

NativeGraph compiled(const Graph& graph, bool split) {
  const Splitting splitting(split);
  kernel::BuildOptions options;
  options.parallel_loops = kernel::ParallelLoops::maps;
  return NativeGraph(graph, options);
}

std::vector<AnyArray> run_on(int threads, const NativeGraph& graph, const std::vector<AnyArray>& inputs) {
  const Threads number(threads);
  return graph(inputs);
}

/// The first difference between the graph unsplit and split over 1, 2 and 5 threads.
std::string difference_between_threads(const Graph& graph, const std::vector<AnyArray>& inputs) {
  const std::vector<AnyArray> want = run_on(1, compiled(graph, false), inputs);
  const NativeGraph parallel = compiled(graph, true);
  for (const int threads : {1, 2, 5}) {
    const std::vector<AnyArray> got = run_on(threads, parallel, inputs);
    for (size_t i = 0; i < want.size(); ++i) {
      const std::string d = difference(got[i], want[i]);
      if (!d.empty()) return "output " + std::to_string(i) + " on " + std::to_string(threads) + " threads: " + d;
    }
  }
  return {};
}

template <class T, class F>
void expect_same(const char* what, const F& f, const std::vector<Shape>& shapes) {
  for (const Shape& shape : shapes) {
    Rng rng(uint64_t(shape.num_elements()) + 17);
    const AnyArray x = random_array({dtype_of<T>, shape}, rng, false);
    EXPECT_EQ(difference_between_threads(jit(f).trace(Array<T>(x)), {x}), "") << what << " of " << x.type();
  }
}

const std::vector<Shape> kVectors = {{1}, {2}, {63}, {64}, {257}, {1009}, {4096}, {70001}, {300007}};
const std::vector<Shape> kMatrices = {{0, 5},     {5, 0},     {1, 1},     {1, 70001}, {70001, 1}, {3, 50021},
                                      {50021, 3}, {61, 1031}, {1031, 61}, {2, 64},    {300, 256}};

TEST(Split, ElementwiseChains) {
  expect_same<float>("chain", [](auto x) { return exp(x * 0.01f) + x; }, kVectors);
  expect_same<double>("chain", [](auto x) { return std::pair{sqrt(abs(x)), x > 0.0}; }, kVectors);
  expect_same<bfloat16>("chain", [](auto x) { return x * x + x; }, kVectors);
}

TEST(Split, ViewsOfMatrices) {
  expect_same<float>("transpose", [](auto x) { return transpose(x) * 2.0f; }, kMatrices);
  expect_same<int8_t>("reverse", [](auto x) { return flip(x, {0, 1}); }, kMatrices);
}

TEST(Split, ShortOuterLoops) {
  const std::vector<Shape> shapes = {{4, 30011}, {2, 3, 5003}, {2, 2, 2, 2049}, {1, 1, 70001}, {7, 1, 10007}};
  expect_same<float>("reversed", [](auto x) { return transpose(x) + 1.0f; }, shapes);
  expect_same<float>("centred", [](auto x) { return x - mean(x, {-1}, keepdims); }, shapes);
}

TEST(Split, PlanShowsTheChunks) {
  const auto plan = [](const auto& f, const Shape& shape) { return jit(f).lower(spec<float>(shape)).plan().str(); };
  const auto nested = plan([](auto x) { return transpose(x) + 1.0f; }, {3000000, 4});
  EXPECT_THAT(nested, testing::ContainsRegex("parallel 4 threads \\(.*\n.*\n *parallel 3000000 vectorize threads\\("));
  EXPECT_THAT(plan([](auto x) { return sum(x); }, {3000000}), testing::ContainsRegex("reduction 3000000.* threads\\("));
  EXPECT_THAT(plan([](auto x) { return softmax(x, 1); }, {512, 2000}),
              testing::ContainsRegex("parallel 512 threads\\("));
  EXPECT_THAT(plan([](auto x) { return cumsum(x, 0); }, {3000000}),
              testing::HasSubstr("sequential 3000000 vectorize threads"));
  // Less than 50 us of work.
  EXPECT_THAT(plan([](auto x) { return sum(x + 1.0f); }, {10000}), testing::Not(testing::HasSubstr("threads")));
}

TEST(Split, TakesFewChunksWhereThereAreNoMore) {
  const auto plan = [](const auto& f, const Shape& shape) { return jit(f).lower(spec<double>(shape)).plan().str(); };
  // Fewer blocks of the summation order than chunks of 20 us.
  const auto sums = [](auto x) { return sum(sin(x) * exp(cos(x) * x)); };
  EXPECT_THAT(plan(sums, {13000}), testing::ContainsRegex("reduction 13000.* threads\\("));
  // Fewer rows than such chunks, each with too little work to be split.
  const auto rows = [](auto x) { return sum(sin(x), {1}); };
  EXPECT_THAT(plan(rows, {5, 8000}), testing::ContainsRegex("parallel 5 threads\\(1"));
}

TEST(Split, ColdBranchesCostLittle) {
  // The cold path of exp outside its range has little weight: about 30 us in all.
  const auto f = [](auto x) { return exp(x); };
  EXPECT_THAT(jit(f).lower(spec<double>({4000})).plan().str(), testing::Not(testing::HasSubstr("threads")));
}

TEST(Split, FewChunksAreThoseOfOneThread) {
  const std::vector<Shape> few = {{5, 700}, {3, 12000}, {2, 2100}, {13000}, {130}, {2, 65}};
  expect_same<double>("sums", [](auto x) { return sum(exp(x * 0.01)); }, few);
  const auto last = [](auto x) { return std::pair{sum(exp(x * 0.01), {-1}), sum(x * x, {-1}, keepdims) * x}; };
  expect_same<double>("rows", last, few);
  const auto first = [](auto x) { return std::pair{logsumexp(x, {0}), sum(x, {0}, keepdims) * x}; };
  expect_same<float>("columns", first, {{5, 700}, {3, 12000}, {25, 900}, {100, 130}, {200, 1030}});
}

TEST(Split, SumsAreThoseOfOneThread) {
  expect_same<float>("nothing", [](auto x) { return std::pair{sum(x), x + 1.0f}; }, {{0}});
  expect_same<float>("sum", [](auto x) { return sum(x); }, kVectors);
  expect_same<float16>("sum", [](auto x) { return sum(x); }, kVectors);
  expect_same<double>(
      "several", [](auto x) { return std::tuple{sum(x), prod(x * 0.001 + 1.0), amax(x), sum(x * x)}; }, kVectors);
  expect_same<float>("rows", [](auto x) { return sum(x, {1}); }, kMatrices);
  expect_same<float>("columns", [](auto x) { return sum(x, {0}); }, kMatrices);
  expect_same<double>("all", [](auto x) { return sum(x); }, kMatrices);
}

TEST(Split, OtherReductions) {
  const std::vector<Shape> some = {{1}, {257}, {4096}, {70001}};
  expect_same<float>("argmax", [](auto x) { return std::pair{argmax(x, 0), argmin(x, 0)}; }, some);
  expect_same<int>("extremes", [](auto x) { return std::tuple{amax(x), amin(x), sum(x)}; }, some);
  expect_same<float>("any", [](auto x) { return std::pair{any(x > 1e30f), all(x < 1e30f)}; }, kVectors);
}

TEST(Split, RowsThatStayInCache) {
  expect_same<float>("softmax", [](auto x) { return softmax(x, 1); }, {{1, 70001}, {3, 30011}, {300, 257}, {64, 1}});
  expect_same<float>("logsumexp", [](auto x) { return logsumexp(x, {1}); }, {{1, 70001}, {3, 30011}, {300, 257}});
  expect_same<float>("variance", [](auto x) { return var(x, {0}); }, {{1, 70001}, {30011, 3}, {300, 257}});
}

TEST(Split, LossesWithTheirGradients) {
  const auto flat = [](auto x) { return std::tuple{sum(sin(x) * x), cos(x) * x + sin(x), amax(x)}; };
  expect_same<float>("loss", flat, kVectors);
  expect_same<double>("loss", flat, {{37, 53}, {600, 1003}});
  const auto rows = [](auto x) {
    const auto c = x - mean(x, {1}, keepdims);
    return std::tuple{c * 2.0f, sum(c * c, {1}), c * sum(c * c, {1}, keepdims)};
  };
  expect_same<float>("rows", rows, {{5, 7}, {300, 1000}, {2000, 33}});
  const auto columns = [](auto x) { return std::pair{x * x, sum(x * x, {0})}; };
  expect_same<float>("columns", columns, {{5, 7}, {700, 1000}, {2000, 33}});
}

TEST(Split, CumulativeSums) {
  expect_same<float>("cumsum", [](auto x) { return cumsum(x, 0); }, kVectors);
  expect_same<float>("along", [](auto x) { return std::pair{cumsum(x, 0), cumprod(x, 1)}; },
                     {{61, 1031}, {1031, 61}, {1, 70001}, {70001, 1}});
}

/// Compares split and unsplit kernels with plain loops.
template <class T, class F>
void expect_right(const char* what, const F& f, const std::vector<Shape>& shapes, double rtol) {
  for (const Shape& shape : shapes) {
    Rng rng(uint64_t(shape.num_elements()) + 29);
    const AnyArray x = random_array({dtype_of<T>, shape}, rng, false);
    std::vector<T> small(static_cast<const T*>(x.data()), static_cast<const T*>(x.data()) + x.size());
    for (size_t i = 0; i < small.size(); ++i) small[i] = static_cast<T>(static_cast<int>(i * 7919 % 23) - 3);
    const AnyArray values = Array<T>::from(small, shape).any();
    const Graph g = jit(f).trace(Array<T>(values));
    const std::vector<AnyArray> want =
        reference::evaluate(transform::inline_calls(g), std::vector{values}, kStrictReference);
    for (const bool split : {false, true}) {
      const std::vector<AnyArray> got = run_on(2, compiled(g, split), {values});
      for (size_t i = 0; i < want.size(); ++i)
        EXPECT_EQ(difference(got[i], want[i], rtol, 1e-300), "") << what << " of " << values.type() << ' ' << split;
    }
  }
}

TEST(Split, LongSumsAreRight) {
  const std::vector<Shape> wide = {{33, 256}, {67, 1031}, {700, 300}, {259, 2100}};
  expect_right<double>(
      "columns", [](auto x) { return std::tuple{sum(x, {0}), mean(x * x, {0}), amax(x, {0}) - amin(x, {0})}; }, wide,
      1e-13);
  expect_right<int>("columns", [](auto x) { return std::pair{sum(x, {0}), amax(x, {0})}; }, wide, 0);
  expect_right<float>("columns", [](auto x) { return var(x, {0}); }, wide, 1e-5);
  const std::vector<Shape> lines = {{7, 9}, {67, 1031}, {3, 70001}, {70001, 3}};
  expect_right<double>("along", [](auto x) { return std::pair{cumsum(x, 0), cumsum(x, 1)}; }, lines, 1e-13);
  expect_right<int>("along", [](auto x) { return std::tuple{cumsum(x, 1), cummax(x, 1), cumprod(x, 0)}; }, lines, 0);
  expect_right<float>("softmax", [](auto x) { return softmax(x, 1); }, lines, 1e-5);
}

class RandomGraphs : public testing::TestWithParam<int> {};

TEST_P(RandomGraphs, AreSameSplit) {
  const uint64_t block = kThreadSanitizer || kAddressSanitizer ? 4 : 40;
  RandomGraphOptions options;
  options.max_elements = 6000;
  for (uint64_t seed = uint64_t(GetParam()) * block; seed < (uint64_t(GetParam()) + 1) * block; ++seed) {
    const Graph g = random_graph(seed, options);
    ASSERT_EQ(difference_between_threads(g, random_inputs(g, seed)), "") << "seed " << seed << "\n" << print(g);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraphs, testing::Range(0, 10));

}  // namespace
}  // namespace calque::test
