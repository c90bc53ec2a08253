// diagonal and trace through jit, grad and vmap.
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using F = Array<float>;
using D = Array<double>;

TEST(Diagonal, IsCompiledFusedAndRunAtOnce) {
  const D x = {{1, 2, 3}, {4, 5, 6}};
  EXPECT_TRUE(array_equal(diagonal(x), D{1, 5}));
  EXPECT_TRUE(array_equal(jit([](auto v) { return diagonal(v * 2.0, 1) + 1.0; })(x), D{5, 13}));
  EXPECT_TRUE(array_equal(jit([](auto v) { return diagonal(v, -1, 0, -1); })(x), D{4}));
  EXPECT_EQ(jit([](auto v) { return diagonal(v, 7); })(x).shape(), Shape{0});
  EXPECT_EQ(trace(x, 7).item(), 0);
  EXPECT_THROW(static_cast<void>(diagonal(x, 0, 1, 1)), ShapeError);
}

TEST(Diagonal, HasDerivatives) {
  const D x = {{1, 2, 3}, {4, 5, 6}};
  EXPECT_TRUE(array_equal(grad([](auto v) { return trace(v * v, 1); })(x), D{{0, 4, 0}, {0, 0, 12}}));
  EXPECT_TRUE(array_equal(grad([](auto v) { return sum(diagonal(v, -1, 1, 0) * diagonal(v, 0)); })(x),
                          D{{2, 1, 0}, {0, 6, 5}}));
  const auto [y, dy] = jvp([](auto v) { return diagonal(v, -1); }, std::tuple{x}, std::tuple{x});
  EXPECT_TRUE(array_equal(y, D{4}) && array_equal(dy, D{4}));
  EXPECT_TRUE(array_equal(grad([](auto v) { return trace(v, 9); })(x), D{{0, 0, 0}, {0, 0, 0}}));
}

TEST(Diagonal, IsBatched) {
  const D x = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}, {{9, 10}, {11, 12}}};
  EXPECT_TRUE(array_equal(vmap([](auto v) { return trace(v); })(x), D{5, 13, 21}));
  EXPECT_TRUE(
      array_equal(vmap([](auto v) { return diagonal(v, 1, -1, 0); }, {.in_axes = {2}})(x), D{{5, 11}, {6, 12}}));
}

TEST(Diagonal, TraceAccumulatesAsSumDoes) {
  const auto ones = Array<float16>::ones({4096, 4096});
  EXPECT_EQ(static_cast<float>(trace(ones).item()), 4096);
  const auto bits = Array<bool>::ones({300, 300});
  static_assert(std::is_same_v<decltype(trace(bits)), Array<int32_t>>);
  EXPECT_EQ(trace(bits).item(), 300);
  const auto bytes = Array<uint8_t>::ones({300, 300});
  EXPECT_EQ(trace(bytes).item(), 300 % 256);
}

TEST(Signbit, SeesZerosAndNaNs) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const F x = {0, -0.0F, 2, -3, nan, -nan, 1e-45F, -1e-45F};
  const Array<bool> want = {false, true, false, true, false, true, false, true};
  const auto f = jit([](auto v) { return signbit(v); });
  EXPECT_TRUE(array_equal(f(x), want));
  EXPECT_TRUE(array_equal(f(cast<float16>(x)), want));
  EXPECT_TRUE(array_equal(f(cast<bfloat16>(x)), want));
  EXPECT_TRUE(array_equal(f(cast<double>(x)), want));
  EXPECT_TRUE(array_equal(f(Array<bool>{true, false}), Array<bool>{false, false}));
  EXPECT_TRUE(array_equal(f(Array<uint64_t>{~uint64_t{0}, 0}), Array<bool>{false, false}));
  EXPECT_TRUE(array_equal(grad([](auto v) { return sum(where(signbit(v), 3.0F * v, v)); })(F{-1, 1}), F{3, 1}));
}

}  // namespace
}  // namespace calque::test
