// The modes of pad, numbers between arrays, bits, products along other axes: the values are those of JAX 0.10.
#include <limits>

#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;
using F = Array<float>;
using I = Array<int32_t>;
using B = Array<bool>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

bool close(const D& a, const D& b) { return allclose(a, b, 1e-12, 1e-13, true); }

TEST(Padding, Ramps) {
  const D x = {1, 4, 9};
  EXPECT_TRUE(close(pad(x, pad_mode::linear_ramp, {2}, {3}, {.end_values = {{0, -5}}}),
                    D{0, 0.5, 1, 4, 9, 13.0 / 3, -1.0 / 3, -5}));
  EXPECT_TRUE(array_equal(pad(I{1, 4, 9}, pad_mode::linear_ramp, {2}, {3}, {.end_values = {{0, -5}}}),
                          I{0, 0, 1, 4, 9, 4, -1, -5}));
  // Each step is a whole number, whatever the quotients are.
  EXPECT_TRUE(array_equal(pad(I{49}, pad_mode::linear_ramp, {49}, {0}), I::arange(50)));
  EXPECT_TRUE(
      close(pad(D{{1, 2, 3}, {4, 6, 9}}, pad_mode::linear_ramp, {1, 0}, {0, 2}, {.end_values = {{8, 0}, {0, 7}}}),
            D{{8, 8, 8, 7.5, 7}, {1, 2, 3, 5, 7}, {4, 6, 9, 8, 7}}));
  using C = std::complex<double>;
  EXPECT_TRUE(
      array_equal(pad(Array<C>{C(2, 4)}, pad_mode::linear_ramp, {2}, {0}), Array<C>{C(0, 0), C(1, 2), C(2, 4)}));
  EXPECT_THROW((void)pad(x, pad_mode::linear_ramp, {1}, {1}, {.end_values = {{0, 0}, {0, 0}}}), ShapeError);
  EXPECT_THROW((void)pad(B{true}, pad_mode::linear_ramp, {1}, {1}), DTypeError);
}

TEST(Padding, Statistics) {
  const D x = {1, 4, 9};
  const auto padded = [&](pad_mode how, PadOptions options = {}) { return pad(x, how, {1}, {2}, options); };
  EXPECT_TRUE(close(padded(pad_mode::maximum), D{9, 1, 4, 9, 9, 9}));
  EXPECT_TRUE(close(padded(pad_mode::minimum), D{1, 1, 4, 9, 1, 1}));
  EXPECT_TRUE(close(padded(pad_mode::mean), D{14.0 / 3, 1, 4, 9, 14.0 / 3, 14.0 / 3}));
  EXPECT_TRUE(close(padded(pad_mode::median), D{4, 1, 4, 9, 4, 4}));
  EXPECT_TRUE(close(padded(pad_mode::mean, {.stat_length = {{2, 2}}}), D{2.5, 1, 4, 9, 6.5, 6.5}));
  EXPECT_TRUE(close(padded(pad_mode::maximum, {.stat_length = {{1, 2}}}), D{1, 1, 4, 9, 9, 9}));
  EXPECT_TRUE(close(padded(pad_mode::median, {.stat_length = {{99, 1}}}), D{4, 1, 4, 9, 9, 9}));
  // To the nearest integer, half to even.
  EXPECT_TRUE(array_equal(pad(I{1, 4, 9}, pad_mode::mean, {1}, {1}, {.stat_length = {{2, 2}}}), I{2, 1, 4, 9, 6}));
  EXPECT_TRUE(array_equal(pad(I{1, 4, 9}, pad_mode::mean, {1}, {1}), I{5, 1, 4, 9, 5}));
  EXPECT_TRUE(array_equal(pad(B{true, false}, pad_mode::maximum, {2}, {1}), B{true, true, true, false, true}));
  EXPECT_TRUE(close(pad(D{{1, 2, 3}, {4, 6, 9}}, pad_mode::mean, {1, 0}, {0, 2}, {.stat_length = {{1, 1}, {2, 2}}}),
                    D{{1, 2, 3, 2.5, 2.5}, {1, 2, 3, 2.5, 2.5}, {4, 6, 9, 7.5, 7.5}}));
  EXPECT_TRUE(close(pad(D{kNaN, 1}, pad_mode::maximum, {1}, {0}), D{kNaN, kNaN, 1}));
  EXPECT_TRUE(array_equal(pad(D(3.0), pad_mode::mean, {}, {}), D(3.0)));
  EXPECT_THROW((void)padded(pad_mode::mean, {.stat_length = {{0, 1}}}), ShapeError);
  EXPECT_THROW((void)pad(D::zeros({0}), pad_mode::mean, {1}, {1}), ShapeError);
  EXPECT_THROW((void)pad(B{true}, pad_mode::median, {1}, {1}), DTypeError);
  EXPECT_THROW((void)pad(Array<std::complex<double>>{1}, pad_mode::maximum, {1}, {1}), DTypeError);
  EXPECT_TRUE(array_equal(grad([](auto v) { return sum(pad(v, pad_mode::mean, {1}, {2})); })(x), D{2, 2, 2}));
}

