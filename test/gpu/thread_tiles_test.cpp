// Elementwise kernels with transposed operands, whose iterations are distributed in rectangles of two loops, on the
// simulator: bit-identical to the reference. Each case states whether a kernel of it has thread tiles.
#include <numeric>
#include <sstream>
#include <utility>
#include <vector>

#include <calque/calque.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/evaluate.h"
#include "support/native.h"
#include "support/ptxas.h"
#include "support/random/random.h"
#include "support/random/random_graph.h"
#include "support/sanitizers.h"
#include "support/simulated.h"
#include "support/stages.h"

namespace calque::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

/// A device so small that arrays of some hundred elements fill it.
kernel::GpuLimits small_device() {
  kernel::GpuLimits limits = tiny_limits();
  limits.processors = 1;
  return limits;
}
/// Any array fills it: tiles and blocks are never made smaller.
kernel::GpuLimits smallest_device() {
  kernel::GpuLimits limits = tiny_limits();
  limits.processors = 0;
  return limits;
}

std::string text_of(const kernel::Program& program) {
  std::ostringstream out;
  out << program;
  return out.str();
}

std::string plan(const Graph& graph, const kernel::GpuLimits& limits) {
  return text_of(program_for_gpu(graph, limits));
}

void expect_reference(const Graph& graph, const kernel::GpuLimits& limits) {
  codegen::DeviceOptions strict;
  strict.strict = true;
  const auto inputs = random_inputs(graph, 7);
  const auto want = reference::evaluate(graph, inputs, kStrictReference);
  const auto got = run_simulated(graph, inputs, limits, strict);
  ASSERT_EQ(got.size(), want.size());
  for (size_t o = 0; o < want.size(); ++o) EXPECT_EQ(difference(got[o], want[o]), "") << plan(graph, limits);
}

void expect_tiles(const Graph& graph) {
  for (const kernel::GpuLimits& limits : {small_device(), smallest_device()}) {
    EXPECT_THAT(plan(graph, limits), HasSubstr("thread_tile")) << graph;
    expect_reference(graph, limits);
  }
}

void expect_no_tiles(const Graph& graph, const kernel::GpuLimits& limits = small_device()) {
  EXPECT_THAT(plan(graph, limits), Not(HasSubstr("thread_tile"))) << graph;
  expect_reference(graph, limits);
}

const auto kPlusTransposed = [](auto x, auto y) { return x + y.T(); };

template <class T>
Graph plus_transposed(int64_t rows, int64_t columns) {
  return jit(kPlusTransposed).trace(spec<T>({rows, columns}), spec<T>({columns, rows}));
}

TEST(ThreadTiles, OfAnyExtents) {
  for (const auto& [rows, columns] : std::vector<std::pair<int64_t, int64_t>>{
           {64, 64}, {128, 64}, {65, 64}, {64, 65}, {67, 61}, {127, 131}, {33, 36}, {36, 33}, {130, 46}, {1, 640}})
    if (rows > 1)
      expect_tiles(plus_transposed<float>(rows, columns));
    else
      expect_no_tiles(plus_transposed<float>(rows, columns));
}

TEST(ThreadTiles, OfFewRows) {
  for (const int64_t rows : {2, 3, 4, 5, 6, 7, 9, 10, 13})
    expect_tiles(jit([](auto x) { return x.T() * 2.0f; }).trace(spec<float>({1024 + rows, rows})));
}

TEST(ThreadTiles, AreNotOfFewColumnsOrElements) {
  const auto twice = jit([](auto x) { return x.T() * 2.0f; });
  expect_no_tiles(twice.trace(spec<float>({3, 1000})));
  expect_no_tiles(twice.trace(spec<float>({7, 1000})));
  expect_no_tiles(twice.trace(spec<float>({20, 20})));
  // 100 matrices of 8 x 8.
  expect_no_tiles(jit([](auto x) { return transpose(x, {0, 2, 1}) * 2.0f; }).trace(spec<float>({100, 8, 8})));
  const Graph large = twice.trace(spec<float>({8192, 8192}));
  EXPECT_THAT(plan(large, {}), HasSubstr("thread_tile(iterations 4, warp 4, block 16)"));
  EXPECT_THAT(plan(twice.trace(spec<float>({256, 256})), {}), Not(HasSubstr("thread_tile")));
  EXPECT_THAT(plan(jit([](auto x) { return x + 1.0f; }).trace(spec<float>({8192, 8192})), {}),
              Not(HasSubstr("thread_tile")));
  EXPECT_THAT(plan(jit([](auto x) { return transpose(x, {1, 0, 2}) * 2.0f; }).trace(spec<float>({512, 512, 64})), {}),
              Not(HasSubstr("thread_tile")))
      << "the rows are contiguous";
}

