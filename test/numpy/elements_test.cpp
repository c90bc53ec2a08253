// Logic, arithmetic, functions by indices and updates: values, types, empty arrays and scalars, errors.
#include <limits>

#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;
using F = Array<float>;
using I = Array<int32_t>;
using B = Array<bool>;
using U8 = Array<uint8_t>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

TEST(Logic, Closeness) {
  EXPECT_TRUE(array_equal(isclose(D{1, 1, kInf, kInf, kNaN}, D{1 + 1e-6, 1.1, kInf, -kInf, kNaN}),
                          B{true, false, true, false, false}));
  EXPECT_TRUE(array_equal(isclose(D{kNaN, 1}, D{kNaN, kInf}, {.equal_nan = true}), B{true, false}));
  EXPECT_TRUE(array_equal(isclose(D{1e300, 0}, D{kInf, kInf}), B{false, false}));
  EXPECT_TRUE(array_equal(isclose(I{3, 100}, I{3, 101}, {.rtol = 0, .atol = 0}), B{true, false}));
  EXPECT_TRUE(array_equal(isclose(D{2}, 2), B{true}));
  const auto f = jit([](auto x, auto y) {
    return stack({allclose(x, y), array_equal(x, y), array_equiv(x, y), array_equal(x, sum(y))}, 0);
  });
  EXPECT_TRUE(array_equal(f(D{1, 2}, D{1, 2}), B{true, true, true, false}));
  EXPECT_TRUE(array_equal(f(D{1, 2}, D{1, 3}), B{false, false, false, false}));
  EXPECT_TRUE(array_equal(jit([](auto x, auto y) { return array_equal(x, y, true); })(D{kNaN}, D{kNaN}), B(true)));
  EXPECT_TRUE(array_equal(array_equiv(I{{1, 2}, {1, 2}}, I{1, 2}), B(true)));
  EXPECT_TRUE(array_equal(array_equiv(I{1, 2}, I{1, 2, 3}), B(false)));
  EXPECT_THROW(isclose(D{1, 2}, D{1, 2, 3}), ShapeError);
}

TEST(Logic, TestsOfElements) {
  EXPECT_TRUE(array_equal(isin(I{{1, 2}, {3, 4}}, I{2, 4}), B{{false, true}, {false, true}}));
  EXPECT_TRUE(array_equal(isin(I{1}, I::zeros({0}), {.invert = true}), B{true}));
  EXPECT_TRUE(array_equal(isposinf(D{kInf, -kInf, kNaN}), B{true, false, false}));
  EXPECT_TRUE(array_equal(isneginf(D{kInf, -kInf, kNaN}), B{false, true, false}));
  EXPECT_TRUE(array_equal(isposinf(I{1}), B{false}));
  using C = std::complex<double>;
  EXPECT_TRUE(array_equal(isreal(Array<C>{C(1, 0), C(0, 1)}), B{true, false}));
  EXPECT_TRUE(array_equal(iscomplex(Array<C>{C(1, 0), C(0, kNaN)}), B{false, true}));
  EXPECT_TRUE(array_equal(iscomplex(I{1}), B{false}));
  EXPECT_THROW(isposinf(Array<C>{C(1, 0)}), DTypeError);
  EXPECT_TRUE(array_equal(logical_xor(I{0, 2, 3}, B{true, true, false}), B{true, false, true}));
}

TEST(Logic, Choices) {
  const D x = {-2, 0.5, 3};
  EXPECT_TRUE(array_equal(select(std::vector{x < 0.0, x < 1.0}, std::vector{-x, x * 10.0}, 7), D{2, 5, 7}));
  EXPECT_TRUE(array_equal(select(std::vector{B{true, false}}, std::vector{I{1, 2}}), I{1, 0}));
  EXPECT_THROW(select(std::vector{x < 0.0}, std::vector{x, x}), ShapeError);
  EXPECT_THROW(select(std::vector<B>(), std::vector<D>()), ShapeError);
  EXPECT_TRUE(array_equal(choose(I{0, 1, 9, -1}, std::vector{I{1, 2, 3, 4}, I{5, 6, 7, 8}}), I{1, 6, 7, 4}));
  EXPECT_TRUE(array_equal(choose(I{2, -1}, std::vector{I{1, 2}, I{5, 6}}, mode::wrap), I{1, 6}));
  EXPECT_THROW(choose(I{0}, std::vector<I>()), ShapeError);
  EXPECT_THROW(choose(D{0}, std::vector{I{1}}), DTypeError);
}

