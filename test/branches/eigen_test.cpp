// Eigen's algorithms and C++'s on tracers, as they are, along the path that the data takes.
#include "calque/eigen.h"

#include <algorithm>
#include <random>

#include "branches/branches.h"

namespace calque::test {
namespace {

using Vector3 = Vector<double, 3>;
using Matrix3 = Matrix<double, 3, 3>;

TEST(EigenOfBranches, Normalizes) {
  const auto f = jit([](const Vector3& v) -> Vector3 { return v.normalized(); }, following());
  for (const Eigen::Vector3d& v : {Eigen::Vector3d(1, 2, 2), Eigen::Vector3d(0, 0, 0), Eigen::Vector3d(0, 3, 4)}) {
    EXPECT_LT((Eigen::Vector3d(f(v)) - v.normalized()).norm(), 1e-15);
  }
}

TEST(EigenOfBranches, Solves) {
  const auto f = jit([](const Matrix3& a, const Vector3& b) -> Vector3 { return a.ldlt().solve(b); }, following());
  const auto g =
      jit([](const Matrix3& a, const Vector3& b) -> Vector3 { return a.partialPivLu().solve(b); }, following());
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 20; ++i) {
    Eigen::Matrix3d a;
    Eigen::Vector3d b;
    for (double& v : a.reshaped()) v = normal(random);
    for (double& v : b.reshaped()) v = normal(random);
    EXPECT_LT((Eigen::Vector3d(g(a, b)) - a.partialPivLu().solve(b)).norm(), 1e-9) << i;
    const Eigen::Matrix3d s = a * a.transpose() + Eigen::Matrix3d::Identity();
    EXPECT_LT((Eigen::Vector3d(f(s, b)) - s.ldlt().solve(b)).norm(), 1e-9) << i;
  }
}

TEST(EigenOfBranches, MakesQuaternions) {
  const auto f = jit(
      [](const Matrix3& r) -> Vector<double, 4> { return Eigen::Quaternion<Tracer<double>>(r).coeffs(); }, following());
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 30; ++i) {
    const Eigen::Quaterniond q =
        Eigen::Quaterniond(normal(random), normal(random), normal(random), normal(random)).normalized();
    const Eigen::Matrix3d r = q.toRotationMatrix();
    EXPECT_LT((Eigen::Vector4d(f(r)) - Eigen::Quaterniond(r).coeffs()).norm(), 1e-12) << i;
  }
}

TEST(CppOfBranches, Sorts) {
  const auto f = jit(
      [](auto x) {
        std::vector<Tracer<double>> a;
        for (const auto& v : x) a.push_back(v);
        std::sort(a.begin(), a.end());
        return stack(a, 0);
      },
      following({.traces = 16}));
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    std::vector<double> a(6);
    for (double& v : a) v = static_cast<double>(random() % 8);
    const D x = D::from(a);
    std::sort(a.begin(), a.end());
    ASSERT_TRUE(array_equal(f(x), D::from(a))) << x;
  }
}

}  // namespace
}  // namespace calque::test
