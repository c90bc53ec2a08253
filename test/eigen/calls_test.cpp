// Eigen objects as arguments and results of compiled functions.
#include <gtest/gtest.h>

#include "calque/eigen.h"

#include "classes/traced.h"

namespace calque::test {
namespace {

Eigen::MatrixXf sample(int rows, int columns) {
  Eigen::MatrixXf m(rows, columns);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) m(i, j) = static_cast<float>(std::sin(1.0 + 3 * i + 7 * j));
  }
  return m;
}

TEST(EigenCalls, TakeMatricesAndGiveThem) {
  const auto f = jit([](auto x, auto w) { return matmul(x, w) + 1; });
  const Eigen::MatrixXf a = sample(4, 3), b = sample(3, 5);
  const Eigen::MatrixXf c = f(a, b);
  EXPECT_TRUE(c.isApprox((a * b).array().operator+(1).matrix()));
  const Eigen::Matrix<float, 4, 5> fixed = f(a, b);
  EXPECT_EQ(Eigen::MatrixXf(fixed), c);
}

TEST(EigenCalls, ReadBlocksMapsAndTransposesWithoutCopies) {
  const auto f = jit([](auto x) { return x * 2 - 1; });
  Eigen::MatrixXf m = sample(6, 5);
  const auto want = [](const Eigen::MatrixXf& x) { return Eigen::MatrixXf((x * 2).array() - 1); };
  Eigen::MatrixXf got = f(m.block(1, 2, 3, 2));
  EXPECT_EQ(got, want(m.block(1, 2, 3, 2)));
  got = f(m.transpose());
  EXPECT_EQ(got, want(m.transpose()));
  const Eigen::VectorXf row = f(m.row(2)), column = f(m.col(1));
  EXPECT_EQ(Eigen::MatrixXf(row.transpose()), want(m.row(2)));
  EXPECT_EQ(Eigen::MatrixXf(column), want(m.col(1)));
  Eigen::Map<Eigen::MatrixXf, 0, Eigen::OuterStride<>> map(m.data(), 3, 2, Eigen::OuterStride<>(12));
  got = f(map);
  EXPECT_EQ(got, want(map));
  got = f(Eigen::Ref<Eigen::MatrixXf>(m));
  EXPECT_EQ(got, want(m));
  got = f(m * m.transpose());
  EXPECT_TRUE(got.isApprox(want(m * m.transpose())));
}

TEST(EigenCalls, LayoutsAreSeparateSignatures) {
  const auto f = jit([](auto x) { return x + 1; });
  const Eigen::MatrixXf m = sample(3, 3);
  const Eigen::Matrix<float, -1, -1, Eigen::RowMajor> r = m;
  const Eigen::MatrixXf a = f(m), b = f(r), c = f(Array<float>::from(m));
  EXPECT_EQ(a, b);
  EXPECT_EQ(a, c);
}

TEST(EigenCalls, ReturnWhatTheCallerOwnsAsACopy) {
  const auto id = jit([](auto x) { return x; });
  Eigen::MatrixXf m = sample(2, 2);
  const Array<float> a = id(m);
  const float before = a(0, 1);
  m(0, 1) = 99;
  EXPECT_EQ(a(0, 1), before);
}

TEST(EigenCalls, ComputeWithMatricesOfTracersInside) {
  const auto f = jit([](auto x) {
    using V = Eigen::Matrix<Tracer<double>, 3, 1>;
    const V r = x;
    const Eigen::Matrix<Tracer<double>, 3, 3> k = r * r.transpose();
    return std::tuple{V(k * r), r.norm(), normalized(r)};
  });
  const Eigen::Vector3d v(1, 2, 2);
  const auto [product, length, unit] = f(v);
  static_assert(std::same_as<decltype(product), const Array<double>>);
  EXPECT_TRUE(Eigen::Vector3d(product).isApprox(v * 9));
  EXPECT_NEAR(length.item(), 3, 1e-12);
  EXPECT_TRUE(Eigen::Vector3d(unit).isApprox(v / 3));
}

