// Tiled products. Inputs are small integers, so that every order of summation gives the reference's bits.
#include <sstream>

#include <gtest/gtest.h>

#include "kernel/lower/build.h"
#include "kernel/schedule/threads.h"
#include "plan/analysis/product_queries.h"
#include "reference/evaluate.h"
#include "support/arrays.h"
#include "support/cpu_levels.h"
#include "support/native.h"
#include "support/samples.h"
#include "support/sanitizers.h"
#include "support/stages.h"
#include "transform/simplify/simplify.h"

namespace calque::test {
namespace {

struct Case {
  int64_t batch, rows, columns, k;
  bool lhs_transposed = false, rhs_transposed = false;
};

std::string dims(std::initializer_list<int64_t> extents) {
  std::string text;
  for (const int64_t e : extents)
    if (e != 0) text += (text.empty() ? "" : ",") + std::to_string(e);
  return text;
}

/// A product of a case's shape and its epilogue: `%d` is the product, `%out` the result of `epilogue`.
std::string product(const Case& c, const std::string& dtype, const std::string& epilogue) {
  const int64_t b = c.batch;
  const std::string lhs = c.lhs_transposed ? dims({b, c.k, c.rows}) : dims({b, c.rows, c.k});
  const std::string rhs = c.rhs_transposed ? dims({b, c.columns, c.k}) : dims({b, c.k, c.columns});
  const int first = b != 0;
  std::ostringstream text;
  text << "calque 1\ngraph product(%a: " << dtype << "[" << lhs << "], %b: " << dtype << "[" << rhs
       << "], %bias: " << dtype << "[" << c.columns << "]) {\n  %d = dot_general[lhs_batch=[" << (b ? "0" : "")
       << "], lhs_contract=[" << first + (c.lhs_transposed ? 0 : 1) << "], rhs_batch=[" << (b ? "0" : "")
       << "], rhs_contract=[" << first + (c.rhs_transposed ? 1 : 0) << "]] %a %b\n";
  if (epilogue.empty()) {
    text << "  return %d\n}\n";
  } else {
    text << "  %wide = broadcast[axes=[" << first + 1 << "], shape=[" << dims({b, c.rows, c.columns}) << "]] %bias\n"
         << epilogue << "  return %out\n}\n";
  }
  return text.str();
}

const char* const kBias = "  %s = add %d %wide\n  %out = max %s %wide\n";

/// Integers from -3 to 3.
AnyArray small_integers(const Type& type, Rng& rng) {
  AnyArray out = AnyArray::uninitialized(type);
  visit_dtype(type.dtype, [&]<class T>() {
    T* p = static_cast<T*>(out.mutable_data());
    for (int64_t i = 0; i < out.size(); ++i) {
      const int v = static_cast<int>(rng.between(-3, 3));
      if constexpr (std::is_integral_v<T>) {
        p[i] = static_cast<T>(v);
      } else if constexpr (std::is_constructible_v<T, float>) {
        p[i] = T(static_cast<float>(v));
      }
    }
    return 0;
  });
  return out;
}

std::string compare(const std::string& text, const codegen::CodegenOptions& options = {}) {
  const Graph g = parse(text);
  Rng rng(7);
  std::vector<AnyArray> inputs;
  for (const Type& t : g.input_types()) inputs.push_back(small_integers(t, rng));
  const std::vector<AnyArray> want = reference::evaluate(g, inputs), got = run_native(g, inputs, options);
  for (size_t i = 0; i < want.size(); ++i) {
    const std::string d = difference(got[i], want[i]);
    if (!d.empty()) return d + "\n" + text;
  }
  return {};
}

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const int64_t n : {4, 7, 16, 33})
    for (const int64_t m : {1, 4, 13, 29})
      for (const int64_t k : {2, 8, 37}) out.push_back({0, m, n, k});
  // Several blocks of K, of columns, of rows; sizes on both sides of them.
  for (const Case& c : {Case{0, 3, 40, 1000},
                        {0, 30, 300, 321},
                        {0, 460, 37, 530},
                        {0, 1, 2000, 700},
                        {0, 129, 1030, 65},
                        {0, 70, 500, 711}})
    out.push_back(c);
  // Batches, and products of which the left operand's elements are side by side.
  for (const Case& c : {Case{3, 4, 4, 4}, {5, 8, 8, 8}, {2, 17, 19, 23}, {0, 64, 1, 9}, {0, 50, 2, 30}})
    out.push_back(c);
  const size_t n = out.size();
  for (size_t i = 0; i < n; ++i)
    for (int turn = 1; turn < 4; ++turn) {
      Case c = out[i];
      c.lhs_transposed = (turn & 1) != 0;
      c.rhs_transposed = (turn & 2) != 0;
      if (i % 5 == 0 || c.k > 100 || c.batch) out.push_back(c);
    }
  return out;
}

