// Derivatives that are zero need no equations, and gradients contain no equations of the function that they do not use.
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/evaluate.h"
#include "support/transforms.h"
#include "transform/autodiff/jvp.h"
#include "transform/autodiff/vjp.h"
#include "transform/simplify/simplify.h"

namespace calque::transform {
namespace {

using test::inexact_inputs;
using testing::ElementsAre;
using testing::IsEmpty;

Graph graph(const std::string& text) { return parse("calque 1\n" + text); }

/// The graph of the outputs from `first` on only.
Graph with_outputs(Graph g, size_t first) {
  g.set_outputs({g.outputs().begin() + static_cast<std::ptrdiff_t>(first), g.outputs().end()});
  return simplify(g, InlineScope::calls);
}

/// The cotangents of the marked inputs as a function of the inputs, for a cotangent of ones.
Graph gradient(const Graph& g, const std::vector<bool>& wrt) {
  const Graph pulled = vjp(g, wrt);
  Graph out;
  std::vector<Value> renamed(pulled.num_values());
  for (size_t i = 0; i < pulled.inputs().size(); ++i) {
    const Type& type = pulled.type(pulled.inputs()[i]);
    const bool is_cotangent = i >= g.inputs().size();
    renamed[pulled.inputs()[i].id()] =
        is_cotangent ? out.add_literal(make_literal(type.dtype, 1.0), type) : out.add_input(type);
  }
  const auto rename = [&](Value v) {
    Value& to = renamed[v.id()];
    if (!to.valid()) to = out.add_copy(pulled, v);
    return to;
  };
  for (const Equation& e : pulled.equations()) {
    ValueList operands;
    for (const Value v : e.operands()) operands.push_back(rename(v));
    const Equation& copy = out.append_copy(pulled, e, operands);
    for (size_t i = 0; i < e.results().size(); ++i) renamed[e.result(i).id()] = copy.result(i);
  }
  std::vector<Value> outputs;
  for (const Value v : pulled.outputs()) outputs.push_back(rename(v));
  out.set_outputs(outputs);
  return with_outputs(std::move(out), g.outputs().size());
}

std::vector<std::string> names(const Graph& g) {
  std::vector<std::string> out;
  for (const Equation& e : g.equations()) out.push_back(e.primitive());
  return out;
}

std::set<size_t> used_inputs(const Graph& g) {
  std::set<size_t> used;
  const auto use = [&](Value v) {
    if (g.kind(v) == ValueKind::input) used.insert(g.input_index(v));
  };
  for (const Equation& e : g.equations()) {
    for (const Value v : e.operands()) use(v);
  }
  for (const Value v : g.outputs()) use(v);
  return used;
}

TEST(SymbolicZeros, GradientOfALinearFunctionHasNoPrimal) {
  const Graph g = graph(R"(graph (%x: f32[3], %c: f32[3]) {
  %a = mul %x 3.0:f32[3]
  %b = add %a %c
  %d = sub %b %x
  %s = reduce_sum[axes=[0]] %d
  return %s
})");
  const Graph d = gradient(g, {true, false});
  EXPECT_THAT(names(d), IsEmpty()) << d;
  EXPECT_THAT(used_inputs(d), IsEmpty()) << d;
  EXPECT_TRUE(d.is_literal(d.outputs()[0])) << d;
}

TEST(SymbolicZeros, GradientOfAProductWithAMatrixIsTheMatrix) {
  const Graph g = graph(R"(graph (%w: f32[4,3], %x: f32[3]) {
  %y = dot_general[lhs_batch=[], lhs_contract=[1], rhs_batch=[], rhs_contract=[0]] %w %x
  return %y
})");
  const Graph pulled = with_outputs(vjp(g, {false, true}), 1);
  EXPECT_THAT(used_inputs(pulled), ElementsAre(0, 2)) << pulled;
  EXPECT_LE(pulled.num_equations(), 2U) << pulled;
}

TEST(SymbolicZeros, UnusedInputsCostNothing) {
  const Graph g = graph(R"(graph (%x: f32[3], %y: f32[3], %z: f32[3]) {
  %a = sin %x
  %b = exp %y
  %c = floor %z
  %d = mul %a %c
  return %d
})");
  const Graph pulled = with_outputs(vjp(g, {false, true, true}), 1);
  EXPECT_THAT(names(pulled), IsEmpty()) << pulled;
  const Graph pushed = jvp(g, {false, true, true});
  EXPECT_TRUE(pushed.is_literal(pushed.outputs()[1])) << pushed;
}

TEST(SymbolicZeros, NothingActiveAddsNoEquation) {
  const Graph g = graph(R"(graph (%x: f32[3], %xs: f32[5,3]) {
  %c = scan[carry=1, consts=0, length=5, reverse=false, unroll=1] %x %xs {
    (%0: f32[3], %1: f32[3]) { %2 = mul %0 %1  %3 = sin %2  return %3 }
  }
  %d = exp %c
  return %d
})");
  const Graph pushed = simplify(jvp(g, {false, false}), InlineScope::calls);
  EXPECT_THAT(names(pushed), ElementsAre("scan", "exp")) << pushed;
  EXPECT_TRUE(pushed.is_literal(pushed.outputs()[1])) << pushed;
  const Graph pulled = vjp(g, {false, false});
  EXPECT_EQ(pulled.outputs().size(), 1U);
  EXPECT_THAT(names(pulled), ElementsAre("scan", "exp")) << pulled;
}

