// The parts of a tree that belong to a wrapped function's signature, and those that a call may change.
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque {
namespace {

using F = Array<float>;
using D = Array<double>;

enum class Mode { add, multiply };
template <class A>
struct Configured {
  A value;
  Mode mode = Mode::add;
  std::string label;
};

TEST(TreeSignatures, VectorOfAnyLengthIsItsOwnSignature) {
  const auto total = jit([](const auto& xs) {
    auto sum = xs.at(0);
    for (size_t i = 1; i < xs.size(); ++i) sum += xs[i];
    return sum;
  });
  EXPECT_EQ(total(std::vector{F(1.0f), F(2.0f)}).item(), 3);
  EXPECT_EQ(total(std::vector{F(1.0f), F(2.0f), F(3.0f)}).item(), 6);
  EXPECT_EQ(total.cache_info().entries, 2u);
}

TEST(TreeSignatures, MapKeysArePartOfTheSignature) {
  const auto f = jit([](const auto& m) { return m.contains("bias") ? m.at("bias") : m.begin()->second * 2.0f; });
  EXPECT_EQ(f(std::map<std::string, F>{{"bias", F(3.0f)}}).item(), 3);
  EXPECT_EQ(f(std::map<std::string, F>{{"scale", F(3.0f)}}).item(), 6);
}

TEST(TreeSignatures, OptionalIsSeenAsPresentOrAbsent) {
  const auto f = jit([](auto x, const auto& bias) { return bias ? x + *bias : x; });
  EXPECT_EQ(f(F(1.0f), std::optional<F>(F(2.0f))).item(), 3);
  EXPECT_EQ(f(F(1.0f), std::optional<F>()).item(), 1);
}

TEST(TreeSignatures, ScalarArgumentIsNoPartOfTheSignature) {
  const auto f = jit([](auto x, auto k) { return x * k; });
  EXPECT_EQ(f(D(3.0), 2.0).item(), 6);
  EXPECT_EQ(f(D(3.0), 5.0).item(), 15);
  EXPECT_EQ(f.cache_info().entries, 1u);
}

TEST(TreeSignatures, StaticArgumentIsSeenAsAValue) {
  const auto power = jit([](auto x, int n) {
    auto y = x;
    for (int i = 1; i < n; ++i) y *= x;
    return y;
  });
  EXPECT_EQ(power(D(2.0), static_arg(3)).item(), 8);
  EXPECT_EQ(power(D(2.0), static_arg(5)).item(), 32);
  EXPECT_EQ(power(D(3.0), static_arg(3)).item(), 27);
  EXPECT_EQ(power.cache_info().entries, 2u);
}

TEST(TreeSignatures, StaticMembersChooseThePath) {
  const auto f = jit([](const auto& c, auto x) { return c.mode == Mode::add ? c.value + x : c.value * x; });
  EXPECT_EQ(f(Configured<D>{3.0, Mode::add, "a"}, 4.0).item(), 7);
  EXPECT_EQ(f(Configured<D>{3.0, Mode::multiply, "a"}, 4.0).item(), 12);
  EXPECT_EQ(f(Configured<D>{3.0, Mode::multiply, "b"}, 4.0).item(), 12);
  EXPECT_EQ(f.cache_info().misses, 3u);
}

TEST(TreeSignatures, StaticValuesOfEqualBytesDoNotRunTogether) {
  // "ab" + "c" against "a" + "bc": lengths are part of the signature.
  const auto f = jit([](const auto& words, auto x) { return x * static_cast<double>(words.first.size()); });
  EXPECT_EQ(f(std::pair{std::string("ab"), std::string("c")}, 1.0).item(), 2);
  EXPECT_EQ(f(std::pair{std::string("a"), std::string("bc")}, 1.0).item(), 1);
}

TEST(TreeSignatures, StaticContainersAreComparedByTheirParts) {
  struct Settings {
    std::map<std::string, std::vector<int>> lists;
    std::optional<double> scale;
    std::pair<bool, float> last;
  };
  const auto f =
      jit([](const auto& s, auto x) { return x * s.scale.value_or(1.0) + static_cast<double>(s.lists.size()); });
  const Settings a{{{"k", {1, 2}}}, 2.0, {true, 1.0f}};
  EXPECT_EQ(f(a, 3.0).item(), 7);
  EXPECT_EQ(f(a, 4.0).item(), 9);
  EXPECT_EQ(f.cache_info().misses, 1u);
  Settings b = a;
  b.lists["k"] = {1, 3};
  EXPECT_EQ(f(b, 3.0).item(), 7);
  b.scale.reset();
  EXPECT_EQ(f(b, 3.0).item(), 4);
  b.last.second = 2;
  EXPECT_EQ(f(b, 3.0).item(), 4);
  EXPECT_EQ(f.cache_info().misses, 4u);
}

TEST(TreeSignatures, SameLeavesInAnotherTreeAreAnotherSignature) {
  const auto f = jit([](const auto&... x) { return (x + ...); });
  const auto g = jit([](const auto& t) { return std::get<0>(t) + std::get<1>(t); });
  EXPECT_EQ(f(F(1.0f), F(2.0f)).item(), 3);
  EXPECT_EQ(g(std::tuple{F(1.0f), F(2.0f)}).item(), 3);
  EXPECT_EQ(g(std::pair{F(1.0f), F(2.0f)}).item(), 3);
  EXPECT_EQ(g.cache_info().entries, 2u);
}

}  // namespace
}  // namespace calque
