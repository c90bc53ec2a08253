// inner, vdot, vecdot and cross: values, element types, derivatives, batches, errors.
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;
using F = Array<float>;
using I = Array<int32_t>;
using B = Array<bool>;
using C = std::complex<double>;

bool close(const D& x, const D& y, double tolerance = 1e-13) { return allclose(x, y, tolerance, tolerance); }

TEST(Products, InnerSumsOverTheLastDimensions) {
  const I a = {{1, 2, 3}, {4, 5, 6}}, v = {1, 0, 2};
  EXPECT_EQ(inner(v, v).item(), 5);
  EXPECT_TRUE(array_equal(inner(a, v), I{7, 16}));
  EXPECT_TRUE(array_equal(inner(a, a), I{{14, 32}, {32, 77}}));
  EXPECT_TRUE(array_equal(inner(a, 2), a * 2));
  EXPECT_EQ(inner(D::zeros({0}), D::zeros({0})).item(), 0);
  EXPECT_EQ(inner(D::zeros({2, 3}), D::zeros({4, 5, 3})).shape(), (Shape{2, 4, 5}));
  // Nothing is conjugated.
  EXPECT_EQ(inner(Array<C>{C(0, 1)}, Array<C>{C(0, 1)}).item(), C(-1, 0));
}

TEST(Products, VdotAndVecdotConjugateTheFirst) {
  const Array<C> z = {C(1, 2), C(0, 1)}, w = {C(0, 1), C(3, 0)};
  EXPECT_EQ(vdot(z, w).item(), std::conj(C(1, 2)) * C(0, 1) + C(0, -3));
  EXPECT_EQ(vecdot(z, w).item(), vdot(z, w).item());
  EXPECT_EQ(vdot(I{{1, 2}, {3, 4}}, I{1, 1, 1, 2}).item(), 14);
  const D x = {{1, 2}, {3, 4}};
  EXPECT_TRUE(array_equal(vecdot(x, D{1, 10}), D{21, 43}));
  EXPECT_TRUE(array_equal(vecdot(D{{{1, 2}}, {{3, 4}}}, x), D{{5, 11}, {11, 25}}));
  EXPECT_TRUE(array_equal(jit([](auto a, auto b) { return vecdot(a, b); })(x, x), D{5, 25}));
  EXPECT_EQ(vdot(D::zeros({0}), D::zeros({3, 0})).item(), 0);
  EXPECT_TRUE(array_equal(vecdot(B{{true, false}}, B{true, true}), B{true}));
}

TEST(Products, CrossOfTheLastDimension) {
  EXPECT_TRUE(array_equal(cross(D{1, 2, 3}, D{4, 5, 6}), D{-3, 6, -3}));
  EXPECT_TRUE(array_equal(cross(I{{1, 0, 0}, {0, 1, 0}}, I{0, 0, 1}), I{{0, -1, 0}, {1, 0, 0}}));
  const auto f = jit([](auto a, auto b) { return cross(a, b); });
  EXPECT_TRUE(array_equal(f(D{{{1, 2, 3}}}, D{{4, 5, 6}, {1, 2, 3}}), D{{{-3, 6, -3}, {0, 0, 0}}}));
  EXPECT_TRUE(array_equal(cross(F{1, 2, 3}, D{4, 5, 6}), D{-3, 6, -3}));
  EXPECT_EQ(cross(D::zeros({0, 3}), D{1, 2, 3}).shape(), (Shape{0, 3}));
  EXPECT_EQ(cross(Array<C>{C(0, 1), 0.0, 0.0}, Array<C>{0.0, C(0, 1), 0.0}).at(2).item(), C(-1, 0));
}

TEST(Products, DerivativesAndBatches) {
  const D u = {1, 2, 3}, v = {-1, 0.5, 2}, w = {3, 1, -2};
  const auto triple = [](auto x, auto y, auto z) { return inner(cross(x, y), z); };
  const auto [du, dv, dw] = jit(grad(triple, argnums<0, 1, 2>))(u, v, w);
  EXPECT_TRUE(close(du, cross(v, w)) && close(dv, cross(w, u)) && close(dw, cross(u, v)));
  EXPECT_TRUE(close(grad([](auto x, auto y) { return vdot(x, y); })(u, v), v));
  const D vectors = stack({u, v, w}, 1);
  const auto times = [](auto x, auto y) { return cross(x, y); };
  const D crossed = vmap(times, {.in_axes = {1, none}, .out_axes = {0}})(vectors, u);
  EXPECT_TRUE(close(crossed, stack({cross(u, u), cross(v, u), cross(w, u)}, 0)));
  const auto dots = [](auto x, auto y) { return std::tuple{inner(x, y), vdot(x, y), vecdot(x, y)}; };
  const auto [first, second, third] = vmap(dots, {.in_axes = {1, none}})(vectors, u);
  const D want = {14, 6, -1};
  EXPECT_TRUE(close(first, want) && close(second, want) && close(third, want));
}

/// The message of the E that f throws, without the line that it was written in, which must be of this file.
template <class E, class Function>
std::string message(const Function& f) {
  try {
    static_cast<void>(f());
  } catch (const E& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("products_test.cpp:"), std::string::npos) << text;
    return text.substr(0, text.find(" ("));
  }
  return "no error";
}

TEST(Products, BadOperandsAreRefusedInWords) {
  const auto zeros = [](const Shape& s) { return D::zeros(s); };
  EXPECT_EQ(message<ShapeError>([&] { return inner(zeros({2, 3}), zeros({2})); }),
            "inner: inner dimensions differ, got f64[2,3] and f64[2]");
  EXPECT_EQ(message<ShapeError>([&] { return vdot(zeros({2, 3}), zeros({5})); }),
            "vdot: arrays differ in their number of elements, got f64[2,3] and f64[5]");
  EXPECT_EQ(message<ShapeError>([&] { return vecdot(zeros({2, 3}), zeros({2})); }),
            "vecdot: inner dimensions differ, got f64[2,3] and f64[2]");
  EXPECT_EQ(message<ShapeError>([&] { return vecdot(zeros({2, 3}), zeros({4, 3})); }),
            "vecdot: batch dimensions do not broadcast, got f64[2,3] and f64[4,3]");
  EXPECT_EQ(message<ShapeError>([&] { return vecdot(zeros({}), zeros({3})); }),
            "vecdot: needs arrays of rank 1 or more, got f64[] and f64[3]");
  EXPECT_EQ(message<ShapeError>([&] { return cross(zeros({2}), zeros({3})); }),
            "cross: needs vectors of 3 elements along the last axis, got f64[2] and f64[3]");
  EXPECT_EQ(message<ShapeError>([&] { return cross(zeros({2, 3}), zeros({4, 3})); }),
            "cross: operands do not broadcast, got f64[2,3] and f64[4,3]");
  EXPECT_EQ(message<DTypeError>([&] { return cross(B::zeros({3}), B::zeros({3})); }),
            "cross: needs numbers, got bool[3]");
}

}  // namespace
}  // namespace calque::test
