// Structs that are templates over their scalar in containers, control flow and nested functions, and messages about
// their shapes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "native/states.h"

namespace calque {
namespace {

using namespace test;
using testing::HasSubstr;
using V3 = Eigen::Vector3d;

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
  EXPECT_THAT(text, HasSubstr("struct_control_test.cpp:"));
}

TEST(NativeStructs, AMatrixEntryOfAnotherRankIsAnError) {
  using M3 = Matrix<double, 3, 3>;
  const auto f = jit([](const M3& a, auto x) { return (a * x).eval(); });
  const std::string text = message_of([&] { f(Eigen::Matrix3d::Identity(), V3(1, 2, 3)); });
  EXPECT_THAT(text, HasSubstr("must be scalars, got f64[3]"));
  EXPECT_THAT(text, HasSubstr("cq::Vector"));
  EXPECT_THAT(text, HasSubstr("struct_control_test.cpp:"));
}

TEST(NativeStructs, VmapNeedsAnAxisInEachMember) {
  const auto f = vmap([](const auto& s) { return s.m; });
  EXPECT_THAT(message_of([&] { f(state()); }), HasSubstr("argument 0.m is f64[] and has no axis 0"));
  const auto members = vmap([](const auto& s) { return s.p(0); }, {.in_axes = {{0, none, none}}});
  EXPECT_THAT(message_of([&] { members(state()); }), HasSubstr("a vector is made from an array of rank 1, got f64[]"));
}

}  // namespace
}  // namespace calque
