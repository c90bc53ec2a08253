// Derivatives of every primitive that has them, from the op table: forward mode against differences of first and second
// order, reverse mode against forward mode, narrow dtypes against f64, compiled code against the reference.
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "reference/evaluate.h"
#include "support/derivative_cases.h"
#include "support/native.h"
#include "transform/autodiff/jvp.h"
#include "transform/autodiff/vjp.h"
#include "transform/simplify/simplify.h"

namespace calque::test {
namespace {

using Arrays = std::vector<AnyArray>;

Arrays concatenated(Arrays a, const Arrays& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// The last `n` arrays.
Arrays last(const Arrays& all, size_t n) { return {all.end() - static_cast<std::ptrdiff_t>(n), all.end()}; }

/// The error message with the graph that caused it, or nothing.
std::string with_graph(const std::string& wrong, const Graph& graph) {
  return wrong.empty() ? wrong : wrong + "\n" + print(graph);
}

Graph verified(Graph graph) {
  graph.verify("the transformation");
  return graph;
}

/// The primitives without a derivative in a mode, and part of the error message.
const std::map<std::string, std::string>& refused_in_forward_mode() {
  static const std::map<std::string, std::string> table = {
      {"nextafter", "steps from number to number and has no derivative"},
      {"custom_vjp", "has no forward-mode derivative"},
      {"captured", "pass it as an argument of the function, or capture stop_gradient of it"},
  };
  return table;
}

const std::map<std::string, std::string>& refused_in_reverse_mode() {
  static const std::map<std::string, std::string> table = [] {
    auto refused = refused_in_forward_mode();
    refused.erase("custom_vjp");
    refused.emplace("while", "use scan or fori_loop with static bounds, or give the function a custom_vjp");
    return refused;
  }();
  return table;
}

/// The rule of custom_vjp in the op table is not the derivative of its body.
bool rule_is_derivative(const DerivativeCase& c) { return c.name() != "custom_vjp"; }

/// Whether f64 differences give the derivative: not for stop_gradient, nor for values rounded to a narrower type.
bool has_differences(const DerivativeCase& c) {
  return !refused_in_forward_mode().contains(c.name()) && c.name() != "stop_gradient" &&
         coarsest_epsilon(c.graph) == epsilon(DType::f64);
}

Arrays directions(const Graph& g, Rng& rng) { return select(uniform(g.input_types(), rng), inexact_inputs(g)); }

/// Compares the tangents of a graph with differences at a point. A kink is counted and is no error.
std::string differences_error(const Graph& g, const Arrays& x, Rng& rng, double rtol, int& kinks) {
  const std::vector<bool> active = inexact_inputs(g);
  const Arrays v = directions(g, rng);
  const Graph pushed = verified(transform::jvp(g, active));
  if (!smooth_near(g, x, active, v, rtol)) {
    ++kinks;
    return {};
  }
  const Arrays got = last(reference::evaluate(pushed, concatenated(x, v)), g.outputs().size());
  const Arrays want = differences(g, x, active, v);
  return with_graph(far_apart(got, want, rtol, 0.1 * rtol * (1 + largest(want))), pushed);
}

// ---- forward mode

TEST(Derivatives, ForwardModeEqualsDifferences) {
  int kinks = 0;
  const int count = for_each_derivative_case(DType::f64, 2, [&](const DerivativeCase& c, Rng& rng) -> std::string {
    if (!has_differences(c)) return {};
    return differences_error(c.graph, c.op.operands, rng, 1e-7, kinks);
  });
  EXPECT_GT(count, 1000);
  EXPECT_LT(kinks, count / 50);
}

TEST(Derivatives, OfSecondOrderEqualDifferencesOfTheFirst) {
  int kinks = 0;
  const int count = for_each_derivative_case(DType::f64, 1, [&](const DerivativeCase& c, Rng& rng) -> std::string {
    if (!has_differences(c)) return {};
    const Graph first = transform::jvp(c.graph, inexact_inputs(c.graph));
    return differences_error(first, concatenated(c.op.operands, directions(c.graph, rng)), rng, 1e-6, kinks);
  });
  EXPECT_GT(count, 500);
  EXPECT_LT(kinks, count / 20);
}

TEST(Derivatives, OfComplexFunctionsEqualDifferences) {
  int kinks = 0;
  const int count = for_each_derivative_case(DType::c128, 2, [&](const DerivativeCase& c, Rng& rng) -> std::string {
    if (!has_differences(c)) return {};
    return differences_error(c.graph, c.op.operands, rng, 1e-7, kinks);
  });
  EXPECT_GT(count, 400);
  EXPECT_LT(kinks, count / 20);
}

TEST(Derivatives, ByOneInputAreThoseWithZeroTangentsOfTheOthers) {
  for_each_derivative_case(DType::f64, 1, [&](const DerivativeCase& c, Rng& rng) -> std::string {
    const std::vector<bool> all = inexact_inputs(c.graph);
    if (refused_in_forward_mode().contains(c.name()) || std::ranges::count(all, true) < 2) return {};
    const Arrays v = directions(c.graph, rng);
    const Graph pushed = transform::jvp(c.graph, all);
    for (size_t i = 0, k = 0; i < all.size(); ++i) {
      if (!all[i]) continue;
      std::vector<bool> one(all.size(), false);
      one[i] = true;
      Arrays zeros;
      for (size_t j = 0; j < v.size(); ++j) zeros.push_back(j == k ? v[j] : uniform(v[j].type(), rng, 0, 0));
      const Graph by_one = verified(transform::jvp(c.graph, one));
      const Arrays got = reference::evaluate(by_one, concatenated(c.op.operands, {v[k]}));
      const Arrays want = reference::evaluate(pushed, concatenated(c.op.operands, zeros));
      const std::string wrong = far_apart(got, want, 1e-12, 1e-12);
      if (!wrong.empty()) return with_graph(wrong, by_one);
      ++k;
    }
    return {};
  });
}

// ---- reverse mode

bool has_reverse_mode(const DerivativeCase& c) {
  return rule_is_derivative(c) && !refused_in_reverse_mode().contains(c.name());
}

int check_transposition(DType dtype) {
  return for_each_derivative_case(dtype, 2, [&](const DerivativeCase& c, Rng& rng) -> std::string {
    if (!has_reverse_mode(c)) return {};
    const Graph pulled = verified(transform::vjp(c.graph, inexact_inputs(c.graph)));
    return with_graph(transposition_error(c.graph, c.op.operands, rng, 16 * coarsest_epsilon(c.graph)), pulled);
  });
}

TEST(Derivatives, ReverseModeIsTheTransposeOfForwardMode) { EXPECT_GT(check_transposition(DType::f64), 1000); }
TEST(Derivatives, ReverseModeIsTheTransposeForComplexNumbers) { EXPECT_GT(check_transposition(DType::c128), 400); }

/// Reverse over forward: the transpose of the second derivative.
TEST(Derivatives, ReverseModeOfForwardModeIsTheTransposeOfTheSecondOrder) {
  for_each_derivative_case(DType::f64, 1, [&](const DerivativeCase& c, Rng& rng) -> std::string {
    if (!has_reverse_mode(c)) return {};
    const Graph first = transform::jvp(c.graph, inexact_inputs(c.graph));
    const Arrays x = concatenated(c.op.operands, directions(c.graph, rng));
    return with_graph(transposition_error(first, x, rng, 64 * coarsest_epsilon(first)), first);
  });
}

TEST(Derivatives, ForwardModeOfReverseModeIsTheTransposeOfItsReverse) {
  for_each_derivative_case(DType::f64, 1, [&](const DerivativeCase& c, Rng& rng) -> std::string {
    if (!has_reverse_mode(c)) return {};
    const Graph first = transform::vjp(c.graph, inexact_inputs(c.graph));
    const Arrays x = concatenated(c.op.operands, uniform(c.graph.output_types(), rng));
    return with_graph(transposition_error(first, x, rng, 64 * coarsest_epsilon(first)), first);
  });
}

// ---- other dtypes, compiled code

Arrays widened(Arrays arrays) {
  for (AnyArray& a : arrays) {
    if (is_inexact(a.dtype())) a = converted(a, is_complex(a.dtype()) ? DType::c128 : DType::f64);
  }
  return arrays;
}

/// A transformed graph against its f64 counterpart on the same numbers, within the rounding errors of the operands.
std::string dtype_error(const Graph& narrow, const Graph& wide, const Arrays& inputs, double eps) {
  const Arrays got = widened(reference::evaluate(verified(narrow), inputs));
  const Arrays want = reference::evaluate(wide, widened(inputs));
  const double size = 1 + std::max(largest(want), largest(widened(inputs)));
  return with_graph(far_apart(got, want, 64 * eps, 64 * eps * size), narrow);
}

void check_dtype(DType dtype, DType wide) {
  const int count = for_each_derivative_case(wide, 1, [&](const DerivativeCase& c, Rng& rng) -> std::string {
    if (refused_in_reverse_mode().contains(c.name()) || c.name() == "convert") return {};
    // Rounding decides in which order eig finds values; test/linalg compares what does not depend on it.
    if (c.name() == "eig") return {};
    if (!primitives::contains(c.row->dtypes, dtype)) return {};
    const OpCase narrow = c.in_dtype(dtype);
    const Graph g = graph_of(*c.row, narrow);
    const std::vector<bool> active = inexact_inputs(g);
    if (rule_is_derivative(c)) {
      const Arrays x = concatenated(narrow.operands, directions(g, rng));
      const std::string wrong =
          dtype_error(transform::jvp(g, active), transform::jvp(c.graph, active), x, epsilon(dtype));
      if (!wrong.empty()) return wrong;
    }
    const Arrays x = concatenated(narrow.operands, uniform(g.output_types(), rng));
    return dtype_error(transform::vjp(g, active), transform::vjp(c.graph, active), x, epsilon(dtype));
  });
  EXPECT_GT(count, 150);
}

TEST(Derivatives, InF32AgreeWithF64) { check_dtype(DType::f32, DType::f64); }
TEST(Derivatives, InF16AgreeWithF64) { check_dtype(DType::f16, DType::f64); }
TEST(Derivatives, InBf16AgreeWithF64) { check_dtype(DType::bf16, DType::f64); }
TEST(Derivatives, InC64AgreeWithC128) { check_dtype(DType::c64, DType::c128); }

std::string compiled_error(const Graph& g, const Arrays& x) {
  const Arrays want = reference::evaluate(g, x);
  return with_graph(far_apart(run_native(g, x), want, 1e-4, 1e-5 * (1 + largest(want))), g);
}

TEST(Derivatives, CompiledAgreeWithTheReference) {
  const std::set<std::vector<int64_t>> shapes = {{7}, {3, 4}};
  for_each_derivative_case(DType::f32, 1, [&](const DerivativeCase& c, Rng& rng) -> std::string {
    if (refused_in_reverse_mode().contains(c.name()) || !shapes.contains({c.shape.begin(), c.shape.end()})) return {};
    for (uint32_t i = 0; i < c.graph.num_values(); ++i) {
      if (is_complex(c.graph.dtype(Value(i)))) return {};  // compiled code has no complex numbers
    }
    const std::vector<bool> active = inexact_inputs(c.graph);
    const Arrays cotangents = uniform(c.graph.output_types(), rng);
    std::string wrong = compiled_error(transform::vjp(c.graph, active), concatenated(c.op.operands, cotangents));
    if (wrong.empty() && rule_is_derivative(c)) {
      wrong = compiled_error(transform::jvp(c.graph, active), concatenated(c.op.operands, directions(c.graph, rng)));
    }
    return wrong;
  });
}

// ---- equations without a derivative

/// The message of the GradError, or what happened instead.
template <class F>
std::string grad_error_of(F&& f) {
  try {
    f();
  } catch (const GradError& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("another error: ") + e.what();
  }
  return "no error";
}

void check_refusals(const std::map<std::string, std::string>& refused,
                    Graph (*transformed)(const Graph&, const std::vector<bool>&)) {
  std::set<std::string> seen;
  for_each_derivative_case(DType::f64, 1, [&](const DerivativeCase& c, Rng&) -> std::string {
    // Equations on empty arrays are simplified away.
    if (c.shape.num_elements() == 0) return {};
    const std::string words = grad_error_of([&] { transformed(c.graph, inexact_inputs(c.graph)); });
    const auto reason = refused.find(c.name());
    if (reason == refused.end()) return words == "no error" ? "" : words;
    seen.insert(c.name());
    return words.find(reason->second) == std::string::npos ? words : "";
  });
  for (const auto& [name, reason] : refused) EXPECT_TRUE(seen.contains(name)) << name << " has no case";
}

TEST(Derivatives, AreRefusedInForwardModeWithTheReason) { check_refusals(refused_in_forward_mode(), &transform::jvp); }
TEST(Derivatives, AreRefusedInReverseModeWithTheReason) { check_refusals(refused_in_reverse_mode(), &transform::vjp); }

TEST(Derivatives, OfWhatNothingActiveReachesAreNotRefused) {
  const Graph g = parse(
      "calque 1\n"
      "graph (%0: f64[3], %1: f64[3]) {\n"
      "  %2 = nextafter %0 %0\n"
      "  %3 = mul %2 %1\n"
      "  return %3\n"
      "}\n");
  EXPECT_NO_THROW(transform::jvp(g, {false, true}));
  EXPECT_NO_THROW(transform::vjp(g, {false, true}));
  EXPECT_THROW(transform::jvp(g, {true, false}), GradError);
  EXPECT_THROW(transform::vjp(g, {true, false}), GradError);
}

std::string vjp_error_of(const std::string& text) {
  const Graph g = parse("calque 1\n" + text);
  return grad_error_of([&] { transform::vjp(g, inexact_inputs(g)); });
}

TEST(Derivatives, RefusalsNameTheLine) {
  EXPECT_EQ(vjp_error_of(R"(graph (%0: f64[3]) {
  %1 = nextafter %0 1.0:f64[3] loc("/src/model.cpp":42:7)
  return %1
})"),
            "nextafter: steps from number to number and has no derivative (model.cpp:42)");
}

TEST(Derivatives, OfALoopOfUnknownLengthNameTheRemedies) {
  EXPECT_EQ(vjp_error_of(R"(graph (%0: f64[]) {
  %1 = scan[carry=1, consts=0, length=2, reverse=false, unroll=1] %0 {
    (%0: f64[]) {
      %1 = while[body_consts=0, cond_consts=0] %0 {
        (%0: f64[]) { %1 = lt %0 5.0:f64[]  return %1 }
        (%0: f64[]) { %1 = add %0 2.0:f64[]  return %1 }
      } loc("/src/model.cpp":7:1)
      return %1
    }
  } loc("/src/model.cpp":9:1)
  return %1
})"),
            "while: has no reverse-mode derivative, since the number of its steps is not known; use scan or fori_loop "
            "with static bounds, or give the function a custom_vjp (model.cpp:7)");
}

TEST(Derivatives, InForwardModeOfACustomVjpNameItsLine) {
  const Graph g = parse(R"(calque 1
graph (%0: f64[]) {
  %1 = custom_vjp %0 {
    (%0: f64[]) { return %0 }
    (%0: f64[]) { return %0 }
    (%0: f64[]) { return %0 }
  } loc("/src/model.cpp":11:1)
  return %1
})");
  const std::string words = grad_error_of([&] { transform::jvp(g, {true}); });
  EXPECT_NE(words.find("has no forward-mode derivative"), std::string::npos) << words;
  EXPECT_NE(words.find("(model.cpp:11)"), std::string::npos) << words;
}

/// Results that are not floats have zero tangents and ignore cotangents, for every primitive.
TEST(Derivatives, OfIntegerResultsAreZero) {
  for (const OpRow& row : op_table()) {
    Rng rng(position(row) + 5);
    if (!primitives::contains(row.dtypes, DType::f64) || row.primitive().has_effect) continue;
    const auto c = row.make({DType::f64, {3, 4}, Domain::moderate}, rng);
    if (!c) continue;
    const Graph g = graph_of(row, *c);
    if (std::ranges::any_of(g.outputs(), [&](Value v) { return is_inexact(g.dtype(v)); })) continue;
    const Graph pushed = transform::jvp(g, inexact_inputs(g));
    const Arrays tangents =
        last(reference::evaluate(pushed, concatenated(c->operands, directions(g, rng))), g.outputs().size());
    for (const AnyArray& t : tangents) {
      EXPECT_TRUE(std::ranges::all_of(numbers(t), [](double x) { return x == 0; })) << row.primitive().name;
    }
    const Graph pulled = transform::vjp(g, inexact_inputs(g));
    const Arrays inputs = concatenated(c->operands, uniform(g.output_types(), rng));
    const Arrays cotangents = last(reference::evaluate(pulled, inputs), pulled.outputs().size() - g.outputs().size());
    for (const AnyArray& t : cotangents) {
      EXPECT_TRUE(std::ranges::all_of(numbers(t), [](double x) { return x == 0; })) << row.primitive().name;
    }
  }
}

}  // namespace
}  // namespace calque::test
