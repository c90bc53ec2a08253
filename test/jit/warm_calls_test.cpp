// A call of the same signature as the call before compares its arguments with that signature in place. Every kind of
// argument, changed in every way, must reach the code for what it is.
#include <Eigen/Core>
#include <gtest/gtest.h>

#include "calque/calque.h"
#include "calque/eigen.h"

namespace calque {
namespace {

using F = Array<float>;
using D = Array<double>;

/// Calls twice, so that the second call is warm, and checks that it was.
template <class Function, class... A>
auto warm(const Function& f, const A&... arguments) {
  f(arguments...);
  const uint64_t before = f.cache_info().hits;
  auto result = f(arguments...);
  EXPECT_EQ(f.cache_info().hits, before + 1);
  return result;
}

TEST(WarmCalls, ReadTheArgumentsOfTheCall) {
  const auto f = jit([](auto x, auto k) { return x * k; });
  EXPECT_TRUE(array_equal(warm(f, F{1, 2}, 2.0f), F{2, 4}));
  EXPECT_TRUE(array_equal(f(F{3, 4}, 10.0f), F{30, 40}));
  EXPECT_EQ(f.cache_info().misses, 1u);
}

TEST(WarmCalls, OtherExtentsRanksAndTypesAreOtherSignatures) {
  const auto f = jit([](auto x) { return x + x; });
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(array_equal(warm(f, F{1, 2}), F{2, 4}));
    EXPECT_TRUE(array_equal(warm(f, F{1, 2, 3}), F{2, 4, 6}));
    EXPECT_TRUE(array_equal(warm(f, F{{1, 2}}), F{{2, 4}}));
    EXPECT_TRUE(array_equal(warm(f, D{1, 2}), D{2, 4}));
    EXPECT_TRUE(array_equal(warm(f, F::zeros({0})), F::zeros({0})));
    EXPECT_TRUE(array_equal(warm(f, F(3.0f)), F(6.0f)));
    EXPECT_EQ(warm(f, 2.0f).item(), 4.0f);
  }
  EXPECT_EQ(f.cache_info().misses, 6u);  // a number is an array of rank 0
}

TEST(WarmCalls, ScalarsOfEveryType) {
  const auto f = jit([](auto x) { return x + x; });
  EXPECT_EQ(warm(f, int8_t{3}).item(), 6);
  EXPECT_EQ(warm(f, uint64_t{1} << 62).item(), uint64_t{1} << 63);
  EXPECT_EQ(warm(f, 5LL).item(), 10);
  EXPECT_EQ(warm(f, 5UL).item(), 10u);
  EXPECT_EQ(warm(f, 5L).item(), 10);
  EXPECT_EQ(warm(f, float16(1.5f)).item(), float16(3.0f));
  EXPECT_EQ(warm(f, bfloat16(1.5f)).item(), bfloat16(3.0f));
  EXPECT_EQ(warm(f, -0.25).item(), -0.5);
  const auto negated = jit([](auto x) { return !x; });
  EXPECT_TRUE(warm(negated, false).item());
  EXPECT_FALSE(warm(negated, true).item());
}

enum class Mode { add, multiply };
template <class A>
struct Step {
  A x;
  int times;
  Mode mode;
  double factor;
  std::string name;
  bool negate;
  std::optional<int> extra;
};

TEST(WarmCalls, EveryStaticMemberIsCompared) {
  const auto f = jit([](const auto& s) {
    auto y = s.x;
    for (int i = 0; i < s.times; ++i) y = s.mode == Mode::add ? y + s.factor : y * s.factor;
    if (s.name == "halved") y = y / 2.0;
    if (s.extra) y = y + double(*s.extra);
    return s.negate ? -y : y;
  });
  const Step<D> first{D{1, 2}, 2, Mode::multiply, 3.0, "plain", false, std::nullopt};
  EXPECT_TRUE(array_equal(warm(f, first), D{9, 18}));
  Step<D> s = first;
  s.times = 1;
  EXPECT_TRUE(array_equal(warm(f, s), D{3, 6}));
  s.mode = Mode::add;
  EXPECT_TRUE(array_equal(warm(f, s), D{4, 5}));
  s.factor = 5;
  EXPECT_TRUE(array_equal(warm(f, s), D{6, 7}));
  s.name = "halved";
  EXPECT_TRUE(array_equal(warm(f, s), D{3, 3.5}));
  s.negate = true;
  EXPECT_TRUE(array_equal(warm(f, s), D{-3, -3.5}));
  s.extra = 1;
  EXPECT_TRUE(array_equal(warm(f, s), D{-4, -4.5}));
  s.extra = 2;
  EXPECT_TRUE(array_equal(warm(f, s), D{-5, -5.5}));
  EXPECT_TRUE(array_equal(warm(f, first), D{9, 18}));
  EXPECT_EQ(f.cache_info().misses, 8u);
}

TEST(WarmCalls, ContainersOfOtherSizes) {
  const auto f = jit([](const auto& xs) {
    auto sum = xs.at(0);
    for (size_t i = 1; i < xs.size(); ++i) sum = sum + xs[i];
    return sum;
  });
  const std::vector<F> one{F{1}}, three{F{1}, F{2}, F{3}};
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(array_equal(warm(f, three), F{6}));
    EXPECT_TRUE(array_equal(warm(f, one), F{1}));
    // The words of many more leaves than the signature has.
    EXPECT_TRUE(array_equal(f(std::vector<F>(100, F{1})), F{100}));
  }
  EXPECT_EQ(f.cache_info().misses, 3u);
}

