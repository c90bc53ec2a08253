// Results larger than the caches, in parts that start at any offset.
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque {
namespace {

Array<float> counted(int64_t rows, int64_t columns) {
  std::vector<float> values;
  for (int64_t i = 0; i < rows * columns; ++i) values.push_back(static_cast<float>(i / columns - i % columns));
  return Array<float>::from(std::span<const float>(values), Shape{rows, columns});
}

TEST(LargeResults, ConcatenatedColumns) {
  const int64_t rows = 70001, columns = 64;
  const Array<float> x = counted(rows, columns);
  const auto f = jit([](auto a) { return concatenate({expand_dims(sum(a, {1}), 1), a * 2.0f}, 1); });
  const Array<float> y = f(x);
  const auto in = x.host(), out = y.host();
  for (int64_t r = 0; r < rows; ++r) {
    float sum = 0;
    for (int64_t c = 0; c < columns; ++c) {
      const auto i = static_cast<size_t>(r * columns + c);
      sum += in[i];
      ASSERT_EQ(out[i + static_cast<size_t>(r) + 1], in[i] * 2) << r << ", " << c;
    }
    // Sums of integers below 2^24 are exact in any order.
    ASSERT_EQ(out[static_cast<size_t>(r * (columns + 1))], sum) << r;
  }
}

TEST(LargeResults, PaddedRows) {
  const int64_t rows = 70001, columns = 64;
  const Array<float> x = counted(rows, columns);
  const auto f = jit([](auto a) { return pad(a + a, 3.0f, {1, 2}, {3, 1}); });
  const Array<float> y = f(x);
  const auto in = x.host(), out = y.host();
  const int64_t width = y.shape()[1];
  ASSERT_EQ(y.shape()[0] * width, static_cast<int64_t>(out.size()));
  const int64_t top = 1, left = 2;
  int64_t wrong = 0;
  for (int64_t r = 0; r < y.shape()[0]; ++r)
    for (int64_t c = 0; c < width; ++c) {
      const bool inside = r >= top && r < top + rows && c >= left && c < left + columns;
      const float expected = inside ? 2 * in[static_cast<size_t>((r - top) * columns + c - left)] : 3.0f;
      wrong += out[static_cast<size_t>(r * width + c)] != expected;
    }
  EXPECT_EQ(wrong, 0) << y.shape()[0] << " x " << width;
}

}  // namespace
}  // namespace calque
