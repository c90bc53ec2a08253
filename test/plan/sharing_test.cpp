// Pointwise operations and reductions over one space share a kernel, whose results equal those of separate kernels.
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/lower/build.h"
#include "support/native.h"
#include "support/random/random_graph.h"
#include "support/stages.h"

namespace calque::test {
namespace {

struct Built {
  kernel::Program program;
  std::string text;
  size_t kernels() const { return program.kernels.size(); }
};

Built build(const Graph& g) {
  Built b{test::stages::build_program(canonicalize(g)), {}};
  std::ostringstream out;
  out << b.program;
  b.text = out.str();
  return b;
}
Graph graph_of(const std::string& text) { return parse("calque 1\n" + text); }

size_t loops(const kernel::Region& r) {
  size_t n = 0;
  for (const kernel::Instruction& i : r.instructions) {
    n += i.op == kernel::Op::loop;
    for (const kernel::Region& inner : i.regions) n += loops(inner);
  }
  return n;
}

/// The same outputs, bit for bit, when every output is computed by a separate graph.
void expect_equal_to_single_outputs(const Graph& g) {
  codegen::CodegenOptions strict;
  strict.strict = true;
  const std::vector<AnyArray> inputs = random_inputs(g, 7);
  const std::vector<AnyArray> together = run_native(g, inputs, strict);
  for (size_t o = 0; o < g.outputs().size(); ++o) {
    Graph alone = g;
    alone.set_outputs({g.outputs()[o]});
    const std::vector<AnyArray> single = run_native(alone, inputs, strict);
    EXPECT_EQ(difference(together[o], single[0]), "") << "output " << o << "\n" << g;
  }
}

TEST(Sharing, OfASumAndItsGradientIsOneLoopWithoutTemporaries) {
  const Graph g = graph_of(R"(graph g(%0: f32[10007]) {
    %1: f32[10007] = sin %0
    %2: f32[10007] = mul %1 %0
    %3: f32[10007] = exp %2
    %4: f32[] = reduce_sum[axes=[0]] %3
    %5: f32[10007] = cos %0
    %6: f32[10007] = mul %5 %0
    %7: f32[10007] = add %6 %1
    %8: f32[10007] = mul %7 %3
    return %4, %8
  })");
  const Built b = build(g);
  EXPECT_EQ(b.kernels(), 1u) << b.text;
  EXPECT_EQ(b.program.workspace_bytes, 0);
  EXPECT_EQ(loops(b.program.kernels[0].body), 1u) << b.text;
  EXPECT_EQ(b.program.kernels[0].bytes_read, 40028) << b.text;
  expect_equal_to_single_outputs(g);
}

TEST(Sharing, OfAMeanOfTwoDimensionsIsOneLoop) {
  const Graph g = graph_of(R"(graph g(%0: f64[37,53], %1: f64[37,53]) {
    %2: f64[37,53] = sub %0 %1
    %3: f64[37,53] = mul %2 %2
    %4: f64[] = reduce_sum[axes=[0,1]] %3
    %5: f64[] = div %4 1961.0:f64[]
    %6: f64[37,53] = mul %2 0.001:f64[37,53]
    return %5, %6
  })");
  const Built b = build(g);
  EXPECT_EQ(b.kernels(), 1u) << b.text;
  EXPECT_EQ(loops(b.program.kernels[0].body), 1u) << b.text;
  expect_equal_to_single_outputs(g);
}

TEST(Sharing, OfSeveralReductionsIsOneLoop) {
  const Graph g = graph_of(R"(graph g(%0: f32[5000], %1: f32[5000]) {
    %2: f32[5000] = mul %0 %1
    %3: f32[] = reduce_sum[axes=[0]] %2
    %4: f32[] = reduce_max[axes=[0]] %0
    %5: i32[] = argmin[axis=0, dtype=i32] %2
    %6: f32[5000] = add %2 %0
    %7: f32[] = reduce_sum[axes=[0]] %1
    return %3, %4, %5, %6, %7
  })");
  const Built b = build(g);
  EXPECT_EQ(b.kernels(), 1u) << b.text;
  EXPECT_EQ(loops(b.program.kernels[0].body), 1u) << b.text;
  kernel::verify(b.program.kernels[0]);
  expect_equal_to_single_outputs(g);
}

TEST(Sharing, OfRowsKeepsTheirStatisticsInRegisters) {
  // Normalised rows, their deviations and a gradient-like pointwise operation that needs both.
  const Graph g = graph_of(R"(graph g(%0: f32[200,300], %1: f32[200,300]) {
    %2: f32[200] = reduce_sum[axes=[1]] %0
    %3: f32[200] = mul %2 0.0033333334:f32[200]
    %4: f32[200,300] = broadcast[axes=[0], shape=[200,300]] %3
    %5: f32[200,300] = sub %0 %4
    %6: f32[200,300] = mul %5 %5
    %7: f32[200] = reduce_sum[axes=[1]] %6
    %8: f32[200] = sqrt %7
    %9: f32[200,300] = broadcast[axes=[0], shape=[200,300]] %8
    %10: f32[200,300] = div %5 %9
    %11: f32[200,300] = mul %10 %1
    %12: f32[200] = reduce_sum[axes=[1]] %11
    %13: f32[200,300] = broadcast[axes=[0], shape=[200,300]] %12
    %14: f32[200,300] = sub %11 %13
    return %10, %8, %14
  })");
  const Built b = build(g);
  EXPECT_EQ(b.kernels(), 1u) << b.text;
  EXPECT_EQ(b.program.workspace_bytes, 0);
  // Rows; three dependent reductions and, with the last one, the two pointwise operations in one or two loops.
  EXPECT_LE(loops(b.program.kernels[0].body), 6u) << b.text;
  expect_equal_to_single_outputs(g);
}

