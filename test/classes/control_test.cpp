// Control flow on trees: the lambdas' arguments, the results, rejected uses. The loops are tested with the core.
#include "calque/control.h"

#include <map>
#include <optional>

#include "calque/functions.h"

#include "classes/traced.h"

namespace calque::test {
namespace {

using TD = Tracer<double>;
template <class A>
struct State {
  A position, velocity;
  int order = 2;
};

/// All outputs of a lambda on tracers.
template <class F, class... T>
std::vector<AnyArray> outputs(const F& f, const Array<T>&... arrays) {
  const std::vector<AnyArray> inputs{arrays.any()...};
  return reference::evaluate(traced_graph(f, arrays...), inputs);
}

TEST(Cond, TakesTheBranchOfThePredicate) {
  const auto f = [](auto x, auto y) {
    return cond(
        x > y, [](auto a, auto b) { return std::pair{a - b, a}; }, [](auto a, auto b) { return std::pair{b - a, b}; },
        x, y);
  };
  std::vector<AnyArray> got = outputs(f, Array<double>(3.), Array<double>(5.));
  EXPECT_EQ(got[0].as<double>().item(), 2);
  EXPECT_EQ(got[1].as<double>().item(), 5);
  got = outputs(f, Array<double>(7.), Array<double>(5.));
  EXPECT_EQ(got[1].as<double>().item(), 7);
}

TEST(Cond, CapturesAndConvertsArraysAndScalars) {
  const Array<double> w = {1, 2};
  const auto f = [w](auto x) { return cond(sum(x) > 0, [x](auto k) { return x * k; }, [w](auto) { return w; }, 3); };
  EXPECT_TRUE(array_equal(evaluated_as<double>(f, Array<double>{1, 1}), Array<double>{3, 3}));
  EXPECT_TRUE(array_equal(evaluated_as<double>(f, Array<double>{-1, 0}), w));
  EXPECT_EQ(evaluated_as<double>([](TD x) { return cond(true, [](auto a) { return a; }, [](auto) { return 2.0; }, x); },
                                 Array<double>(7.))
                .item(),
            7);
}

TEST(Cond, OfBranchesWithOtherShapesIsAShapeErrorWithTheLine) {
  int line = 0;
  const std::string message = message_of<ShapeError>([&] {
    evaluated(
        [&](TD x) {
          line = __LINE__ + 1;
          return cond(sum(x) > 0, [](auto a) { return a; }, [](auto a) { return sum(a); }, x);
        },
        Array<double>{1, 2});
  });
  EXPECT_TRUE(message.starts_with("cond: ")) << message;
  EXPECT_NE(message.find(at_line("control_test.cpp", line)), std::string::npos) << message;
}

TEST(Cond, OfBranchesThatDifferInAStaticValueIsAShapeError) {
  const auto vectors = [](TD x) {
    return cond(x > 0, [](auto a) { return std::vector{a, a}; }, [](auto a) { return std::vector{a}; }, x);
  };
  const std::string message = message_of<ShapeError>([&] { evaluated(vectors, Array<double>(1.)); });
  EXPECT_TRUE(message.starts_with("cond: the branches' results differ in a size")) << message;
  const auto orders = [](TD x) {
    return cond(x > 0, [](auto a) { return State<TD>{a, a, 1}; }, [](auto a) { return State<TD>{a, a, 2}; }, x);
  };
  message_of<ShapeError>([&] { evaluated(orders, Array<double>(1.)); });
}

TEST(Switch, ClampsTheIndex) {
  const auto f = [](auto i, auto x) {
    const auto twice = [](auto a) { return a * 2; };
    const auto thrice = [](auto a) { return a * 3; };
    const auto negated = [](auto a) { return -a; };
    return switch_(i, std::tuple{twice, thrice, negated}, x);
  };
  for (const auto& [index, want] : std::map<int, double>{{0, 10}, {1, 15}, {2, -5}, {9, -5}, {-3, 10}}) {
    EXPECT_EQ(evaluated_as<double>(f, Array<int>(index), Array<double>(5.)).item(), want) << index;
  }
  EXPECT_EQ(evaluated_as<double>(f, Array<int64_t>(int64_t{1}), Array<double>(5.)).item(), 15);
  EXPECT_EQ(evaluated_as<double>([&](TD x) { return f(1, x); }, Array<double>(5.)).item(), 15);
}

TEST(WhileLoop, CarriesATree) {
  const auto f = [](TD x) {
    const auto end = while_loop([](auto s) { return std::get<1>(s) < 5; },
                                [x](auto s) {
                                  auto [a, k] = s;
                                  return std::tuple{a * x, k + 1};
                                },
                                std::tuple{1.0, 0});
    return std::get<0>(end);
  };
  EXPECT_EQ(evaluated_as<double>(f, Array<double>(2.)).item(), 32);
}

TEST(WhileLoop, KeepsAggregatesAndTheirStaticMembers) {
  const auto f = [](TD x) {
    const State<TD> last =
        while_loop([](const auto& s) { return s.position < 10; },
                   [](const auto& s) { return State<TD>{s.position + s.velocity * s.order, s.velocity, s.order}; },
                   State<TD>{x, x, 3});
    EXPECT_EQ(last.order, 3);
    return last.position;
  };
  EXPECT_EQ(evaluated_as<double>(f, Array<double>(1.)).item(), 10);
}

TEST(WhileLoop, WhoseCarryChangesShapeNamesTheLeafAndTheLine) {
  int line = 0;
  const std::string message = message_of<ShapeError>([&] {
    evaluated(
        [&](TD x) {
          line = __LINE__ + 1;
          return while_loop(
                     [](const auto& s) { return sum(s.position) < 3; },
                     [](const auto& s) { return State<TD>{s.position, stack({s.velocity, s.velocity}, 0), s.order}; },
                     State<TD>{x, x})
              .position;
        },
        Array<double>{1, 2});
  });
  EXPECT_TRUE(message.starts_with("while_loop: ")) << message;
  EXPECT_NE(message.find(".velocity"), std::string::npos) << message;
  EXPECT_NE(message.find("f64[2]"), std::string::npos) << message;
  EXPECT_NE(message.find("control_test.cpp"), std::string::npos) << message;
}

TEST(ForiLoop, CountsFromLowerToUpper) {
  const auto f = [](auto n) { return fori_loop(2, n, [](auto i, auto s) { return s * 10 + i; }, n * 0); };
  EXPECT_EQ(evaluated_as<int64_t>(f, Array<int64_t>(int64_t{5})).item(), 234);
  EXPECT_EQ(evaluated_as<int64_t>(f, Array<int64_t>(int64_t{1})).item(), 0);
  const auto fixed = [](TD x) {
    return fori_loop(
        0, 4,
        [](auto i, auto s) {
          static_assert(std::same_as<decltype(i), Tracer<int32_t>>);
          return s + i;
        },
        x);
  };
  EXPECT_EQ(evaluated_as<double>(fixed, Array<double>(0.5)).item(), 6.5);
}

TEST(Scan, StacksTheSlicesResults) {
  const auto f = [](TD xs) {
    auto [carry, ys] = scan([](auto c, auto x) { return std::pair{c + x, std::tuple{c, x * 2}}; }, 0.0, xs);
    return std::tuple{carry, ys};
  };
  std::vector<AnyArray> got = outputs(f, Array<double>{1, 2, 3});
  EXPECT_EQ(got[0].as<double>().item(), 6);
  EXPECT_TRUE(array_equal(got[1].as<double>(), Array<double>{0, 1, 3}));
  EXPECT_TRUE(array_equal(got[2].as<double>(), Array<double>{2, 4, 6}));
}

TEST(Scan, RunsInReverseAndWithoutSlices) {
  const auto reverse = [](TD xs) {
    return scan([](auto c, auto x) { return std::pair{c + x, c}; }, 0.0, xs, {.reverse = true, .unroll = 2}).second;
  };
  EXPECT_TRUE(array_equal(evaluated_as<double>(reverse, Array<double>{1, 2, 3}), Array<double>{5, 3, 0}));
  const auto count = [](TD x) {
    return scan([](auto c, auto) { return std::pair{c * 2, c}; }, x, std::tuple<>{}, {.length = 3}).second;
  };
  EXPECT_TRUE(array_equal(evaluated_as<double>(count, Array<double>(1.)), Array<double>{1, 2, 4}));
}

TEST(Scan, TakesTreesOfSlices) {
  const auto f = [](TD a, TD b) {
    const std::map<std::string, TD> xs{{"a", a}, {"b", b}};
    return scan([](auto c, const auto& x) { return std::pair{c + x.at("a") * x.at("b"), std::optional<TD>()}; }, 0.0,
                xs)
        .first;
  };
  EXPECT_EQ(evaluated_as<double>(f, Array<double>{1, 2}, Array<double>{3, 4}).item(), 11);
}

TEST(Scan, OfSlicesWithDifferentExtentsIsAShapeError) {
  const std::string message = message_of<ShapeError>([] {
    evaluated(
        [](TD a, TD b) {
          return scan([](auto c, auto x) { return std::pair{c + std::get<0>(x), c}; }, 0.0, std::tuple{a, b}).first;
        },
        Array<double>{1, 2}, Array<double>{1, 2, 3});
  });
  EXPECT_TRUE(message.starts_with("scan: ")) << message;
}

TEST(Map, StacksResults) {
  const auto f = [](TD xs) { return calque::map([](auto row) { return std::pair{sum(row), row * 2}; }, xs); };
  std::vector<AnyArray> got = outputs(f, Array<double>{{1, 2}, {3, 4}, {5, 6}});
  EXPECT_TRUE(array_equal(got[0].as<double>(), Array<double>{3, 7, 11}));
  EXPECT_EQ(got[1].shape(), (Shape{3, 2}));
}

TEST(AssociativeScan, GivesAllPrefixes) {
  const auto f = [](TD xs) {
    return associative_scan([](auto a, auto b) { return std::pair{a.first * b.first, a.second * b.first + b.second}; },
                            std::pair{xs, xs});
  };
  std::vector<AnyArray> got = outputs(f, Array<double>{1, 2, 3, 4, 5});
  EXPECT_TRUE(array_equal(got[0].as<double>(), Array<double>{1, 2, 6, 24, 120}));
  EXPECT_TRUE(array_equal(got[1].as<double>(), Array<double>{1, 4, 15, 64, 325}));
  const auto reversed = [](TD xs) {
    return associative_scan([](auto a, auto b) { return a + b; }, xs, {.reverse = true, .axis = 1});
  };
  EXPECT_TRUE(array_equal(evaluated_as<double>(reversed, Array<double>{{1, 2, 3}}), Array<double>{{6, 5, 3}}));
}

TEST(Control, OutsideATraceNamesJit) {
  int line = 0;
  const std::string message = message_of<LeakedTracerError>([&] {
    line = __LINE__ + 1;
    while_loop([](auto s) { return s < 1; }, [](auto s) { return s + 1; }, Array<float>(0.f));
  });
  EXPECT_EQ(message, "while_loop: needs a running trace; call it inside a function that cq::jit wraps " +
                         at_line("control_test.cpp", line));
}

TEST(WhileLoop, WhoseCarryChangesSizeNamesThePart) {
  const auto grows = [](TD x) {
    return fori_loop(
        0, 3,
        [](auto, auto c) {
          c.second.push_back(c.first);
          return c;
        },
        std::pair{x, std::vector{x, x}});
  };
  std::string message =
      message_of<ShapeError>([&] { evaluated([&](TD x) { return grows(x).first; }, Array<double>(1.)); });
  EXPECT_NE(message.find("2 elements and 3 elements at [1]"), std::string::npos) << message;
  const auto inserts = [](TD x) {
    return fori_loop(
        0, 3,
        [](auto, auto c) {
          c["b"] = c["a"];
          return c;
        },
        std::map<std::string, TD>{{"a", x}});
  };
  message = message_of<ShapeError>([&] { evaluated([&](TD x) { return inserts(x)["a"]; }, Array<double>(1.)); });
  EXPECT_NE(message.find("1 element and 2 elements"), std::string::npos) << message;
}

TEST(ForiLoop, WithABoundThatIsTooGreatNamesTheRemedy) {
  const std::string message = message_of<DTypeError>([&] {
    evaluated([](TD x) { return fori_loop(0, 5000000000LL, [](auto, auto c) { return c; }, x); }, Array<double>(1.));
  });
  EXPECT_TRUE(
      message.starts_with("fori_loop: the upper bound 5000000000 does not fit int32_t, in which bounds that are "
                          "C++ integers count; pass an int64_t array or tracer"))
      << message;
}

TEST(Control, NestedTooDeeplyIsACompileErrorWithTheLine) {
  int line = 0;
  std::function<TD(TD, int)> nest = [&](TD x, int depth) -> TD {
    if (depth == 0) return x * 2.0;
    line = __LINE__ + 1;
    return fori_loop(0, 1, [&](auto, TD c) { return nest(c, depth - 1); }, x);
  };
  EXPECT_EQ(evaluated_as<double>([&](TD x) { return nest(x, 50); }, Array<double>(1.)).item(), 2);
  const std::string message =
      message_of<CompileError>([&] { evaluated([&](TD x) { return nest(x, 2000); }, Array<double>(1.)); });
  EXPECT_EQ(message, "fori_loop: control flow is nested more than 200 deep " + at_line("control_test.cpp", line));
}

}  // namespace
}  // namespace calque::test
