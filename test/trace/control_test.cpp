// Control flow: the same programs as graphs and eagerly, and its error messages.
#include "calque/detail/control/control.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/trace_eval.h"

namespace calque::test {
namespace {

namespace ops = detail::ops;
using detail::ControlSite;
using detail::literal_operand;
using detail::TraceBody;
using In = std::span<const Handle>;

const Type kScalar{DType::f32, {}};
const ControlSite kSite{kHere, {}};

/// The results of f under an ordinary and under an eager trace, which must agree.
template <class F>
std::vector<AnyArray> both_ways(const std::vector<AnyArray>& inputs, F&& f) {
  const std::vector<AnyArray> traced = results_of(inputs, f);
  detail::TraceOptions options;
  options.eager = true;
  options.values = inputs;
  const std::vector<Type> types = types_of(inputs);
  const auto eager = detail::trace_graph("eager", types, [&](In in, Handles& out) { out = f(in); }, options);
  EXPECT_EQ(eager.values.size(), traced.size());
  for (size_t i = 0; i < traced.size(); ++i) EXPECT_TRUE(identical(traced[i], eager.values[i])) << i;
  return traced;
}

Handle plus(Handle a, Handle b) { return ops::add(a, b, kHere); }
Handle times(Handle a, Handle b) { return ops::multiply(a, b, kHere); }

TEST(Cond, TakesOneBranchAndUnifiesCaptures) {
  const auto f = [](In x) {
    const Handle positive = ops::greater(x[0], literal_operand(0), kHere);
    const TraceBody on_true = [&](In y, Handles& out) { out = {times(y[0], x[1])}; };
    const TraceBody on_false = [&](In y, Handles& out) { out = {plus(plus(y[0], x[2]), x[1])}; };
    return detail::cond(positive, on_true, on_false, x.first(1), kSite);
  };
  EXPECT_EQ(elements<float>(both_ways({scalar(2.f), scalar(10.f), scalar(100.f)}, f)[0])[0], 20.f);
  EXPECT_EQ(elements<float>(both_ways({scalar(-2.f), scalar(10.f), scalar(100.f)}, f)[0])[0], 108.f);
}

TEST(Cond, BranchesMayCaptureThroughTwoLevels) {
  const auto f = [](In x) {
    const Handle positive = ops::greater(x[0], literal_operand(0), kHere);
    const TraceBody outer = [&](In, Handles& out) {
      const TraceBody inner = [&](In, Handles& o) { o = {times(x[0], x[1])}; };
      const TraceBody other = [&](In, Handles& o) { o = {x[1]}; };
      out = detail::cond(positive, inner, other, {}, kSite);
    };
    const TraceBody otherwise = [&](In, Handles& out) { out = {x[0]}; };
    return detail::cond(positive, outer, otherwise, {}, kSite);
  };
  EXPECT_EQ(elements<float>(both_ways({scalar(2.f), scalar(10.f)}, f)[0])[0], 20.f);
  EXPECT_EQ(elements<float>(both_ways({scalar(-2.f), scalar(10.f)}, f)[0])[0], -2.f);
}

TEST(Cond, NamesThePathWhereBranchesDiffer) {
  const std::string paths[] = {".position", ".velocity"};
  const ControlSite site{kHere, paths};
  const TraceBody on_true = [](In y, Handles& out) { out = {y[0], y[0]}; };
  const TraceBody on_false = [](In y, Handles& out) { out = {y[0], ops::cast(y[0], DType::f64, kHere)}; };
  EXPECT_EQ(words_of<DTypeError>({{DType::bool_, {}}, kScalar},
                                 [&](const auto& x) {
                                   const Handle operands[] = {x[1].handle()};
                                   detail::cond(x[0], on_true, on_false, operands, site);
                                 }),
            "cond: branches return different types, f32[] and f64[] (path .velocity, model.cpp:42)");
}

TEST(Switch, ClampsTheIndex) {
  for (const AnyArray& index :
       {scalar<int64_t>(-(int64_t{1} << 32)), scalar<int64_t>(1), scalar<int64_t>(int64_t{1} << 32)}) {
    const auto f = [](In x) {
      const TraceBody same = [](In y, Handles& out) { out = {y[0]}; },
                      twice = [](In y, Handles& out) { out = {plus(y[0], y[0])}; },
                      scaled = [&](In y, Handles& out) { out = {times(y[0], x[1])}; };
      const detail::BodyRef branches[] = {same, twice, scaled};
      return detail::switch_(x[0], branches, x.subspan(1), kSite);
    };
    const int64_t i = *index.data_as<int64_t>();
    EXPECT_EQ(elements<float>(both_ways({index, scalar(7.f)}, f)[0])[0], i < 0 ? 7.f : i == 1 ? 14.f : 49.f);
  }
}

TEST(While, LoopsWithCapturesInConditionAndBody) {
  const auto f = [](In x) {
    const TraceBody condition = [&](In s, Handles& out) { out = {ops::less(s[0], x[1], kHere)}; };
    const TraceBody body = [&](In s, Handles& out) {
      out = {times(s[0], x[2]), ops::add(s[1], literal_operand(1), kHere)};
    };
    const Handle initial[] = {x[0], detail::lift(literal_operand(0), DType::i32, kHere)};
    return detail::while_loop(condition, body, initial, kSite);
  };
  const auto r = both_ways({scalar(1.f), scalar(100.f), scalar(3.f)}, f);
  EXPECT_EQ(elements<float>(r[0])[0], 243.f);
  EXPECT_EQ(elements<int32_t>(r[1])[0], 5);
}

TEST(While, PerElementLoopsKeepFinishedElements) {
  const auto f = [](In x) {
    const TraceBody condition = [&](In s, Handles& out) { out = {ops::less(s[0], literal_operand(100), kHere)}; };
    const TraceBody body = [&](In s, Handles& out) {
      out = {ops::multiply(s[0], literal_operand(2), kHere), ops::add(s[1], literal_operand(1), kHere)};
    };
    return detail::while_loop(condition, body, x, kSite, /*per_element=*/true);
  };
  const auto r = both_ways({vec<int32_t>({1, 60, 200}), arr<int32_t>({3, 2}, {0, 0, 0, 0, 0, 0})}, f);
  EXPECT_EQ(elements<int32_t>(r[0]), (std::vector<int32_t>{128, 120, 200}));
  EXPECT_EQ(elements<int32_t>(r[1]), (std::vector<int32_t>{7, 7, 1, 1, 0, 0}));
}

TEST(While, SaysWhatIsWrongWithConditionAndCarry) {
  const TraceBody less = [](In s, Handles& out) { out = {ops::less(s[0], literal_operand(9), kHere)}; };
  const TraceBody same = [](In s, Handles& out) { out.assign(s.begin(), s.end()); };
  const TraceBody wider = [](In s, Handles& out) {
    out = {ops::concatenate(std::vector<Operand>{s[0], s[0]}, 0, kHere)};
  };
  const Type row{DType::f32, Shape{2}};
  const auto words = [&](auto tag, const Type& type, const TraceBody& condition, const TraceBody& body) {
    return words_of<typename decltype(tag)::type>({type}, [&](const auto& x) {
      const Handle initial[] = {x[0].handle()};
      detail::while_loop(condition, body, initial, kSite);
    });
  };
  EXPECT_EQ(words(std::type_identity<ShapeError>{}, row, less, same),
            "while_loop: the condition must return a scalar, got bool[2]; reduce it with any or all (model.cpp:42)");
  EXPECT_EQ(words(std::type_identity<DTypeError>{}, kScalar, same, same),
            "while_loop: the condition must return a bool, got f32[] (model.cpp:42)");
  const TraceBody any = [](In s, Handles& out) {
    out = {ops::any(ops::less(s[0], literal_operand(9), kHere), {}, false, kHere)};
  };
  EXPECT_EQ(words(std::type_identity<ShapeError>{}, row, any, wider),
            "while_loop: carry changes shape, f32[2] in and f32[4] out (model.cpp:42)");
}

TEST(Fori, CountsUpFromTheLowerBound) {
  const auto f = [](In x) {
    const TraceBody body = [&](In s, Handles& out) {
      out = {plus(times(s[1], x[1]), ops::cast(s[0], DType::f32, kHere))};
    };
    return detail::fori_loop(literal_operand(2), literal_operand(5), DType::i32, body, x.first(1), kSite);
  };
  // ((1 * 10 + 2) * 10 + 3) * 10 + 4
  EXPECT_EQ(elements<float>(both_ways({scalar(1.f), scalar(10.f)}, f)[0])[0], 1234.f);
}

TEST(Fori, IsAScanWhereBoundsAreKnownElseAWhile) {
  const TraceBody body = [](In s, Handles& out) { out = {plus(s[1], s[1])}; };
  const auto r = trace({kScalar, {DType::i64, {}}}, [&](In x) {
    Handles a = detail::fori_loop(literal_operand(0), literal_operand(3), DType::i32, body, x.first(1), kSite);
    const Handles b = detail::fori_loop(literal_operand(0), x[1], DType::i64, body, x.first(1), kSite);
    a.push_back(b[0]);
    return a;
  });
  EXPECT_EQ(r.graph.equations()[0].primitive(), "scan");
  EXPECT_EQ(r.graph.equations()[1].primitive(), "while");
  const auto values = reference::evaluate(r.graph, std::vector{scalar(1.f), scalar<int64_t>(4)});
  EXPECT_EQ(elements<float>(values[0])[0], 8.f);
  EXPECT_EQ(elements<float>(values[1])[0], 16.f);
}

TEST(Fori, RunsNoIterationWhereBoundsCross) {
  const auto f = [](In x) {
    const TraceBody body = [](In s, Handles& out) { out = {plus(s[1], s[1])}; };
    Handles a = detail::fori_loop(literal_operand(3), literal_operand(0), DType::i32, body, x.first(1), kSite);
    const Handles b = detail::fori_loop(x[1], literal_operand(0), DType::i32, body, x.first(1), kSite);
    a.push_back(b[0]);
    return a;
  };
  for (const AnyArray& r : both_ways({scalar(5.f), scalar<int32_t>(3)}, f)) EXPECT_EQ(elements<float>(r)[0], 5.f);
}

TEST(Fori, NamesThePathOfTheCarry) {
  const std::string paths[] = {".x"};
  const TraceBody body = [](In s, Handles& out) { out = {ops::cast(s[1], DType::f64, kHere)}; };
  EXPECT_EQ(words_of<DTypeError>({kScalar},
                                 [&](const auto& x) {
                                   const Handle initial[] = {x[0].handle()};
                                   detail::fori_loop(literal_operand(0), literal_operand(3), DType::i32, body, initial,
                                                     {kHere, paths});
                                 }),
            "fori_loop: carry changes type, f32[] in and f64[] out (path .x, model.cpp:42)");
  const TraceBody more = [](In s, Handles& out) { out = {s[1], s[1]}; };
  EXPECT_EQ(words_of<ShapeError>({kScalar},
                                 [&](const auto& x) {
                                   const Handle initial[] = {x[0].handle()};
                                   detail::fori_loop(literal_operand(0), literal_operand(3), DType::i32, more, initial,
                                                     {kHere, paths});
                                 }),
            "fori_loop: the carry has 1 leaves and the body returns 2 (model.cpp:42)");
}

TEST(Scan, CarriesAndStacks) {
  for (const bool reverse : {false, true}) {
    const auto f = [&](In x) {
      const TraceBody body = [&](In s, Handles& out) {
        const Handle next = plus(times(s[0], x[2]), s[1]);
        out = {next, next, ops::negative(s[0], kHere)};
      };
      return detail::scan(body, x.first(1), x.subspan(1, 1), {-1, reverse, 2}, kSite);
    };
    const auto r = both_ways({scalar(0.f), vec<float>({1, 2, 3}), scalar(10.f)}, f);
    EXPECT_EQ(elements<float>(r[0])[0], reverse ? 321.f : 123.f);
    EXPECT_EQ(elements<float>(r[1]), reverse ? (std::vector<float>{321, 32, 3}) : (std::vector<float>{1, 12, 123}));
    EXPECT_EQ(elements<float>(r[2])[reverse ? 2 : 0], 0.f);
  }
}

TEST(Scan, OfNothingGivesEmptyResults) {
  const auto f = [](In x) {
    const TraceBody body = [](In s, Handles& out) { out = {s[0], ops::add(s[1], s[0], kHere)}; };
    return detail::scan(body, x.first(1), x.subspan(1), {}, kSite);
  };
  const auto r = both_ways({scalar(4.f), AnyArray::full<float>(Shape{0, 2}, 0)}, f);
  EXPECT_EQ(elements<float>(r[0])[0], 4.f);
  EXPECT_EQ(r[1].type(), (Type{DType::f32, Shape{0, 2}}));
}

TEST(Scan, SaysWhatIsWrong) {
  const std::string paths[] = {".velocity"};
  const TraceBody grows = [](In s, Handles& out) {
    out = {ops::concatenate(std::vector<Operand>{s[0], s[0]}, 0, kHere)};
  };
  EXPECT_EQ(words_of<ShapeError>({{DType::f32, Shape{3}}, {DType::f32, Shape{5}}},
                                 [&](const auto& x) {
                                   const Handle carry[] = {x[0].handle()}, xs[] = {x[1].handle()};
                                   detail::scan(grows, carry, xs, {}, {kHere, paths});
                                 }),
            "scan: carry changes shape, f32[3] in and f32[6] out (path .velocity, model.cpp:42)");
  const TraceBody same = [](In s, Handles& out) { out = {s[0]}; };
  EXPECT_EQ(words_of<ShapeError>({kScalar},
                                 [&](const auto& x) {
                                   const Handle carry[] = {x[0].handle()};
                                   detail::scan(same, carry, {}, {}, kSite);
                                 }),
            "scan: needs a length where there are no arrays to go along (model.cpp:42)");
}

TEST(Map, StacksTheResults) {
  const auto f = [](In x) {
    const TraceBody body = [&](In s, Handles& out) { out = {times(s[0], x[1]), ops::sum(s[0], {}, false, kHere)}; };
    return detail::map(body, x.first(1), kSite);
  };
  const auto r = both_ways({arr<float>({2, 2}, {1, 2, 3, 4}), scalar(10.f)}, f);
  EXPECT_EQ(elements<float>(r[0]), (std::vector<float>{10, 20, 30, 40}));
  EXPECT_EQ(elements<float>(r[1]), (std::vector<float>{3, 7}));
}

int64_t count_of(const Graph& g, std::string_view primitive) {
  return std::ranges::count_if(g.equations(), [&](const Equation& e) { return e.primitive() == primitive; });
}

/// Composition of affine maps, which does not commute: (a, b) then (c, d) is (ac, bc + d).
const TraceBody compose = [](In s, Handles& out) { out = {times(s[0], s[2]), plus(times(s[1], s[2]), s[3])}; };

TEST(AssociativeScan, IsTheSequentialOneForEveryLength) {
  std::mt19937 generator(3);
  for (const int64_t n : {0, 1, 2, 3, 4, 5, 7, 8, 13, 16, 33, 128, 129, 257, 300}) {
    for (const bool reverse : {false, true}) {
      const AnyArray a = random_array<double>(Shape{2, n}, generator, 1.2),
                     b = random_array<double>(Shape{2, n}, generator);
      const auto r = results_of({a, b}, [&](In x) { return detail::associative_scan(compose, x, reverse, -1, kSite); });
      for (int64_t row = 0; row < 2; ++row) {
        double p = 1, q = 0;
        for (int64_t k = 0; k < n; ++k) {
          const int64_t at = row * n + (reverse ? n - 1 - k : k);
          const double c = a.data_as<double>()[at], d = b.data_as<double>()[at];
          q = q * c + d;
          p = p * c;
          EXPECT_NEAR(r[0].data_as<double>()[at], p, 1e-9 * (1 + std::abs(p)));
          EXPECT_NEAR(r[1].data_as<double>()[at], q, 1e-9 * (1 + std::abs(q)));
        }
      }
    }
  }
}

// A level slices its pairs, its first element, and what is combined with those between: a slice of a result would be
// computed again. Operations on whole arrays have levels down to one element.
TEST(AssociativeScan, SlicesNoResult) {
  const TraceBody add_sums = [](In s, Handles& out) {
    out = {plus(plus(s[0], s[1]),
                ops::subtract(ops::sum(s[0], {}, false, kHere), ops::sum(s[0], {}, false, kHere), kHere))};
  };
  for (const auto& [n, slices] : {std::pair<int64_t, int64_t>{7, 4 + 4}, {15, 4 + 4 + 4}}) {
    const Type types[] = {{DType::f32, Shape{n}}};
    const auto scan = [&](In in, Handles& out) { out = detail::associative_scan(add_sums, in, false, 0, kSite); };
    const Graph g = detail::trace_graph("scan", types, scan, {}).graph;
    EXPECT_EQ(count_of(g, "slice"), slices) << n;
    EXPECT_EQ(count_of(g, "scan"), 0) << n;
  }
}

// Each level has kernels of its own: few elements are combined in a loop, fewer if its steps take long.
TEST(AssociativeScan, CombinesFewElementsInALoop) {
  const TraceBody multiply = [](In s, Handles& out) { out = {times(s[0], s[1])}; };
  const TraceBody log_of_sum = [](In s, Handles& out) { out = {ops::logaddexp(s[0], s[1], kHere)}; };
  const auto products = [&](const TraceBody& op, int64_t n) {
    const Type types[] = {{DType::f32, Shape{n}}};
    const auto scan = [&](In in, Handles& out) { out = detail::associative_scan(op, in, false, 0, kSite); };
    const Graph g = detail::trace_graph("scan", types, scan, {}).graph;
    EXPECT_EQ(count_of(g, "scan"), 1) << n;
    return std::pair{count_of(g, "mul"), count_of(g, "log1p")};
  };
  EXPECT_EQ(products(multiply, 128).first, 0);
  EXPECT_EQ(products(multiply, 129).first, 2);
  EXPECT_EQ(products(multiply, 1000).first, 6);
  EXPECT_EQ(products(log_of_sum, 16).second, 0);
  EXPECT_EQ(products(log_of_sum, 17).second, 2);
}

TEST(AssociativeScan, OfMatrices) {
  std::mt19937 generator(5);
  const AnyArray x = random_array<double>(Shape{9, 2, 2}, generator);
  const TraceBody multiply = [](In s, Handles& out) { out = {ops::matmul(s[0], s[1], kHere)}; };
  const auto r = both_ways({x}, [&](In in) { return detail::associative_scan(multiply, in, false, 0, kSite); });
  const double* const m = x.data_as<double>();
  double p[4] = {1, 0, 0, 1};
  for (int64_t k = 0; k < 9; ++k) {
    const double* const b = m + 4 * k;
    const double q[4] = {p[0] * b[0] + p[1] * b[2], p[0] * b[1] + p[1] * b[3], p[2] * b[0] + p[3] * b[2],
                         p[2] * b[1] + p[3] * b[3]};
    for (int i = 0; i < 4; ++i)
      EXPECT_NEAR(r[0].data_as<double>()[4 * k + i], p[i] = q[i], 1e-12 * (1 + std::abs(q[i])));
  }
}

TEST(AssociativeScan, NeedsAnOperationThatKeepsTypes) {
  const TraceBody drops = [](In s, Handles& out) { out = {ops::sum(s[0], {}, false, kHere)}; };
  EXPECT_EQ(words_of<ShapeError>({{DType::f32, Shape{4}}},
                                 [&](const auto& x) {
                                   const Handle xs[] = {x[0].handle()};
                                   detail::associative_scan(drops, xs, false, 0, kSite);
                                 }),
            "associative_scan: the operation changes a type, f32[2] in and f32[] out (model.cpp:42)");
}

TEST(Control, NeedsATrace) {
  const TraceBody body = [](In, Handles&) {};
  EXPECT_THROW(detail::map(body, {}, kSite), LeakedTracerError);
}

}  // namespace
}  // namespace calque::test
