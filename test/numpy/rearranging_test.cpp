// Rearranged, repeated, padded, joined and split arrays: values, element types, empty arrays and scalars, errors.
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;
using I = Array<int32_t>;
using B = Array<bool>;

const I kMatrix = {{1, 2, 3}, {4, 5, 6}};

TEST(Rearranging, AxesMoveAsInNumPy) {
  const I x = reshape(jit([] { return iota(24); })(), {2, 3, 4});
  EXPECT_TRUE(array_equal(moveaxis(x, 0, -1), transpose(x, {1, 2, 0})));
  EXPECT_TRUE(array_equal(moveaxis(x, {0, 1}, {-1, 0}), transpose(x, {1, 2, 0})));
  EXPECT_TRUE(array_equal(swapaxes(x, 0, -1), transpose(x, {2, 1, 0})));
  EXPECT_TRUE(array_equal(swapaxes(x, 1, 1), x));
  EXPECT_TRUE(array_equal(rollaxis(x, 2), transpose(x, {2, 0, 1})));
  EXPECT_TRUE(array_equal(rollaxis(x, 0, 3), transpose(x, {1, 2, 0})));
  EXPECT_TRUE(array_equal(matrix_transpose(x), transpose(x, {0, 2, 1})));
  EXPECT_EQ(moveaxis(D::zeros({2, 0, 3}), 1, 0).shape(), (Shape{0, 2, 3}));
  EXPECT_THROW(moveaxis(x, {0, 1}, 0), ShapeError);
  EXPECT_THROW(moveaxis(x, {0, 0}, {0, 1}), ShapeError);
  EXPECT_THROW(swapaxes(x, 0, 3), ShapeError);
  EXPECT_THROW(rollaxis(x, 0, 4), ShapeError);
  EXPECT_THROW(matrix_transpose(D{1}), ShapeError);
}

TEST(Rearranging, FlipsAndRotations) {
  EXPECT_TRUE(array_equal(rot90(kMatrix), I{{3, 6}, {2, 5}, {1, 4}}));
  EXPECT_TRUE(array_equal(rot90(kMatrix, 2), I{{6, 5, 4}, {3, 2, 1}}));
  EXPECT_TRUE(array_equal(rot90(kMatrix, -1), I{{4, 1}, {5, 2}, {6, 3}}));
  EXPECT_TRUE(array_equal(rot90(kMatrix, INT64_MIN), kMatrix));
  EXPECT_TRUE(array_equal(rot90(kMatrix, 1, 1, 0), rot90(kMatrix, 3)));
  EXPECT_TRUE(array_equal(fliplr(kMatrix), I{{3, 2, 1}, {6, 5, 4}}));
  EXPECT_TRUE(array_equal(flipud(I{1, 2}), I{2, 1}));
  EXPECT_THROW(rot90(kMatrix, 1, 0, -2), ShapeError);
  EXPECT_THROW(rot90(I{1}), ShapeError);
  EXPECT_THROW(fliplr(I{1}), ShapeError);
  EXPECT_THROW(flipud(I(1)), ShapeError);
}

TEST(Rearranging, RanksAreRaised) {
  EXPECT_EQ(atleast_1d(D(1.0)).shape(), Shape{1});
  EXPECT_EQ(atleast_2d(D{1, 2}).shape(), (Shape{1, 2}));
  EXPECT_EQ(atleast_3d(D(1.0)).shape(), (Shape{1, 1, 1}));
  EXPECT_EQ(atleast_3d(D{1, 2}).shape(), (Shape{1, 2, 1}));
  EXPECT_EQ(atleast_3d(kMatrix).shape(), (Shape{2, 3, 1}));
  EXPECT_EQ(ravel(kMatrix).shape(), Shape{6});
  EXPECT_TRUE(array_equal(resize(I{1, 2, 3}, {2, 4}), I{{1, 2, 3, 1}, {2, 3, 1, 2}}));
  EXPECT_TRUE(array_equal(resize(I{1, 2, 3}, {2}), I{1, 2}));
  EXPECT_TRUE(array_equal(resize(I::zeros({0}), {2}), I{0, 0}));
  EXPECT_EQ(resize(kMatrix, {0, 3}).shape(), (Shape{0, 3}));
  EXPECT_THROW(resize(kMatrix, {-1}), ShapeError);
}

