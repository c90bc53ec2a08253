// Collective operations among the examples of a named axis.
#include <complex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "collectives/thread_ranks.h"
#include "jit/messages.h"

namespace calque::test {
namespace {

using D = Array<double>;
using F = Array<float>;
using I = Array<int32_t>;
using Pairs = std::vector<std::pair<int64_t, int64_t>>;

TEST(NamedAxes, CombineTheExamples) {
  EXPECT_EQ(unlike(vmap([](auto x) { return psum(x, "i"); }, {.axis_name = "i"})(I{1, 2, 4}), (I{7, 7, 7})), "");
  EXPECT_EQ(
      unlike(vmap([](auto x) { return pmax(x, "i") - pmin(x, "i"); }, {.axis_name = "i"})(I{1, 2, 4}), (I{3, 3, 3})),
      "");
  EXPECT_EQ(unlike(vmap([](auto x) { return pmean(x, "i"); }, {.axis_name = "i"})(I{1, 2, 4, 5}), (D{3, 3, 3, 3})), "");
  EXPECT_EQ(
      unlike(vmap([](auto x) { return psum(x, "i"); }, {.axis_name = "i"})(D{{1, 2}, {3, 4}}), (D{{4, 6}, {4, 6}})),
      "");
  using C = Array<std::complex<float>>;
  EXPECT_EQ(
      unlike(vmap([](auto x) { return psum(x, "i"); }, {.axis_name = "i"})(C{{1, 2}, {3, -4}}), (C{{4, -2}, {4, -2}})),
      "");
  const Array<float16> h = cast<float16>(F{0.1f, 0.2f});
  EXPECT_EQ(unlike(vmap([](auto x) { return psum(x, "i"); }, {.out_axes = {none}, .axis_name = "i"})(h), sum(h)), "");
}

TEST(NamedAxes, ResultsAreTheSameForAllExamples) {
  EXPECT_EQ(unlike(vmap([](auto x) { return psum(x, "i"); }, {.out_axes = {none}, .axis_name = "i"})(D{1, 2}), D(3.0)),
            "");
  EXPECT_EQ(unlike(vmap([](auto x) { return all_gather(x, "i"); }, {.out_axes = {none}, .axis_name = "i"})(D{1, 2}),
                   (D{1, 2})),
            "");
}

TEST(NamedAxes, NanAndEmptyBatches) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(isnan(vmap([](auto x) { return pmax(x, "i"); }, {.axis_name = "i"})(D{1, nan, 2})).at(0).item());
  EXPECT_EQ(
      unlike(vmap([](auto x) { return psum(x, "i"); }, {.out_axes = {none}, .axis_name = "i"})(D::zeros({0})), D(0.0)),
      "");
  EXPECT_EQ(
      unlike(vmap([](auto x) { return x + psum(x, "i"); }, {.axis_name = "i"})(D::zeros({0, 2})), D::zeros({0, 2})),
      "");
  EXPECT_EQ(unlike(vmap([](auto x) { return x + axis_index("i") + axis_size("i"); }, {.axis_name = "i"})(I::zeros({1})),
                   I{1}),
            "");
}

TEST(NamedAxes, WhatDoesNotDependOnTheExampleTakesPartOncePerExample) {
  const auto f = [](auto x, auto c) { return x + psum(c, "i") + psum(2, "i"); };
  EXPECT_EQ(unlike(vmap(f, {.in_axes = {0, none}, .axis_name = "i"})(D{1, 2, 3}, D(10.0)), (D{37, 38, 39})), "");
  EXPECT_EQ(unlike(vmap([](auto x) { return all_gather(1.5, "i") * x; }, {.axis_name = "i"})(D{1, 2}),
                   (D{{1.5, 1.5}, {3, 3}})),
            "");
  const D captured{1, 2};
  EXPECT_EQ(
      unlike(vmap([&](auto x) { return x + psum(captured, "i"); }, {.axis_name = "i"})(D{0, 1}), (D{{2, 4}, {3, 5}})),
      "");
}

TEST(NamedAxes, RowsAndPermutations) {
  EXPECT_EQ(unlike(vmap([](auto x) { return all_gather(x, "i"); }, {.axis_name = "i"})(I{1, 2}), (I{{1, 2}, {1, 2}})),
            "");
  EXPECT_EQ(unlike(vmap([](auto x) { return psum_scatter(x, "i"); }, {.axis_name = "i"})(I{{1, 2}, {3, 4}}), (I{4, 6})),
            "");
  const auto permuted = [](const I& x, const Pairs& pairs) {
    return vmap([&](auto e) { return ppermute(e, "i", pairs); }, {.axis_name = "i"})(x);
  };
  EXPECT_EQ(unlike(permuted(I{1, 2, 3, 4}, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}), (I{4, 1, 2, 3})), "");
  EXPECT_EQ(unlike(permuted(I{1, 2, 3, 4}, {{3, 0}, {0, 2}}), (I{4, 0, 1, 0})), "");
  EXPECT_EQ(unlike(permuted(I{1, 2, 3}, {}), (I{0, 0, 0})), "");
  EXPECT_EQ(unlike(permuted(I{7}, {{0, 0}}), I{7}), "");
}