TEST(Arithmetic, OfFloats) {
  EXPECT_TRUE(array_equal(heaviside(D{-1, 0, 2, kNaN}, 0.5), D{0, 0.5, 1, kNaN}, true));
  static_assert(std::same_as<decltype(heaviside(I{1}, I{1})), F>);
  EXPECT_TRUE(array_equal(float_power(I{2, 4}, -1), F{0.5f, 0.25f}));
  EXPECT_THROW(float_power(I{1, 2}, I{1, 2, 3}), ShapeError);
  EXPECT_TRUE(array_equal(true_divide(I{1, 3}, 2), F{0.5f, 1.5f}));
  EXPECT_TRUE(array_equal(reciprocal(I{1, 2, -1}), I{1, 0, -1}));
  EXPECT_TRUE(array_equal(reciprocal(D{4}), D{0.25}));
  EXPECT_TRUE(allclose(deg2rad(D{180}), D{3.141592653589793}));
  EXPECT_TRUE(allclose(rad2deg(deg2rad(D{77})), D{77}));
  EXPECT_THROW(reciprocal(B{true}), DTypeError);
  EXPECT_TRUE(array_equal(clamp(D{-1, 0.5, 2, kNaN}, 0, 1), D{0, 0.5, 1, kNaN}, true));
  EXPECT_TRUE(array_equal(clamp(D{-1, 0.5}, D{0, 0}, D{1, 0.25}), D{0, 0.25}));
}

TEST(Arithmetic, PartsOfNumbers) {
  const auto [fraction, whole] = modf(D{-1.75, 2, -kInf, -0.0});
  EXPECT_TRUE(array_equal(fraction, D{-0.75, 0, -0.0, -0.0}));
  EXPECT_TRUE(array_equal(signbit(fraction), B{true, false, true, true}));
  EXPECT_TRUE(array_equal(whole, D{-1, 2, -kInf, -0.0}));
  EXPECT_TRUE(std::isnan(std::get<0>(modf(D{kNaN})).at(0).item()));
  const auto [q, r] = divmod(I{-7, 7}, 3);
  EXPECT_TRUE(array_equal(q, I{-3, 2}));
  EXPECT_TRUE(array_equal(r, I{2, 1}));
  EXPECT_THROW(divmod(I{1, 2}, I{1, 2, 3}), ShapeError);
  EXPECT_THROW(divmod(B{true}, B{true}), DTypeError);
  const D x = {8, -0.75, 0, 5e-324, kInf, 1.7976931348623157e308, -2.2250738585072014e-308};
  const auto [m, e] = frexp(x);
  for (int64_t i = 0; i < x.size(); ++i) {
    int want = 0;
    const double mantissa = std::frexp(x.at(i).item(), &want);
    EXPECT_EQ(m.at(i).item(), mantissa);
    if (std::isfinite(x.at(i).item())) {
      EXPECT_EQ(e.at(i).item(), want);
    }
  }
  EXPECT_TRUE(std::isnan(std::get<0>(frexp(D{kNaN})).at(0).item()));
  const auto [mf, ef] = frexp(F{1e-45f, 3e38f});
  EXPECT_TRUE(array_equal(ef, I{-148, 128}));
  EXPECT_TRUE(array_equal(ldexp(mf, ef), F{1e-45f, 3e38f}));
  EXPECT_TRUE(array_equal(spacing(D{1, -1, kInf, 0}), D{0x1p-52, -0x1p-52, kNaN, 5e-324}, true));
}

TEST(Arithmetic, Decimals) {
  EXPECT_TRUE(array_equal(round(D{1.25, -2.675, 1e308, kInf}, 1), D{1.2, -2.7, 1e308, kInf}));
  EXPECT_TRUE(array_equal(round(D{1250, 1350}, -2), D{1200, 1400}));
  EXPECT_TRUE(array_equal(round(I{15, 25, -15, 14}, -1), I{20, 20, -20, 10}));
  EXPECT_TRUE(array_equal(round(U8{250, 5}, -1), U8{250, 0}));
  EXPECT_TRUE(array_equal(round(I{15}, 3), I{15}));
  EXPECT_TRUE(array_equal(round(I{15}, -30), I{0}));
  EXPECT_TRUE(array_equal(round(D{2.5}, 0), round(D{2.5})));
}

