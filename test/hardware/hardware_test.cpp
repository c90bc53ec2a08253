// Tests that need a GPU: results equal the CPU's, calls are asynchronous, and memory is released. Skipped without a
// GPU.
#include <calque/calque.h>
#include <gtest/gtest.h>

#include "support/native.h"
#include "support/random/random_graph.h"
#include "support/simulated.h"

namespace calque::test {
namespace {

class Hardware : public testing::Test {
  void SetUp() override {
    if (!gpu_available()) GTEST_SKIP() << "no GPU here";
  }
};

RandomGraphOptions exact_options() {
  RandomGraphOptions o;
  o.reassociated = false;
  o.exclude = {"bitcast", "copysign", "signbit"};  // the sign of a NaN is unspecified
  return o;
}

void compare(uint64_t first, uint64_t count, const RandomGraphOptions& options, const kernel::GpuLimits& limits) {
  runtime::KernelDevice& api = runtime::kernel_device(gpu());
  codegen::CodegenOptions native;
  native.strict = true;
  codegen::DeviceOptions device;
  device.strict = true;
  device.arch = api.arch();
  for (uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
    const Graph g = random_graph(seed, options);
    const auto inputs = random_inputs(g, seed);
    const auto want = run_native(g, inputs, native);
    const auto got = run_on(api, g, inputs, limits, device);
    for (size_t o = 0; o < want.size(); ++o)
      EXPECT_EQ(difference(got[o], want[o]), "") << "seed " << seed << "\n" << print(g);
  }
}

Array<float> numbers(const Shape& shape) {
  std::vector<float> v(static_cast<size_t>(shape.num_elements()));
  uint32_t state = 1;
  for (float& x : v) {
    state = state * 1664525 + 1013904223;
    x = static_cast<float>(state >> 8) * 0x1p-23f - 1;
  }
  return Array<float>::from(std::span<const float>(v), shape);
}

template <class F>
void expect_equal_on_both(const F& f, const Array<float>& x, double tolerance) {
  const auto here = jit(f)(x), there = jit(f, {.device = gpu()})(x);
  EXPECT_EQ(there.device(), gpu());
  EXPECT_TRUE(allclose(here, there.to(cpu()), tolerance, tolerance));
}

TEST_F(Hardware, ReducesLongAndShortRows) {
  for (const Shape& shape : {Shape{3, 1000003}, Shape{100003, 7}, Shape{4096, 1024}, Shape{77, 4099}}) {
    const auto x = numbers(shape);
    expect_equal_on_both([](auto a) { return sum(a, {1}); }, x, 1e-3);
    expect_equal_on_both([](auto a) { return amax(a, {0}); }, x, 0);
    expect_equal_on_both([](auto a) { return softmax(a, 1); }, x, 1e-5);
    expect_equal_on_both([](auto a) { return layer_norm(a, 1); }, x, 1e-3);
    expect_equal_on_both([](auto a) { return cumsum(a, 1); }, x, 1e-2);
  }
}

// 16-bit results may differ in the last bit when the f32 accumulators differ.
TEST_F(Hardware, MultipliesMatrices) {
  for (const Shape& shape : {Shape{512, 512}, Shape{333, 1021}, Shape{1, 4096}, Shape{1024, 16}}) {
    const auto x = numbers(shape);
    expect_equal_on_both([](auto a) { return matmul(a, a.T()); }, x, 1e-3);
    expect_equal_on_both([](auto a) { return cast<float>(matmul(cast<bfloat16>(a), cast<bfloat16>(a.T()))); }, x, 1e-2);
    expect_equal_on_both([](auto a) { return cast<float>(matmul(cast<float16>(a), cast<float16>(a.T()))); }, x, 2e-3);
  }
}

// Of a size that uses cuBLASLt if available. Integers: every order of summation gives the same bits.
TEST_F(Hardware, MultipliesLargeMatrices) {
  const auto x = floor(numbers({640, 1024}) * 3.0f), y = floor(numbers({2, 512, 1024}) * 3.0f);
  const auto same = [](const auto& f, const auto& a) {
    EXPECT_TRUE(array_equal(jit(f)(a), jit(f, {.device = gpu()})(a).to(cpu())));
  };
  const auto all = [&]<class T>() {
    same([](auto a) { return matmul(a, a.T()); }, cast<T>(x));
    same([](auto a) { return matmul(a.T(), a); }, cast<T>(x));
    same([](auto a) { return einsum("bij,bkj->bik", a, a); }, cast<T>(y));
  };
  all.operator()<float>();
  all.operator()<double>();
  all.operator()<bfloat16>();
  all.operator()<float16>();
  // f32 values with more significant bits than tf32 has.
  const auto ones = Array<float>::ones({512, 512});
  same([ones](auto a) { return matmul(a, ones); }, Array<float>::full({512, 512}, 1 + 0x1p-13f));
}

template <class T, class F>
void expect_close_on_both(const F& f, const Array<T>& x, const char* what) {
  const auto here = jit(f)(x), there = jit(f, {.device = gpu()})(x);
  const double eps = sizeof(T) == 2 ? 1e-2 : sizeof(T) == 4 ? 1e-4 : 1e-10;
  EXPECT_TRUE(allclose(there.to(cpu()), here, eps, eps)) << what << " of " << x.shape();
}

template <class T>
void expect_rows_on_both(const Shape& shape) {
  const Array<T> x = cast<T>(numbers(shape));
  expect_close_on_both<T>([](auto a) { return softmax(a, 1); }, x, "softmax");
  expect_close_on_both<T>([](auto a) { return softmax(a, 0); }, x, "softmax of columns");
  expect_close_on_both<T>([](auto a) { return a - amax(a, 1, keepdims) * mean(a, 1, keepdims); }, x, "means");
  expect_close_on_both<T>([](auto a) { return a.T() * T(2) + T(1); }, x, "transpose");
  expect_close_on_both<T>([](auto a) { return flip(a, {1}).T() + flip(a, {0}).T(); }, x, "reversed transpose");
  const Array<T> n = floor(x * T(3));  // sums of few small integers are exact
  expect_close_on_both<T>([](auto a) { return cummax(a, 1); }, n, "cummax");
  expect_close_on_both<T>([](auto a) { return cummin(a, 0); }, n, "cummin of columns");
  expect_close_on_both<T>([](auto a) { return cumsum(a, 1) * T(1e-2); }, n, "cumsum");
  expect_close_on_both<T>([](auto a) { return cumsum(a, 0) * T(1e-2); }, n, "cumsum of columns");
}

// Around the widths of vectors, warps, blocks and chunks.
TEST_F(Hardware, EqualsTheCpuOnRowsOfEveryWidth) {
  for (const int64_t width : {1, 3, 31, 67, 128, 1000, 1021, 1024, 1028, 4099})
    for (const int64_t rows : {5, 300}) {
      expect_rows_on_both<float>({rows, width});
      if (rows == 5) expect_rows_on_both<double>({rows, width});
      if (width < 100) expect_rows_on_both<float16>({rows, width});
    }
}

TEST_F(Hardware, TransposesInAnyOrder) {
  for (const Shape& shape : {Shape{33, 65, 129}, Shape{8, 1000, 63}, Shape{257, 3, 640}}) {
    const auto x = numbers(shape);
    expect_equal_on_both([](auto a) { return transpose(a, {1, 0, 2}) + 1.0f; }, x, 0);
    expect_equal_on_both([](auto a) { return transpose(a, {2, 1, 0}) + 1.0f; }, x, 0);
    expect_equal_on_both([](auto a) { return transpose(a, {0, 2, 1}) * 2.0f; }, x, 0);
    expect_equal_on_both([](auto a) { return transpose(a, {2, 0, 1}) * 2.0f; }, x, 0);
    expect_equal_on_both([](auto a) { return cast<double>(transpose(a, {1, 2, 0})); }, x, 0);
  }
}

TEST_F(Hardware, ScansLongArrays) {
  const auto x = floor(numbers({3000017}) * 3.0f);
  expect_equal_on_both([](auto a) { return cumsum(cast<int32_t>(a), 0); }, x, 0);
  expect_equal_on_both([](auto a) { return cummax(a, 0); }, x, 0);
  expect_equal_on_both([](auto a) { return cumsum(cast<double>(a), 0); }, x, 0);
  expect_equal_on_both([](auto a) { return flip(cumsum(flip(cast<int64_t>(a), {0}), 0), {0}); }, x, 0);
}

// What follows a long product is a kernel of its own where cuBLASLt is found.
TEST_F(Hardware, MultipliesBeforeEpilogues) {
  const auto x = numbers({520, 1100});
  expect_equal_on_both([](auto a) { return relu(matmul(a, a.T()) - 1.0f); }, x, 1e-3);
  expect_equal_on_both([](auto a) { return tanh(matmul(a.T(), a)).T(); }, x, 1e-3);
  expect_equal_on_both(
      [](auto a) { return cast<float>(matmul(cast<bfloat16>(a), cast<bfloat16>(a.T()))) + a.at(0, 0); }, x, 1e-2);
}

TEST_F(Hardware, ShiftsByAnyAmount) {
  std::vector<int64_t> amounts = {0,        1, 31, 32, 63, 64, 65, -1, -64, int64_t{1} << 32, (int64_t{1} << 32) + 3,
                                  INT64_MIN};
  const auto n = Array<int64_t>::from(std::span<const int64_t>(amounts), {int64_t(amounts.size())});
  const auto same = [&](const auto& f) { EXPECT_TRUE(array_equal(jit(f, {.device = gpu()})(n).to(cpu()), jit(f)(n))); };
  same([](auto a) { return int64_t{-5} << a; });
  same([](auto a) { return int64_t{-5} >> a; });
  same([](auto a) { return cast<uint64_t>(a + 7) >> cast<uint64_t>(a); });
  same([](auto a) { return int32_t{-5} << cast<int32_t>(a); });
}

TEST_F(Hardware, RepeatsItself) {
  const auto x = numbers({2000, 3000}).to(gpu());
  const auto f = jit([](auto a) { return std::tuple{sum(a * a), sum(a, {0}), cumsum(a, 0), softmax(a, 1)}; });
  const auto [a, b, c, d] = f(x);
  for (int i = 0; i < 20; ++i) {
    const auto [a2, b2, c2, d2] = f(x);
    EXPECT_TRUE(array_equal(a, a2) && array_equal(b, b2) && array_equal(c, c2) && array_equal(d, d2));
  }
}

TEST_F(Hardware, GivesMemoryBack) {
  const auto f = jit([](auto a) { return a * 2.0f + 1.0f; });
  auto x = Array<float>::zeros({1 << 20}).to(gpu());
  for (int i = 0; i < 20000; ++i) x = f(x * 0.25f);
  EXPECT_TRUE(allclose(x.to(cpu()), Array<float>::full({1 << 20}, 2.0f), 1e-6, 1e-6));
}

TEST_F(Hardware, HoldsArraysOfMoreThanTwoGigabytes) {
  const auto f = jit([] { return sum(iota<int32_t>(int64_t{1} << 30) % 2); }, {.device = gpu()});
  EXPECT_EQ(f().item(), 1 << 29);
  const auto g = jit([](auto a) { return a + 1.0f; });
  const auto big = Array<float>::zeros({(int64_t{1} << 29) + 12345}).to(gpu());
  EXPECT_EQ(jit([](auto a) { return amin(a); })(g(big)).item(), 1.0f);
}

// Last: they take longest.
TEST_F(Hardware, EqualsTheCpuOnRandomGraphs) { compare(0, 150, exact_options(), tiny_limits()); }

TEST_F(Hardware, EqualsTheCpuOnLargeRandomGraphs) {
  RandomGraphOptions o = exact_options();
  o.max_elements = 60000;
  o.max_equations = 12;
  o.max_depth = 1;
  compare(5000, 60, o, kernel::GpuLimits{});
}

}  // namespace
}  // namespace calque::test
