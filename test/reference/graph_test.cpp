// Whole graphs: control flow, effects, mismatched inputs, and limits.
#include <cmath>

#include <gtest/gtest.h>

#include "support/arrays.h"
#include "support/op_cases_control.h"

namespace calque::test {
namespace {

using namespace primitives;

Value literal(Graph& g, DType dtype, double value, const Shape& shape = {}) {
  return g.add_literal(make_literal(dtype, value), {dtype, shape});
}

/// while (x < bound) x = x * 2 over the shape, with the condition of shape `lanes`.
Graph doubling(const Shape& shape, const Shape& lanes, double bound) {
  const Type carry{DType::f32, shape};
  Graph condition;
  Value x = condition.add_input(carry);
  Value small = condition.append(get<Lt>(), {x, literal(condition, DType::f32, bound, shape)}).result();
  if (lanes != shape) {
    std::vector<int64_t> axes;
    for (int d = lanes.rank(); d < shape.rank(); ++d) axes.push_back(d);
    small = condition.append(get<ReduceOr>(), {small}, {{"axes", axes}}).result();
  }
  condition.set_outputs({small});
  Graph body;
  x = body.add_input(carry);
  body.set_outputs({body.append(get<Mul>(), {x, literal(body, DType::f32, 2, shape)}).result()});
  Graph g;
  x = g.add_input(carry);
  const Attributes attributes{{"cond_consts", int64_t{0}}, {"body_consts", int64_t{0}}};
  g.set_outputs({g.append(get<While>(), {x}, attributes, {condition, body}).result()});
  return g;
}

TEST(While, OfAScalarConditionStopsForAllAtOnce) {
  const Graph g = doubling({2}, {}, 10);
  const auto result = reference::evaluate(g, std::vector{vec<float>({1, 7})});
  EXPECT_EQ(elements<float>(result[0]), (std::vector<float>{16, 112}));
}

TEST(While, OfLanesStopsForEachElement) {
  const Graph g = doubling({3}, {3}, 10);
  const auto result = reference::evaluate(g, std::vector{vec<float>({1, 7, 30})});
  EXPECT_EQ(elements<float>(result[0]), (std::vector<float>{16, 14, 30}));
}

TEST(While, OfLeadingLanesKeepsWholeRows) {
  const Graph g = doubling({2, 2}, {2}, 10);
  const auto result = reference::evaluate(g, std::vector{arr<float>({2, 2}, {1, 20, 30, 40})});
  EXPECT_EQ(elements<float>(result[0]), (std::vector<float>{16, 320, 30, 40}));
}

TEST(While, WithoutLanesEndsAtOnce) {
  const Graph g = doubling({0}, {0}, 10);
  EXPECT_EQ(reference::evaluate(g, std::vector{AnyArray::uninitialized({DType::f32, {0}})})[0].size(), 0);
}

TEST(Limits, StopALoopThatNeverEnds) {
  const Graph g = doubling({}, {}, INFINITY);
  const std::vector inputs{scalar(0.0F)};
  EXPECT_THROW(reference::evaluate(g, inputs, {.elements = 1000}), Error);
}

TEST(Limits, ArraysThatNoMachineHolds) {
  Graph g;
  const Value x = g.add_literal(make_literal(DType::f64, 1.0), {DType::f64, {int64_t{1} << 41}});
  g.set_outputs({x});
  EXPECT_THROW(reference::evaluate(g, {}), Error);
  Graph h;
  h.add_input({DType::f32, {}});
  const std::vector<int64_t> shape{int64_t{1} << 41};
  h.set_outputs(
      {h.append(get<Broadcast>(), {h.inputs()[0]}, {{"axes", std::vector<int64_t>{}}, {"shape", shape}}).result()});
  EXPECT_THROW(reference::evaluate(h, std::vector{scalar(1.0F)}), Error);
}

TEST(Scan, CarriesAndStacksInBothDirections) {
  for (const bool reverse : {false, true}) {
    const Type element{DType::i32, {}};
    Graph body;
    const Value carry = body.add_input(element);
    const Value x = body.add_input(element);
    const Value sum = body.append(get<Add>(), {carry, x}).result();
    body.set_outputs({sum, sum});
    Graph g;
    const Value init = g.add_input(element);
    const Value xs = g.add_input({DType::i32, {3}});
    const Equation& e = g.append(get<Scan>(), {init, xs},
                                 {{"consts", int64_t{0}},
                                  {"carry", int64_t{1}},
                                  {"length", int64_t{3}},
                                  {"reverse", reverse},
                                  {"unroll", int64_t{1}}},
                                 {body});
    g.set_outputs({e.result(0), e.result(1)});
    const auto results = reference::evaluate(g, std::vector{scalar<int32_t>(10), vec<int32_t>({1, 2, 3})});
    EXPECT_EQ(elements<int32_t>(results[0]), (std::vector<int32_t>{16}));
    EXPECT_EQ(elements<int32_t>(results[1]),
              reverse ? (std::vector<int32_t>{16, 15, 13}) : (std::vector<int32_t>{11, 13, 16}));
  }
}

TEST(Switch, ClampsItsIndex) {
  const Type t{DType::i32, {}};
  std::vector<Graph> branches;
  for (const double value : {10.0, 20.0}) {
    Graph b;
    b.set_outputs({literal(b, DType::i32, value)});
    branches.push_back(b);
  }
  Graph g;
  const Value index = g.add_input(t);
  g.set_outputs({g.append(get<Switch>(), {index}, {}, branches).result()});
  for (const auto& [at, want] : {std::pair{-5, 10}, {0, 10}, {1, 20}, {7, 20}}) {
    EXPECT_EQ(elements<int32_t>(reference::evaluate(g, std::vector{scalar<int32_t>(at)})[0])[0], want);
  }
}

TEST(Evaluate, ChecksItsInputs) {
  Graph g;
  g.set_outputs({g.add_input({DType::f32, {2}})});
  const auto message = [&](const std::vector<AnyArray>& inputs) -> std::string {
    try {
      reference::evaluate(g, inputs);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message({}), "evaluate: expects 1 inputs, got 0");
  EXPECT_EQ(message({vec<float>({1, 2, 3})}), "evaluate: input 0 expects f32[2], got f32[3]");
  EXPECT_EQ(message({vec<int32_t>({1, 2})}), "evaluate: input 0 expects f32[2], got i32[2]");
  EXPECT_EQ(message({AnyArray()}), "evaluate: input 0 is empty, expects f32[2]");
  EXPECT_THROW(reference::evaluate(g, std::vector{vec<int32_t>({1, 2})}), DTypeError);
}

TEST(Evaluate, ValuesThatAreUsedTwiceAndOutputsStay) {
  Graph g;
  const Value x = g.add_input({DType::f32, {}});
  const Value y = g.append(get<Mul>(), {x, x}).result();
  const Value z = g.append(get<Add>(), {y, x}).result();
  g.append(get<Neg>(), {z});  // unused
  g.set_outputs({y, z, x, y});
  const auto results = reference::evaluate(g, std::vector{scalar(3.0F)});
  EXPECT_EQ(elements<float>(results[0])[0], 9);
  EXPECT_EQ(elements<float>(results[1])[0], 12);
  EXPECT_EQ(elements<float>(results[2])[0], 3);
  EXPECT_TRUE(identical(results[0], results[3]));
}

TEST(Evaluate, OneEquationAlone) {
  Graph g;
  const Value x = g.add_input({DType::f32, {}});
  const Equation& e = g.append(get<Exp>(), {x});
  EXPECT_EQ(elements<float>(reference::evaluate_equation(g, e, std::vector{scalar(0.0F)})[0])[0], 1);
}

TEST(DebugPrint, WritesInTheOrderOfTheEquations) {
  Graph g;
  const Value x = g.add_input({DType::i32, {}});
  g.append(get<DebugPrint>(), {x}, {{"format", std::string("x = {} {{}}")}});
  const Value y = g.append(get<Add>(), {x, x}).result();
  g.append(get<DebugPrint>(), {y, x}, {{"format", std::string("{}, {}")}});
  ::testing::internal::CaptureStdout();
  reference::evaluate(g, std::vector{scalar<int32_t>(4)});
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "x = 4 {}\n8, 4\n");
}

/// Calls a lambda.
struct Function : HostFunction {
  std::function<std::vector<AnyArray>(std::span<const AnyArray>)> f;
  std::string label() const override { return "f"; }
  std::vector<AnyArray> call(std::span<const AnyArray> operands) const override { return f(operands); }
};

Graph host_graph(std::function<std::vector<AnyArray>(std::span<const AnyArray>)> f) {
  auto function = std::make_shared<Function>();
  function->f = std::move(f);
  Graph g;
  const Value x = g.add_input({DType::f32, {}});
  const Equation& e = g.append(
      get<HostCall>(), {x},
      {{"function", std::shared_ptr<const Opaque>(function)}, {"results", std::vector<Type>{{DType::f32, {}}}}});
  g.set_outputs({e.result()});
  return g;
}

TEST(HostCall, ReturnsWhatTheFunctionReturns) {
  const Graph g = host_graph([](auto operands) { return std::vector{scalar(elements<float>(operands[0])[0] + 1)}; });
  EXPECT_EQ(elements<float>(reference::evaluate(g, std::vector{scalar(2.0F)})[0])[0], 3);
}

TEST(HostCall, PropagatesExceptionsAndChecksResults) {
  const std::vector inputs{scalar(2.0F)};
  const Graph throws = host_graph([](auto) -> std::vector<AnyArray> { throw std::out_of_range("mine"); });
  EXPECT_THROW(reference::evaluate(throws, inputs), std::out_of_range);
  const Graph wrong = host_graph([](auto) { return std::vector{scalar(1.0)}; });
  try {
    reference::evaluate(wrong, inputs);
    FAIL();
  } catch (const DTypeError& e) {
    EXPECT_STREQ(e.what(), "host_call: result 0 of f is promised as f32[], got f64[]");
  }
  const Graph none = host_graph([](auto) { return std::vector<AnyArray>{}; });
  EXPECT_THROW(reference::evaluate(none, inputs), ShapeError);
}

}  // namespace
}  // namespace calque::test
