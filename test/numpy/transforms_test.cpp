// Every function with NumPy's names and every layer: derivatives of both orders against differences, transposes against
// tangents, vmap against a loop, compiled code against the reference, 16-bit floats against f32.
#include <sstream>

#include <gtest/gtest.h>

#include "numpy/vocabulary_cases.h"
#include "reference/evaluate.h"
#include "support/native.h"
#include "transform/autodiff/jvp.h"
#include "transform/batch/vmap.h"

namespace calque::test {
namespace {

using Arrays = std::vector<AnyArray>;

class Vocabulary : public testing::TestWithParam<bool> {
 protected:
  template <class Body>
  void each(Body body) {
    for (const VocabularyCase& c : GetParam() ? layer_cases() : numpy_cases()) {
      SCOPED_TRACE(c.name);
      Rng rng(11);
      try {
        body(c, rng);
      } catch (const std::exception& e) {
        ADD_FAILURE() << e.what();
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Numpy, Vocabulary, testing::Values(false, true),
                         [](const auto& info) { return std::string(info.param ? "Layers" : "Functions"); });

Arrays joined(Arrays a, const Arrays& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Compares the tangents at x with differences.
void expect_tangents(const Graph& g, const Arrays& x, Rng& rng, double rtol) {
  const std::vector<bool> active = inexact_inputs(g);
  const Arrays v = select(uniform(g.input_types(), rng), active);
  const Graph pushed = transform::jvp(g, active);
  pushed.verify("jvp");
  ASSERT_TRUE(smooth_near(g, x, active, v, rtol));
  const Arrays all = reference::evaluate(pushed, joined(x, v));
  const Arrays got(all.begin() + std::ssize(g.outputs()), all.end());
  const Arrays want = differences(g, x, active, v);
  EXPECT_EQ(far_apart(got, want, rtol, 0.1 * rtol * (1 + largest(want))), "") << pushed;
}

TEST_P(Vocabulary, TangentsEqualDifferences) {
  each([](const VocabularyCase& c, Rng& rng) {
    if (c.constant) return;
    expect_tangents(graph_of(c, DType::f64), inputs_of(c, rng), rng, 1e-7);
  });
}

TEST_P(Vocabulary, SecondTangentsEqualDifferences) {
  each([](const VocabularyCase& c, Rng& rng) {
    if (c.constant) return;
    const Graph g = graph_of(c, DType::f64);
    const std::vector<bool> active = inexact_inputs(g);
    const Arrays v = select(uniform(g.input_types(), rng), active);
    expect_tangents(transform::jvp(g, active), joined(inputs_of(c, rng), v), rng, 1e-6);
  });
}

TEST_P(Vocabulary, CotangentsPairWithTangents) {
  each([](const VocabularyCase& c, Rng& rng) {
    if (c.constant) return;
    EXPECT_EQ(transposition_error(graph_of(c, DType::f64), inputs_of(c, rng), rng, 1e-12), "");
  });
}

TEST_P(Vocabulary, BatchesEqualLoops) {
  each([](const VocabularyCase& c, Rng& rng) {
    const Graph g = graph_of(c, DType::f32);
    for (const int64_t size : {3, 1, 0}) {
      Arrays inputs;
      std::vector<BatchAxis> axes;
      const size_t fixed = c.inputs.size() == 1 ? 1 : rng.below(c.inputs.size());
      std::vector<Arrays> examples;
      for (int64_t i = 0; i < std::max<int64_t>(size, 1); ++i) examples.push_back(inputs_of(c, rng));
      for (size_t k = 0; k < c.inputs.size(); ++k) {
        const Type type = g.input_types()[k];
        const auto of = [&](const AnyArray& a) { return c.inputs[k].integers ? a : converted(a, DType::f32); };
        if (k == fixed && size == 3) {
          axes.emplace_back();
          inputs.push_back(of(examples[0][k]));
          continue;
        }
        axes.emplace_back(rng.between(0, type.shape.rank()));
        std::vector<AnyArray> each_one;
        for (int64_t i = 0; i < size; ++i) each_one.push_back(of(examples[static_cast<size_t>(i)][k]));
        inputs.push_back(stacked(each_one, type, *axes.back()));
      }
      std::vector<BatchAxis> out;
      for (const Value v : g.outputs()) out.emplace_back(rng.between(0, g.shape(v).rank()));
      const Graph batched = transform::vmap(g, axes, size, out);
      batched.verify("vmap");
      EXPECT_EQ(far_apart(reference::evaluate(batched, inputs), looped(g, inputs, axes, size, out), 2e-6, 2e-6), "")
          << axes_text(axes) << batched;
    }
  });
}

TEST_P(Vocabulary, CompiledCodeEqualsTheReference) {
  each([](const VocabularyCase& c, Rng& rng) {
    const Graph g = graph_of(c, DType::f64);
    const Arrays x = inputs_of(c, rng);
    EXPECT_EQ(far_apart(run_native(g, x), reference::evaluate(g, x), 1e-12, 1e-12), "") << g;
  });
}

TEST_P(Vocabulary, SixteenBitFloatsAreRoundedOnce) {
  each([](const VocabularyCase& c, Rng& rng) {
    if (c.constant) return;
    for (const DType half : {DType::f16, DType::bf16}) {
      const Graph narrow = graph_of(c, half), wide = graph_of(c, DType::f32);
      Arrays x = inputs_of(c, rng), as_f32;
      for (AnyArray& a : x) {
        if (a.dtype() == DType::f64) a = converted(a, half);
        as_f32.push_back(a.dtype() == half ? converted(a, DType::f32) : a);
      }
      const Arrays want = reference::evaluate(wide, as_f32), got = reference::evaluate(narrow, x);
      for (size_t i = 0; i < want.size(); ++i) {
        if (!is_inexact(want[i].dtype())) continue;
        ASSERT_EQ(got[i].dtype(), half);
        const double most = c.half_error * epsilon(half) * (1 + largest({want[i]}));
        EXPECT_EQ(far_apart({converted(got[i], DType::f32)}, {want[i]}, 0, most), "") << narrow;
      }
    }
  });
}

}  // namespace
}  // namespace calque::test
