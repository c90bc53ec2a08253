// How many kernels a graph is fused into, and what is materialized between them.
#include <sstream>

#include <gtest/gtest.h>

#include "kernel/lower/build.h"
#include "plan/plan.h"
#include "support/native.h"
#include "support/random/random_graph.h"
#include "support/stages.h"

namespace calque::test {
namespace {

struct Built {
  size_t kernels = 0;
  int64_t workspace = 0;
  std::string text;
};

/// Builds a graph's program, having checked that it computes what the reference does, within rounding.
Built build(const std::string& text) {
  const Graph g = parse("calque 1\n" + text);
  const std::vector<AnyArray> inputs = random_inputs(g, 7, false);
  const std::vector<AnyArray> got = run_native(g, inputs), want = reference::evaluate(g, inputs);
  for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(difference(got[i], want[i], 1e-4, 1e-5), "") << g;
  const kernel::Program p = test::stages::build_program(canonicalize(g));
  std::ostringstream out;
  out << p;
  return {p.kernels.size(), p.workspace_bytes, out.str()};
}

TEST(Fusion, ChainOfElementwiseOperationsIsOneKernelWithoutTemporaries) {
  const Built b = build(R"(graph g(%0: f32[100], %1: f32[100]) {
    %2: f32[100] = mul %0 %1
    %3: f32[100] = add %2 %0
    %4: f32[100] = sub %3 1.5:f32[100]
    %5: f32[100] = neg %4
    %6: f32[100] = max %5 %1
    return %6
  })");
  EXPECT_EQ(b.kernels, 1u);
  EXPECT_EQ(b.workspace, 0);
}

TEST(Fusion, TranscendentalsStayInTheKernelOfTheirNeighbours) {
  const Built b = build(R"(graph g(%0: f32[1000]) {
    %1: f32[1000] = exp %0
    %2: f32[1000] = sin %1
    %3: f32[1000] = mul %2 %0
    return %3
  })");
  EXPECT_EQ(b.kernels, 1u) << b.text;
  EXPECT_EQ(b.workspace, 0);
}

TEST(Fusion, ViewsNeedNoSeparateKernel) {
  const Built b = build(R"(graph g(%0: f32[6,4], %1: f32[4]) {
    %2: f32[4,6] = transpose[perm=[1,0]] %0
    %3: f32[2,6] = slice[limit=[4,6], start=[0,0], stride=[2,1]] %2
    %4: f32[2,6] = reverse[axes=[1]] %3
    %5: f32[2] = slice[limit=[2], start=[0], stride=[1]] %1
    %6: f32[2,6] = broadcast[axes=[0], shape=[2,6]] %5
    %7: f32[2,6] = add %4 %6
    %8: f32[3,4] = reshape[shape=[3,4]] %7
    return %8
  })");
  EXPECT_EQ(b.kernels, 1u) << b.text;
  EXPECT_EQ(b.workspace, 0);
}

TEST(Fusion, SoftmaxOfRowsIsOneKernel) {
  const Built b = build(R"(graph g(%0: f32[64,100]) {
    %1: f32[64] = reduce_max[axes=[1]] %0
    %2: f32[64,100] = broadcast[axes=[0], shape=[64,100]] %1
    %3: f32[64,100] = sub %0 %2
    %4: f32[64,100] = exp %3
    %5: f32[64] = reduce_sum[axes=[1]] %4
    %6: f32[64,100] = broadcast[axes=[0], shape=[64,100]] %5
    %7: f32[64,100] = div %4 %6
    return %7
  })");
  EXPECT_EQ(b.kernels, 1u) << b.text;
  EXPECT_EQ(b.workspace, 0);
}

TEST(Fusion, ReductionsFuseWithOperationsBeforeAndAfter) {
  const Built b = build(R"(graph g(%0: f64[37,50], %1: f64[37,50]) {
    %2: f64[37,50] = sub %0 %1
    %3: f64[37,50] = mul %2 %2
    %4: f64[37] = reduce_sum[axes=[1]] %3
    %5: f64[37] = div %4 50.0:f64[37]
    %6: f64[37] = sqrt %5
    return %6
  })");
  EXPECT_EQ(b.kernels, 1u) << b.text;
  EXPECT_EQ(b.workspace, 0);
}

TEST(Fusion, SumsOverDifferentAxesAreTwoKernels) {
  const Built b = build(R"(graph g(%0: f32[20,30]) {
    %1: f32[30] = reduce_sum[axes=[0]] %0
    %2: f32[20] = reduce_sum[axes=[1]] %0
    return %1, %2
  })");
  EXPECT_EQ(b.kernels, 2u) << b.text;
  EXPECT_EQ(b.workspace, 0);
}