class Tiles : public testing::TestWithParam<std::string> {};

TEST_P(Tiles, GiveTheReferencesSums) {
  codegen::CodegenOptions options;
  options.target.cpu = GetParam();
  int seen = 0;
  for (const Case& c : cases()) {
    const bool all = seen++ % 7 == 0;
    if (kAddressSanitizer && seen % 12 != 1) continue;  // instrumented code takes long to compile
    EXPECT_EQ(compare(product(c, "f32", all ? kBias : ""), options), "");
    if (all) {
      EXPECT_EQ(compare(product(c, "f64", ""), options), "");
    }
  }
}

TEST_P(Tiles, KnowEveryType) {
  codegen::CodegenOptions options;
  options.target.cpu = GetParam();
  for (const std::string dtype : {"f16", "bf16", "i32", "f64", "u32", "i64", "u64"}) {
    if (kAddressSanitizer && dtype == "f64") break;
    for (const Case& c :
         {Case{0, 9, 21, 35, false, false}, Case{0, 9, 21, 35, true, false}, Case{0, 33, 70, 64, false, true},
          Case{2, 4, 4, 4, false, false}, Case{0, 40, 300, 333, true, true}, Case{0, 41, 150, 534, false, false},
          Case{0, 30, 150, 535, false, true}}) {
      EXPECT_EQ(compare(product(c, dtype, ""), options), "");
      EXPECT_EQ(compare(product(c, dtype, kBias), options), "");
    }
  }
}

// 16 bytes of several columns are transposed at once; columns and elements are left over.
TEST_P(Tiles, PackFactorsThatAreContiguousAlongTheSum) {
  codegen::CodegenOptions options;
  options.target.cpu = GetParam();
  for (const std::string dtype : {"f32", "f64", "f16", "bf16"}) {
    if (kAddressSanitizer && dtype != "f32") break;
    for (const int64_t columns : {5, 17, 20, 31, 50})
      for (const int64_t k : {4, 7, 18, 51})
        EXPECT_EQ(compare(product({0, 21, columns, k, false, true}, dtype, ""), options), "");
  }
}

TEST_P(Tiles, AreTheSameSplitOverThreads) {
  codegen::CodegenOptions options;
  options.target.cpu = GetParam();
  const kernel::ThreadOptions saved = kernel::thread_options();
  kernel::thread_options().split_above = 0;
  for (const Case& c :
       {Case{0, 500, 300, 330}, Case{0, 33, 700, 40}, Case{0, 203, 700, 530}, Case{4, 20, 30, 40}, Case{0, 15, 17, 16}})
    EXPECT_EQ(compare(product(c, "f32", kBias), options), "");
  kernel::thread_options() = saved;
}

