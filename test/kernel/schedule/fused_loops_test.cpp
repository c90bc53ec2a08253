// Shared loops, stores and addresses: reductions of the same values, adjacent columns, sums of a few elements, products
// whose columns are not contiguous. Inputs are small integers, so that every order of summation gives the same bits.
#include <sstream>

#include <gtest/gtest.h>

#include "kernel/lower/build.h"
#include "support/kernel_builder.h"
#include "support/native.h"
#include "support/random/random.h"
#include "support/stages.h"

namespace calque::test {
namespace {

size_t occurrences(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

std::vector<AnyArray> small_integers(const Graph& g, Rng& rng) {
  std::vector<AnyArray> inputs;
  for (const Type& t : g.input_types()) {
    AnyArray a = AnyArray::uninitialized(t);
    visit_dtype(t.dtype, [&]<class T>() {
      if constexpr (std::is_arithmetic_v<T>) {
        for (int64_t i = 0; i < a.size(); ++i) static_cast<T*>(a.mutable_data())[i] = T(rng.below(7));
      }
    });
    inputs.push_back(a);
  }
  return inputs;
}

struct Built {
  size_t kernels = 0;
  int64_t workspace = 0;
  std::string text;
};

/// The program, after checking that it computes the reference's bits on all CPU levels.
Built checked(const std::string& text) {
  const Graph g = parse("calque 1\n" + text);
  Rng rng(7);
  const std::vector<AnyArray> inputs = small_integers(g, rng);
  for (const std::string& level : cpu_levels()) {
    EXPECT_EQ(compare_strictly(g, inputs, level == "native" ? "" : level), "") << level;
  }
  const kernel::Program p = test::stages::build_program(g);
  for (const kernel::Kernel& k : p.kernels) kernel::verify(k);
  std::ostringstream out;
  out << p;
  return {p.kernels.size(), p.workspace_bytes, out.str()};
}

TEST(FusedLoops, SumsOfTheSameValuesAreOneLoop) {
  for (const int n : {3, 17, 100, 1003}) {
    const std::string t = std::to_string(n);
    const Built b = checked("graph f(%x: f32[40," + t + "], %y: f32[40," + t + "]) {\n  %1: f32[40," + t +
                            "] = mul %x %y\n  %2: f32[40," + t +
                            "] = mul %1 %x\n  %3: f32[40] = reduce_sum[axes=[1]] "
                            "%1\n  %4: f32[40] = reduce_sum[axes=[1]] %2\n  %5: f32[40] = reduce_max[axes=[1]] %2\n"
                            "  return %3, %4, %5\n}\n");
    EXPECT_EQ(b.kernels, 1u) << b.text;
    EXPECT_EQ(occurrences(b.text, "reduction"), n > 4 ? 1u : 0u) << b.text;
  }
}

TEST(FusedLoops, ASumThatDependsOnAnExtremumIsASeparateLoop) {
  const Built b = checked(R"(graph f(%x: f64[30,200]) {
    %1: f64[30] = reduce_max[axes=[1]] %x
    %2: f64[30,200] = broadcast[axes=[0], shape=[30,200]] %1
    %3: f64[30,200] = sub %x %2
    %4: f64[30] = reduce_sum[axes=[1]] %3
    return %1, %4
  })");
  EXPECT_EQ(occurrences(b.text, "reduction"), 2u) << b.text;
}

/// Columns of an [n, k] array that are computed from one another.
std::string columns(const std::string& dtype, int n, int k) {
  const std::string one = dtype + "[" + std::to_string(n) + ",1]", flat = dtype + "[" + std::to_string(n) + "]";
  std::ostringstream text;
  text << "graph f(%a: " << flat << ", %b: " << flat << ") {\n  %v0: " << flat << " = mul %a %b\n";
  for (int i = 1; i < k; ++i) text << "  %v" << i << ": " << flat << " = add %v" << i - 1 << " %a\n";
  for (int i = 0; i < k; ++i) text << "  %c" << i << ": " << one << " = reshape[shape=[" << n << ",1]] %v" << i << "\n";
  text << "  %all: " << dtype << "[" << n << "," << k << "] = concatenate[axis=1]";
  for (int i = 0; i < k; ++i) text << " %c" << i;
  text << "\n  return %all\n}\n";
  return text.str();
}

TEST(FusedLoops, AdjacentColumnsAreStoredAsRows) {
  for (const char* dtype : {"f32", "f64", "i32", "i16"}) {
    for (const int k : {2, 3, 5, 8, 30}) {
      for (const int n : {2, 33, 100}) {
        SCOPED_TRACE(std::string(dtype) + " " + std::to_string(n) + " x " + std::to_string(k));
        const Built b = checked(columns(dtype, n, k));
        EXPECT_EQ(b.kernels, 1u) << b.text;
        EXPECT_EQ(b.workspace, 0) << b.text;
        EXPECT_EQ(occurrences(b.text, "parallel"), 1u) << b.text;
      }
    }
  }
}

TEST(FusedLoops, SomeColumnsOfARowLeaveTheOthersAlone) {
  // Two arrays of one shape written at once, one of them with columns between those of the other concatenation's parts.
  checked(R"(graph f(%a: f32[50], %m: f32[50,3]) {
    %1: f32[50,1] = reshape[shape=[50,1]] %a
    %2: f32[50,1] = neg %1
    %3: f32[50,8] = concatenate[axis=1] %1 %m %2 %m
    %4: f32[50,5] = concatenate[axis=1] %m %2 %1
    return %3, %4
  })");
}

TEST(FusedLoops, StacksOfStacksAreWrittenDirectly) {
  const Built b = checked(R"(graph f(%a: f64[60], %b: f64[60]) {
    %1: f64[60] = mul %a %b
    %2: f64[60] = add %1 %b
    %3: f64[1,60] = reshape[shape=[1,60]] %1
    %4: f64[1,60] = reshape[shape=[1,60]] %2
    %5: f64[2,60] = concatenate[axis=0] %3 %4
    %6: f64[1,2,60] = reshape[shape=[1,2,60]] %5
    %7: f64[2,60] = concatenate[axis=0] %4 %3
    %8: f64[1,2,60] = reshape[shape=[1,2,60]] %7
    %9: f64[2,2,60] = concatenate[axis=0] %6 %8
    return %9
  })");
  EXPECT_EQ(b.kernels, 1u) << b.text;
  EXPECT_EQ(b.workspace, 0) << b.text;
  EXPECT_EQ(occurrences(b.text, "select"), 0u) << b.text;
}

