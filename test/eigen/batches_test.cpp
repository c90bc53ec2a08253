// Code for one small matrix, written with Eigen's types, becomes vector code for a batch of them.
#include <regex>
#include <sstream>

#include <gtest/gtest.h>

#include "calque/calque.h"
#include "calque/eigen.h"

namespace calque::test {
namespace {

namespace cq = calque;

using D = cq::Tracer<double>;
using Vector3 = Eigen::Matrix<D, 3, 1>;

/// v rotated about the axis r by the angle |r| (Rodrigues' formula).
const auto kRotate = [](auto r, auto v) {
  const Vector3 axis = r, point = v;
  const D angle = sqrt(axis.squaredNorm() + 1e-12);
  const Vector3 unit = axis / angle;
  const D c = 1.0 / (1.0 + angle * angle), s = angle * c;  // of a rational rotation, without trigonometry
  return Vector3(c * point + s * unit.cross(point) + ((1.0 - c) * unit.dot(point)) * unit);
};

template <class T>
std::string text_of(const T& listing) {
  std::ostringstream out;
  out << listing;
  return out.str();
}

TEST(EigenBatches, OfAScalarLambdaAreVectorCode) {
  const auto lowered = cq::jit(cq::vmap(kRotate)).lower(cq::spec<double>({1000, 3}), cq::spec<double>({1000, 3}));
  const std::string plan = text_of(lowered.plan()), assembly = text_of(lowered.assembly());
  EXPECT_NE(plan.find("parallel 1000 vectorize"), std::string::npos) << plan;
  // Packed products and roots of doubles, for any register width.
  EXPECT_TRUE(std::regex_search(assembly, std::regex("v?mulpd|vfn?m(add|sub)[0-9]+pd"))) << assembly;
  EXPECT_TRUE(std::regex_search(assembly, std::regex("v?sqrtpd"))) << assembly;
}

TEST(EigenBatches, GiveWhatALoopGives) {
  const auto r = cq::Array<double>::linspace(-1, 2, 21).reshape({7, 3});
  const auto v = cq::Array<double>::linspace(3, -1, 21).reshape({7, 3});
  const cq::Array<double> all = cq::vmap(kRotate)(r, v);
  const auto one = cq::jit(kRotate);
  for (int64_t i = 0; i < 7; ++i) {
    EXPECT_TRUE(cq::allclose(all.at(i), one(r.at(i), v.at(i)), 1e-14, 1e-14)) << i;
  }
}

TEST(EigenBatches, OfJacobiansAreSparseAndAgreeWithForwardMode) {
  const auto r = cq::Array<double>::linspace(-1, 2, 21).reshape({7, 3});
  const auto v = cq::Array<double>::linspace(3, -1, 21).reshape({7, 3});
  const cq::Array<double> j = cq::vmap(cq::jacfwd(kRotate))(r, v);
  ASSERT_EQ(j.shape(), (cq::Shape{7, 3, 3}));
  for (int64_t k = 0; k < 3; ++k) {
    auto dr = cq::Array<double>::eye(3).at(k);
    const auto column = cq::vmap([dr, v](auto a, auto b) {
      auto [y, dy] = cq::jvp(kRotate, std::tuple{a, b}, std::tuple{dr, 0.0 * dr});
      return dy;
    })(r, v);
    EXPECT_TRUE(cq::allclose(j.at(cq::all, cq::all, k), column, 1e-12, 1e-12)) << k;
  }
}

}  // namespace
}  // namespace calque::test