TEST(Padding, OddReflections) {
  const PadOptions odd{.reflect_type = reflection::odd};
  EXPECT_TRUE(array_equal(pad(I{1, 4, 9}, pad_mode::reflect, {5}, {7}, odd),
                          I{-18, -15, -12, -7, -2, 1, 4, 9, 14, 17, 20, 25, 30, 33, 36}));
  EXPECT_TRUE(array_equal(pad(I{1, 4, 9}, pad_mode::symmetric, {5}, {7}, odd),
                          I{-12, -7, -7, -2, 1, 1, 4, 9, 9, 14, 17, 17, 20, 25, 25}));
  EXPECT_TRUE(array_equal(pad(I{3}, pad_mode::reflect, {2}, {1}, odd), I{3, 3, 3, 3}));
  EXPECT_TRUE(array_equal(pad(I{3}, pad_mode::symmetric, {2}, {1}, odd), I{3, 3, 3, 3}));
  EXPECT_TRUE(array_equal(pad(I{{1, 2, 3}, {4, 6, 9}}, pad_mode::reflect, {1, 0}, {0, 2}, odd),
                          I{{-2, -2, -3, -4, -4}, {1, 2, 3, 4, 5}, {4, 6, 9, 12, 14}}));
  // An infinity at one end does not reach the other one.
  EXPECT_TRUE(array_equal(pad(D{1, 4, kInf}, pad_mode::reflect, {1}, {0}, odd), D{-2, 1, 4, kInf}));
  EXPECT_TRUE(array_equal(jit([&](auto v) { return pad(v, pad_mode::reflect, {1}, {1}, odd); })(D{1, 4, 9}),
                          D{-2, 1, 4, 9, 14}));
  EXPECT_THROW((void)pad(B{true, false}, pad_mode::reflect, {1}, {1}, odd), DTypeError);
}

TEST(Spaced, BetweenNumbers) {
  const auto f = [](auto make) { return jit(make)(); };
  EXPECT_TRUE(
      close(f([] { return logspace<double>(0, 2, 4, false); }), D{1, 3.1622776601683795, 10, 31.622776601683793}));
  EXPECT_TRUE(close(f([] { return geomspace<double>(1, 16, 4, false); }), D{1, 2, 4, 8}));
  EXPECT_EQ(f([] { return geomspace<double>(1, 16, 0, false); }).shape(), Shape{0});
  EXPECT_THROW(f([] { return logspace<double>(1, 16, -1, false); }), ShapeError);
  EXPECT_TRUE(array_equal(f([] { return indices({2, 3}, true)[1]; }), I{{0, 1, 2}}));
  EXPECT_TRUE(array_equal(f([] { return tri<double>(2); }), D{{1, 0}, {1, 1}}));
}

TEST(Spaced, BetweenArrays) {
  EXPECT_TRUE(close(linspace(D{0, 10}, D{1, 20}, 3, {.endpoint = false, .axis = 1}),
                    D{{0, 1.0 / 3, 2.0 / 3}, {10, 40.0 / 3, 50.0 / 3}}));
  EXPECT_TRUE(array_equal(linspace(0, D{1, 3}, 2), D{{0, 0}, {1, 3}}));
  EXPECT_TRUE(array_equal(linspace(D{1, 3}, 9.0, 1), D{{1, 3}}));
  EXPECT_EQ(linspace(D{1, 3}, 9.0, 0, {.axis = -1}).shape(), (Shape{2, 0}));
  static_assert(std::same_as<decltype(linspace(I{1}, 2, 3)), F>);
  EXPECT_TRUE(close(logspace(D{0, 1}, 2.0, 3, {.base = 2, .axis = -1}), D{{1, 2, 4}, {2, 2.8284271247461903, 4}}));
  EXPECT_TRUE(close(geomspace(D{1, -1}, D{8, -27}, 4), D{{1, -1}, {2, -3}, {4, -9}, {8, -27}}));
  EXPECT_TRUE(close(geomspace(D{1, 0, -2}, 2.0, 2), D{{1, kNaN, kNaN}, {2, kNaN, kNaN}}));
  EXPECT_TRUE(array_equal(jit([](auto a) { return linspace(a, 4.0, 3); })(0.0), D{0, 2, 4}));
  EXPECT_TRUE(array_equal(grad([](auto a) { return sum(linspace(a, 4.0, 3)); })(1.0), D(1.5)));
  EXPECT_THROW((void)linspace(D{1, 3}, 9.0, 2, {.axis = 2}), ShapeError);
  EXPECT_THROW((void)linspace(D{1, 3}, 9.0, -2), ShapeError);
  EXPECT_THROW((void)linspace(D{1, 3}, D{1, 2, 3}, 2), ShapeError);
}