TEST(EigenCalls, OfRankThreeDoNotBecomeMatrices) {
  const auto f = jit([](auto x) { return reshape(x, {2, 2, 2}); });
  const std::string message = message_of<ShapeError>([&] {
    const Eigen::MatrixXf m = f(sample(2, 4));
    EXPECT_GT(m.size(), 0);
  });
  EXPECT_EQ(message, "eigen: a matrix is made from an array of rank 2, got f32[2,2,2]");
}

TEST(EigenCalls, CaptureMatricesAsConstants) {
  const Eigen::MatrixXf k = sample(3, 3);
  const auto f = jit([k = Array<float>::from(k)](auto x) { return matmul(k, x); });
  const Eigen::VectorXf v = sample(3, 1);
  const Eigen::VectorXf got = f(v);
  EXPECT_TRUE(got.isApprox(k.lazyProduct(v)));
}

TEST(EigenCalls, ReadSegmentsOfVectorsWithoutCopies) {
  const auto f = jit([](auto x) { return x * 2; });
  Eigen::VectorXf v = sample(6, 1);
  const Eigen::MatrixXf m = sample(4, 5);
  const auto expect = [&](const auto& part) {
    const Eigen::VectorXf got = f(part);
    Eigen::VectorXf want(part.size());
    for (Eigen::Index i = 0; i < part.size(); ++i) want(i) = 2 * part(i);
    EXPECT_EQ(got, want);
  };
  expect(v.segment(1, 3));
  expect(v.segment<2>(3));
  expect(v.head(2));
  expect(v.head<2>());
  expect(v.tail(4));
  expect(v(Eigen::seq(0, 2)));
  expect(m.row(1).segment(1, 3));
  expect(m.col(2).tail(2));
  expect(std::as_const(v).head(3));
  EXPECT_TRUE(array_equal(Array<float>::from(v.segment(1, 2)), Array<float>{v(1), v(2)}));
  EXPECT_TRUE(normalized(v.head(3)).isApprox(v.head(3).normalized()));
}

TEST(EigenCalls, EvaluateWhatIndexSequencesChoose) {
  const auto f = jit([](auto x) { return x * 2; });
  const Eigen::MatrixXf m = sample(5, 4);
  Eigen::MatrixXf got = f(m(Eigen::seq(0, 3, 2), Eigen::seq(0, 2)));
  EXPECT_EQ(got, Eigen::MatrixXf(2 * m(Eigen::seq(0, 3, 2), Eigen::seq(0, 2))));
  got = f(m(std::vector<int>{3, 0, 1}, Eigen::all));
  EXPECT_EQ(got, Eigen::MatrixXf(2 * m(std::vector<int>{3, 0, 1}, Eigen::all)));
  const Eigen::VectorXf v = m.col(1);
  const Eigen::VectorXf some = f(v(Eigen::seq(0, 4, 2)));
  EXPECT_EQ(some, Eigen::VectorXf(2 * v(Eigen::seq(0, 4, 2))));
}

struct Positions : Eigen::VectorXf {
  using Eigen::VectorXf::VectorXf;
};

TEST(EigenCalls, TakeClassesThatDeriveFromMatrices) {
  Positions p(3);
  p << 1, 2, 3;
  const Eigen::VectorXf got = jit([](auto x) { return x * 2; })(p);
  EXPECT_EQ(got, Eigen::Vector3f(2, 4, 6));
}

TEST(EigenCalls, SegmentsOfTracersArePacked) {
  const auto f = jit([](auto x) {
    const Eigen::Matrix<Tracer<float>, 4, 1> v = x;
    return Tracer<float>(v.segment(1, 2)) + Tracer<float>(v(Eigen::seq(0, 2, 2)));
  });
  EXPECT_TRUE(array_equal(f(Array<float>{1, 2, 3, 4}), Array<float>{3, 6}));
}

TEST(EigenCalls, ErrorsInsideEigenNameALineOfTheProgram) {
  const auto f = jit([](auto x) {
    const Eigen::Matrix<Tracer<float>, 3, 1> v = x;
    return Tracer<float>(v.normalized());
  });
  const std::string message = message_of<ConcretizationError>([&] { f(Eigen::Vector3f(1, 2, 2)); });
  EXPECT_NE(message.find("(calls_test.cpp:"), std::string::npos) << message;
  EXPECT_EQ(message.find("Dot.h"), std::string::npos) << message;
}

}  // namespace
}  // namespace calque::test