template <class T>
void expect_dtype() {
  expect_tiles(plus_transposed<T>(72, 64));
  expect_tiles(plus_transposed<T>(66, 68));
  expect_tiles(plus_transposed<T>(61, 67));
}
TEST(ThreadTiles, OfSmallDtypes) {
  expect_dtype<int8_t>();
  expect_dtype<uint16_t>();
  expect_dtype<float16>();
  expect_dtype<bfloat16>();
}
TEST(ThreadTiles, OfLargeDtypes) {
  expect_dtype<int32_t>();
  expect_dtype<double>();
  expect_dtype<int64_t>();
}

TEST(ThreadTiles, OfSeveralDtypes) {
  expect_tiles(jit([](auto x, auto y) { return x < y.T(); }).trace(spec<float>({64, 72}), spec<float>({72, 64})));
  expect_tiles(jit([](auto x) { return !x.T(); }).trace(spec<bool>({67, 72})));
  expect_tiles(jit([](auto x) { return cast<double>(x.T()); }).trace(spec<int8_t>({67, 72})));
  expect_tiles(jit([](auto x) { return cast<float16>(x.T()); }).trace(spec<double>({72, 67})));
}

TEST(ThreadTiles, OfThreeAndMoreLoops) {
  const auto x = spec<float>({12, 9, 20});
  const auto permuted = [&](const std::vector<int>& permutation) {
    return jit([&](auto a) { return transpose(a, permutation) * 2.0f; }).trace(x);
  };
  expect_no_tiles(permuted({1, 0, 2}));
  expect_no_tiles(permuted({0, 2, 1}));  // small matrices
  expect_tiles(permuted({2, 1, 0}));
  for (const std::vector<int>& permutation : {std::vector{2, 1, 0}, {2, 0, 1}, {1, 2, 0}, {0, 2, 1}})
    expect_tiles(jit([&](auto a) { return transpose(a, permutation) * 2.0f; }).trace(spec<float>({35, 33, 37})));
  expect_tiles(jit([](auto a) { return transpose(a, {3, 1, 2, 0}) + 1.0f; }).trace(spec<float>({22, 3, 5, 34})));
}

TEST(ThreadTiles, OfReversedAxes) {
  const auto x = spec<float>({64, 72}), y = spec<float>({67, 61});
  for (const int axis : {0, 1}) {
    const auto f = jit([axis](auto a) { return flip(a, axis).T() * 2.0f; });
    expect_tiles(f.trace(x));
    expect_tiles(f.trace(y));
  }
  expect_tiles(jit([](auto a) { return flip(a).T() * 2.0f; }).trace(x));
}

TEST(ThreadTiles, OfSlices) {
  expect_tiles(jit([](auto a) { return pad(a, 0.0f, {-1, -2}, {-1, -2}).T() * 2.0f; }).trace(spec<float>({66, 72})));
  expect_tiles(jit([](auto a) { return pad(a, 0.0f, {0, -4}, {-2, 0}).T() * 2.0f; }).trace(spec<float>({66, 72})));
  expect_reference(jit([](auto a) { return pad(a.T(), 0.0f, {1, 3}, {2, 1}); }).trace(spec<float>({66, 72})),
                   small_device());
  expect_reference(
      jit([](auto a) { return calque::concatenate({a.T(), a.T() * 2.0f}, 1); }).trace(spec<float>({66, 72})),
      small_device());
}

TEST(ThreadTiles, OfBroadcastOperands) {
  expect_tiles(jit([](auto x, auto v) { return x.T() + v; }).trace(spec<float>({66, 72}), spec<float>({66})));
  expect_tiles(jit([](auto x, auto v) { return x.T() + v; }).trace(spec<float>({66, 72}), spec<float>({72, 1})));
  expect_tiles(jit([](auto x, auto v) { return x.T() + v; }).trace(spec<float>({66, 72}), spec<float>({})));
}

TEST(ThreadTiles, OfSeveralTransposedOperands) {
  const auto x = spec<float>({34, 20, 36}), y = spec<float>({36, 20, 34}), z = spec<float>({36, 34, 20});
  expect_tiles(
      jit([](auto a, auto b, auto c) { return a + transpose(b, {2, 1, 0}) * transpose(c, {1, 2, 0}); }).trace(x, y, z));
  expect_tiles(
      jit([](auto a, auto b, auto c) { return transpose(a, {2, 1, 0}) + b * transpose(c, {0, 2, 1}); }).trace(x, y, z));
  expect_tiles(jit([](auto a) { return std::pair{a.T() + 1.0f, a.T() * 2.0f}; }).trace(spec<float>({67, 72})));
}

TEST(ThreadTiles, OfLongBodies) {
  expect_tiles(jit([](auto x) { return exp(sin(x.T())) * cos(x.T()); }).trace(spec<float>({66, 72})));
  expect_tiles(jit([](auto x) {
                 return vmap(vmap([](auto a) {
                   return while_loop([](auto s) { return s < 1000.0f; }, [](auto s) { return s * 2.0f + 1.0f; },
                                     abs(a));
                 }))(x.T());
               }).trace(spec<float>({66, 72})));
}