TEST(FusedLoops, PairsOfPointsAreSummedInOneLoopWithoutDistancesInMemory) {
  for (const int n : {70, 129}) {
    const std::string t = std::to_string(n), pairs = t + "," + t;
    const Built b =
        checked("graph f(%p: f32[" + t + ",3]) {\n  %1: f32[" + pairs + ",3] = broadcast[axes=[1,2], shape=[" + pairs +
                ",3]] %p\n  %2: f32[" + pairs + ",3] = broadcast[axes=[0,2], shape=[" + pairs + ",3]] %p\n  %3: f32[" +
                pairs + ",3] = sub %1 %2\n  %4: f32[" + pairs + ",3] = mul %3 %3\n  %5: f32[" + pairs +
                "] = reduce_sum[axes=[2]] %4\n  %6: f32[" + pairs + ",3] = broadcast[axes=[0,1], shape=[" + pairs +
                ",3]] %5\n  %7: f32[" + pairs + ",3] = mul %6 %3\n  %8: f32[" + t +
                ",3] = reduce_sum[axes=[1]] %7\n  return %8\n}\n");
    EXPECT_EQ(b.kernels, 1u) << b.text;
    EXPECT_EQ(b.workspace, 0) << b.text;
    EXPECT_EQ(occurrences(b.text, "reduction"), 1u) << b.text;
  }
}

TEST(FusedLoops, NoncontiguousColumnsOfAProductAreNotDelinearized) {
  for (const int inner : {16, 40, 100}) {
    const std::string n = std::to_string(inner);
    const Built b = checked("graph f(%a: f64[5,6], %b: f64[2,6," + n + "], %s: f64[2,6," + n + "]) {\n  %1: f64[2,6," +
                            n + "] = add %b %s\n  %2: f64[5,2," + n +
                            "] = dot_general[lhs_batch=[], lhs_contract=[1], rhs_batch=[], rhs_contract=[1]] %a %1\n"
                            "  %3: f64[5,2," +
                            n +
                            "] = dot_general[lhs_batch=[], lhs_contract=[1], rhs_batch=[], rhs_contract=[1]] %a %b\n"
                            "  return %2, %3\n}\n");
    EXPECT_EQ(occurrences(b.text, "contraction 5 x " + n), 2u) << b.text;
    EXPECT_EQ(occurrences(b.text, " rem "), 0u) << b.text;
  }
}

}  // namespace
}  // namespace calque::test