Graph columns(int64_t rows) {
  const std::string shape = "f32[" + std::to_string(rows) + ",300]";
  return graph_of("graph g(%0: " + shape + ", %1: " + shape + ") {\n  %2: " + shape + " = mul %0 %1\n" +
                  "  %3: f32[300] = reduce_sum[axes=[0]] %2\n  return %2, %3\n}");
}

TEST(Sharing, OfColumnsStoresTheSummedValuesWhenNoCacheHoldsThem) {
  const Built large = build(columns(15'000));
  EXPECT_EQ(large.kernels(), 1u) << large.text;
  EXPECT_EQ(loops(large.program.kernels[0].body), 2u) << large.text;
  expect_equal_to_single_outputs(columns(15'000));
  EXPECT_EQ(build(columns(100)).kernels(), 2u);
}

TEST(Reasons, NameWhatIsNotFused) {
  const auto remarks = [](const std::string& text) {
    std::string all;
    for (const std::string& remark : build(graph_of(text)).program.remarks) all += remark + "\n";
    return all;
  };
  using testing::HasSubstr;
  EXPECT_THAT(remarks(R"(graph g(%0: f32[20,30]) {
    %1: f32[30] = reduce_sum[axes=[0]] %0
    %2: f32[20] = reduce_sum[axes=[1]] %0
    return %1, %2
  })"),
              HasSubstr("reduce_sum is not computed in the kernel of reduce_sum: it reduces other dimensions\n"));
  EXPECT_THAT(remarks(R"(graph g(%0: f32[64,64], %1: f32[64,64]) {
    %2: f32[64,64] = dot_general[lhs_batch=[], lhs_contract=[1], rhs_batch=[], rhs_contract=[0]] %0 %1
    %3: f32[64] = reduce_sum[axes=[0]] %2
    %4: f32[64,64] = transpose[perm=[1,0]] %2
    return %3, %4
  })"),
              AllOf(HasSubstr("reduce_sum is not computed with dot_general: it works across elements"),
                    HasSubstr("transpose is not computed with dot_general: it moves elements\n")));
  EXPECT_THAT(remarks(R"(graph g(%0: f32[64,64], %1: f32[64,64]) {
    %2: f32[64,64] = add %0 %1
    %3: f32[64,64] = dot_general[lhs_batch=[], lhs_contract=[1], rhs_batch=[], rhs_contract=[0]] %2 %2
    return %3
  })"),
              HasSubstr("add is not computed as dot_general reads it: it is used more than once\n"));
  EXPECT_THAT(
      remarks(R"(graph g(%0: f32[1000]) {
    %1: f32[1000] = exp %0
    %2: f32[] = reduce_sum[axes=[0]] %1
    %3: f32[1000] = broadcast[axes=[], shape=[1000]] %2
    %4: f32[1000] = div %1 %3
    return %2, %4
  })"),
      AllOf(HasSubstr("exp of f32[1000] goes through memory: several loops use it"),
            HasSubstr("div is not computed in the kernel of exp: it needs exp in memory, after a reduction\n")));
}

TEST(Reasons, StandInThePlanWithBytesAndOperations) {
  const Built b = build(graph_of(R"(graph g(%0: f32[200,300]) {
    %1: f32[200] = reduce_sum[axes=[1]] %0
    %2: f32[200,300] = broadcast[axes=[0], shape=[200,300]] %1
    %3: f32[200,300] = sub %0 %2
    %4: f32[300] = reduce_sum[axes=[0]] %0
    return %3, %4
  })"));
  EXPECT_THAT(b.text, testing::HasSubstr("  reads 240000 bytes, writes 240000 bytes, 120000 flops\n"));
  EXPECT_THAT(b.text, testing::HasSubstr("not fused: \"reduce_sum is not computed in the kernel of sub: it "));
}

TEST(Sharing, EndsWhereAPointwiseOperationNeedsTheSum) {
  const Graph g = graph_of(R"(graph g(%0: f32[1000]) {
    %1: f32[1000] = exp %0
    %2: f32[] = reduce_sum[axes=[0]] %1
    %3: f32[1000] = broadcast[axes=[], shape=[1000]] %2
    %4: f32[1000] = div %1 %3
    return %2, %4
  })");
  const Built b = build(g);
  EXPECT_EQ(b.kernels(), 2u) << b.text;
  expect_equal_to_single_outputs(g);
}

}  // namespace
}  // namespace calque::test