TEST(Fusion, ReductionOfABroadcastDifferenceNeedsNoTemporary) {
  const Built b = build(R"(graph g(%0: f32[300], %1: f32[400]) {
    %2: f32[300,400] = broadcast[axes=[0], shape=[300,400]] %0
    %3: f32[300,400] = broadcast[axes=[1], shape=[300,400]] %1
    %4: f32[300,400] = sub %2 %3
    %5: f32[300,400] = mul %4 %4
    %6: f32[300] = reduce_sum[axes=[1]] %5
    return %6
  })");
  EXPECT_EQ(b.kernels, 1u) << b.text;
  EXPECT_EQ(b.workspace, 0);
}

TEST(Fusion, AColumnReductionIsStoredBeforeRowsUseIt) {
  const Built b = build(R"(graph g(%0: f32[64,100]) {
    %1: f32[100] = reduce_sum[axes=[0]] %0
    %2: f32[64,100] = broadcast[axes=[1], shape=[64,100]] %1
    %3: f32[64,100] = sub %0 %2
    return %3
  })");
  EXPECT_EQ(b.kernels, 2u) << b.text;
  EXPECT_EQ(b.workspace, 448);  // 400 bytes, aligned
}

TEST(Fusion, RowValuesBetweenPointwiseOperationsDoNotSeparateThem) {
  // A kernel over a large space has at most eight results: the row values need two kernels, the pointwise operations
  // one, each of which reads the previous one and the latest row value.
  std::string text = "graph g(%0: f32[5000], %1: f32[5000,3]) {\n";
  std::string results;
  int row = 0, map = 1, next = 2;
  const auto emit = [&](const std::string& shape, const std::string& operation) {
    text += "  %" + std::to_string(next) + ": f32[" + shape + "] = " + operation + "\n";
    results += (results.empty() ? " %" : ", %") + std::to_string(next);
    return next++;
  };
  for (int k = 0; k < 16; ++k) {
    row = emit("5000", "sin %" + std::to_string(row));
    if (k % 2 != 0) continue;
    text += "  %" + std::to_string(next++) + ": f32[5000,3] = broadcast[axes=[0], shape=[5000,3]] %" +
            std::to_string(row) + "\n";
    map = emit("5000,3", "add %" + std::to_string(map) + " %" + std::to_string(next - 1));
  }
  const Built b = build(text + "  return" + results + "\n}");
  EXPECT_EQ(b.kernels, 3u) << b.text;
  EXPECT_EQ(b.workspace, 0);
}

/// The kernels of 20 results over a large space that are sums with one value, computed as given.
size_t kernels_of_sums(const std::string& shared) {
  std::string text = "graph g(%0: f64[50,100]) {\n  %1: f64[50,100] = " + shared + " %0\n", results;
  for (int k = 2; k < 22; ++k) {
    const std::string v = "%" + std::to_string(k);
    text += "  " + v + ": f64[50,100] = add %1 " + std::to_string(k) + ":f64[50,100]\n";
    results += (results.empty() ? " " : ", ") + v;
  }
  return build(text + "  return" + results + "\n}").kernels;
}

TEST(Fusion, WhatIsLongToComputeIsNotRepeatedForResultsOverALargeSpace) {
  EXPECT_EQ(kernels_of_sums("neg"), 3u);
  EXPECT_EQ(kernels_of_sums("lgamma"), 1u);
}

TEST(Fusion, ChainsOfReductionsAreNotRecomputedFromTheStart) {
  // Each round is a few operations on all elements, and one with their sum, which every loop of a single kernel would
  // repeat from the first round on.
  const auto instructions = [](int rounds) {
    std::string text = "graph g(%0: f32[1000]) {\n";
    int x = 0, next = 1;
    const auto emit = [&](const std::string& shape, const std::string& operation) {
      text += "  %" + std::to_string(next) + ": f32" + shape + " = " + operation + "\n";
      return next++;
    };
    for (int round = 0; round < rounds; ++round) {
      for (int k = 0; k < 20; ++k) x = emit("[1000]", "add %" + std::to_string(x) + " %" + std::to_string(x));
      const int sum = emit("[]", "reduce_sum[axes=[0]] %" + std::to_string(x));
      const int wide = emit("[1000]", "broadcast[axes=[], shape=[1000]] %" + std::to_string(sum));
      x = emit("[1000]", "sub %" + std::to_string(wide) + " %" + std::to_string(x));
    }
    const Built b = build(text + "  return %" + std::to_string(x) + "\n}");
    return std::count(b.text.begin(), b.text.end(), '\n');
  };
  EXPECT_LT(instructions(24), 3 * instructions(12));
}

