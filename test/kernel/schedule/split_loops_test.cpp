// Loops that compare their index with constants are split into loops without comparisons.
#include "kernel/schedule/split_loops.h"

#include <sstream>

#include <gtest/gtest.h>

#include "kernel/lower/build.h"
#include "support/native.h"
#include "support/samples.h"
#include "support/stages.h"

namespace calque::test {
namespace {

size_t occurrences(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// The program's text, after checking that it computes the reference's bits.
std::string checked_text(const std::string& text) {
  const Graph g = parse("calque 1\n" + text);
  Rng rng(5);
  std::vector<AnyArray> inputs;
  for (const Type& t : g.input_types()) inputs.push_back(sample_array(t, rng));
  EXPECT_EQ(compare_strictly(g, inputs), "");
  const kernel::Program p = test::stages::build_program(g);
  for (const kernel::Kernel& k : p.kernels) kernel::verify(k);
  std::ostringstream out;
  out << p;
  return out.str();
}

TEST(SplitLoops, SumOfShiftedPadsHasThreeLoopsWithoutPredicates) {
  const std::string text = checked_text(R"(graph f(%a: f32[999], %b: f32[999]) {
    %1: f32[1000] = pad[high=[0], interior=[0], low=[1]] %a 0:f32[]
    %2: f32[1000] = pad[high=[1], interior=[0], low=[0]] %b 0:f32[]
    %3: f32[1000] = add %1 %2
    return %3
  })");
  EXPECT_EQ(occurrences(text, "parallel"), 3u) << text;
  EXPECT_EQ(occurrences(text, " if "), 0u) << text;
  EXPECT_EQ(occurrences(text, "select"), 0u) << text;
}

TEST(SplitLoops, ConcatenationInsideAnExpressionHasALoopForEachPart) {
  const std::string text = checked_text(R"(graph f(%a: f64[100], %b: f64[300], %c: f64[400]) {
    %1: f64[400] = concatenate[axis=0] %a %b
    %2: f64[400] = mul %1 %c
    return %2
  })");
  EXPECT_EQ(occurrences(text, "parallel"), 2u) << text;
  EXPECT_EQ(occurrences(text, " if "), 0u) << text;
}

TEST(SplitLoops, StencilHasAnInteriorWithoutPredicates) {
  const std::string text = checked_text(R"(graph f(%x: f64[64,96]) {
    %1: f64[64,96] = pad[high=[-1,0], interior=[0,0], low=[1,0]] %x 0:f64[]
    %2: f64[64,96] = pad[high=[1,0], interior=[0,0], low=[-1,0]] %x 0:f64[]
    %3: f64[64,96] = pad[high=[0,-1], interior=[0,0], low=[0,1]] %x 0:f64[]
    %4: f64[64,96] = pad[high=[0,1], interior=[0,0], low=[0,-1]] %x 0:f64[]
    %5: f64[64,96] = add %1 %2
    %6: f64[64,96] = add %3 %4
    %7: f64[64,96] = add %5 %6
    return %7
  })");
  EXPECT_EQ(occurrences(text, " if "), 0u) << text;
}

TEST(SplitLoops, ShortLoopsStayWhole) {
  const std::string text = checked_text(R"(graph f(%a: f32[9], %b: f32[9]) {
    %1: f32[10] = pad[high=[0], interior=[0], low=[1]] %a 0:f32[]
    %2: f32[10] = pad[high=[1], interior=[0], low=[0]] %b 0:f32[]
    %3: f32[10] = add %1 %2
    return %3
  })");
  EXPECT_EQ(occurrences(text, "parallel"), 1u) << text;
}

TEST(SplitLoops, ReversedAndOddExtentsKeepTheirBits) {
  for (const int n : {33, 64, 97, 131, 200}) {
    std::ostringstream graph;
    graph << "graph f(%a: f32[" << n << "], %b: f32[" << n << "]) {\n  %1: f32[" << n
          << "] = reverse[axes=[0]] %a\n  %2: f32[" << 2 * n << "] = concatenate[axis=0] %1 %b\n  %3: f32[" << 2 * n
          << "] = reverse[axes=[0]] %2\n  %4: f32[" << 2 * n << "] = sub %3 %2\n  return %4\n}";
    checked_text(graph.str());
  }
}

}  // namespace
}  // namespace calque::test