TEST(NamedAxes, TreesAreCombinedLeafByLeaf) {
  const auto f = [](auto x) {
    const auto [sums, doubled] = psum(std::tuple{x, std::pair{x * 2.0, x}}, "i");
    return sums + doubled.first * 10.0;
  };
  EXPECT_EQ(unlike(vmap(f, {.axis_name = "i"})(D{1, 2}), (D{63, 63})), "");
}

TEST(NamedAxes, NestInEachOther) {
  const auto f = [](auto x) {
    return psum(x, "i") + 10 * psum(x, "j") + 100 * axis_index("i") + 1000 * axis_index("j");
  };
  const auto rows = vmap([&](auto row) { return vmap(f, {.axis_name = "j"})(row); }, {.axis_name = "i"});
  EXPECT_EQ(unlike(rows(I{{1, 2}, {3, 4}}), (I{{34, 1036}, {174, 1176}})), "");
  // The inner one of the same name hides the outer one.
  const auto hidden = vmap([](auto row) { return vmap([](auto x) { return psum(x, "i"); }, {.axis_name = "i"})(row); },
                           {.axis_name = "i"});
  EXPECT_EQ(unlike(hidden(I{{1, 2}, {3, 4}}), (I{{3, 3}, {7, 7}})), "");
}

TEST(NamedAxes, InLoopsAndBranches) {
  const auto loop = [](auto x) { return fori_loop(0, 3, [](auto, auto c) { return c + psum(c, "i"); }, x); };
  EXPECT_EQ(unlike(vmap(loop, {.axis_name = "i"})(I{1, 3, 2}), (I{127, 129, 128})), "");
  const auto until = [](auto x) {
    return while_loop([](auto c) { return psum(c, "i") < 100; }, [](auto c) { return c * 2; }, x);
  };
  EXPECT_EQ(unlike(vmap(until, {.axis_name = "i"})(I{1, 3, 2}), (I{32, 96, 64})), "");
  const auto branch = [](auto x, auto p) {
    return cond(p > 0, [](auto y) { return psum(y, "i"); }, [](auto y) { return y; }, x);
  };
  EXPECT_EQ(unlike(vmap(branch, {.in_axes = {0, none}, .axis_name = "i"})(I{1, 3, 2}, I(1)), (I{6, 6, 6})), "");
  // All examples take part where some use the result.
  EXPECT_EQ(unlike(vmap(branch, {.axis_name = "i"})(I{1, 3, 2}, I{1, 0, 1}), (I{6, 3, 6})), "");
}