TEST(Fusion, LoopOverElementsRunsInsideItsKernel) {
  const Built b = build(R"(graph g(%0: f32[1000]) {
    %1: i32[1000], %2: f32[1000] = while[body_consts=1, cond_consts=0] %0 0:i32[1000] 1.0:f32[1000] {
      (%0: i32[1000], %1: f32[1000]) {
        %2: bool[1000] = lt %1 100.0:f32[1000]
        return %2
      }
      (%0: f32[1000], %1: i32[1000], %2: f32[1000]) {
        %3: i32[1000] = add %1 1:i32[1000]
        %4: f32[1000] = mul %2 2.0:f32[1000]
        %5: f32[1000] = max %4 %0
        return %3, %5
      }
    }
    return %1
  })");
  EXPECT_EQ(b.kernels, 1u) << b.text;
  EXPECT_EQ(b.workspace, 0);
  EXPECT_NE(b.text.find("while"), std::string::npos);
}

TEST(Fusion, ScalarLoopIsOneKernel) {
  const Built b = build(R"(graph g(%0: f64[]) {
    %1: i32[], %2: f64[] = while[body_consts=1, cond_consts=0] %0 0:i32[] 1.0:f64[] {
      (%0: i32[], %1: f64[]) {
        %2: bool[] = lt %0 10000:i32[]
        return %2
      }
      (%0: f64[], %1: i32[], %2: f64[]) {
        %3: i32[] = add %1 1:i32[]
        %4: f64[] = fma %2 0.5:f64[] %0
        return %3, %4
      }
    }
    return %2
  })");
  EXPECT_EQ(b.kernels, 1u) << b.text;
  EXPECT_EQ(b.workspace, 0);
}

TEST(Fusion, ManyScalarsStackedAreOneKernelThatStoresEachOnce) {
  std::string text = "graph g(%0: f64[]) {\n  %1: f64[] = mul %0 1.5:f64[]\n";
  for (int i = 2; i <= 200; ++i)
    text += "  %" + std::to_string(i) + ": f64[] = add %" + std::to_string(i - 1) + " %0\n";
  for (int i = 1; i <= 200; ++i)
    text += "  %" + std::to_string(200 + i) + ": f64[1] = reshape[shape=[1]] %" + std::to_string(i) + "\n";
  text += "  %401: f64[200] = concatenate[axis=0]";
  for (int i = 1; i <= 200; ++i) text += " %" + std::to_string(200 + i);
  text += "\n  return %401\n}";
  const Graph g = parse("calque 1\n" + text);
  const std::vector<AnyArray> inputs = random_inputs(g, 7, false);
  const std::vector<AnyArray> got = run_native(g, inputs), want = reference::evaluate(g, inputs);
  for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(difference(got[i], want[i], 1e-4, 1e-5), "") << g;
  const kernel::Program p = test::stages::build_program(canonicalize(g));
  ASSERT_EQ(p.kernels.size(), 1u);
  size_t stores = 0, adds = 0;
  for (const kernel::Instruction& i : p.kernels[0].body.instructions) {
    stores += i.op == kernel::Op::store;
    adds += i.op == kernel::Op::scalar;
  }
  EXPECT_EQ(stores, 200u);
  EXPECT_EQ(adds, 200u);
  EXPECT_EQ(p.workspace_bytes, 0);
}

TEST(Workspace, ValuesWithDisjointLiveRangesShareMemory) {
  // Four column sums in a chain: each needs only the one before.
  std::string text = "graph g(%0: f32[8,256]) {\n";
  std::string x = "%0";
  int next = 1;
  for (int step = 0; step < 4; ++step) {
    const std::string sum = "%" + std::to_string(next++), wide = "%" + std::to_string(next++),
                      diff = "%" + std::to_string(next++);
    text += "  " + sum + ": f32[256] = reduce_sum[axes=[0]] " + x + "\n";
    text += "  " + wide + ": f32[8,256] = broadcast[axes=[1], shape=[8,256]] " + sum + "\n";
    text += "  " + diff + ": f32[8,256] = cumsum[axis=0, reverse=false] " + wide + "\n";
    x = diff;
  }
  const Built b = build(text + "  return " + x + "\n}");
  EXPECT_LE(b.workspace, 2 * 8 * 256 * 4 + 2 * 256 * 4) << b.text;
}

}  // namespace
}  // namespace calque::test
