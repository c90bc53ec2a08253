// Structs over a matrix type, with containers of it as members; results that own their elements.
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "calque/eigen.h"

namespace calque {
namespace {

using V3 = Eigen::Vector3d;
using TV3 = Eigen::Matrix<Tracer<double>, 3, 1>;

template <class A>
struct Pose {
  std::optional<A> p;
  A q;
};
template <class A>
struct Scene {
  std::optional<Pose<A>> pose;
  std::vector<std::optional<A>> points;
  std::array<A, 2> ends;
  std::pair<A, std::optional<A>> pair;
  std::map<std::string, A> named;
  std::optional<std::vector<A>> list;
  std::optional<std::array<A, 2>> corners;
};

V3 v(double x) { return V3(x, x + 1, x + 2); }

TEST(EigenMembers, MayBeOptional) {
  const auto f = jit([](const auto& pose) {
    auto next = pose;
    if (next.p) next.p = *next.p * 2.0;
    next.q = next.q + 1.0;
    return next;
  });
  const auto without = f(Pose<V3>{std::nullopt, v(1)});
  EXPECT_FALSE(without.p.has_value());
  EXPECT_EQ(V3(without.q), v(2));
  const auto with = f(Pose<V3>{v(3), v(1)});
  EXPECT_EQ(V3(with.p.value()), v(3) * 2);
  EXPECT_EQ(V3(with.q), v(2));
}

TEST(EigenMembers, HaveGradientsWhereTheyAreThere) {
  const auto g = grad([](const auto& pose) {
    auto energy = sum(pose.q * pose.q);
    if (pose.p) energy += 3.0 * sum(*pose.p);
    return energy;
  });
  const auto with = g(Pose<V3>{v(3), v(1)});
  EXPECT_EQ(V3(with.p.value()), V3(3, 3, 3));
  EXPECT_EQ(V3(with.q), v(1) * 2);
  EXPECT_FALSE(g(Pose<V3>{std::nullopt, v(1)}).p.has_value());
}

TEST(EigenMembers, MayBeContainersAndNestedStructs) {
  const Scene<V3> scene{Pose<V3>{v(1), v(2)}, {v(3), std::nullopt},  {v(4), v(5)}, {v(6), std::nullopt},
                        {{"a", v(7)}},        std::vector<V3>{v(8)}, std::nullopt};
  const auto same = jit([](const auto& s) { return s; })(scene);
  EXPECT_EQ(V3(same.pose.value().p.value()), v(1));
  EXPECT_EQ(V3(same.points[0].value()), v(3));
  EXPECT_FALSE(same.points[1].has_value());
  EXPECT_EQ(V3(same.ends[1]), v(5));
  EXPECT_EQ(V3(same.pair.first), v(6));
  EXPECT_FALSE(same.pair.second.has_value());
  EXPECT_EQ(V3(same.named.at("a")), v(7));
  EXPECT_EQ(V3(same.list.value()[0]), v(8));
  EXPECT_FALSE(same.corners.has_value());
}

TEST(EigenResults, MayBeEvaluatedOrConstant) {
  const V3 x = v(1);
  EXPECT_EQ(V3(jit([](auto a) {
              TV3 u = a;
              return (u * 2.0).eval();
            })(x)),
            x * 2);
  const auto constants =
      jit([](auto a) { return std::tuple{a, V3::Ones(), 2.0 * V3::Constant(3.0), Eigen::Matrix2d::Identity()}; })(x);
  EXPECT_EQ(V3(std::get<1>(constants)), V3::Ones());
  EXPECT_EQ(V3(std::get<2>(constants)), V3::Constant(6.0));
  EXPECT_EQ(Eigen::Matrix2d(std::get<3>(constants)), Eigen::Matrix2d::Identity());
}

// They are evaluated when the function is traced: random numbers are the same in each call.
TEST(EigenResults, MayBeRandomOrEvenlySpaced) {
  const auto f = jit([](auto a) {
    return std::tuple{a, V3::Random(), Eigen::VectorXf::LinSpaced(5, 0.0f, 2.0f), 2 * Eigen::Vector4i::LinSpaced(3, 6)};
  });
  const auto first = f(1.0), second = f(2.0);
  EXPECT_EQ(V3(std::get<1>(first)), V3(std::get<1>(second)));
  EXPECT_LE(V3(std::get<1>(first)).cwiseAbs().maxCoeff(), 1.0);
  EXPECT_EQ(Eigen::VectorXf(std::get<2>(first)), Eigen::VectorXf::LinSpaced(5, 0.0f, 2.0f));
  EXPECT_EQ(Eigen::Vector4i(std::get<3>(first)), Eigen::Vector4i(6, 8, 10, 12));
}

// Which types refer to other objects.
template <class E>
constexpr bool borrows(const E&) {
  return detail::holds_borrowed<E>();
}
TEST(EigenResults, AreToldFromExpressionsThatReferToOthers) {
  V3 u = v(1);
  Eigen::Matrix3d m = Eigen::Matrix3d::Identity();
  double numbers[3] = {};
  EXPECT_FALSE(borrows(u));
  EXPECT_FALSE(borrows(Eigen::ArrayXd(3)));
  EXPECT_FALSE(borrows(V3::Zero()));
  EXPECT_FALSE(borrows(-V3::Ones()));
  EXPECT_FALSE(borrows(V3::Ones() + 2.0 * V3::Ones()));
  EXPECT_FALSE(borrows(V3::Random()));
  EXPECT_FALSE(borrows(1.0 + Eigen::ArrayXd::LinSpaced(4, 0.0, 1.0)));
  EXPECT_TRUE(borrows(V3::NullaryExpr([&](Eigen::Index i) { return numbers[i]; })));
  EXPECT_TRUE(borrows(u * 2.0));
  EXPECT_TRUE(borrows(u + V3::Ones()));
  EXPECT_TRUE(borrows(-u));
  EXPECT_TRUE(borrows(m * u));
  EXPECT_TRUE(borrows(m.transpose()));
  EXPECT_TRUE(borrows(m.col(0)));
  EXPECT_TRUE(borrows(u.segment<2>(0)));
  EXPECT_TRUE(borrows(u.array()));
  EXPECT_TRUE(borrows(u.asDiagonal() * m));
  EXPECT_TRUE(borrows(Eigen::Map<V3>(numbers)));
  EXPECT_TRUE(borrows(Eigen::Ref<V3>(u)));
}

}  // namespace
}  // namespace calque
