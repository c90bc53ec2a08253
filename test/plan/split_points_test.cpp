// Long straight-line scalar code is split into several kernels where few values are live.
#include "plan/passes/split_points.h"

#include <sstream>

#include <gtest/gtest.h>

#include "kernel/lower/build.h"
#include "support/native.h"
#include "support/samples.h"
#include "support/stages.h"

namespace calque::test {
namespace {

TEST(SplitPoints, ChunksWeighAboutTheLimit) {
  const std::vector<uint32_t> weight(1000, 1);
  const std::vector<size_t> points = plan::choose_split_points(weight, std::vector<uint32_t>(1001, 3), 100);
  ASSERT_GE(points.size(), 9u);
  size_t before = 0;
  for (const size_t point : points) {
    EXPECT_GT(point, before + 70);
    EXPECT_LE(point, before + 101);
    before = point;
  }
}

TEST(SplitPoints, AreWhereFewValuesAreLive) {
  std::vector<uint32_t> live(200, 9);
  live[83] = 1;
  const std::vector<size_t> points = plan::choose_split_points(std::vector<uint32_t>(200, 1), live, 100);
  ASSERT_FALSE(points.empty());
  EXPECT_EQ(points[0], 83u);
}

TEST(SplitPoints, AreNoneInShortCode) {
  EXPECT_TRUE(plan::choose_split_points(std::vector<uint32_t>(90, 1), std::vector<uint32_t>(91, 1), 100).empty());
  EXPECT_TRUE(plan::choose_split_points({}, {0}, 100).empty());
}

/// x and y of a chain of `steps` steps x = x y + x, y = y - x x.
Graph chain(int steps) {
  std::ostringstream text;
  text << "calque 1\ngraph f(%x0: f64[], %y0: f64[]) {\n";
  for (int i = 0; i < steps; ++i) {
    text << "  %a" << i << " = mul %x" << i << " %y" << i << "\n  %x" << i + 1 << " = add %a" << i << " %x" << i
         << "\n  %b" << i << " = mul %x" << i + 1 << " %x" << i + 1 << "\n  %y" << i + 1 << " = sub %y" << i << " %b"
         << i << "\n";
  }
  text << "  return %x" << steps << ", %y" << steps << "\n}\n";
  return parse(text.str());
}

TEST(SplitPoints, OfAChainOfScalarsKeepItsBits) {
  const Graph g = chain(2000);
  const kernel::Program program = test::stages::build_program(g);
  EXPECT_GE(program.kernels.size(), 5u);
  EXPECT_LE(program.kernels.size(), 8u);
  EXPECT_LE(program.workspace_bytes, 64 * 4 * 8);
  const std::vector<AnyArray> inputs = {AnyArray::full<double>(Shape(), 1e-3), AnyArray::full<double>(Shape(), -2e-4)};
  EXPECT_EQ(compare_strictly(g, inputs), "");
}

}  // namespace
}  // namespace calque::test
