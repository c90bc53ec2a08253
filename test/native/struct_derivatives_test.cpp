// Derivatives by structs that are templates over their scalar.
#include <gtest/gtest.h>

#include "native/states.h"

namespace calque {
namespace {

using namespace test;
using V3 = Eigen::Vector3d;

TEST(NativeStructs, GradientsAreStates) {
  const auto energy = [](const auto& s) { return 0.5 * s.m * s.v.dot(s.v) + s.p(2); };
  const State<double> g = grad(energy)(state());
  EXPECT_EQ(g.p, V3(0, 0, 1));
  EXPECT_EQ(g.v, V3(2, 4, 6));
  EXPECT_EQ(g.m, 7);
  const auto [value, same] = value_and_grad(energy)(state());
  EXPECT_EQ(value.item(), 15);
  EXPECT_EQ(same.v, g.v);
}

TEST(NativeStructs, ForwardAndReverseDerivatives) {
  const auto step = [](const auto& s, auto dt) {
    auto r = s;
    r.p += dt * s.v;
    return r;
  };
  const auto [y, dy] = jvp(step, std::tuple{state(), 0.5}, std::tuple{state(), 1.0});
  EXPECT_EQ(y.p, V3(0.5, 1, 2.5));
  EXPECT_EQ(dy.p, V3(1.5, 3, 5.5));
  const auto [value, pull] = vjp(step, state(), 0.5);
  const auto [ds, dt] = pull(value);
  EXPECT_EQ(ds.v, V3(V3(1, 2, 3) + 0.5 * V3(0.5, 1, 2.5)));
  EXPECT_EQ(dt.item(), V3(0.5, 1, 2.5).dot(V3(1, 2, 3)));
  const auto [same, push] = linearize(step, state(), 0.5);
  EXPECT_EQ(push(state(), 1.0).p, dy.p);
}

TEST(NativeStructs, VectorsOfNumbersHaveDerivativesToo) {
  const auto f = [](const auto& p) {
    auto sum = p.gains[0] * p.s.m;
    for (const auto& g : p.gains) sum = sum + g * g;
    return sum;
  };
  const Pose<double> g = grad(f)(pose());
  EXPECT_EQ(g.gains, (std::vector<double>{3, 0.5, 8}));
  const auto [value, pull] = vjp(f, pose());
  EXPECT_EQ(std::get<0>(pull(1.0)).gains, g.gains);
  const Params<double> p{3, {1, 2}};
  const auto loss = [](const auto& q) { return q.k * q.more[0] * q.more[1]; };
  const Params<Array<double>> arrays = grad(loss)(p);
  EXPECT_EQ(arrays.more[1].item(), 3);
}

}  // namespace
}  // namespace calque
