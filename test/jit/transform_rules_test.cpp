// checkpoint, custom_jvp and custom_vjp: alone, under every transformation, with captures, trees and static values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque {
namespace {

using F = Array<float>;
using D = Array<double>;

template <class A>
struct Layer {
  A w, b;
  int depth = 1;
};

/// The message of the GradError, or "no error".
template <class F>
std::string grad_error_of(F&& f) {
  try {
    f();
  } catch (const GradError& e) {
    return e.what();
  }
  return "no error";
}

std::string line_after(unsigned line) { return "(transform_rules_test.cpp:" + std::to_string(line + 1) + ")"; }

size_t count(const Graph& graph, const std::string& primitive) {
  size_t n = 0;
  for (const Equation& e : graph.equations()) {
    n += e.primitive() == primitive;
    for (const Graph& g : e.subgraphs()) n += count(g, primitive);
  }
  return n;
}

// ---- checkpoint

const auto chain = [](auto x) { return sin(sin(sin(x))); };

TEST(Checkpoint, ComputesTheSame) {
  EXPECT_DOUBLE_EQ(checkpoint(chain)(2.0).item(), std::sin(std::sin(std::sin(2.0))));
  EXPECT_DOUBLE_EQ(grad(checkpoint(chain))(2.0).item(), grad(chain)(2.0).item());
  EXPECT_DOUBLE_EQ(grad(grad(checkpoint(chain)))(2.0).item(), grad(grad(chain))(2.0).item());
  EXPECT_TRUE(allclose(vmap(grad(checkpoint(chain)))(D{1, 2}), vmap(grad(chain))(D{1, 2})));
}

TEST(Checkpoint, KeepsOnlyItsArguments) {
  const auto [y, kept] = vjp(chain, D{1, 2, 3});
  const auto [z, recomputed] = vjp(checkpoint(chain), D{1, 2, 3});
  EXPECT_EQ(recomputed.graph().inputs().size(), 2u) << recomputed.graph();
  EXPECT_TRUE(allclose(std::get<0>(kept(y)), std::get<0>(recomputed(z))));
}

/// The workspace of the compiled function in bytes, from its plan.
template <class F, class... A>
int64_t workspace_of(const F& function, const A&... arguments) {
  const std::string plan = function.lower(arguments...).plan().str();
  const size_t at = plan.find("workspace ");
  return at == std::string::npos ? -1 : std::stoll(plan.substr(at + 10));
}

TEST(Checkpoint, OfTheBodyOfALoopNeedsLessMemory) {
  const auto step = [](auto s, auto x) { return tanh(sin(exp(s * x) + cos(s)) * exp(x)); };
  const auto over = [](auto body) {
    return jit(grad([body](auto x, auto xs) {
      return sum(scan([body](auto s, auto v) { return std::pair{body(s, v), 0.0}; }, x, xs).first);
    }));
  };
  const auto kept = over(step);
  const auto recomputed = over(checkpoint(step));
  const D x = D::full({64}, 0.3), xs = D::full({100, 64}, 0.1);
  EXPECT_TRUE(allclose(kept(x, xs), recomputed(x, xs)));
  const int64_t carries = 100 * 64 * 8;
  EXPECT_GE(workspace_of(kept, x, xs), 4 * carries);
  EXPECT_LE(workspace_of(recomputed, x, xs), 2 * carries);
}

TEST(Checkpoint, TakesTreesCapturesAndStaticArguments) {
  const auto f = [](const auto& l, auto x) {
    const auto inner = checkpoint([x](const auto& m, int n) { return Layer{m.w * x, m.b * n, m.depth}; });
    const auto out = inner(l, static_arg(3));
    return sum(out.w * out.b) * out.depth;
  };
  const auto [dl, dx] = grad(f, argnums<0, 1>)(Layer<D>{{1, 2}, {3, 4}, 2}, 5.0);
  EXPECT_TRUE(array_equal(dl.w, D{90, 120}));
  EXPECT_TRUE(array_equal(dl.b, D{30, 60}));
  EXPECT_EQ(dx.item(), 66);
}

// ---- custom_jvp

const auto log1pexp = [](auto x) { return log(1.0 + exp(x)); };
const auto log1pexp_rule = [](auto primals, auto tangents) {
  const auto [x] = primals;
  const auto [dx] = tangents;
  return std::pair{log(1.0 + exp(x)), (1.0 - 1.0 / (1.0 + exp(x))) * dx};
};

TEST(CustomJvp, RuleIsUsedInBothModes) {
  const auto f = custom_jvp(log1pexp, log1pexp_rule);
  EXPECT_DOUBLE_EQ(f(1.0).item(), std::log(1 + std::exp(1.0)));
  EXPECT_TRUE(std::isnan(grad(log1pexp)(1000.0).item()));
  EXPECT_EQ(grad(f)(1000.0).item(), 1);
  EXPECT_EQ(jvp(f, std::tuple{1000.0}, std::tuple{2.0}).second.item(), 2);
  const double s = 1 / (1 + std::exp(-0.5));
  EXPECT_NEAR(grad(grad(f))(0.5).item(), s * (1 - s), 1e-12);
}

TEST(CustomJvp, WorksInsideEverything) {
  const auto f = custom_jvp([](auto x) { return x * x; },
                            [](auto p, auto t) {
                              const auto [x] = p;
                              const auto [dx] = t;
                              return std::pair{x * x, 100.0 * x * dx};  // recognisable
                            });
  EXPECT_TRUE(array_equal(vmap(grad(f))(D{1, 2}), D{100, 200}));
  EXPECT_TRUE(array_equal(grad([f](auto x) { return sum(vmap(f)(x)); })(D{1, 2}), D{100, 200}));
  EXPECT_TRUE(array_equal(grad([f](auto x) { return sum(map(f, x)); })(D{1, 2}), D{100, 200}));
  const auto looped = [f](auto x) { return fori_loop(0, 1, [f](auto, auto s) { return f(s); }, x); };
  EXPECT_EQ(grad(looped)(3.0).item(), 300);
  const auto branched = [f](auto x) { return cond(x > 0, f, [](auto v) { return v; }, x); };
  EXPECT_EQ(grad(branched)(3.0).item(), 300);
  EXPECT_EQ(grad(checkpoint(jit(f)))(3.0).item(), 300);
  EXPECT_TRUE(array_equal(jacfwd(f)(D{1, 2}), D{{100, 0}, {0, 200}}));
  EXPECT_TRUE(array_equal(jacrev(f)(D{1, 2}), D{{100, 0}, {0, 200}}));
}

TEST(CustomJvp, TakesTreesIntegersAndStaticArguments) {
  const auto f = custom_jvp([](const auto& l, auto n, int k) { return std::tuple{l.w * l.b * n, n + k}; },
                            [](auto primals, auto tangents) {
                              const auto& [l, n, k] = primals;
                              const auto& [dl, dn, dk] = tangents;
                              static_assert(std::same_as<std::remove_cvref_t<decltype(dk)>, int>);
                              EXPECT_EQ(dk, 4);
                              return std::pair{std::tuple{l.w * l.b * n, n + k},
                                               std::tuple{dl.w * l.b * n + l.w * dl.b * n, dn * 0}};
                            });
  const auto g = grad([f](const auto& l) { return sum(std::get<0>(f(l, 3, static_arg(4)))); });
  const auto dl = g(Layer<D>{{1, 2}, {3, 4}, 9});
  EXPECT_TRUE(array_equal(dl.w, D{9, 12}));
  EXPECT_TRUE(array_equal(dl.b, D{3, 6}));
  EXPECT_EQ(dl.depth, 9);
}

// ---- custom_vjp

const auto clipped =
    custom_vjp([](auto x) { return x * 1.0; }, [](auto x) { return std::pair{x * 1.0, x}; },
               [](auto x, auto ybar) { return std::tuple{where(x > 0.0, clip(ybar, -1.0, 1.0), 7.0)}; });

TEST(CustomVjp, RuleIsUsedInReverse) {
  EXPECT_EQ(clipped(3.0).item(), 3);
  EXPECT_EQ(grad([](auto x) { return clipped(x) * 50.0; })(3.0).item(), 1);
  EXPECT_EQ(grad([](auto x) { return clipped(x) * 50.0; })(-3.0).item(), 7);
  const auto [y, pullback] = vjp(clipped, D{1, -1});
  EXPECT_TRUE(array_equal(std::get<0>(pullback(D{5, 5})), D{1, 7}));
}

TEST(CustomVjp, WorksInsideEverything) {
  const auto f = [](auto x) { return clipped(x) * 50.0; };
  EXPECT_TRUE(array_equal(vmap(grad(f))(D{1, -1}), D{1, 7}));
  EXPECT_TRUE(array_equal(grad([f](auto x) { return sum(vmap(f)(x)); })(D{1, -1}), D{1, 7}));
  EXPECT_TRUE(array_equal(grad([f](auto x) { return sum(map(f, x)); })(D{1, -1}), D{1, 7}));
  EXPECT_EQ(grad(jit(checkpoint(f)))(3.0).item(), 1);
  const auto branched = [f](auto x) { return cond(x > 0, f, [](auto v) { return v; }, x); };
  EXPECT_EQ(grad(branched)(3.0).item(), 1);
  EXPECT_TRUE(array_equal(jacrev(f)(D{1, -1}), D{{1, 7}, {0, 7}}));
}

TEST(CustomVjp, BackwardIsDifferentiatedForHigherOrders) {
  const auto cube = custom_vjp([](auto x) { return x * x * x; }, [](auto x) { return std::pair{x * x * x, x}; },
                               [](auto x, auto ybar) { return std::tuple{3.0 * x * x * ybar}; });
  EXPECT_EQ(grad(cube)(2.0).item(), 12);
  EXPECT_EQ(grad(grad(cube))(2.0).item(), 12);
}

TEST(CustomVjp, ResidualsAreAnyTreeOrNone) {
  const auto f = custom_vjp([](const auto& l, auto n, int k) { return std::pair{l.w * n, l.b * k}; },
                            [](const auto& l, auto n, int k) {
                              return std::pair{std::pair{l.w * n, l.b * k},
                                               std::tuple{l, n, std::vector{l.w}, std::string("kept")}};
                            },
                            [](const auto& residuals, const auto& ybar) {
                              const auto& [l, n, list, text] = residuals;
                              EXPECT_EQ(text, "kept");
                              return std::tuple{Layer{ybar.first * n, ybar.second * list[0], l.depth}, n * 0, 0};
                            });
  const auto loss = [f](const auto& l) {
    const auto [a, b] = f(l, 3, static_arg(2));
    return sum(a) + sum(b);
  };
  const auto dl = grad(loss)(Layer<D>{{1, 2}, {3, 4}, 5});
  EXPECT_TRUE(array_equal(dl.w, D{3, 3}));
  EXPECT_TRUE(array_equal(dl.b, D{1, 2}));
  EXPECT_EQ(dl.depth, 5);
  const auto reversed =
      custom_vjp([](auto x) { return x * 1.0; }, [](auto x) { return std::pair{x * 1.0, std::tuple{}}; },
                 [](auto, auto ybar) { return std::tuple{-ybar}; });
  EXPECT_EQ(grad(reversed)(2.0).item(), -1);
}

// ---- captured tracers

/// c v by rules that capture c.
const auto scaled_by_jvp = [](auto c) {
  return custom_jvp([c](auto v) { return c * v; },
                    [c](auto p, auto t) { return std::pair{c * std::get<0>(p), c * c * std::get<0>(t)}; });
};
const auto scaled_by_vjp = [](auto c) {
  return custom_vjp([c](auto v) { return c * v; }, [c](auto v) { return std::pair{c * v, c * c}; },
                    [](auto kept, auto ybar) { return std::tuple{kept * ybar}; });
};

TEST(CapturesOfCustomRules, AreConstantsToDerivativesByOtherValues) {
  const auto by_jvp = [](auto x, auto c) { return scaled_by_jvp(c)(x); };
  const auto by_vjp = [](auto x, auto c) { return scaled_by_vjp(c)(x); };
  EXPECT_EQ(jit(by_jvp)(2.0, 3.0).item(), 6);
  EXPECT_EQ(jit(by_vjp)(2.0, 3.0).item(), 6);
  EXPECT_EQ(grad(by_jvp)(2.0, 3.0).item(), 9);
  EXPECT_EQ(grad(by_vjp)(2.0, 3.0).item(), 9);
  EXPECT_EQ(grad(jit(by_vjp))(2.0, 3.0).item(), 9);
  EXPECT_EQ(grad(grad(by_vjp))(2.0, 3.0).item(), 0);
  EXPECT_TRUE(array_equal(vmap(grad(by_jvp))(D{2, 3}, D{3, 5}), D{9, 25}));
  EXPECT_TRUE(array_equal(vmap(grad(by_vjp))(D{2, 3}, D{3, 5}), D{9, 25}));
  const auto at_three = [by_jvp](auto x) { return by_jvp(x, full<double>({}, 3.0)); };
  EXPECT_EQ(jvp(at_three, std::tuple{2.0}, std::tuple{1.0}).second.item(), 9);
}

TEST(CapturesOfCustomRules, HaveNoDerivativeInEitherMode) {
  const std::string remedy = "; pass it as an argument of the function, or capture stop_gradient of it ";
  const auto by_jvp = [](auto x, auto c) { return scaled_by_jvp(c)(x); };
  const auto by_vjp = [](auto x, auto c) { return scaled_by_vjp(c)(x); };
  const std::string of_jvp = "custom_jvp: the rule has no derivative by argument 1, which it or its function captures";
  EXPECT_THAT(grad_error_of([&] { grad(by_jvp, argnums<1>)(2.0, 3.0); }), testing::StartsWith(of_jvp + remedy));
  EXPECT_THAT(grad_error_of([&] { grad(by_jvp, argnums<0, 1>)(2.0, 3.0); }), testing::StartsWith(of_jvp));
  EXPECT_THAT(grad_error_of([&] { jvp(by_jvp, std::tuple{2.0, 3.0}, std::tuple{1.0, 0.0}); }),
              testing::StartsWith(of_jvp));
  EXPECT_THAT(grad_error_of([&] { vmap(grad(by_jvp, argnums<1>))(D{1, 2}, D{3, 4}); }), testing::StartsWith(of_jvp));
  EXPECT_THAT(grad_error_of([&] { grad(jit(by_jvp), argnums<1>)(2.0, 3.0); }), testing::StartsWith(of_jvp));
  EXPECT_THAT(grad_error_of([&] { grad(by_vjp, argnums<1>)(2.0, 3.0); }),
              testing::StartsWith("custom_vjp: the rule has no derivative by argument 1, which it or its function "));
  // The derivative of the gradient by what its rule captured.
  EXPECT_THAT(grad_error_of([&] { grad(grad(by_vjp), argnums<1>)(2.0, 3.0); }), testing::StartsWith("custom_vjp: "));
}

TEST(CapturesOfCustomRules, AreNamedByTheirLine) {
  unsigned line = 0;
  const auto f = [&](auto x, auto c) {
    line = Loc::current().line();
    const auto made = sin(c);
    return scaled_by_vjp(made)(x);
  };
  std::string text = grad_error_of([&] { grad(f, argnums<1>)(2.0, 3.0); });
  EXPECT_THAT(text, testing::HasSubstr("no derivative by the result of sin, "));
  EXPECT_THAT(text, testing::EndsWith(line_after(line)));
  // Also through loops, calls and rules in between.
  const auto looped = [&](auto x, auto c) {
    line = Loc::current().line();
    const auto made = c * c;
    return fori_loop(
        0, 3, [made](auto, auto s) { return jit([made](auto v) { return scaled_by_jvp(made)(v); })(s); }, x);
  };
  EXPECT_EQ(grad(looped)(1.0, 2.0).item(), 4096);
  text = grad_error_of([&] { grad(looped, argnums<1>)(1.0, 2.0); });
  EXPECT_THAT(text, testing::EndsWith(line_after(line)));
  const auto nested = [&](auto x, auto c) {
    line = Loc::current().line();
    const auto made = exp(c);
    return scaled_by_jvp(x)(scaled_by_jvp(made)(c));
  };
  text = grad_error_of([&] { grad(nested, argnums<1>)(1.0, 2.0); });
  EXPECT_THAT(text, testing::EndsWith(line_after(line)));
}

TEST(CapturesOfCustomRules, OfARootFinderAreNotDifferentiatedThroughItsIteration) {
  const auto root = [](auto a) {
    const auto found = [a](auto x0) {
      return while_loop([a](auto x) { return abs(x * x - a) > 1e-12; }, [a](auto x) { return 0.5 * (x + a / x); }, x0);
    };
    return custom_vjp(
        found, [found](auto x0) { return std::pair{found(x0), x0}; },
        [](auto x0, auto) { return std::tuple{0.0 * x0}; })(full<double>({}, 2.0));
  };
  EXPECT_NEAR(jit(root)(9.0).item(), 3, 1e-12);
  EXPECT_THAT(grad_error_of([&] { grad(root)(9.0); }), testing::StartsWith("custom_vjp: the rule has no derivative "));
}

TEST(CapturesOfCustomRules, ThroughWhichNoTangentPassesMayDependOnAnything) {
  const auto f = [](auto x, auto c) {
    const auto n = cast<int>(c);
    const auto limit = stop_gradient(c);
    const auto inner = custom_jvp([=](auto v) { return where(v < c, v * n, limit); },
                                  [=](auto p, auto t) {
                                    const auto v = std::get<0>(p);
                                    return std::pair{where(v < c, v * n, limit), where(v < c, n, 0) * std::get<0>(t)};
                                  });
    return inner(x) + c;
  };
  const auto [dx, dc] = grad(f, argnums<0, 1>)(2.0, 3.0);
  EXPECT_EQ(dx.item(), 3);
  EXPECT_EQ(dc.item(), 1);
}

TEST(CustomRules, AreGoneFromCompiledGraphsButStayInTracedOnes) {
  const auto f = custom_jvp(log1pexp, log1pexp_rule);
  EXPECT_EQ(count(jit(f).trace(2.0), "custom_jvp"), 1u);
  EXPECT_EQ(count(jit(clipped).trace(2.0), "custom_vjp"), 1u);
  EXPECT_EQ(count(jit(checkpoint(chain)).trace(2.0), "checkpoint"), 1u);
  EXPECT_EQ(count(jit(grad(f)).trace(2.0), "custom_jvp"), 0u);
}

TEST(CustomRules, MixTracersAndData) {
  const auto f = custom_jvp([](auto x, auto y) { return x * y; },
                            [](auto p, auto t) {
                              const auto [x, y] = p;
                              const auto [dx, dy] = t;
                              return std::pair{x * y, dx * y + x * dy};
                            });
  const auto g = jit([f](auto x) { return f(x, D{1, 10}); });
  EXPECT_TRUE(array_equal(g(D{2, 3}), D{2, 30}));
  EXPECT_TRUE(array_equal(grad([f](auto x) { return sum(f(x, D{1, 10})); })(D{2, 3}), D{1, 10}));
}

}  // namespace
}  // namespace calque