TEST(Bits, OrderAxisAndCount) {
  using U8 = Array<uint8_t>;
  const I bits = {{1, 0, 1}, {0, 1, 1}};
  EXPECT_TRUE(array_equal(packbits(bits, 1, bitorder::little), U8{{5}, {6}}));
  EXPECT_TRUE(array_equal(packbits(bits), U8{172}));
  EXPECT_TRUE(array_equal(packbits(bits, 1), U8{{160}, {96}}));
  EXPECT_TRUE(
      array_equal(unpackbits(U8{{5}, {130}}, 1, 6, bitorder::little), U8{{1, 0, 1, 0, 0, 0}, {0, 1, 0, 0, 0, 0}}));
  EXPECT_TRUE(array_equal(unpackbits(U8{161}, 0, 10), U8{1, 0, 1, 0, 0, 0, 0, 1, 0, 0}));
  EXPECT_TRUE(array_equal(unpackbits(U8{161}, 0, -3), U8{1, 0, 1, 0, 0}));
  EXPECT_THROW((void)unpackbits(U8{161}, 0, -9), ShapeError);
  EXPECT_THROW((void)packbits(bits, 2), ShapeError);
}

TEST(Bits, HigherHalvesOfProducts) {
  using L = Array<int64_t>;
  using U = Array<uint64_t>;
  const L a = {-4611686018427375559, 2305843009213694029, -1, 3},
          b = {2305843009213694951, -1152921504606846976, -1, 4611686018427387904};
  EXPECT_TRUE(array_equal(mulhi(a, b), L{-576460752303422195, -144115188075855877, 0, 0}));
  EXPECT_TRUE(array_equal(mulhi(U{UINT64_MAX, 9223372036854775813u}, U{UINT64_MAX, 3}), U{UINT64_MAX - 1, 1}));
  EXPECT_TRUE(array_equal(mulhi(Array<int8_t>{-100, 77}, Array<int8_t>{100, -3}), Array<int8_t>{-40, -1}));
  EXPECT_TRUE(array_equal(mulhi(I{1 << 30}, 8), I{2}));
  EXPECT_THROW((void)mulhi(D{1}, D{2}), DTypeError);
  EXPECT_TRUE(array_equal(reduce_xor(I{{1, 2, 9}, {3, 4, 5}}, 1), I{10, 2}));
  EXPECT_TRUE(array_equal(reduce_xor(I{{1, 2, 9}, {3, 4, 5}}), I(8)));
  EXPECT_TRUE(array_equal(reduce_xor(B{true, true, true}, 0, keepdims), B{true}));
  EXPECT_TRUE(array_equal(reduce_xor(I::zeros({0, 2}), 0), I{0, 0}));
  EXPECT_THROW((void)reduce_xor(D{1}), DTypeError);
  EXPECT_THROW((void)reduce_xor(I{1}, 1), ShapeError);
}

TEST(Products, AlongOtherAxes) {
  EXPECT_TRUE(
      array_equal(cross(I{{1, 2}, {3, 4}, {5, 6}}, I{{1, 0, 2}, {2, 1, 0}}, {.axisa = 0, .axisb = 1, .axisc = 0}),
                  I{{6, -6}, {3, 12}, {-3, -6}}));
  EXPECT_TRUE(array_equal(vecdot(I{{1, 2}, {3, 4}}, I{{5, 6}, {7, 8}}, 0), I{26, 44}));
  EXPECT_THROW((void)vecdot(D{1, 2}, D{1, 2}, 1), ShapeError);
  EXPECT_THROW((void)cross(D{1, 2, 3}, D{1, 2, 3}, {.axis = 1}), ShapeError);
  const auto z = as_complex(D{0, -1}, D{1, 0});
  EXPECT_TRUE(close(angle(z, true), D{90, 180}));
  EXPECT_TRUE(close(angle(z, false), angle(z)));
}

}  // namespace
}  // namespace calque::test