/// The sum of three arrays, whose axes are permuted, some of them reversed, to one random shape.
Graph random_permutations(Rng& rng) {
  const int64_t rank = rng.between(2, 4);
  const std::vector<int64_t> extents = {1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 31, 32, 40, 64};
  std::vector<int64_t> shape;
  int64_t elements = 1;
  for (int64_t axis = 0; axis < rank; ++axis) {
    shape.push_back(rng.pick(extents));
    if (elements * shape.back() > 20000) shape.back() = 1;
    elements *= shape.back();
  }
  const std::vector<DType> dtypes = {DType::i8, DType::f16, DType::bf16, DType::f32, DType::f64};
  const std::string dtype(name(rng.pick(dtypes)));
  std::string parameters, body;
  for (int operand = 0; operand < 3; ++operand) {
    std::vector<int64_t> order(static_cast<size_t>(rank)), from(order.size());
    std::iota(order.begin(), order.end(), 0);
    rng.shuffle(order);
    for (size_t axis = 0; axis < order.size(); ++axis) from[static_cast<size_t>(order[axis])] = shape[axis];
    parameters += fmt::format("{}%{}: {}[{}]", operand ? ", " : "", operand, dtype, fmt::join(from, ","));
    const int at = 3 + 2 * operand;
    body += fmt::format("  %{} = transpose[perm=[{}]] %{}\n", at, fmt::join(order, ","), operand);
    body += rng.chance(25) ? fmt::format("  %{} = reverse[axes=[{}]] %{}\n", at + 1, rng.between(0, rank - 1), at)
                           : fmt::format("  %{} = neg %{}\n", at + 1, at);
  }
  return parse(fmt::format("calque 1\ngraph f({}) {{\n{}  %9 = add %4 %6\n  %10 = add %9 %8\n  return %10\n}}\n",
                           parameters, body));
}

TEST(ThreadTiles, OfRandomPermutations) {
  const int kGraphs = kAddressSanitizer ? 30 : 200;
  int tiled = 0;
  for (int seed = 0; seed < kGraphs && !testing::Test::HasFailure(); ++seed) {
    Rng rng(static_cast<uint64_t>(seed));
    const Graph graph = random_permutations(rng);
    for (const kernel::GpuLimits& limits : {small_device(), smallest_device()}) {
      tiled += plan(graph, limits).find("thread_tile") != std::string::npos;
      try {
        expect_reference(graph, limits);
      } catch (const Error& e) {
        ADD_FAILURE() << e.what() << '\n' << plan(graph, limits);
      }
    }
  }
  EXPECT_GT(tiled, kGraphs / 10);
}

// Loads along the other loop and stores along the innermost one are vectors.
TEST(ThreadTiles, AccessVectorsAlongBothLoops) {
  const auto ptx_of = [](const Graph& g) { return test::stages::ptx(program_for_gpu(g, {}), {}); };
  const auto count = [](const std::string& text, const std::string& word) {
    int n = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
    return n;
  };
  const std::string f32 = ptx_of(plus_transposed<float>(8192, 4096));
  EXPECT_EQ(count(f32, "ld.global.nc.v4.b32"), 8) << f32;
  EXPECT_EQ(count(f32, "st.global.v4.b32"), 4) << f32;
  EXPECT_EQ(count(f32, "ld.global"), 8) << f32;
  const std::string f64 = ptx_of(plus_transposed<double>(8192, 4096));
  EXPECT_EQ(count(f64, "ld.global.nc.v2.b64"), 4) << f64;
  EXPECT_EQ(count(f64, "st.global.v2.b64"), 2) << f64;
  const std::string f16 = ptx_of(plus_transposed<float16>(8192, 4096));
  EXPECT_EQ(count(f16, "ld.global.nc.v4.b32"), 4) << f16;
}

TEST(ThreadTiles, OfMoreThan32BitsOfElements) {
  const Graph g = plus_transposed<int8_t>(65537, 65536);
  const kernel::Program program = program_for_gpu(g, {});
  EXPECT_THAT(text_of(program), HasSubstr("thread_tile"));
  const std::string ptx = test::stages::ptx(program, {});
  EXPECT_EQ(ptxas_complaint(ptx, "sm_80"), "");
  // As many blocks as a grid is given run several rectangles each.
  const Graph huge = plus_transposed<int8_t>(int64_t{1} << 20, int64_t{1} << 20);
  EXPECT_THAT(plan(huge, {}), ContainsRegex("launch 1073741824 groups of 1 threads, 256 threads per block"));
  EXPECT_EQ(ptxas_complaint(test::stages::ptx(program_for_gpu(huge, {}), {}), "sm_80"), "");
}

}  // namespace
}  // namespace calque::test
