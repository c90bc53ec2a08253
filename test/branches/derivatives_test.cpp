// Derivatives and batches of functions that follow their data: of the path that the primals take.
#include "branches/branches.h"

namespace calque::test {
namespace {

using testing::HasSubstr;

/// 2x^2 above 1, x^3 between, 0 below 0.
constexpr auto piecewise = [](auto x) {
  if (x > 1.0) return 2.0 * x * x;
  if (x > 0.0) return x * x * x;
  return x * 0.0;
};
double value(double x) { return x > 1 ? 2 * x * x : x > 0 ? x * x * x : 0; }
double slope(double x) { return x > 1 ? 4 * x : x > 0 ? 3 * x * x : 0; }
double bend(double x) { return x > 1 ? 4 : x > 0 ? 6 * x : 0; }

const std::vector<double> kPoints{2, 0.5, -1, 3, 0.25, 1, 0, -2, 2};

TEST(DerivativesOfBranches, FollowThePrimals) {
  const auto first = jit([](auto x) { return grad(piecewise)(x); }, following());
  const auto second = jit([](auto x) { return grad(grad(piecewise))(x); }, following());
  const auto both = jit([](auto x) { return value_and_grad(piecewise)(x); }, following());
  const auto forward = jit([](auto x) { return jvp(piecewise, args(x), args(x * 0.0 + 2.0)); }, following());
  const auto reverse = jit(
      [](auto x) {
        auto [y, pullback] = vjp(piecewise, x);
        return std::tuple{y, std::get<0>(pullback(y * 0.0 + 3.0))};
      },
      following());
  const auto linear = jit(
      [](auto x) {
        auto [y, f] = linearize(piecewise, x);
        return std::tuple{y, f(x * 0.0 + 1.0)};
      },
      following());
  for (const double x : kPoints) {
    EXPECT_EQ(first(x).item(), slope(x)) << x;
    EXPECT_EQ(second(x).item(), bend(x)) << x;
    const auto [y, dy] = both(x);
    EXPECT_EQ(y.item(), value(x));
    EXPECT_EQ(dy.item(), slope(x));
    const auto [z, dz] = forward(x);
    EXPECT_EQ(z.item(), value(x));
    EXPECT_EQ(dz.item(), 2 * slope(x));
    const auto [v, dv] = reverse(x);
    EXPECT_EQ(v.item(), value(x));
    EXPECT_EQ(dv.item(), 3 * slope(x));
    const auto [w, dw] = linear(x);
    EXPECT_EQ(w.item(), value(x));
    EXPECT_EQ(dw.item(), slope(x));
  }
}

TEST(DerivativesOfBranches, OfVectors) {
  const auto f = [](auto x) {
    const auto n = dot(x, x);
    if (n > 1.0) return x * n;
    return x * x;
  };
  const auto forward = jit([f](auto x) { return jacfwd(f)(x); }, following());
  const auto reverse = jit([f](auto x) { return jacrev(f)(x); }, following());
  const auto scalar = [f](auto x) { return sum(f(x) * x); };
  const auto curved = jit([scalar](auto x) { return hessian(scalar)(x); }, following());
  for (const D& x : {D{1, 2}, D{0.5, 0.25}, D{3, 0}, D{0, 0}}) {
    const bool far = dot(x, x).item() > 1;
    const auto side = [far](auto v) { return far ? v * dot(v, v) : v * v; };
    EXPECT_TRUE(allclose(forward(x), jacfwd(side)(x)));
    EXPECT_TRUE(allclose(reverse(x), jacfwd(side)(x)));
    EXPECT_TRUE(allclose(curved(x), hessian([side](auto v) { return sum(side(v) * v); })(x)));
  }
}

TEST(DerivativesOfBranches, OfCapturedTracers) {
  const auto f = jit(
      [](auto x, auto y) {
        const auto z = x * y;
        return grad([&](auto v) {
          if (v * z > 1.0) return v * v * z;
          if (z > 0.0) return v * z;
          return v;
        })(x);
      },
      following());
  for (const auto& [x, y] : {std::pair{1.0, 2.0}, {0.5, 0.5}, {1.0, -1.0}, {2.0, 1.0}, {0.1, 1.0}}) {
    const double z = x * y, expected = x * z > 1 ? 2 * x * z : z > 0 ? z : 1;
    EXPECT_NEAR(f(x, y).item(), expected, 1e-15);
  }
}

TEST(DerivativesOfBranches, OfCustomRules) {
  const auto f = jit(
      [](auto x) {
        const auto clipped = custom_jvp(
            [](auto v) {
              if (v > 1.0) return v * 0.0 + 1.0;
              return v;
            },
            [](auto primals, auto tangents) {
              const auto v = std::get<0>(primals);
              const auto t = std::get<0>(tangents);
              return std::pair{where(v > 1.0, 1.0, v), t * where(v > 1.0, 0.5, 2.0)};
            });
        return std::tuple{clipped(x), grad(clipped)(x)};
      },
      following());
  for (const double x : {2.0, 0.5, 3.0, -1.0}) {
    const auto [y, dy] = f(x);
    EXPECT_EQ(y.item(), std::min(x, 1.0));
    EXPECT_EQ(dy.item(), x > 1 ? 0.5 : 2.0);
  }
}

TEST(DerivativesOfBranches, OfWrappedFunctions) {
  const auto inner = jit(piecewise, {.branches = branches::trace});
  const auto f = jit([inner](auto x) { return inner(x) + grad(inner)(x); }, following());
  for (const double x : kPoints) EXPECT_EQ(f(x).item(), value(x) + slope(x)) << x;
}

/// The gradient of a function that branches outside of a jit that follows branches.
TEST(DerivativesOfBranches, OfFunctionsThatAreWrappedAfterwards) {
  const auto f = grad(jit(piecewise, following()));
  EXPECT_THAT(message_of<ConcretizationError>([&] { (void)f(2.0); }), HasSubstr("derivatives_test.cpp:"));
  const auto g = jit(grad(piecewise), following());
  for (const double x : kPoints) EXPECT_EQ(g(x).item(), slope(x)) << x;
}

TEST(BatchesOfBranches, AgreeOrAreAnError) {
  const auto f = jit([](auto x) { return vmap(piecewise)(x); }, following());
  EXPECT_TRUE(array_equal(f(D{2, 3}), D{8, 18}));
  EXPECT_TRUE(array_equal(f(D{0.5, 0.25}), D{0.125, 0.015625}));
  EXPECT_TRUE(array_equal(f(D{-1, -2}), D{0, 0} * D{-1, -2}));
  EXPECT_THAT(message_of<ConcretizationError>([&] { (void)f(D{2, 0.5}); }),
              testing::AllOf(HasSubstr("different answers"), HasSubstr("derivatives_test.cpp:")));
  EXPECT_TRUE(array_equal(f(D{3, 2}), D{18, 8}));
  const auto g = jit([](auto x) { return vmap(grad(piecewise))(x); }, following());
  EXPECT_TRUE(array_equal(g(D{2, 3}), D{8, 12}));
  EXPECT_TRUE(array_equal(g(D{0.5, 0.25}), D{0.75, 0.1875}));
  EXPECT_TRUE(array_equal(g(D{-1, -2}), D{0, 0} * D{-1, -2}));
}

TEST(BatchesOfBranches, OverAxesAndOfIntegers) {
  const auto f = jit(
      [](auto x, auto k) {
        return vmap(
            [](auto row, auto n) {
              const auto first = row.at(range(0, int(n)));
              if (sum(first) > 3.0) return sum(first) * 2.0;
              return sum(first);
            },
            {.in_axes = {1, 0}})(x, k);
      },
      following());
  const D x{{1, 2}, {1, 2}, {5, 6}};
  EXPECT_THROW((void)f(x, Array<int>{2, 2}), ConcretizationError);  // the sums are 2 and 4
  EXPECT_THROW((void)f(x, Array<int>{1, 2}), ConcretizationError);
  EXPECT_TRUE(array_equal(f(x, Array<int>{3, 3}), D{14, 20}));
  EXPECT_TRUE(array_equal(f(x, Array<int>{1, 1}), D{1, 2}));
  EXPECT_TRUE(array_equal(f(x, Array<int>{3, 3}), D{14, 20}));
}

TEST(BranchesInLoops, AreAnErrorWithTheLine) {
  const auto body = [](auto v) {
    if (v > 1.0) return v;
    return v * 2.0;
  };
  const auto in_while = jit([=](auto x) { return while_loop([](auto v) { return v < 10.0; }, body, x); }, following());
  const auto in_for =
      jit([=](auto x) { return fori_loop(0, 3, [=](auto, auto v) { return body(v); }, x); }, following());
  const auto in_cond = jit([=](auto x) { return cond(x > 0.0, body, [](auto v) { return v; }, x); }, following());
  const auto in_scan = jit(
      [=](auto x) { return scan([=](auto c, auto e) { return std::pair{c + body(e), c}; }, x[0], x); }, following());
  for (const std::string& message : {message_of<ConcretizationError>([&] { (void)in_while(1.0); }),
                                     message_of<ConcretizationError>([&] { (void)in_for(1.0); }),
                                     message_of<ConcretizationError>([&] { (void)in_scan(D{1, 2}); })}) {
    EXPECT_THAT(message, HasSubstr("derivatives_test.cpp:"));
    EXPECT_THAT(message, HasSubstr("branches::all"));
  }
  EXPECT_THAT(message_of<ConcretizationError>([&] { (void)in_cond(1.0); }), HasSubstr("derivatives_test.cpp:"));
}

TEST(BranchesOfRandomNumbers, ReplayTheSameNumbers) {
  const auto f = jit(
      [](random::BasicKey<Tracer<uint32_t>> key) {
        const auto keys = random::split(key, 2);
        const auto x = random::uniform<double>(keys[0], {});
        auto y = random::normal<double>(keys[1], {});
        if (x > 0.5) y = y * 2.0;
        if (y > 0.0) return x + y;
        return x - y;
      },
      following());
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const auto keys = random::split(random::key(seed), 2);
    const double x = random::uniform<double>(keys[0], {}).item();
    double y = random::normal<double>(keys[1], {}).item();
    if (x > 0.5) y *= 2;
    EXPECT_NEAR(f(random::key(seed)).item(), y > 0 ? x + y : x - y, 1e-14);
  }
}

}  // namespace
}  // namespace calque::test