TEST(Rearranging, RollsBySeveralAxesAndByTracers) {
  EXPECT_TRUE(array_equal(roll(kMatrix, 2), I{{5, 6, 1}, {2, 3, 4}}));
  EXPECT_TRUE(array_equal(roll(kMatrix, {1, -1}, {0, 1}), I{{5, 6, 4}, {2, 3, 1}}));
  EXPECT_TRUE(array_equal(roll(kMatrix, Counts{1}, {0, 1}), I{{6, 4, 5}, {3, 1, 2}}));
  const auto by = jit([](auto x, auto n) { return roll(x, n, 1); });
  for (int32_t n = -7; n < 8; ++n) EXPECT_TRUE(array_equal(by(kMatrix, n), roll(kMatrix, n, 1))) << n;
  EXPECT_TRUE(array_equal(by(kMatrix, INT64_MIN), roll(kMatrix, INT64_MIN, 1)));
  EXPECT_TRUE(array_equal(roll(kMatrix, Array<uint64_t>(UINT64_MAX), 1), roll(kMatrix, 0, 1)));
  EXPECT_EQ(roll(D::zeros({2, 0}), I(1), 1).shape(), (Shape{2, 0}));
  EXPECT_THROW(roll(kMatrix, {1, 2, 3}, {0, 1}), ShapeError);
  EXPECT_THROW(roll(kMatrix, I{1, 2}, 1), ShapeError);
  EXPECT_THROW(roll(kMatrix, D(1.0), 1), DTypeError);
}

TEST(Rearranging, RepeatsByCounts) {
  EXPECT_TRUE(array_equal(repeat(kMatrix, {2, 0, 1}, 1), I{{1, 1, 3}, {4, 4, 6}}));
  EXPECT_TRUE(array_equal(repeat(kMatrix, Counts{2}, 0), repeat(kMatrix, 2, 0)));
  EXPECT_EQ(repeat(kMatrix, {0, 0}, 0).shape(), (Shape{0, 3}));
  const auto by = jit([](auto x, auto n) { return repeat(x, n, 0, {.total = 5}); });
  EXPECT_TRUE(array_equal(by(I{7, 8, 9}, I{2, 0, 3}), I{7, 7, 9, 9, 9}));
  EXPECT_TRUE(array_equal(by(I{7, 8, 9}, I{1, 1, 1}), I{7, 8, 9, 9, 9}));
  EXPECT_TRUE(array_equal(by(I{7, 8, 9}, I{9, 9, 9}), I{7, 7, 7, 7, 7}));
  EXPECT_TRUE(array_equal(by(I{7}, I{1}), I{7, 7, 7, 7, 7}));
  EXPECT_THROW(repeat(kMatrix, {1, 2}, 1), ShapeError);
  EXPECT_THROW(repeat(kMatrix, {1, -2}, 0), ShapeError);
  EXPECT_THROW(by(I{1, 2}, I{1}), ShapeError);
  EXPECT_THROW(by(I{1, 2}, D{1, 2}), DTypeError);
}

TEST(Rearranging, PadsByEdgesMirrorsAndPeriods) {
  const I x = {1, 2, 3};
  EXPECT_TRUE(array_equal(pad(x, pad_mode::edge, {2}, {1}), I{1, 1, 1, 2, 3, 3}));
  EXPECT_TRUE(array_equal(pad(x, pad_mode::reflect, {2}, {3}), I{3, 2, 1, 2, 3, 2, 1, 2}));
  EXPECT_TRUE(array_equal(pad(x, pad_mode::symmetric, {4}, {2}), I{3, 3, 2, 1, 1, 2, 3, 3, 2}));
  EXPECT_TRUE(array_equal(pad(x, pad_mode::wrap, {4}, {2}), I{3, 1, 2, 3, 1, 2, 3, 1, 2}));
  EXPECT_TRUE(array_equal(pad(I{{5}}, pad_mode::reflect, {1, 1}, {0, 2}), I{{5, 5, 5, 5}, {5, 5, 5, 5}}));
  // Many periods are gathered.
  const I long_pad = pad(x, pad_mode::reflect, {100}, {0});
  for (int64_t i = 0; i < 103; ++i) {
    const int64_t k = (((i - 100) % 4) + 4) % 4;
    EXPECT_EQ(long_pad.at(i).item(), k < 3 ? k + 1 : 2);
  }
  EXPECT_EQ(pad(D::zeros({2, 0}), pad_mode::edge, {1, 0}, {0, 0}).shape(), (Shape{3, 0}));
  EXPECT_THROW(pad(D::zeros({2, 0}), pad_mode::edge, {1, 1}, {0, 0}), ShapeError);
  EXPECT_THROW(pad(x, pad_mode::edge, {-1}, {0}), ShapeError);
  EXPECT_THROW(pad(x, pad_mode::edge, {1, 1}, {0, 0}), ShapeError);
}