TEST(WarmCalls, MapsOfOtherKeys) {
  const auto f = jit(
      [](const auto& parts) { return parts.begin()->first == "a" ? parts.begin()->second : -parts.begin()->second; });
  using Map = std::map<std::string, F>;
  EXPECT_TRUE(array_equal(warm(f, Map{{"a", F{1}}}), F{1}));
  EXPECT_TRUE(array_equal(warm(f, Map{{"b", F{1}}}), F{-1}));
  EXPECT_TRUE(array_equal(warm(f, Map{{"a", F{2}}}), F{2}));
}

TEST(WarmCalls, MatricesOfOtherLayouts) {
  const auto f = jit([](auto x) { return x * 2.0f; });
  Eigen::MatrixXf a(2, 3);
  a << 1, 2, 3, 4, 5, 6;
  const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = a;
  const Eigen::MatrixXf doubled = 2 * a;
  Eigen::MatrixXf large = Eigen::MatrixXf::Zero(5, 7);
  large.block(1, 2, 2, 3) = a;
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(Eigen::MatrixXf(warm(f, a)), doubled);
    EXPECT_EQ(Eigen::MatrixXf(warm(f, rows)), doubled);
    EXPECT_EQ(Eigen::MatrixXf(warm(f, large.block(1, 2, 2, 3))), doubled);
    EXPECT_EQ(Eigen::MatrixXf(f(a + a)), 2 * doubled);
    EXPECT_EQ(Eigen::MatrixXf(warm(f, Eigen::MatrixXf(a.leftCols(2)))), doubled.leftCols(2));
  }
}

TEST(WarmCalls, ArgumentsAndCapturedArraysAsResults) {
  const F captured{7, 8};
  const auto f = jit([captured](auto x) { return std::tuple{x, x + 1.0f, captured}; });
  const auto [same, next, constant] = warm(f, F{1, 2});
  EXPECT_TRUE(array_equal(same, F{1, 2}));
  EXPECT_TRUE(array_equal(next, F{2, 3}));
  EXPECT_TRUE(array_equal(constant, captured));
}

TEST(WarmCalls, LiftedConstantsAreInputs) {
  const F weights = F::full({100}, 3.0f);
  const auto f = jit([weights](auto x) { return x * weights; });
  EXPECT_TRUE(array_equal(warm(f, F::full({100}, 2.0f)), F::full({100}, 6.0f)));
}

TEST(WarmCalls, EmptyAndDonatedArraysAreErrors) {
  const auto f = jit([](auto x) { return x + 1.0f; });
  warm(f, F{1, 2});
  try {
    f(F());
    FAIL() << "an empty array is not refused";
  } catch (const ShapeError& e) {
    EXPECT_NE(std::string(e.what()).find("argument 0 is an empty array"), std::string::npos) << e.what();
  }
  const auto consume = jit([](auto x) { return x * 2.0f; }, {.donate = {0}});
  F x = F{1, 2};
  EXPECT_TRUE(array_equal(consume(x), F{2, 4}));
  EXPECT_THROW(f(x), DeviceError);
  F y = F{3, 4};
  EXPECT_TRUE(array_equal(consume(y), F{6, 8}));
  EXPECT_THROW(consume(y), DeviceError);
}

TEST(WarmCalls, NestInHostFunctions) {
  const auto inner = jit([](auto x) { return x + 1.0f; });
  const auto outer = jit([inner](auto x) {
    return host_call([inner](const F& a) { return inner(inner(a)); }, spec<float>({2}), x) * 2.0f;
  });
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(array_equal(outer(F{1, 2}), F{6, 8}));
}

TEST(WarmCalls, DeeperThanTheThreadsHazardPointers) {
  const auto f = jit([](auto x) { return x + 1.0f; });
  std::function<F(const F&, int)> nest = [&](const F& x, int depth) -> F {
    if (depth == 0) return f(x);
    const auto level = jit([&nest, depth](auto y) {
      return host_call([&nest, depth](const F& a) { return nest(a, depth - 1); }, spec<float>({1}), y);
    });
    level(x);
    return level(x);
  };
  EXPECT_TRUE(array_equal(nest(F{1}, 10), F{2}));
}

TEST(WarmCalls, ClearingTheCacheResetsTheCounters) {
  const auto f = jit([n = 2.5f](auto x) { return x * n; });
  warm(f, F{1});
  f.clear_cache();
  EXPECT_EQ(f.cache_info().hits, 0u);
  warm(f, F{1});
  EXPECT_EQ(f.cache_info().hits, 1u);
  EXPECT_EQ(f.cache_info().misses, 1u);
}

}  // namespace
}  // namespace calque
