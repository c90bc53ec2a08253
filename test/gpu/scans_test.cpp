// Cumulative operations at the extents of vectors, warps, tiles and chunks, on the simulator against the CPU. Values
// are such that sums are exact in any order, hence all results are the same bits. The simulator checks all
// communication for races.
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "support/random/random.h"
#include "support/sanitizers.h"

namespace calque {
namespace {

/// Whole numbers whose sums along the last axis are exact in f32, and products of at most a few of which are not 1.
template <class T>
Array<T> small_numbers(const Shape& shape) {
  test::Rng rng(static_cast<uint64_t>(shape.num_elements()));
  std::vector<T> values(static_cast<size_t>(shape.num_elements()));
  for (T& v : values) v = static_cast<T>(static_cast<float>(rng.between(std::is_unsigned_v<T> ? 0 : -3, 4)));
  return Array<T>::from(values, shape);
}

template <class T, class F>
void compare(const Array<T>& x, const std::string& what, F f) {
  const auto got = f(x.to(gpu_sim())), want = f(x);
  EXPECT_EQ(got.device(), gpu_sim()) << what;
  EXPECT_TRUE(array_equal(got.to(cpu()), want)) << what << " of " << to_string(x.shape());
}

const auto sums = [](auto a) { return cumsum(a, -1); };
const auto sums_backwards = [](auto a) { return flip(cumsum(flip(a, -1), -1), -1); };
const auto maxima = [](auto a) { return cummax(a, -1); };

template <class T>
void compare_all(const std::vector<Shape>& shapes) {
  const auto forwards = jit(sums);
  const auto backwards = jit(sums_backwards);
  const auto most = jit(maxima);
  constexpr int64_t kMostSanitized = 5000;  // the simulator is slow then
  for (const Shape& shape : shapes) {
    if (test::kAddressSanitizer && shape.num_elements() > kMostSanitized) continue;
    const auto x = small_numbers<T>(shape);
    compare(x, "cumsum", forwards);
    compare(x, "cumsum backwards", backwards);
    compare(x, "cummax", most);
  }
}

TEST(DeviceScans, OfWholeArrays) {
  std::vector<Shape> shapes;
  for (const int64_t n : {0, 1, 2, 31, 33, 127, 509, 512, 513, 1023, 1024, 1025, 4097, 16383, 16384, 16389, 65537})
    shapes.push_back({n});
  compare_all<float>(shapes);
  compare_all<int32_t>({{1021}, {4096}, {65537}});
}

TEST(DeviceScans, OfRows) {
  std::vector<Shape> shapes;
  for (const int64_t n : {1, 7, 32, 100, 129, 512, 516, 1000, 1024, 1026, 2048, 4097, 5004}) shapes.push_back({37, n});
  compare_all<float>(shapes);
  compare_all<float>({{0, 100}, {300, 1028}, {3, 20000}, {3, 20001}});
}

TEST(DeviceScans, OfOtherTypes) {
  const std::vector<Shape> shapes = {{1027}, {20004}, {5, 96}, {9, 520}, {3, 4099}, {2, 8192}};
  compare_all<int8_t>(shapes);
  compare_all<uint8_t>(shapes);
  compare_all<int64_t>(shapes);
  compare_all<double>(shapes);
}

// Their accumulators are exact in f32, and rounded once.
TEST(DeviceScans, OfHalves) {
  const std::vector<Shape> shapes = {{1027}, {20004}, {9, 520}, {3, 4099}, {2, 8192}};
  compare_all<float16>(shapes);
  compare_all<bfloat16>(shapes);
}

TEST(DeviceScans, OfComputedValues) {
  for (const Shape& shape : std::vector<Shape>{{1025}, {40001}, {11, 1000}, {11, 1001}, {5, 4096}}) {
    const auto x = small_numbers<float>(shape);
    const auto along = small_numbers<float>({shape[static_cast<size_t>(shape.rank() - 1)]});
    compare(x, "several arrays", jit([](auto a) { return cumsum(a * a - 2.0f, -1) * a + a; }));
    compare(x, "a row for all", jit([&](auto a) { return cumsum(a * along, -1) + 1.0f; }));
    compare(x, "elements of every other column",
            jit([](auto a) { return cumsum(reshape(a, {-1}).at(range(1, none, 2)), -1); }));
    compare(x, "bools", jit([](auto a) { return cummin(a > -3.0f, -1); }));
    compare(x, "products", jit([](auto a) { return cumprod(where(a == 2.0f, -1.0f, 1.0f), -1); }));
    compare(x, "long bodies", jit([](auto a) {
              auto v = a;
              for (int i = 0; i < 40; ++i) v = round(v * 1.25f) - abs(a);
              return cummin(v, -1);
            }));
    compare(x, "gradient", jit([](auto a) { return grad([](auto b) { return sum(cumsum(b, -1) * b); })(a); }));
    compare(x, "two scans", jit([](auto a) { return cummax(cumsum(a, -1) - cumsum(abs(a), -1), -1); }));
  }
}

TEST(DeviceScans, KeepNaNsAndInfinities) {
  for (const int64_t n : {1000, 5000, 40000}) {
    auto values = std::vector<float>(static_cast<size_t>(n), -1.0f);
    values[static_cast<size_t>(n / 2)] = std::numeric_limits<float>::quiet_NaN();
    values[static_cast<size_t>(n / 3)] = std::numeric_limits<float>::infinity();
    const auto x = Array<float>::from(values, {n});
    const auto check = [&](const auto& f) { EXPECT_TRUE(array_equal(f(x.to(gpu_sim())).to(cpu()), f(x), true)) << n; };
    check(jit(maxima));
    check(jit(sums));
  }
}

// The association of a sum depends on its extent alone: every run, and each of several equal rows, has the same bits.
TEST(DeviceScans, GiveTheSameBitsEachTime) {
  std::vector<float> values(static_cast<size_t>(4 * 5003));
  test::Rng rng(7);
  for (size_t n = 0; n < 5003; ++n)
    for (size_t row = 0; row < 4; ++row) {
      const size_t at = row * 5003 + n;
      values[at] = row == 0 ? static_cast<float>(rng.between(-1000, 1000)) / 777.0f : values[n];
    }
  const auto x = Array<float>::from(values, {4, 5003}).to(gpu_sim());
  const auto f = jit(sums);
  const auto first = f(x).to(cpu()), second = f(x).to(cpu());
  EXPECT_TRUE(array_equal(first, second));
  for (int64_t row = 1; row < 4; ++row) EXPECT_TRUE(array_equal(first[row], first[0])) << row;
}

}  // namespace
}  // namespace calque