TEST(Joining, StacksByRanks) {
  const I a = {1, 2}, b = {3, 4};
  EXPECT_TRUE(array_equal(hstack({a, b}), I{1, 2, 3, 4}));
  EXPECT_TRUE(array_equal(hstack({I{{1}, {2}}, I{{3}, {4}}}), I{{1, 3}, {2, 4}}));
  EXPECT_TRUE(array_equal(hstack({I(1), I(2)}), I{1, 2}));
  EXPECT_TRUE(array_equal(vstack(std::vector{a, b}), I{{1, 2}, {3, 4}}));
  EXPECT_TRUE(array_equal(dstack({a, b}), I{{{1, 3}, {2, 4}}}));
  EXPECT_TRUE(array_equal(column_stack({a, b}), I{{1, 3}, {2, 4}}));
  const auto mixed = vstack(std::tuple{a, D{0.5, 1}});
  static_assert(std::same_as<decltype(mixed), const D>);
  EXPECT_TRUE(array_equal(mixed, D{{1, 2}, {0.5, 1}}));
  const auto f = jit([](auto x) { return hstack({x, x * 2}); });
  EXPECT_TRUE(array_equal(f(a), I{1, 2, 2, 4}));
  EXPECT_THROW(hstack(std::vector<I>()), ShapeError);
  EXPECT_THROW(vstack({a, I{1, 2, 3}}), ShapeError);
  EXPECT_THROW(hstack({a, kMatrix}), ShapeError);
}

