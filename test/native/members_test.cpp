// Members with Eigen's names on arrays and tracers, captured data beside tracers, arrays beside Eigen objects.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/eigen.h"

namespace calque {
namespace {

using D = Array<double>;
using testing::ElementsAre;
using testing::HasSubstr;

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(NativeMembers, AgreeWithTheFunctions) {
  const D x = {3, -4, 0}, a = {{1, 2, 3}, {4, 5, 6}};
  const auto check = [](const auto& in, const auto& matrix) {
    return std::tuple{in.norm(),    in.squaredNorm(), in.sum(), in.dot(in),   matrix.transpose(),
                      matrix.sum(), matrix.norm(),    in(1),    matrix(1, -1)};
  };
  const auto [norm, square, total, dot, transposed, sum_of_matrix, frobenius, element, last] = jit(check)(x, a);
  EXPECT_EQ(norm.item(), 5);
  EXPECT_EQ(square.item(), 25);
  EXPECT_EQ(total.item(), -1);
  EXPECT_EQ(dot.item(), 25);
  EXPECT_EQ(transposed.shape(), (Shape{3, 2}));
  EXPECT_EQ(transposed(2, 1), 6);
  EXPECT_EQ(sum_of_matrix.item(), 21);
  EXPECT_DOUBLE_EQ(frobenius.item(), std::sqrt(91.0));
  EXPECT_EQ(element.item(), -4);
  EXPECT_EQ(last.item(), 6);
  EXPECT_EQ(x.norm().item(), 5);
  EXPECT_EQ(x.dot(x).item(), 25);
  EXPECT_EQ(a.rows(), 2);
  EXPECT_EQ(a.cols(), 3);
  EXPECT_EQ(x.rows(), 3);
  EXPECT_EQ(x.cols(), 1);
}

TEST(NativeMembers, OtherElementTypes) {
  const Array<std::complex<float>> z = {{3, 4}, {0, 0}};
  const Array<float> norm = z.norm(), square = z.squaredNorm();
  EXPECT_EQ(norm.item(), 5);
  EXPECT_EQ(square.item(), 25);
  const Array<int8_t> small = {1, 2, 3};
  const Array<int8_t> total = small.sum();
  EXPECT_EQ(total.item(), 6);
  const Array<float> of_integers = small.norm();
  EXPECT_FLOAT_EQ(of_integers.item(), std::sqrt(14.0F));
  const Array<double> mixed = small.dot(D{1, 1, 1});
  EXPECT_EQ(mixed.item(), 6);
  EXPECT_EQ(D::zeros({0}).sum().item(), 0);
  EXPECT_EQ(D::zeros({0}).norm().item(), 0);
  EXPECT_EQ(Array<int>(7).sum().item(), 7);
}

TEST(NativeMembers, ElementsAtTracedIndices) {
  const auto f = jit([](auto x, auto a, auto i) { return x(i) + a(i, 0); });
  EXPECT_EQ(f(D{1, 2, 3}, D{{10, 0}, {20, 0}, {30, 0}}, 2).item(), 33);
}

TEST(NativeMembers, ErrorsNameTheRemedy) {
  const D x = {1, 2}, a = {{1, 2}, {3, 4}}, cube = D::zeros({2, 2, 2});
  EXPECT_THAT(message_of([&] { jit([](auto m) { return m(0); })(a); }), HasSubstr("write x[i] for a row"));
  EXPECT_THAT(message_of([&] { jit([](auto m) { return m(0, all); })(a); }), HasSubstr("2 indices, integers"));
  EXPECT_THAT(message_of([&] { jit([](auto v) { return v(2); })(x); }), HasSubstr("members_test.cpp"));
  EXPECT_THAT(message_of([&] { jit([](auto v) { return v.transpose(); })(x); }), HasSubstr("dot(x, y)"));
  EXPECT_THAT(message_of([&] { jit([](auto m, auto v) { return m.dot(v); })(a, x); }), HasSubstr("matmul"));
  EXPECT_THAT(message_of([&] { cube.rows(); }), HasSubstr("x.shape()[i]"));
}

TEST(NativeMembers, AProductOfEigenArgumentsNamesMatmul) {
  const Eigen::MatrixXd m = Eigen::MatrixXd::Identity(2, 2);
  const Eigen::VectorXd v = Eigen::VectorXd::Ones(2);
  const auto product = [](auto a, auto x) { return sum(a * x); };
  EXPECT_THAT(message_of([&] { jit(product)(m, v); }), HasSubstr("write matmul(a, b)"));
  EXPECT_THAT(message_of([&] { jit(product)(v, m); }), HasSubstr("members_test.cpp"));
  EXPECT_THROW(grad(product)(m, v), ShapeError);
  EXPECT_EQ(jit(product)(D{{1, 0}, {0, 1}}, v).item(), 2);  // of arrays it is elementwise
  EXPECT_EQ(jit([](auto a, auto x) { return sum(a * (x + 0.0)); })(m, v).item(), 2);
  EXPECT_EQ(jit(product)(m, m).item(), 2);
}

TEST(NativeMembers, ExtentsCountFromTheEnd) {
  const D a = D::zeros({2, 3, 5});
  EXPECT_EQ(a.shape()[-1], 5);
  EXPECT_EQ(a.shape()[-3], 2);
  EXPECT_EQ(a.shape()[2], 5);
  EXPECT_THAT(message_of([&] { a.shape()[3]; }), HasSubstr("there is no dimension 3 of 3 (members_test.cpp"));
  EXPECT_THAT(message_of([&] { a.shape()[-4]; }), HasSubstr("there is no dimension -4 of 3"));
  EXPECT_THROW(a.shape()[size_t{3}], ShapeError);
  EXPECT_THROW(Shape{}[0], ShapeError);
  EXPECT_EQ(jit([](auto x) { return x / static_cast<double>(x.shape()[-1]); })(D{2, 4})(1), 2);
}

TEST(NativeMembers, CapturedDataAreConstants) {
  Eigen::MatrixXd m(2, 2);
  m << 1, 2, 3, 4;
  const std::vector<double> t{10, 20};
  const std::vector<int> counts{1, 2};
  const D x = {1, 1};
  EXPECT_THAT(jit([m](auto v) { return matmul(m, v); })(x).host(), ElementsAre(3, 7));
  EXPECT_THAT(jit([m](auto v) { return matmul(v, m) + dot(v, m); })(x).host(), ElementsAre(8, 12));
  EXPECT_THAT(jit([t](auto v) { return v * t + t; })(x).host(), ElementsAre(20, 40));
  EXPECT_THAT(jit([counts](auto v) { return v * counts; })(x).host(), ElementsAre(1, 2));
  EXPECT_THAT(jit([t](auto v) { return where(v > 0.0, v, t); })(x).host(), ElementsAre(1, 1));
  const Array<double> widened = jit([t](auto v) { return v * t; })(Array<float>{1, 2});
  EXPECT_THAT(widened.host(), ElementsAre(10, 40));
  EXPECT_THAT(jit([t](auto v) { return t < v; })(Array<float>{11, 2}).host(), ElementsAre(true, false));
  EXPECT_THAT(jit([&m](auto v) { return v + m.diagonal(); })(x).host(), ElementsAre(2, 5));
  EXPECT_THAT(D(matmul(m, x)).host(), ElementsAre(3, 7));
  EXPECT_THROW(jit([t](auto v) { return v * t; })(D{1, 2, 3}), ShapeError);
}

TEST(NativeMembers, ArraysBesideEigenObjects) {
  const auto twice = jit([](auto x) { return 2.0 * x; });
  const Eigen::VectorXd x = Eigen::Vector3d(1, 2, 3), b = Eigen::Vector3d(1, 1, 1);
  const Eigen::VectorXd r = twice(x) - b, s = b - twice(x), t = b + twice(x);
  EXPECT_EQ(r, Eigen::VectorXd(Eigen::Vector3d(1, 3, 5)));
  EXPECT_EQ(s, -r);
  EXPECT_EQ(t, Eigen::VectorXd(Eigen::Vector3d(3, 5, 7)));
  Eigen::VectorXd y = x;
  y += 0.5 * twice(x);
  y -= twice(x);
  EXPECT_EQ(y, Eigen::VectorXd::Zero(3));
  const Eigen::Matrix3d m = Eigen::Vector3d(1, 2, 3).asDiagonal();
  const Eigen::VectorXd product = m * twice(x);
  EXPECT_EQ(product, Eigen::VectorXd(Eigen::Vector3d(2, 8, 18)));
  const Eigen::ArrayXd elementwise = Eigen::ArrayXd(x) * twice(x);
  EXPECT_EQ(elementwise(2), 18);
  EXPECT_THROW(static_cast<void>(twice(x) - Eigen::Vector4d(b.homogeneous())), ShapeError);
}

TEST(NativeMembers, HostElementsOfATemporaryStay) {
  const auto twice = jit([](auto x) { return 2.0 * x; });
  double total = 0;
  for (const double e : twice(D::ones({1000})).host()) total += e;
  EXPECT_EQ(total, 2000);
  const auto kept = twice(D::ones({1000})).host();
  const D other = twice(D::zeros({1000}));  // would get the memory
  EXPECT_EQ(kept[999], 2);
  EXPECT_EQ(kept.size(), 1000u);
}

TEST(NativeMembers, ArraysFromLists) {
  EXPECT_THAT(D::from(std::vector<double>{1, 2}).host(), ElementsAre(1, 2));
  const double elements[] = {1, 2, 3};
  EXPECT_EQ(D::from(std::span<const double>(elements)).shape(), (Shape{3}));
  EXPECT_EQ(D::from(std::vector<double>{}).shape(), (Shape{0}));
  EXPECT_THAT(Array<bool>::from(std::vector<bool>{true, false}).host(), ElementsAre(true, false));
  EXPECT_THAT((D{1, 2, 3}).at(range(1)).host(), ElementsAre(2, 3));
  EXPECT_THAT((D{1, 2, 3}).at(range(0, end, 2)).host(), ElementsAre(1, 3));
  EXPECT_THAT((D{1, 2, 3})[range(-1)].host(), ElementsAre(3));
  const auto stacked = jit([](auto x) { return stack({x[0], 1.0, x[1]}, 0); });
  EXPECT_THAT(stacked(D{5, 6}).host(), ElementsAre(5, 1, 6));
  EXPECT_THAT(stack({D(5.0), 2}, 0).host(), ElementsAre(5, 2));
  const D number = 10;
  EXPECT_EQ(number.rank(), 0);
}

}  // namespace
}  // namespace calque
