// Checkpoints reduce the memory that a gradient keeps between its forward and its backward pass.
#include <sstream>

#include <gtest/gtest.h>

#include "kernel/lower/build.h"
#include "support/arrays.h"
#include "support/native.h"
#include "support/samples.h"
#include "support/sanitizers.h"
#include "support/stages.h"
#include "transform/autodiff/vjp.h"
#include "transform/simplify/simplify.h"

namespace calque::test {
namespace {

// Instrumented code is slow to compile.
const int kRegions = kAddressSanitizer ? 3 : 8, kLayers = kAddressSanitizer ? 3 : 8;
constexpr int64_t kWidth = 64;

/// Layers tanh(w h) from %h<first> to %h<first + kLayers>.
void write_layers(std::ostream& out, int first) {
  for (int i = first; i < first + kLayers; ++i) {
    out << "  %d" << i << " = dot_general[lhs_batch=[], lhs_contract=[0], rhs_batch=[], rhs_contract=[0]] %h" << i
        << " %w\n  %h" << i + 1 << " = tanh %d" << i << "\n";
  }
}

/// The gradient of a deep network, with each region a checkpoint or none.
Graph gradient(bool checkpoints) {
  std::ostringstream text;
  text << "calque 1\ngraph net(%h0: f64[64], %w: f64[64,64]) {\n";
  for (int r = 0; r < kRegions; ++r) {
    const int first = r * kLayers, last = first + kLayers;
    if (checkpoints) {
      text << "  %h" << last << " = checkpoint %h" << first << " %w {\n region(%h" << first
           << ": f64[64], %w: f64[64,64]) {\n";
    }
    write_layers(text, first);
    if (checkpoints) text << "  return %h" << last << "\n}\n}\n";
  }
  text << "  %s = reduce_sum[axes=[0]] %h" << kRegions * kLayers << "\n  return %s\n}\n";
  return transform::vjp(parse(text.str()), {true, false});
}

kernel::Program program_of(const Graph& g) { return test::stages::build_program(transform::simplify(g)); }

TEST(Checkpoint, KeepsTheInputsOfItsRegionsAndRecomputesTheRest) {
  const kernel::Program plain = program_of(gradient(false)), saving = program_of(gradient(true));
  constexpr int64_t kLayerBytes = kWidth * 8;
  // Without checkpoints every layer's value is kept for the backward pass. With them one value per region is kept, and
  // the values of the region that is being recomputed.
  EXPECT_GE(plain.workspace_bytes, kRegions * kLayers * kLayerBytes);
  EXPECT_LE(saving.workspace_bytes, (kRegions + kLayers + 4) * kLayerBytes);
  EXPECT_GT(saving.kernels.size(), plain.kernels.size());
}

TEST(Checkpoint, ChangesNoBitOfTheGradient) {
  Rng rng(3);
  const std::vector<AnyArray> inputs = {sample_array({DType::f64, {kWidth}}, rng, Domain::unit),
                                        sample_array({DType::f64, {kWidth, kWidth}}, rng, Domain::unit),
                                        sample_array({DType::f64, {}}, rng, Domain::unit)};
  const std::vector<AnyArray> plain = run_native(gradient(false), inputs), saving = run_native(gradient(true), inputs);
  ASSERT_EQ(plain.size(), saving.size());
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(difference(saving[i], plain[i]), "") << "output " << i;
}

}  // namespace
}  // namespace calque::test