TEST(Arithmetic, BitsInBytes) {
  EXPECT_TRUE(array_equal(packbits(I{1, 0, 0, 0, 0, 0, 0, 2, 1}), U8{129, 128}));
  EXPECT_TRUE(array_equal(packbits(B{{true}, {true}}, 0), U8{{192}}));
  EXPECT_TRUE(array_equal(unpackbits(U8{129, 3}), U8{1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(unpackbits(U8{{1}, {2}}, 0).shape(), (Shape{16, 1}));
  EXPECT_EQ(packbits(B::zeros({0})).shape(), Shape{0});
  EXPECT_THROW(packbits(D{1}), DTypeError);
  EXPECT_THROW(unpackbits(I{1}), DTypeError);
}

TEST(ByIndices, Coordinates) {
  const auto c = unravel_index(I{0, 5, -1, 99, -99}, {2, 3});
  EXPECT_TRUE(array_equal(c[0], I{0, 1, 1, 1, 0}));
  EXPECT_TRUE(array_equal(c[1], I{0, 2, 2, 2, 0}));
  EXPECT_EQ(unravel_index(I{0}, {}).size(), 0u);
  EXPECT_THROW(unravel_index(I{0}, {0, 3}), ShapeError);
  EXPECT_THROW(unravel_index(D{0}, {2}), DTypeError);
  const std::vector i{I{1, 5, -1}, I{2, 0, 1}};
  EXPECT_TRUE(array_equal(ravel_multi_index(i, {2, 3}), I{5, 3, 1}));
  EXPECT_TRUE(array_equal(ravel_multi_index(i, {2, 3}, mode::wrap), I{5, 3, 4}));
  EXPECT_TRUE(array_equal(ravel_multi_index(i, {2, 3}, mode::fill), I{5, 3, 4}));
  EXPECT_THROW(ravel_multi_index(i, {2, 3, 4}), ShapeError);
}

TEST(ByIndices, Replacements) {
  EXPECT_TRUE(array_equal(fill_diagonal(I{{1, 2, 3}, {4, 5, 6}}, 0), I{{0, 2, 3}, {4, 0, 6}}));
  EXPECT_TRUE(array_equal(fill_diagonal(I::zeros({2, 2, 2}), 1), I{{{1, 0}, {0, 0}}, {{0, 0}, {0, 1}}}));
  EXPECT_THROW(fill_diagonal(I{1}, 0), ShapeError);
  EXPECT_THROW(fill_diagonal(I::zeros({2, 3, 2}), 0), ShapeError);
  EXPECT_THROW(fill_diagonal(I{{1}}, I::zeros({0})), ShapeError);
  EXPECT_TRUE(array_equal(put_along_axis(I{{1, 2}, {3, 4}}, I{{1}, {-2}}, 9, 1), I{{1, 9}, {9, 4}}));
  EXPECT_TRUE(array_equal(put_along_axis(I{{1, 2}, {3, 4}}, I{{0, 5}}, I{{7, 8}}, 0), I{{7, 2}, {3, 4}}));
  EXPECT_THROW(put_along_axis(I{{1, 2}}, I{1}, 9, 1), ShapeError);
  EXPECT_TRUE(array_equal(put(I{{1, 2}, {3, 4}}, I{0, -1, 9}, I{7, 8}), I{{7, 2}, {3, 8}}));
  EXPECT_TRUE(array_equal(put(I{1, 2, 3}, I{9, -9}, I{7, 8}, mode::clip), I{8, 2, 7}));
  EXPECT_TRUE(array_equal(put(I{1, 2, 3}, I{4, -1}, 0, mode::wrap), I{1, 0, 0}));
  EXPECT_THROW(put(I{1}, I{0}, I::zeros({0})), ShapeError);
}

TEST(ByIndices, Updates) {
  EXPECT_TRUE(array_equal(D{1, 2, 3}.mul(I{0, 2, 0}, D{2, 3, 5}), D{10, 2, 9}));
  EXPECT_TRUE(array_equal(D{1, 2, 3}.min(I{0, 2, 0}, D{2, 1, 0}), D{0, 2, 1}));
  EXPECT_TRUE(array_equal(D{1, 2, 3}.max(I{0, 7}, D{2, 9}), D{2, 2, 3}));
  EXPECT_TRUE(array_equal(I{1, 2, 3}.mul(range(1, none), 10), I{1, 20, 30}));
  EXPECT_TRUE(array_equal(I{{1, 2}, {3, 4}}.max(calque::all, 1, 3), I{{1, 3}, {3, 4}}));
  const auto f = jit([](auto x, auto i) { return x.mul(i, 2.0).max(0, 3.0).min(2, 0.5); });
  EXPECT_TRUE(array_equal(f(D{1, 2, 3}, 1), D{3, 4, 0.5}));
  EXPECT_TRUE(array_equal(grad([](auto x) { return sum(x.max(I{0, 1}, D{5, 0}) * 2.0); })(D{1, 2, 3}), D{0, 2, 2}));
  EXPECT_THROW((void)B{true}.mul(0, true), DTypeError);
}

TEST(ByIndices, Segments) {
  const D x = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  const I ids = {1, 0, 1, 9};
  EXPECT_TRUE(array_equal(segment_sum(x, ids, 3), D{{3, 4}, {6, 8}, {0, 0}}));
  EXPECT_TRUE(array_equal(segment_prod(x, ids, 3), D{{3, 4}, {5, 12}, {1, 1}}));
  EXPECT_TRUE(array_equal(segment_max(x, ids, 3), D{{3, 4}, {5, 6}, {-kInf, -kInf}}));
  EXPECT_TRUE(array_equal(segment_min(I{4, 2}, I{0, -1}, 2), I{4, INT32_MAX}));
  EXPECT_TRUE(array_equal(segment_sum(B{true, true}, I{0, 0}, 1), I{2}));
  EXPECT_EQ(segment_sum(x, ids, 0).shape(), (Shape{0, 2}));
  EXPECT_THROW(segment_sum(x, I{1, 2}, 3), ShapeError);
  EXPECT_THROW(segment_sum(x, ids, -1), ShapeError);
  EXPECT_THROW(segment_sum(D(1.0), ids, 1), ShapeError);
  EXPECT_THROW(segment_sum(x, D{1, 0, 1, 2}, 3), DTypeError);
}

TEST(ByIndices, ElementsThatAreNotZero) {
  const I x = {{0, 3, 0}, {4, 0, 5}};
  EXPECT_TRUE(array_equal(flatnonzero(x, {.size = 5, .fill_value = -1}), I{1, 3, 5, -1, -1}));
  EXPECT_TRUE(array_equal(flatnonzero(x, {.size = 2}), I{1, 3}));
  EXPECT_TRUE(array_equal(flatnonzero(D::zeros({0}), {.size = 2}), I{0, 0}));
  const auto c = nonzero(x, {.size = 4, .fill_value = 7});
  EXPECT_TRUE(array_equal(c[0], I{0, 1, 1, 7}));
  EXPECT_TRUE(array_equal(c[1], I{1, 0, 2, 7}));
  EXPECT_TRUE(array_equal(compress(B{false, true}, x, 0, {.size = 1}), I{{4, 0, 5}}));
  EXPECT_TRUE(array_equal(compress(B{true, false, true}, x, 1, {.size = 3}), I{{0, 0, 0}, {4, 5, 0}}));
  EXPECT_TRUE(array_equal(argwhere(x, {.size = 4, .fill_value = -1}), I{{0, 1}, {1, 0}, {1, 2}, {-1, -1}}));
  EXPECT_TRUE(array_equal(extract(x > 3, x, {.size = 3}), I{4, 5, 0}));
  EXPECT_TRUE(array_equal(extract(B{false, true, true}, x, {.size = 3}), I{3, 0, 0}));
  EXPECT_THROW(argwhere(I(1), {.size = 1}), ShapeError);
  EXPECT_THROW(flatnonzero(x, {.size = -1}), ShapeError);
  EXPECT_THROW(nonzero(I(1), {.size = 1}), ShapeError);
  EXPECT_THROW(compress(B{true, true, true}, x, 0, {.size = 1}), ShapeError);
}

}  // namespace
}  // namespace calque::test
