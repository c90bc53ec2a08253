// Matrix products of whole graphs, from the plan to the simulator. Inputs are small integers, so that every order of
// summation gives the same bits as the reference.
#include <gtest/gtest.h>

#include "codegen/gpu/device_code.h"
#include "reference/evaluate.h"
#include "support/arrays.h"
#include "support/native.h"
#include "support/random/random.h"
#include "support/simulated.h"

namespace calque::test {
namespace {

AnyArray whole_numbers(const Type& type, Rng& rng) {
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

std::string compare(const std::string& text, const codegen::DeviceOptions& options = {}) {
  const Graph g = parse(text);
  Rng rng(11);
  std::vector<AnyArray> inputs;
  for (const Type& t : g.input_types()) inputs.push_back(whole_numbers(t, rng));
  kernel::GpuLimits limits;
  limits.fast_math = options.fast_math;
  try {
    const auto want = reference::evaluate(g, inputs), got = run_simulated(g, inputs, limits, options);
    for (size_t i = 0; i < want.size(); ++i)
      if (const std::string d = difference(got[i], want[i]); !d.empty()) return d + "\n" + text;
  } catch (const Error& e) {
    return std::string(e.what()) + "\n" + text;
  }
  return {};
}

const char* const kProduct = "dot_general[lhs_batch=[], lhs_contract=[1], rhs_batch=[], rhs_contract=[0]] ";

bool has_tiles(const std::string& text) {
  for (const kernel::Kernel& k : program_for_gpu(parse(text), {}).kernels) {
    const auto* region = &k.body;
    while (!region->instructions.empty() && region->instructions.back().op == kernel::Op::loop)
      region = &region->instructions.back().regions[0];
    for (const kernel::Instruction& i : region->instructions)
      if (i.op == kernel::Op::contraction) return true;
  }
  return false;
}

std::string with_bias(const std::string& dtype) {
  return "calque 1\ngraph f(%a: " + dtype + "[50,72], %b: " + dtype + "[72,88], %bias: " + dtype +
         "[88]) {\n  %d = " + kProduct + "%a %b\n  %w = broadcast[axes=[1], shape=[50,88]] %bias\n  %s = add %d %w\n" +
         "  %out = max %s %w\n  return %out\n}\n";
}

TEST(GpuProducts, FinishTheirSums) {
  for (const std::string dtype : {"f32", "f64", "bf16", "f16", "i32"}) {
    EXPECT_TRUE(has_tiles(with_bias(dtype))) << dtype;
    EXPECT_EQ(compare(with_bias(dtype)), "");
    EXPECT_EQ(compare(with_bias(dtype), {.strict = true}), "");
  }
  EXPECT_EQ(compare(with_bias("f32"), {.fast_math = true}), "");
}

TEST(GpuProducts, ComputeTheirFactors) {
  const std::string text =
      std::string("calque 1\ngraph f(%a: f32[60,50], %b: f32[50,64], %s: f32[60]) {\n") +
      "  %sw = broadcast[axes=[0], shape=[60,50]] %s\n  %x = mul %a %sw\n  %y = neg %b\n  %d = " + kProduct +
      "%x %y\n  return %d\n}\n";
  EXPECT_TRUE(has_tiles(text));
  EXPECT_EQ(compare(text), "");
}

TEST(GpuProducts, ComeInBatches) {
  for (const std::string dtype : {"f32", "bf16"}) {
    const std::string text = "calque 1\ngraph f(%a: " + dtype + "[3,40,24], %b: " + dtype +
                             "[3,48,24]) {\n  %d = dot_general[lhs_batch=[0], lhs_contract=[2], rhs_batch=[0], "
                             "rhs_contract=[2]] %a %b\n  return %d\n}\n";
    EXPECT_TRUE(has_tiles(text));
    EXPECT_EQ(compare(text), "");
  }
}

TEST(GpuProducts, SumOverSeveralDimensions) {
  EXPECT_EQ(compare("calque 1\ngraph f(%a: f32[5,6,7,8], %b: f32[7,39,5]) {\n  %d = dot_general[lhs_batch=[], "
                    "lhs_contract=[2,0], rhs_batch=[], rhs_contract=[0,2]] %a %b\n  return %d\n}\n"),
            "");
}

TEST(GpuProducts, FollowOneAnother) {
  const std::string text = std::string("calque 1\ngraph f(%a: f32[48,48], %b: f32[48,48]) {\n  %c = ") + kProduct +
                           "%a %b\n  %t = transpose[perm=[1,0]] %c\n  %d = " + kProduct +
                           "%t %b\n  %s = add %d %c\n  return %s\n}\n";
  EXPECT_EQ(compare(text), "");
}

}  // namespace
}  // namespace calque::test
