// Control flow and call-like equations under every transformation, on a set of graphs: forward mode against finite
// differences, reverse against forward mode, batches against loops, all of these nested, and compiled.
#include <sstream>

#include <gtest/gtest.h>

#include "reference/evaluate.h"
#include "support/control_programs.h"
#include "support/native.h"
#include "support/samples.h"
#include "support/transforms.h"
#include "transform/autodiff/jvp.h"
#include "transform/autodiff/vjp.h"
#include "transform/batch/vmap.h"
#include "transform/simplify/simplify.h"

namespace calque::test {

void PrintTo(const ControlProgram& p, std::ostream* out) { *out << p.name; }

namespace {

using Arrays = std::vector<AnyArray>;
using Axes = std::vector<BatchAxis>;

Arrays concatenated(Arrays a, const Arrays& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
Arrays last(const Arrays& all, size_t n) { return {all.end() - static_cast<std::ptrdiff_t>(n), all.end()}; }

/// Floats in [-1, 1], bools and small counters drawn too.
AnyArray input(const Type& type, Rng& rng) {
  return is_inexact(type.dtype) ? uniform(type, rng) : sample_array(type, rng, Domain::index);
}
Arrays inputs_of(const Graph& g, Rng& rng) {
  Arrays arrays;
  for (const Type& t : g.input_types()) arrays.push_back(input(t, rng));
  return arrays;
}

class ControlFlow : public testing::TestWithParam<ControlProgram> {
 protected:
  void SetUp() override {
    graph_ = parse("calque 1\n" + std::string(GetParam().text));
    graph_.verify();
  }

  /// The original and the transformed graph, for messages of nested transformations.
  std::string describe(const Graph& transformed, const Arrays& x) const {
    std::ostringstream out;
    out << "\n" << graph_ << "became\n" << transformed;
    for (const AnyArray& a : x) out << a << "\n";
    return out.str();
  }

  void expect_derivative(const Graph& g, Rng& rng, double rtol) const {
    const std::vector<bool> active = inexact_inputs(g);
    const Arrays x = inputs_of(g, rng), v = select(uniform(g.input_types(), rng), active);
    const Graph pushed = transform::jvp(g, active);
    ASSERT_NO_THROW(pushed.verify("jvp")) << pushed;
    if (!smooth_near(g, x, active, v, rtol)) return;
    const Arrays got = last(reference::evaluate(pushed, concatenated(x, v)), g.outputs().size());
    const Arrays want = differences(g, x, active, v);
    ASSERT_EQ(far_apart(got, want, rtol, rtol * (1 + largest(want))), "") << describe(pushed, concatenated(x, v));
  }

  void expect_loop(const Graph& g, const Arrays& x, const Axes& in_axes, int64_t size, Rng& rng) const {
    Axes out_axes;
    for (const Value v : g.outputs()) out_axes.emplace_back(rng.between(0, g.shape(v).rank()));
    Graph batched;
    ASSERT_NO_THROW(batched = transform::vmap(g, in_axes, size, out_axes)) << axes_text(in_axes) << describe(g, x);
    ASSERT_NO_THROW(batched.verify("vmap")) << batched;
    const Arrays got = reference::evaluate(batched, x), want = looped(g, x, in_axes, size, out_axes);
    ASSERT_EQ(far_apart(got, want, 1e-13, 1e-13), "")
        << "in_axes " << axes_text(in_axes) << " out_axes " << axes_text(out_axes) << describe(batched, x);
  }

  /// Batches along any axes, at least one of them.
  void expect_loops(const Graph& g, Rng& rng, int repeats) const {
    constexpr int64_t kSizes[] = {2, 1, 5, 3};
    for (int repeat = 0; repeat < repeats && !HasFatalFailure(); ++repeat) {
      const int64_t size = rng.pick(kSizes);
      const size_t certain = rng.below(g.inputs().size());
      Axes axes;
      Arrays x;
      for (size_t i = 0; i < g.inputs().size(); ++i) {
        const Type& type = g.type(g.inputs()[i]);
        axes.push_back(i == certain || rng.chance(50) ? BatchAxis(rng.between(0, type.shape.rank())) : BatchAxis());
        x.push_back(input(batched_type(type, axes.back(), size), rng));
      }
      expect_loop(g, x, axes, size, rng);
    }
  }

  Graph graph_;
};

TEST_P(ControlFlow, ForwardModeEqualsDifferences) {
  if (!GetParam().ordinary) return;  // differences are not the derivative of stop_gradient
  Rng rng(1);
  for (int i = 0; i < 8 && !HasFatalFailure(); ++i) expect_derivative(graph_, rng, 1e-7);
  const Graph first = transform::jvp(graph_, inexact_inputs(graph_));
  for (int i = 0; i < 4 && !HasFatalFailure(); ++i) expect_derivative(first, rng, 1e-6);
}

TEST_P(ControlFlow, ForwardModeByEachInput) {
  Rng rng(2);
  const std::vector<bool> all = inexact_inputs(graph_);
  const Arrays x = inputs_of(graph_, rng);
  const Graph pushed = transform::jvp(graph_, all);
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i]) continue;
    std::vector<bool> one(all.size(), false);
    one[i] = true;
    const AnyArray v = uniform(x[i].type(), rng);
    Arrays others;
    for (size_t k = 0; k < x.size(); ++k) {
      if (all[k]) others.push_back(k == i ? v : uniform(x[k].type(), rng, 0, 0));
    }
    const Graph by_one = transform::jvp(graph_, one);
    by_one.verify("jvp");
    const Arrays got = reference::evaluate(by_one, concatenated(x, {v}));
    ASSERT_EQ(far_apart(got, reference::evaluate(pushed, concatenated(x, others)), 1e-12, 1e-12), "")
        << "input " << i << describe(by_one, x);
  }
}