TEST(NamedAxes, GradientsAreThoseOfTheWholeBatch) {
  const D x{1, 3, 2};
  // f_i = x_i sum_k x_k^2: the derivative of sum_i f_i by x_j is sum_k x_k^2 + 2 x_j sum_i x_i.
  const auto f = [](auto v) { return v * psum(v * v, "i"); };
  EXPECT_EQ(unlike(vmap(grad(f), {.axis_name = "i"})(x), (D{26, 50, 38})), "");
  const auto whole = [&](auto v) { return sum(vmap(f, {.axis_name = "i"})(v)); };
  EXPECT_EQ(unlike(grad(whole)(x), (D{26, 50, 38})), "");
  const auto largest = [](auto v) { return sum(vmap([](auto e) { return e * pmax(e, "i"); }, {.axis_name = "i"})(v)); };
  EXPECT_EQ(unlike(grad(largest)(x), (D{3, 9, 3})), "");
  EXPECT_EQ(unlike(grad(largest)(D{3, 3}), (D{6, 6})), "");  // ties share
  const Pairs next{{0, 1}, {1, 2}};
  const auto shifted = [&](auto v) {
    return sum(vmap([&](auto e) { return e * ppermute(e, "i", next); }, {.axis_name = "i"})(v));
  };
  EXPECT_EQ(unlike(grad(shifted)(x), (D{3, 3, 3})), "");  // x0 x1 + x1 x2
  const auto gathered = [](auto v) {
    return sum(vmap([](auto e) { return e * sum(square(all_gather(e, "i"))); }, {.axis_name = "i"})(v));
  };
  EXPECT_EQ(unlike(grad(gathered)(x), (D{26, 50, 38})), "");
  EXPECT_EQ(unlike(hessian(whole)(x), (D{{16, 8, 6}, {8, 24, 10}, {6, 10, 20}})), "");
}

/// The derivative of a function of one array to one number, by differences.
template <class Loss>
D differences(const Loss& loss, const D& x) {
  constexpr double kStep = 1e-6;
  D out = D::zeros(x.shape());
  for (int64_t i = 0; i < x.size(); ++i)
    out = out.set(i, (loss(D(x.set(i, x[i] + kStep))) - loss(D(x.set(i, x[i] - kStep)))) / (2 * kStep));
  return out;
}

/// An example that takes another branch takes part in what its neighbours combine, and in its derivative.
TEST(NamedAxes, GradientsWhereExamplesTakeDifferentBranches) {
  const auto scaled = [](auto x) {
    return cond(x > 1.5, [](auto y) { return y * psum(y, "i"); }, [](auto y) { return y; }, x);
  };
  const auto whole = [](const auto& f) {
    return [f](auto v) { return sum(vmap([&](auto e) { return f(e); }, {.axis_name = "i"})(v)); };
  };
  EXPECT_EQ(unlike(grad(whole(scaled))(D{1, 3, 2}), (D{6, 11, 11})), "");
  EXPECT_EQ(unlike(vmap(grad(scaled), {.axis_name = "i"})(D{1, 3, 2}), (D{6, 11, 11})), "");

  // Values that only one branch keeps for its derivative; a branch that no example takes; a loop in a branch.
  const auto three = [](auto x) {
    const auto loop = [](auto y) {
      return fori_loop(0, 2, [](auto, auto c) { return c * pmean(cos(c), "i"); }, sin(y));
    };
    return switch_(cast<int32_t>(floor(x)),
                   std::tuple{[](auto y) { return exp(-y) * sin(psum(sin(y) * exp(y), "i")); }, loop,
                              [](auto y) { return log(y) * pmax(sqrt(y), "i"); }},
                   x);
  };
  for (const D& x : {D{0.3, 1.7, 0.9, 1.2}, D{0.4, 2.5, 1.1}, D{2.5, 2.75}}) {
    const D want = differences(whole(three), x);
    EXPECT_TRUE(allclose(grad(whole(three))(x), want, 1e-7, 1e-7)) << x;
    EXPECT_TRUE(allclose(jit(grad(whole(three)))(x), want, 1e-7, 1e-7)) << x;
    EXPECT_TRUE(allclose(vmap(grad(three), {.axis_name = "i"})(x), want, 1e-7, 1e-7)) << x;
    const auto of_examples = [&](auto v) { return vmap(grad(three), {.axis_name = "i"})(v); };
    const D second = jacfwd(of_examples)(x);
    EXPECT_TRUE(allclose(second, transpose(second), 1e-10, 1e-10)) << x;
    EXPECT_TRUE(allclose(hessian(whole(three))(x), second, 1e-10, 1e-10)) << x;
  }
}