TEST(SymbolicZeros, InactiveCarriesHaveNoTangents) {
  const Graph g = graph(R"(graph (%x: f32[3], %n: f32[], %k: f32[3]) {
  %a, %m, %b = scan[carry=3, consts=0, length=5, reverse=false, unroll=1] %x %n %k {
    (%0: f32[3], %1: f32[], %2: f32[3]) {
      %3 = sin %0
      %4 = add %1 1.0:f32[]
      %5 = mul %2 %2
      %6 = mul %3 %5
      return %6, %4, %5
    }
  }
  return %a, %m, %b
})");
  const Graph pushed = simplify(jvp(g, {true, false, false}), InlineScope::calls);
  const Equation& scan = pushed.equations().front();
  EXPECT_EQ(scan.attributes().integer("carry"), 4) << pushed;
  EXPECT_TRUE(pushed.is_literal(pushed.outputs()[4])) << pushed;
  EXPECT_TRUE(pushed.is_literal(pushed.outputs()[5])) << pushed;
}

TEST(SymbolicZeros, GradientOfTanhIsAsSmallAsByHand) {
  const Graph g = graph(R"(graph (%w: f32[], %x: f32[], %b: f32[]) {
  %0 = mul %w %x
  %1 = add %0 %b
  %2 = tanh %1
  return %2
})");
  // y = tanh(w x + b); (1 - y y) x
  const Graph by_w = gradient(g, {true, false, false});
  EXPECT_THAT(names(by_w), ElementsAre("mul", "add", "tanh", "mul", "sub", "mul")) << by_w;
  const Graph by_b = gradient(g, {false, false, true});
  EXPECT_THAT(names(by_b), ElementsAre("mul", "add", "tanh", "mul", "sub")) << by_b;
  const Graph by_all = gradient(g, {true, true, true});
  EXPECT_EQ(by_all.num_equations(), 7U) << by_all;
}

TEST(SymbolicZeros, GradientOfALayerHasThreeProducts) {
  const Graph g = graph(R"(graph (%w: f32[8,4], %x: f32[16,8], %b: f32[4]) {
  %0 = dot_general[lhs_batch=[], lhs_contract=[1], rhs_batch=[], rhs_contract=[0]] %x %w
  %1 = broadcast[axes=[1], shape=[16,4]] %b
  %2 = add %0 %1
  %3 = tanh %2
  %4 = reduce_sum[axes=[0,1]] %3
  return %4
})");
  const Graph d = gradient(g, {true, true, true});
  std::multiset<std::string> count;
  for (const std::string& name : names(d)) count.insert(name);
  EXPECT_EQ(count.count("dot_general"), 3U) << d;
  EXPECT_EQ(count.count("tanh"), 1U) << d;
  EXPECT_EQ(count.count("reduce_sum"), 1U) << d;
  EXPECT_LE(d.num_equations(), 10U) << d;
}

TEST(SymbolicZeros, SquaresOfSecondOrderAreConstant) {
  const Graph g = graph(R"(graph (%x: f32[]) {
  %0 = mul %x %x
  return %0
})");
  const Graph first = gradient(g, {true});
  EXPECT_LE(first.num_equations(), 1U) << first;
  const Graph second = gradient(first, {true});
  EXPECT_THAT(names(second), IsEmpty()) << second;
  const Graph third = gradient(second, {true});
  EXPECT_THAT(names(third), IsEmpty()) << third;
  EXPECT_EQ(test::numbers(reference::evaluate(second, std::vector{AnyArray::full(Shape{}, 5.0F)})[0])[0], 2);
  EXPECT_EQ(test::numbers(reference::evaluate(third, std::vector{AnyArray::full(Shape{}, 5.0F)})[0])[0], 0);
}

/// A loop whose derivative uses no values of its steps keeps no residuals.
TEST(SymbolicZeros, LinearLoopsKeepNoSteps) {
  const Graph g = graph(R"(graph (%x: f32[100]) {
  %c = scan[carry=1, consts=0, length=50, reverse=false, unroll=1] %x {
    (%0: f32[100]) { %1 = mul %0 0.5:f32[100]  %2 = add %1 1.0:f32[100]  return %2 }
  }
  return %c
})");
  const Graph d = gradient(g, {true});
  EXPECT_THAT(used_inputs(d), IsEmpty()) << d;
  for (const Equation& e : d.equations()) {
    for (const Value v : e.results()) EXPECT_LE(d.shape(v).num_elements(), 100) << d;
  }
}

}  // namespace
}  // namespace calque::transform