TEST_P(ControlFlow, ReverseModeIsTheTransposeOfForwardMode) {
  const std::vector<bool> wrt = inexact_inputs(graph_);
  if (!GetParam().reverse) {
    EXPECT_THROW(transform::vjp(graph_, wrt), GradError);
    return;
  }
  Rng rng(3);
  const Graph pulled = transform::vjp(graph_, wrt);
  pulled.verify("vjp");
  for (int i = 0; i < 6; ++i) {
    const Arrays x = inputs_of(graph_, rng);
    ASSERT_EQ(transposition_error(graph_, x, rng, 1e-12), "") << describe(pulled, x);
  }
}

TEST_P(ControlFlow, ReverseModeByEachInput) {
  if (!GetParam().reverse) return;
  Rng rng(4);
  const std::vector<bool> all = inexact_inputs(graph_);
  const Graph pulled = transform::vjp(graph_, all);
  const Arrays x = concatenated(inputs_of(graph_, rng), uniform(graph_.output_types(), rng));
  Arrays want = reference::evaluate(pulled, x);
  want.erase(want.begin(), want.begin() + std::ssize(graph_.outputs()));
  for (size_t i = 0, k = 0; i < all.size(); ++i) {
    if (!all[i]) continue;
    std::vector<bool> one(all.size(), false);
    one[i] = true;
    const Graph by_one = transform::vjp(graph_, one);
    by_one.verify("vjp");
    const AnyArray got = reference::evaluate(by_one, x).back();
    ASSERT_EQ(far_apart({got}, {want[k++]}, 1e-12, 1e-12), "") << "input " << i << describe(by_one, x);
  }
}

TEST_P(ControlFlow, SecondDerivativesInEveryOrderOfModes) {
  Rng rng(5);
  const Graph forward = transform::jvp(graph_, inexact_inputs(graph_));
  if (!GetParam().reverse) {
    EXPECT_THROW(transform::vjp(forward, inexact_inputs(forward)), GradError);
    return;
  }
  const Graph reverse = transform::vjp(graph_, inexact_inputs(graph_));
  for (const Graph& first : {forward, reverse}) {
    for (int i = 0; i < 3; ++i) {
      const Arrays x = inputs_of(first, rng);
      ASSERT_EQ(transposition_error(first, x, rng, 1e-11), "") << describe(first, x);
    }
    if (GetParam().ordinary) expect_derivative(first, rng, 1e-6);
  }
}

TEST_P(ControlFlow, BatchesEqualLoops) {
  Rng rng(6);
  expect_loops(graph_, rng, 24);
}

TEST_P(ControlFlow, EmptyBatches) {
  Axes axes, out_axes;
  for (size_t i = 0; i < graph_.inputs().size(); ++i) axes.emplace_back(0);
  for (size_t i = 0; i < graph_.outputs().size(); ++i) out_axes.emplace_back(0);
  const Graph batched = transform::vmap(graph_, axes, 0, out_axes);
  batched.verify("vmap");
  Rng rng(7);
  for (const AnyArray& a : reference::evaluate(batched, inputs_of(batched, rng))) EXPECT_EQ(a.size(), 0);
}

TEST_P(ControlFlow, BatchesOfDerivativesEqualLoops) {
  Rng rng(8);
  expect_loops(transform::jvp(graph_, inexact_inputs(graph_)), rng, 6);
  if (GetParam().reverse) expect_loops(transform::vjp(graph_, inexact_inputs(graph_)), rng, 6);
}

TEST_P(ControlFlow, DerivativesOfBatches) {
  Rng rng(9);
  for (int repeat = 0; repeat < 4 && !HasFatalFailure(); ++repeat) {
    Axes axes, out_axes;
    const size_t certain = rng.below(graph_.inputs().size());
    for (size_t i = 0; i < graph_.inputs().size(); ++i) {
      const int rank = graph_.shape(graph_.inputs()[i]).rank();
      axes.push_back(i == certain || rng.chance(60) ? BatchAxis(rng.between(0, rank)) : BatchAxis());
    }
    for (const Value v : graph_.outputs()) out_axes.emplace_back(rng.between(0, graph_.shape(v).rank()));
    const Graph batched = transform::vmap(graph_, axes, 3, out_axes);
    if (GetParam().ordinary) expect_derivative(batched, rng, 1e-6);
    if (!GetParam().reverse) continue;
    const Arrays x = inputs_of(batched, rng);
    ASSERT_EQ(transposition_error(batched, x, rng, 1e-12), "") << describe(batched, x);
  }
}

TEST_P(ControlFlow, CompiledAgreesWithTheReference) {
  Rng rng(10);
  Axes axes(graph_.inputs().size(), BatchAxis(0)), out_axes(graph_.outputs().size(), BatchAxis(0));
  std::vector<Graph> graphs = {transform::jvp(graph_, inexact_inputs(graph_)),
                               transform::vmap(graph_, axes, 5, out_axes)};
  if (GetParam().reverse) graphs.push_back(transform::vjp(graph_, inexact_inputs(graph_)));
  if (graph_.shape(graph_.inputs()[0]).rank() == 0 && graph_.inputs().size() > 1) {
    axes[0].reset();
    graphs.push_back(transform::vmap(graph_, axes, 5, out_axes));
  }
  for (const Graph& g : graphs) {
    ASSERT_EQ(parse(print(g)), g) << g;
    const Arrays x = inputs_of(g, rng);
    const Arrays want = reference::evaluate(g, x);
    ASSERT_EQ(far_apart(run_native(g, x), want, 1e-10, 1e-12 * (1 + largest(want))), "") << describe(g, x);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, ControlFlow, testing::ValuesIn(control_programs()),
                         [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace calque::test