TEST(NamedAxes, GradientsOfCheckpoints) {
  const auto f = [](auto x) {
    const auto y = cond(psum(x, "i") > 0.0, [](auto c) { return c * pmean(sin(c), "i"); }, [](auto c) { return c; }, x);
    return sin(y) * psum(cos(y), "i");
  };
  const D x{1, 3, 2};
  const D want = vmap(grad(f), {.axis_name = "i"})(x);
  EXPECT_TRUE(allclose(vmap(grad(checkpoint(f)), {.axis_name = "i"})(x), want, 1e-14, 1e-14));
  const auto whole = [&](auto v) { return sum(vmap(checkpoint(f), {.axis_name = "i"})(v)); };
  EXPECT_TRUE(allclose(jit(grad(whole))(x), want, 1e-14, 1e-14));
}

TEST(NamedAxes, OrdinaryIfsFollowWhatIsCombined) {
  const auto f = [](auto x) {
    const auto total = psum(x, "i");
    if (total > 5.0) return x * total;
    return x + pmax(x, "i");
  };
  for (const branches which : {branches::trace, branches::all}) {
    const auto g = jit([&](auto v) { return vmap(f, {.axis_name = "i"})(v); }, {.branches = which});
    EXPECT_EQ(unlike(g(D{1, 3, 2}), (D{6, 18, 12})), "");
    EXPECT_EQ(unlike(g(D{1, 3, 0}), (D{4, 6, 3})), "");
  }
}

TEST(NamedAxes, CompiledFunctionsInside) {
  // The same compiled function under axes of one name and different extents.
  const auto f = jit([](auto x) { return psum(x, "i") * axis_size("i") + axis_index("i"); });
  const auto g =
      jit([&](auto a, auto b) { return std::pair{vmap(f, {.axis_name = "i"})(a), vmap(f, {.axis_name = "i"})(b)}; });
  const auto [three, two] = g(I{1, 3, 2}, I{1, 2});
  EXPECT_EQ(unlike(three, (I{18, 19, 20})), "");
  EXPECT_EQ(unlike(two, (I{6, 7})), "");
}

TEST(NamedAxes, Errors) {
  std::string line = line_below();
  std::string m = message_of<Error>([] { vmap([](auto x) { return psum(x, "k"); }, {.axis_name = "i"})(D{1}); });
  EXPECT_EQ(m, "psum: no axis \"k\" is mapped over here, only \"i\"" + line);
  line = line_below();
  m = message_of<Error>([] { vmap([](auto x) { return x + axis_index("i"); })(D{1}); });
  EXPECT_EQ(m, "axis_index: no axis \"i\" is mapped over here; name it, cq::vmap(f, {.axis_name = \"i\"})" + line);
  line = line_below();
  m = message_of<DTypeError>([] { vmap([](auto x) { return psum(x > 0, "i"); }, {.axis_name = "i"})(I{1}); });
  EXPECT_EQ(m, "psum: needs numbers, got bool; cast it" + line);
  line = line_below();
  m = message_of<ShapeError>([] { vmap([](auto x) { return psum_scatter(x, "i"); }, {.axis_name = "i"})(D{{1, 2}}); });
  EXPECT_EQ(m, "psum_scatter: needs [1, ...], a row for each example, got f64[2]" + line);
  const Pairs outside{{0, 2}}, twice{{0, 1}, {1, 1}};
  line = line_below();
  const auto to_two = [&](auto x) { return ppermute(x, "i", outside); };
  m = message_of<ShapeError>([&] { vmap(to_two, {.axis_name = "i"})(D{1, 2}); });
  EXPECT_EQ(m, "ppermute: the axis has 2 examples, and 2 is a target" + line);
  m = message_of<ShapeError>(
      [&] { vmap([&](auto x) { return ppermute(x, "i", twice); }, {.axis_name = "i"})(D{1, 2}); });
  EXPECT_NE(m.find("1 is the target of two pairs"), std::string::npos) << m;
}

}  // namespace
}  // namespace calque::test
