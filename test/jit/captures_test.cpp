// Captured arrays are operands of the code at every depth: a lambda that is created again with other ones is traced
// again but not compiled again, and no reference to them remains after it is destroyed.
#include <tuple>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "compile/executable.h"

namespace calque {
namespace {

using F = Array<float>;

F filled(float value) { return F::full({24}, value); }

/// Checks that g(x, w) with w captured gives the same as with w passed, for four arrays w, and compiles once.
template <class G>
void expect_one_compilation(const G& g) {
  const F x = filled(0.5f);
  const auto passed = jit([g](auto v, auto w) { return g(v, w); });
  const auto captured = [&g](const F& w) { return jit([g, w](auto v) { return g(v, w); }); };
  EXPECT_TRUE(allclose(captured(filled(1.25f))(x), passed(x, filled(1.25f))));
  const uint64_t compiled = runtime::num_compilations();
  for (const float value : {0.75f, 1.5f, 0.25f}) {
    EXPECT_TRUE(allclose(captured(filled(value))(x), passed(x, filled(value)))) << value;
  }
  EXPECT_EQ(runtime::num_compilations(), compiled);
}

TEST(Captures, OfForiBodies) {
  expect_one_compilation([](auto x, auto w) { return fori_loop(0, 3, [w](auto, auto s) { return s * w; }, x); });
}

TEST(Captures, OfForiBodiesWithBoundsFromTheData) {
  expect_one_compilation([](auto x, auto w) {
    const auto n = cast<int32_t>(sum(x)) / 4;
    return fori_loop(0, n, [w](auto, auto s) { return s * w; }, x);
  });
}

TEST(Captures, OfConditionsAndBodiesOfWhile) {
  expect_one_compilation([](auto x, auto w) {
    return while_loop([w](auto s) { return sum(s * w) < 40.0f; }, [w](auto s) { return s + w; }, x);
  });
}

TEST(Captures, OfScanAndMap) {
  expect_one_compilation([](auto x, auto w) {
    const auto [last, all] = scan([w](auto s, auto v) { return std::pair{s * w, sum(w * v)}; }, x, x);
    return last + all + map([w](auto v) { return sum(w * v); }, x);
  });
}

TEST(Captures, OfBranches) {
  expect_one_compilation([](auto x, auto w) {
    const auto a = cond(sum(x) > 3.0f, [w](auto v) { return v * w; }, [](auto v) { return v; }, x);
    const auto second = [w](auto v) { return v - w; };
    const auto first = [](auto v) { return v + 1.0f; };
    return a + switch_(cast<int32_t>(sum(x)) % 2, std::tuple{first, second}, x);
  });
}

TEST(Captures, OfBodiesInsideBodies) {
  expect_one_compilation([](auto x, auto w) {
    return fori_loop(
        0, 2,
        [w](auto, auto s) {
          return cond(
              sum(s) > 0.0f,
              [w](auto t) {
                return while_loop([](auto u) { return sum(u) < 100.0f; },
                                  [w](auto u) {
                                    return u + abs(w) +
                                           0.125f *
                                               scan([w](auto c, auto v) { return std::pair{c * w, v}; }, u, u).first;
                                  },
                                  t);
              },
              [](auto t) { return t; }, s);
        },
        x);
  });
}

TEST(Captures, UnderDerivatives) {
  expect_one_compilation([](auto x, auto w) {
    return grad([w](auto v) { return sum(fori_loop(0, 3, [w](auto, auto s) { return sin(s) * w; }, v)); })(x);
  });
  expect_one_compilation([](auto x, auto w) {
    const auto g = grad([w](auto v) { return sum(fori_loop(0, 3, [w](auto, auto s) { return sin(s) * w; }, v)); });
    return grad([g](auto v) { return sum(g(v) * v); })(x);
  });
}

TEST(Captures, UnderVmap) {
  expect_one_compilation([](auto x, auto w) {
    return vmap([w](auto v) { return sum(fori_loop(0, 3, [w](auto, auto s) { return s * w; }, w * v)); })(x);
  });
}

TEST(Captures, UnderCheckpoint) {
  expect_one_compilation([](auto x, auto w) {
    const auto f = checkpoint([w](auto v) { return fori_loop(0, 3, [w](auto, auto s) { return sin(s) * w; }, v); });
    return f(x) + grad([f](auto v) { return sum(f(v)); })(x);
  });
}

TEST(Captures, OfCustomRules) {
  expect_one_compilation([](auto x, auto w) {
    const auto f = custom_jvp([w](auto v) { return v * w; },
                              [w](auto primals, auto tangents) {
                                const auto [v] = primals;
                                const auto [t] = tangents;
                                return std::pair{v * w, 2.0f * t * w};
                              });
    return f(x) + grad([f](auto v) { return sum(f(v)); })(x);
  });
  expect_one_compilation([](auto x, auto w) {
    const auto f = custom_vjp([w](auto v) { return v * w; }, [](auto v) { return std::pair{v, v}; },
                              [w](auto, auto cotangent) { return std::tuple{cotangent * w * 3.0f}; });
    return f(x) + grad([f](auto v) { return sum(f(v)); })(x);
  });
}

TEST(Captures, OneArrayIsOneOperand) {
  const F w = filled(2);
  const auto f = jit([w](auto x) {
    return w * fori_loop(
                   0, 3, [w](auto, auto s) { return fori_loop(0, 2, [w](auto, auto t) { return t + w; }, s) * w; }, x);
  });
  const auto other = jit([w, v = filled(3)](auto x) {
    return w *
           fori_loop(
               0, 3, [w, v](auto, auto s) { return fori_loop(0, 2, [v](auto, auto t) { return t + v; }, s) * w; }, x);
  });
  const auto again = [](auto x, auto u, auto v) {
    return u * fori_loop(
                   0, 3, [=](auto, auto s) { return fori_loop(0, 2, [=](auto, auto t) { return t + v; }, s) * u; }, x);
  };
  const F x = filled(0.5f);
  EXPECT_TRUE(allclose(f(x), jit(again)(x, w, w)));
  EXPECT_TRUE(allclose(other(x), jit(again)(x, w, filled(3))));
}

TEST(Captures, AreFreedWithTheFunction) {
  std::vector<float> buffer(100, 1.0f);
  bool released = false;
  {
    const F w = F::wrap(buffer.data(), {100}, [&](float*) { released = true; });
    const auto f = jit([w](auto x) {
      return fori_loop(
          0, 3,
          [w](auto, auto s) { return cond(sum(s) > 0.0f, [w](auto t) { return t + w; }, [](auto t) { return t; }, s); },
          x);
    });
    EXPECT_TRUE(allclose(f(F::ones({100})), F::full({100}, 4)));
  }
  EXPECT_TRUE(released);
}

TEST(Captures, SmallOnesStayPartOfTheCode) {
  const auto with = [](const F& w) {
    return jit([w](auto x) { return fori_loop(0, 3, [w](auto, auto s) { return s * w; }, x); });
  };
  EXPECT_TRUE(array_equal(with({1, 2})(F{1, 1}), F{1, 8}));
  EXPECT_TRUE(array_equal(with({3, 1})(F{1, 1}), F{27, 1}));
}

TEST(Captures, OfGraphsThatWereGiven) {
  const auto graph_with = [](const F& w) {
    return jit([w](auto x) { return fori_loop(0, 3, [w](auto, auto s) { return s + w; }, x); }).trace(filled(0));
  };
  EXPECT_TRUE(allclose(jit(graph_with(filled(1)))(filled(1))[0].as<float>(), filled(4)));
  const uint64_t compiled = runtime::num_compilations();
  EXPECT_TRUE(allclose(jit(graph_with(filled(2)))(filled(1))[0].as<float>(), filled(7)));
  EXPECT_EQ(runtime::num_compilations(), compiled);
}

}  // namespace
}  // namespace calque
