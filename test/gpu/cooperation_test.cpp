// Cooperative computations of warps, blocks and grids at the extents where schedules change: rows, columns and whole
// arrays, on the simulator against the CPU. The simulator checks all communication for races.
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "support/random/random.h"
#include "support/sanitizers.h"

namespace calque {
namespace {

template <class T>
Array<T> numbers(int64_t rows, int64_t columns) {
  test::Rng rng(static_cast<uint64_t>(rows * 100003 + columns));
  std::vector<T> values(static_cast<size_t>(rows * columns));
  for (T& v : values) v = static_cast<T>(static_cast<float>(rng.between(-1000, 1000)) / 256);
  return Array<T>::from(values, {rows, columns});
}

/// Integers are exact; floats are close, since the schedule decides the order of sums.
template <class T>
void expect_same(const Array<T>& got, const Array<T>& want, const char* what) {
  EXPECT_EQ(got.device(), gpu_sim()) << what;
  if constexpr (std::is_integral_v<T>) {
    EXPECT_TRUE(array_equal(got.to(cpu()), want)) << what;
  } else {
    const double eps = sizeof(T) == 2 ? 1e-2 : sizeof(T) == 4 ? 3e-5 : 1e-12;
    EXPECT_TRUE(allclose(got.to(cpu()), want, eps, eps)) << what << "\n" << got << "\n" << want;
  }
}

template <class T, class F>
void compare(const Array<T>& x, const char* what, F f) {
  try {
    expect_same(f(x.to(gpu_sim())), f(x), what);
  } catch (const Error& e) {
    ADD_FAILURE() << what << ": " << e.what();
  }
}

class Cooperation : public testing::TestWithParam<std::tuple<int64_t, int64_t>> {
 protected:
  template <class T>
  Array<T> input() const {
    return numbers<T>(std::get<0>(GetParam()), std::get<1>(GetParam()));
  }
};

TEST_P(Cooperation, RowsOfFloats) {
  const auto x = input<float>();
  compare(x, "sum", jit([](auto a) { return sum(a, 1); }));
  compare(x, "softmax", jit([](auto a) { return softmax(a, 1); }));
  compare(x, "log_softmax", jit([](auto a) { return log_softmax(a, 1); }));
  compare(x, "layer_norm", jit([](auto a) { return layer_norm(a, 1); }));
  compare(x, "gradient of softmax", jit([](auto a) { return grad([](auto b) { return sum(softmax(b, 1) * b); })(a); }));
  compare(x, "argmax", jit([](auto a) { return argmax(a, 1); }));
  compare(x, "reduced twice", jit([](auto a) { return a - amax(a, 1, keepdims) * mean(a, 1, keepdims); }));
  compare(x, "cumsum", jit([](auto a) { return cumsum(a, 1); }));
  compare(x, "cumsum of softmax", jit([](auto a) { return cumsum(softmax(a, 1), 1); }));
}

TEST_P(Cooperation, RowsOfOtherTypes) {
  const auto n = input<int32_t>();
  compare(n, "sum", jit([](auto a) { return sum(a, 1); }));
  compare(n, "cumsum", jit([](auto a) { return cumsum(a, 1); }));
  compare(n, "cummax", jit([](auto a) { return cummax(a, 1); }));
  compare(n, "argmin", jit([](auto a) { return argmin(a, 1); }));
  compare(input<int8_t>(), "amax of bytes", jit([](auto a) { return amax(a, 1); }));
  compare(input<double>(), "layer_norm", jit([](auto a) { return layer_norm(a, 1); }));
  compare(input<float16>(), "softmax", jit([](auto a) { return softmax(a, 1); }));
  compare(input<bfloat16>(), "sum", jit([](auto a) { return sum(a, 1); }));
}

TEST_P(Cooperation, ColumnsAndWholeArrays) {
  const auto n = input<int32_t>();
  compare(n, "columns", jit([](auto a) { return sum(a, 0); }));
  compare(n, "all", jit([](auto a) { return sum(a); }));
  compare(n, "cumsum down", jit([](auto a) { return cumsum(a, 0); }));
  compare(n, "cumsum of all", jit([](auto a) { return cumsum(reshape(a, {-1}), 0); }));
  compare(n, "any", jit([](auto a) { return sum(where(any(a > 3, 0), 1, 0)); }));
  const auto x = input<float>();
  compare(x, "columns", jit([](auto a) { return softmax(a, 0); }));
  compare(x, "variance of columns", jit([](auto a) { return var(a, 0); }));
  compare(x, "kurtosis of columns", jit([](auto a) {
            const auto centred = a - mean(a, 0, keepdims);
            const auto scaled = centred * rsqrt(mean(centred * centred, 0, keepdims) + 1.0f);
            return mean(square(scaled) * square(scaled), 0) - amax(scaled, 0);
          }));
  compare(x, "all", jit([](auto a) { return sum(exp(a * 0.1f)) / norm(a); }));
  compare(x, "argmax of all", jit([](auto a) { return argmax(reshape(a, {-1}), 0); }));
}

std::vector<int64_t> widths() {
  if (test::kAddressSanitizer) return {33, 1000};
  return {31, 33, 513, 1000};
}

// Extents near the widths of vectors, warps and blocks, and where reductions are split into chunks.
INSTANTIATE_TEST_SUITE_P(Shapes, Cooperation,
                         testing::Combine(testing::Values<int64_t>(1, 70), testing::ValuesIn(widths())),
                         [](const auto& info) {
                           return std::to_string(std::get<0>(info.param)) + "x" +
                                  std::to_string(std::get<1>(info.param));
                         });
INSTANTIATE_TEST_SUITE_P(Long, Cooperation,
                         testing::Values(std::tuple<int64_t, int64_t>{2, 5000}, std::tuple<int64_t, int64_t>{1, 40000},
                                         std::tuple<int64_t, int64_t>{5000, 3}),
                         [](const auto& info) {
                           return std::to_string(std::get<0>(info.param)) + "x" +
                                  std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace calque
