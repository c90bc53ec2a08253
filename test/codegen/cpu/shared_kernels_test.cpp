// Kernels that differ only in floating-point constants share one function, which loads those constants.
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "codegen/codegen.h"
#include "kernel/ir/same_code.h"
#include "kernel/lower/build.h"
#include "support/cpu_levels.h"
#include "support/native.h"
#include "support/random/random_graph.h"
#include "support/stages.h"
#include "transform/simplify/simplify.h"

namespace calque {
namespace {

constexpr int kSums = 200;

size_t functions_of_kernels(const kernel::Program& p, const codegen::CodegenOptions& options = {}) {
  const std::string text = test::stages::llvm_ir(p, options);
  constexpr std::string_view kDefinition = "define internal void @kernel.";
  size_t n = 0;
  for (size_t at = 0; (at = text.find(kDefinition, at)) != std::string::npos; ++at) ++n;
  return n;
}

kernel::Program program_of(const Graph& g) { return test::stages::build_program(transform::simplify(g)); }

template <class T>
Graph sums_of(const Shape& shape, const Axes& axes) {
  return jit([&](auto x) {
           std::vector<decltype(x)> sums;
           for (int i = 0; i < kSums; ++i)
             sums.push_back(sum(x * static_cast<T>(0.25 * i + 3) - static_cast<T>(0.5 * i + 0.125), axes));
           return sums;
         })
      .trace(spec<T>(shape));
}

/// Small integers, whose sums are exact in any order.
std::vector<AnyArray> inputs_of(const Graph& g) {
  const Type type = g.type(g.inputs()[0]);
  AnyArray x = AnyArray::uninitialized(type);
  for (int64_t i = 0; i < x.size(); ++i) {
    const auto value = static_cast<double>(i * 7 % 9 - 4);
    if (type.dtype == DType::f64)
      static_cast<double*>(x.mutable_data())[i] = value;
    else
      static_cast<float*>(x.mutable_data())[i] = static_cast<float>(value);
  }
  return {x};
}

class SharedKernels : public testing::TestWithParam<std::string> {};

TEST_P(SharedKernels, HaveTheirOwnConstants) {
  for (const Graph& g : {sums_of<float>({37}, {0}), sums_of<double>({101}, {0}), sums_of<float>({5, 9}, {1})})
    EXPECT_EQ(test::compare_strictly(g, inputs_of(g), GetParam()).substr(0, 300), "");
}

INSTANTIATE_TEST_SUITE_P(Cpus, SharedKernels,
                         testing::ValuesIn(test::kAddressSanitizer ? std::vector<std::string>{"native"}
                                                                   : test::cpu_levels()));

TEST(SharedKernels, AreOneFunction) {
  for (const Graph& g : {sums_of<float>({37}, {0}), sums_of<double>({101}, {0}), sums_of<float>({5, 9}, {1})}) {
    const kernel::Program p = program_of(g);
    EXPECT_GE(p.kernels.size(), 6U);
    EXPECT_LE(functions_of_kernels(p), 2U);  // the last kernel has fewer sums
  }
}

// With fast_math, code may depend on the values of constants.
TEST(SharedKernels, AreNotWithFastMath) {
  const kernel::Program p = program_of(sums_of<float>({37}, {0}));
  codegen::CodegenOptions options;
  options.fast_math = true;
  EXPECT_EQ(functions_of_kernels(p, options), p.kernels.size());
}

// Of what a sum of such sums reads, 32 values are in the workspace.
TEST_P(SharedKernels, StoreToTheWorkspace) {
  const auto total = jit([](auto x) {
    auto s = sum(x);
    for (int i = 1; i < 10 * kSums; ++i) s = s - sum(x * (i + 1.0));
    return s;
  });
  const Graph g = total.trace(spec<double>({200}));
  const kernel::Program p = program_of(g);
  EXPECT_GT(p.kernels.size(), 20U);
  EXPECT_LE(functions_of_kernels(p), p.kernels.size() / 3);
  EXPECT_EQ(test::compare_strictly(g, inputs_of(g), GetParam()).substr(0, 300), "");
}

// Signs of zeros, infinities and NaNs are constants, too, and some constants are those of all kernels.
TEST_P(SharedKernels, HaveSpecialConstants) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const std::vector<double> special = {0.0, -0.0, inf, -inf, nan, 5e-324, 1.0, -1.0};
  const auto scan = jit([&](auto x) {
    std::vector<decltype(x)> out;
    for (size_t i = 0; i < special.size(); ++i)
      out.push_back(cumsum(maximum(x * 0.5, special[i]) + where(x > 0.25, special[special.size() - 1 - i], x), 0));
    return out;
  });
  const Graph g = scan.trace(spec<double>({19}));
  EXPECT_EQ(test::compare_strictly(g, test::random_inputs(g, 3, false), GetParam()).substr(0, 300), "");
}

TEST(SharedKernels, HaveOneForm) {
  const kernel::Program p =
      program_of(jit([](auto x, auto n) {
                   return std::tuple{cumsum(x * 3.0f, 0), cumsum(x * 5.0f, 0), cumsum(n * 3, 0), cumsum(n * 5, 0)};
                 }).trace(spec<float>({5}), spec<int32_t>({5})));
  ASSERT_EQ(p.kernels.size(), 4U);
  std::vector<const kernel::Kernel*> floats, integers;
  for (const kernel::Kernel& k : p.kernels) (k.buffers[0].dtype == DType::f32 ? floats : integers).push_back(&k);
  ASSERT_EQ(floats.size(), 2U);
  EXPECT_FALSE(kernel::same_code(*floats[0], *floats[1]));
  EXPECT_TRUE(kernel::same_form(*floats[0], *floats[1]));
  EXPECT_EQ(kernel::hash_of_form(*floats[0]), kernel::hash_of_form(*floats[1]));
  EXPECT_FALSE(kernel::same_form(*integers[0], *integers[1]));
  EXPECT_FALSE(kernel::same_form(*floats[0], *integers[0]));
}

}  // namespace
}  // namespace calque
