// Structs that are templates over their scalar, as arguments and results.
#include <gtest/gtest.h>

#include "native/states.h"

namespace calque {
namespace {

using namespace test;
using V3 = Eigen::Vector3d;

TEST(NativeStructs, StepFromStateToState) {
  const auto step = jit([](const auto& s, auto dt) {
    auto r = s;
    r.p += dt * s.v;
    r.m = s.m * 2.0;
    return r;
  });
  State<double> s = state();
  for (int i = 0; i < 3; ++i) s = step(s, 0.5);
  EXPECT_EQ(s.p, V3(1.5, 3, 5.5));
  EXPECT_EQ(s.v, V3(1, 2, 3));
  EXPECT_EQ(s.m, 16);
  EXPECT_EQ(step.cache_info().misses, 1u);
  EXPECT_EQ(step.cache_info().hits, 2u);
  const State<float> f = step(State<float>{{1, 1, 1}, {2, 2, 2}, 3}, 0.5f);
  EXPECT_EQ(f.p, Eigen::Vector3f(2, 2, 2));
}

TEST(NativeStructs, AStateHasOneLeafForEachMember) {
  const Graph graph = jit([](const auto& s) { return s.s.m; }).trace(pose());
  EXPECT_EQ(graph.inputs().size(), 8u);  // r, p, v, m, gains as one array, a, b, extra
}

TEST(NativeStructs, MembersOfEveryKind) {
  const auto turn = jit([](const auto& q) {
    auto r = q;
    r.r = q.r * 2.0;
    r.s.v = q.r.transpose() * (q.r * q.s.v);
    for (auto& g : r.gains) g = g + 1.0;
    r.ab[1] = q.ab[0] * q.ab[1];
    if (q.extra) r.extra = *q.extra * 2.0;
    return r;
  });
  const Pose<double> p = pose();
  const Pose<double> t = turn(p);
  EXPECT_EQ(t.r, p.r * 2.0);
  EXPECT_EQ(t.s.v, V3(p.r.transpose() * (p.r * p.s.v)));
  EXPECT_EQ(t.gains, (std::vector<double>{1.5, 1.25, 5}));
  EXPECT_EQ(t.ab[1], 56);
  EXPECT_EQ(t.extra, 18);
  Pose<double> without = p;
  without.extra.reset();
  without.gains = {1};
  const Pose<double> u = turn(without);
  EXPECT_FALSE(u.extra.has_value());
  EXPECT_EQ(u.gains, std::vector<double>{2});
  EXPECT_EQ(turn.cache_info().misses, 2u);
  without.gains.clear();
  EXPECT_TRUE(turn(without).gains.empty());
}

TEST(NativeStructs, StaticMembersAreSeenAndCompared) {
  const auto f = jit([](const auto& k) {
    auto r = k;
    for (int i = 0; i < k.depth; ++i) r.q = (r.q * k.plain).eval();
    return r;
  });
  Kept<double> k{{1, 2, 3}, 2, "name", {1, 2}, true, 3.0};
  EXPECT_EQ(f(k).q, V3(9, 18, 27));
  k.q = V3(2, 2, 2);
  EXPECT_EQ(f(k).q, V3(18, 18, 18));
  EXPECT_EQ(f.cache_info().misses, 1u);
  k.plain = 2;
  const Kept<double> r = f(k);
  EXPECT_EQ(r.q, V3(8, 8, 8));
  EXPECT_EQ(r.name, "name");
  EXPECT_EQ(f.cache_info().misses, 2u);
}

TEST(NativeStructs, TypedParameters) {
  using S = State<Tracer<double>>;
  const auto f = jit([](const S& s) -> S { return {s.p + s.v, s.v, s.m}; });
  const State<double> r = f(state());
  EXPECT_EQ(r.p, V3(1, 2, 4));
}

}  // namespace
}  // namespace calque
