// Effects under transformations: each happens as often as in the program, in program order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/ir/host_function.h"

#include "primitives/list.h"
#include "reference/evaluate.h"
#include "support/arrays.h"
#include "support/transforms.h"
#include "transform/autodiff/jvp.h"
#include "transform/autodiff/partial_eval.h"
#include "transform/autodiff/vjp.h"
#include "transform/batch/vmap.h"
#include "transform/simplify/simplify.h"

namespace calque::transform {
namespace {

using Arrays = std::vector<AnyArray>;
using primitives::get;
using testing::ElementsAre;

AnyArray number(double x) { return test::scalar(x); }

/// Records the first element of its operand and returns its operands.
struct Recorder : HostFunction {
  std::string label() const override { return "recorder"; }
  std::vector<AnyArray> call(std::span<const AnyArray> operands) const override {
    seen.push_back(test::numbers(operands[0]).at(0));
    return {operands.begin(), operands.end()};
  }
  mutable std::vector<double> seen;
};

class Effects : public testing::Test {
 protected:
  Value record(Graph& g, Value v) const {
    return g
        .append(get<primitives::HostCall>(), {v},
                {{"function", std::shared_ptr<const Opaque>(recorder_)}, {"results", std::vector<Type>{g.type(v)}}})
        .result();
  }
  /// Records k, then -1; returns x * x * k.
  Graph straight() const {
    Graph g;
    const Type type{DType::f64, {}};
    const Value x = g.add_input(Type(type)), k = g.add_input(Type(type));
    const Value first = record(g, k);
    const Value square = g.append(get<primitives::Mul>(), {x, x}).result();
    record(g, g.add_literal(make_literal(DType::f64, -1.0), type));
    g.set_outputs({g.append(get<primitives::Mul>(), {square, first}).result()});
    return g;
  }
  /// The same with x as the carry, for each k.
  Graph loop() const {
    Graph g;
    const Value x = g.add_input({DType::f64, {}}), ks = g.add_input({DType::f64, {3}});
    const Equation& e = g.append(get<primitives::Scan>(), {x, ks},
                                 {{"carry", int64_t{1}},
                                  {"consts", int64_t{0}},
                                  {"length", int64_t{3}},
                                  {"reverse", false},
                                  {"unroll", int64_t{1}}},
                                 {straight()});
    g.set_outputs({e.result()});
    return g;
  }
  std::vector<double> recorded_by(const Graph& g, const Arrays& x) const {
    g.verify();
    recorder_->seen.clear();
    reference::evaluate(g, x);
    return recorder_->seen;
  }

  std::shared_ptr<Recorder> recorder_ = std::make_shared<Recorder>();
};

TEST_F(Effects, HappenOnceInForwardMode) {
  EXPECT_THAT(recorded_by(jvp(straight(), {true, false}), {number(2), number(5), number(1)}), ElementsAre(5, -1));
  const AnyArray ks = test::vec<double>({3, 4, 5});
  EXPECT_THAT(recorded_by(jvp(loop(), {true, false}), {number(2), ks, number(1)}), ElementsAre(3, -1, 4, -1, 5, -1));
}

TEST_F(Effects, HappenOnceInReverseMode) {
  EXPECT_THAT(recorded_by(vjp(straight(), {true, false}), {number(2), number(5), number(1)}), ElementsAre(5, -1));
  const AnyArray ks = test::vec<double>({3, 4, 5});
  EXPECT_THAT(recorded_by(vjp(loop(), {true, false}), {number(2), ks, number(1)}), ElementsAre(3, -1, 4, -1, 5, -1));
}

TEST_F(Effects, HappenInTheKnownPart) {
  const Graph pushed = jvp(loop(), {true, false});
  const PartialEval s = partial_eval(pushed, {false, false, true});
  EXPECT_EQ(recorded_by(s.known, {number(2), test::vec<double>({3, 4, 5})}).size(), 6U);
  for (const Equation& e : s.unknown.equations()) {
    for (const Graph& g : e.subgraphs()) {
      for (const Equation& inner : g.equations()) EXPECT_FALSE(inner.definition().has_effect);
    }
  }
}

TEST_F(Effects, HappenForEachExampleInOrder) {
  const Graph batched = vmap(straight(), {BatchAxis(), BatchAxis(0)}, 3, {BatchAxis(0)});
  const std::vector<double> seen = recorded_by(batched, {number(2), test::vec<double>({7, 8, 9})});
  std::vector<double> operands;
  for (const double x : seen) {
    if (x != -1) operands.push_back(x);
  }
  EXPECT_THAT(operands, ElementsAre(7, 8, 9));
}

TEST_F(Effects, HappenOnceWhereNothingIsBatched) {
  const Graph batched = vmap(straight(), {BatchAxis(0), BatchAxis()}, 3, {BatchAxis(0)});
  EXPECT_THAT(recorded_by(batched, {test::vec<double>({1, 2, 3}), number(5)}), ElementsAre(5, -1));
}

TEST_F(Effects, OfHostFunctionsHaveNoDerivative) {
  for (auto* mode : {&jvp, &vjp}) {
    try {
      (*mode)(straight(), {false, true});
      FAIL();
    } catch (const GradError& e) {
      EXPECT_NE(std::string(e.what()).find("give it a derivative by custom_jvp or custom_vjp"), std::string::npos)
          << e.what();
    }
  }
}

}  // namespace
}  // namespace calque::transform