TEST(Joining, BlocksAppendsInsertsAndRemoves) {
  const I a = {{1}}, b = {{2, 3}}, c = {{4}, {5}}, d = {{6, 7}, {8, 9}};
  EXPECT_TRUE(array_equal(block({{a, b}, {c, d}}), I{{1, 2, 3}, {4, 6, 7}, {5, 8, 9}}));
  EXPECT_TRUE(array_equal(block({{I{1, 2}, I{3}}}), I{{1, 2, 3}}));
  EXPECT_THROW(block({{a, c}}), ShapeError);
  EXPECT_THROW(block(std::vector<std::vector<I>>{{a}, {}}), ShapeError);
  EXPECT_TRUE(array_equal(append(kMatrix, 7), I{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_TRUE(array_equal(append(kMatrix, I{{7, 8, 9}}, 0), I{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}));
  EXPECT_THROW(append(kMatrix, I{7, 8, 9}, 0), ShapeError);
  EXPECT_TRUE(array_equal(insert(I{1, 2, 3}, {1}, 9, 0), I{1, 9, 2, 3}));
  EXPECT_TRUE(array_equal(insert(I{1, 2, 3}, {1}, I{8, 9}, 0), I{1, 8, 9, 2, 3}));
  EXPECT_TRUE(array_equal(insert(I{1, 2, 3}, {3, 0, -1}, I{7, 8, 9}, 0), I{8, 1, 2, 9, 3, 7}));
  EXPECT_TRUE(array_equal(insert(kMatrix, {1}, 0, 1), I{{1, 0, 2, 3}, {4, 0, 5, 6}}));
  EXPECT_TRUE(array_equal(delete_(I{1, 2, 3, 4}, {0, -1, 0}, 0), I{2, 3}));
  EXPECT_TRUE(array_equal(delete_(kMatrix, {1}, 1), I{{1, 3}, {4, 6}}));
  EXPECT_EQ(delete_(I{1}, {0}, 0).shape(), Shape{0});
  EXPECT_THROW(delete_(kMatrix, {3}, 1), ShapeError);
  EXPECT_THROW(insert(kMatrix, {4}, 1, 1), ShapeError);
  EXPECT_THROW(insert(kMatrix, {0}, 0.5, 1), DTypeError);
}

TEST(Joining, Splits) {
  const auto parts = array_split(I{1, 2, 3, 4, 5}, 3);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_TRUE(array_equal(parts[0], I{1, 2}));
  EXPECT_TRUE(array_equal(parts[2], I{5}));
  EXPECT_EQ(array_split(I{1}, 3)[2].shape(), Shape{0});
  EXPECT_TRUE(array_equal(hsplit(kMatrix, 3)[1], I{{2}, {5}}));
  EXPECT_TRUE(array_equal(hsplit(I{1, 2, 3}, {1})[1], I{2, 3}));
  EXPECT_TRUE(array_equal(vsplit(kMatrix, 2)[1], I{{4, 5, 6}}));
  EXPECT_TRUE(array_equal(dsplit(reshape(kMatrix, {1, 2, 3}), {2})[1], I{{{3}, {6}}}));
  EXPECT_TRUE(array_equal(unstack(kMatrix)[1], I{4, 5, 6}));
  EXPECT_EQ(unstack(D::zeros({0, 3})).size(), 0u);
  EXPECT_THROW(array_split(kMatrix, 0), ShapeError);
  EXPECT_THROW(vsplit(I{1, 2}, 2), ShapeError);
  EXPECT_THROW(hsplit(kMatrix, 2), ShapeError);
  EXPECT_THROW(unstack(I(1)), ShapeError);
}

TEST(Joining, GridsAndOuterOperations) {
  const auto [x, y] = meshgrid(I{1, 2, 3}, D{0.5, 1});
  EXPECT_TRUE(array_equal(x, I{{1, 2, 3}, {1, 2, 3}}));
  EXPECT_TRUE(array_equal(y, D{{0.5, 0.5, 0.5}, {1, 1, 1}}));
  const auto [u, v] = meshgrid(I{1, 2, 3}, I{4, 5}, {.order = indexing::ij});
  EXPECT_TRUE(array_equal(u, I{{1, 1}, {2, 2}, {3, 3}}));
  EXPECT_TRUE(array_equal(v, I{{4, 5}, {4, 5}, {4, 5}}));
  const auto [s, t, w] = meshgrid(I{1, 2}, I{3}, I{4, 5, 6}, {.sparse = true});
  EXPECT_EQ(s.shape(), (Shape{1, 2, 1}));
  EXPECT_EQ(t.shape(), (Shape{1, 1, 1}));
  EXPECT_EQ(w.shape(), (Shape{1, 1, 3}));
  EXPECT_EQ(meshgrid(std::vector{I{1, 2}})[0].shape(), Shape{2});
  EXPECT_EQ(std::get<0>(meshgrid(I::zeros({0}), I{1, 2})).shape(), (Shape{2, 0}));
  EXPECT_THROW(meshgrid(kMatrix, I{1}), ShapeError);
  const auto [a, b] = broadcast_arrays(I{{1}, {2}}, D{1, 2});
  EXPECT_TRUE(array_equal(a, I{{1, 1}, {2, 2}}));
  EXPECT_TRUE(array_equal(b, D{{1, 2}, {1, 2}}));
  EXPECT_THROW(broadcast_arrays(I{1, 2}, I{1, 2, 3}), ShapeError);
  const auto minus = [](auto p, auto q) { return p - q; };
  EXPECT_TRUE(array_equal(outer(minus, I{1, 2}, I{1, 2, 3}), I{{0, -1, -2}, {1, 0, -1}}));
  EXPECT_EQ(outer(minus, kMatrix, I{1, 2}).shape(), (Shape{2, 3, 2}));
  EXPECT_TRUE(array_equal(jit([&](auto p) { return outer(minus, p, p); })(I{1, 2}), I{{0, -1}, {1, 0}}));
}

}  // namespace
}  // namespace calque::test