// Under AddressSanitizer the code of one CPU is run: instrumented code takes ten times as long to compile.
INSTANTIATE_TEST_SUITE_P(Targets, Tiles, testing::ValuesIn(cpu_levels()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Products, AddLongSumsInBlocks) {
  // A sequential f32 sum of ones stops growing at 2^24.
  constexpr int64_t kLength = (int64_t{1} << 24) + 4096;
  const std::string k = std::to_string(kLength);
  const Graph g = parse("calque 1\ngraph f(%a: f32[]) {\n  %l = broadcast[axes=[], shape=[4," + k +
                        "]] %a\n  %r = broadcast[axes=[], shape=[" + k +
                        ",4]] %a\n  %d = dot_general[lhs_batch=[], lhs_contract=[1], rhs_batch=[], rhs_contract=[0]] "
                        "%l %r\n  return %d\n}\n");
  const std::vector<AnyArray> got = run_native(g, {AnyArray::full(Shape{}, 1.0f)});
  EXPECT_EQ(static_cast<const float*>(got[0].data())[15], static_cast<float>(kLength));
}

kernel::Program program_of(const std::string& text) {
  return test::stages::build_program(transform::simplify(parse(text)));
}

TEST(Products, ComputeTheirEpilogueInOneKernel) {
  const kernel::Program p = program_of(product({0, 32, 48, 64}, "f32", kBias));
  EXPECT_EQ(p.kernels.size(), 1u);
  EXPECT_EQ(p.workspace_bytes, 0);
}

/// Two products, of 3 and of `rows` rows, with one computed right factor.
std::string of_computed(int64_t rows, int64_t columns, const std::string& dtype) {
  const std::string n = std::to_string(columns), shape = "[4,4," + n + "]", m = std::to_string(rows);
  const std::string product = "dot_general[lhs_batch=[], lhs_contract=[0,2], rhs_batch=[], rhs_contract=[0,1]] ";
  return "calque 1\ngraph f(%a: " + dtype + "[4,3,4], %b: " + dtype + "[4," + m + ",4], %w: " + dtype + "[4," + n +
         "], %x: " + dtype + "[4," + n + "]) {\n  %wb = broadcast[axes=[0,2], shape=" + shape +
         "] %w\n  %xb = broadcast[axes=[1,2], shape=" + shape + "] %x\n  %r = mul %wb %xb\n  %d = " + product +
         "%a %r\n  %e = " + product + "%b %r\n  return %d, %e\n}\n";
}

TEST(Products, OfFewRowsComputeTheirRightFactor) {
  const kernel::Program p = program_of(of_computed(12, 800, "f64"));
  EXPECT_EQ(p.kernels.size(), 2u);
  EXPECT_EQ(p.workspace_bytes, 0);
  // With many rows it would be recomputed too often.
  EXPECT_NE(program_of(of_computed(40, 800, "f64")).workspace_bytes, 0);
  for (const std::string& cpu : cpu_levels()) {
    codegen::CodegenOptions options;
    options.target.cpu = cpu;
    for (const std::string dtype : {"f64", "f32", "bf16", "i32"})
      for (const int64_t columns : {5, 16, 37, 803}) EXPECT_EQ(compare(of_computed(12, columns, dtype), options), "");
  }
}

TEST(Products, AreMaterializedWhenAnotherKernelReadsThem) {
  const std::string text = product({0, 32, 48, 64}, "f32",
                                   "  %t = max %d %wide\n  %r = reduce_sum[axes=[1]] %d\n"
                                   "  %rw = broadcast[axes=[0], shape=[32,48]] %r\n  %out = mul %t %rw\n");
  // The product and its sum of rows are stored; the rest needs both.
  EXPECT_EQ(program_of(text).workspace_bytes % 64, 0);
  EXPECT_EQ(compare(text), "");
}

TEST(Products, DoNotReadTheirResultAtOtherIndices) {
  const std::string text = product({0, 40, 40, 64}, "f32", "  %t = transpose[perm=[1,0]] %d\n  %out = add %t %d\n");
  EXPECT_EQ(compare(text), "");
}

TEST(Products, OfProductsAddUp) {
  const std::string text =
      product({0, 24, 24, 24}, "f32",
              "  %d2 = dot_general[lhs_batch=[], lhs_contract=[1], rhs_batch=[], rhs_contract=[0]] %b %a\n"
              "  %s = add %d %d2\n  %out = mul %s %wide\n");
  EXPECT_EQ(program_of(text).kernels.size(), 2u);
  EXPECT_EQ(compare(text), "");
}

TEST(Products, PackComputedFactors) {
  const std::string text =
      "calque 1\ngraph f(%a: f32[40,50], %b: f32[50,60], %s: f32[40]) {\n  %sw = broadcast[axes=[0], shape=[40,50]] "
      "%s\n"
      "  %x = mul %a %sw\n  %y = neg %b\n"
      "  %d = dot_general[lhs_batch=[], lhs_contract=[1], rhs_batch=[], rhs_contract=[0]] %x %y\n  return %d\n}\n";
  EXPECT_EQ(program_of(text).kernels.size(), 1u);
  EXPECT_EQ(compare(text), "");
}

TEST(Products, MayBeReshapedBeforeTheirEpilogue) {
  const std::string text =
      "calque 1\ngraph f(%a: f32[6,7,50], %b: f32[50,60], %s: f32[42,60]) {\n"
      "  %d = dot_general[lhs_batch=[], lhs_contract=[2], rhs_batch=[], rhs_contract=[0]] %a %b\n"
      "  %r = reshape[shape=[42,60]] %d\n  %out = add %r %s\n  return %out\n}\n";
  EXPECT_EQ(program_of(text).kernels.size(), 1u);
  EXPECT_EQ(compare(text), "");
}

TEST(Products, SumOverSeveralDimensions) {
  EXPECT_EQ(compare("calque 1\ngraph f(%a: f32[5,6,7,8], %b: f32[7,9,5]) {\n"
                    "  %d = dot_general[lhs_batch=[], lhs_contract=[2,0], rhs_batch=[], rhs_contract=[0,2]] %a %b\n"
                    "  return %d\n}\n"),
            "");
}

}  // namespace
}  // namespace calque::test
