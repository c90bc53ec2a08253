// Structs that are templates over their scalar, as arguments, results, carries and gradients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "native/states.h"

namespace calque {
namespace {

using namespace test;
using testing::HasSubstr;
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

TEST(NativeStructs, NestedInContainers) {
  Fleet<double> fleet{{state(), state()}, {{"a", 1}, {"b", 2}}, Eigen::VectorXd{{5.0, 6.0}}, {3, {4, 5}}};
  const auto advance = jit([](const auto& f) {
    auto r = f;
    r.all[1].p = f.all[0].v * f.named.at("b");
    if (f.last) r.last = (*f.last * 2.0).eval();
    std::get<1>(r.t) = std::get<1>(f.t) * std::get<0>(f.t);
    return r;
  });
  const Fleet<double> r = advance(fleet);
  ASSERT_EQ(r.all.size(), 2u);
  EXPECT_EQ(r.all[1].p, V3(2, 4, 6));
  EXPECT_EQ(r.named.at("a"), 1);
  EXPECT_EQ(r.last.value(), Eigen::VectorXd(Eigen::Vector2d(10, 12)));
  EXPECT_EQ(std::get<1>(r.t), Eigen::Vector2d(12, 15));
  fleet.last.reset();
  EXPECT_FALSE(advance(fleet).last.has_value());
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

TEST(NativeStructs, CarriesOfLoops) {
  const auto f = jit([](const auto& s) {
    auto u = fori_loop(
        0, 3,
        [](auto, auto t) {
          t.p += t.v * 0.5;
          return t;
        },
        s);
    return cond(
        u.m > 1.0, [](auto a) { return a; },
        [](auto a) {
          a.m = a.m * 2.0;
          return a;
        },
        u);
  });
  State<double> s = state();
  EXPECT_EQ(f(s).p, V3(1.5, 3, 5.5));
  EXPECT_EQ(f(s).m, 2);
  s.m = 0.5;
  EXPECT_EQ(f(s).m, 1);
}

TEST(NativeStructs, AreInlinedInOtherFunctions) {
  const auto step = jit([](const auto& s, auto dt) {
    auto r = s;
    r.p += dt * s.v;
    return r;
  });
  const auto twice = jit([step](const auto& s) { return step(step(s, 0.5), 0.5); });
  const State<double> r = twice(state());
  EXPECT_EQ(r.p, V3(1, 2, 4));
}

template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const ShapeError& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(NativeStructs, ANumberOfAnotherRankIsAnError) {
  const auto f = jit([](const auto& s, auto x) {
    auto r = s;
    r.m = s.m * x;
    return r;
  });
  const std::string text = message_of([&] { f(state(), Array<double>{1, 2}); });
  EXPECT_THAT(text, HasSubstr("the result.m is a number"));
  EXPECT_THAT(text, HasSubstr("f64[2]"));
  EXPECT_THAT(text, HasSubstr("structs_test.cpp:"));
}

TEST(NativeStructs, AMatrixEntryOfAnotherRankIsAnError) {
  using M3 = Matrix<double, 3, 3>;
  const auto f = jit([](const M3& a, auto x) { return (a * x).eval(); });
  const std::string text = message_of([&] { f(Eigen::Matrix3d::Identity(), V3(1, 2, 3)); });
  EXPECT_THAT(text, HasSubstr("must be scalars, got f64[3]"));
  EXPECT_THAT(text, HasSubstr("cq::Vector"));
  EXPECT_THAT(text, HasSubstr("structs_test.cpp:"));
}

TEST(NativeStructs, VmapNeedsAnAxisInEachMember) {
  const auto f = vmap([](const auto& s) { return s.m; });
  EXPECT_THAT(message_of([&] { f(state()); }), HasSubstr("argument 0.m is f64[] and has no axis 0"));
  const auto members = vmap([](const auto& s) { return s.p(0); }, {.in_axes = {{0, none, none}}});
  EXPECT_THAT(message_of([&] { members(state()); }), HasSubstr("a vector is made from an array of rank 1, got f64[]"));
}

}  // namespace
}  // namespace calque
