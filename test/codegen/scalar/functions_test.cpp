// Functions of lib/math in kernels give the same bits as lib/math gives on numbers: for every function, dtype, width
// and form, in scalars and vectors, in common lanes next to lanes of the cold path.
#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "math/evaluate.h"
#include "math/points.h"
#include "primitives/registry.h"
#include "reference/evaluate.h"
#include "support/kernel_builder.h"
#include "support/native.h"
#include "support/sanitizers.h"
#include "support/stages.h"

namespace calque::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int64_t kPoints = 5003;

template <class T>
AnyArray points_of(uint64_t seed) {
  std::vector<T> points;
  if constexpr (std::is_integral_v<T>) {
    std::mt19937_64 engine(seed);
    while (points.size() < kPoints) points.push_back(static_cast<T>(engine() >> (engine() % 64)));
  } else {
    math::test::PointSource<double> source(seed);
    const std::vector<double> hard = math::test::hard_points<double>();
    std::mt19937_64 engine(seed);
    while (points.size() < kPoints)
      points.push_back(static_cast<T>(engine() % 4 == 0 ? hard[engine() % hard.size()] : source.next()));
  }
  return AnyArray::from(std::span<const T>(points), Shape{kPoints});
}

Program program_of(const Primitive& function, DType dtype, bool vectorize) {
  KernelBuilder k(function.name);
  std::vector<int32_t> in;
  for (int o = 0; o < function.min_operands; ++o) in.push_back(k.input(dtype, kPoints));
  const int32_t out = k.output(dtype, kPoints);
  k.parallel(kPoints, vectorize, [&](Id i) {
    std::vector<Id> operands;
    for (const int32_t buffer : in) operands.push_back(k.load(buffer, i));
    k.store(out, i, k.op(function.name, operands));
  });
  return k.program();
}

AnyArray run_function(const Primitive& function, const std::vector<AnyArray>& inputs, bool vectorize,
                      const codegen::CodegenOptions& options) {
  std::vector<void*> pointers;
  for (const AnyArray& a : inputs) pointers.push_back(const_cast<void*>(a.data()));
  AnyArray out = AnyArray::uninitialized(inputs[0].type());
  pointers.push_back(out.mutable_data());
  run(program_of(function, inputs[0].dtype(), vectorize), pointers, options);
  return out;
}

bool is_function(PrimitiveId id, DType dtype) {
  return primitives::rules(id).kind(dtype) == primitives::LowerKind::function;
}

/// Instrumented code takes long to compile: with sanitizers each function has one level and one mode, in turn.
bool is_tested(PrimitiveId function, size_t level, bool strict, size_t levels) {
  return !(kAddressSanitizer || kThreadSanitizer) || (function + 2 * level + (strict ? 1 : 0)) % (2 * levels) == 0;
}

template <class T>
void expect_bits_of_numbers(size_t number, bool strict) {
  const std::vector<std::string> levels = cpu_levels();
  const std::string& level = levels[number];
  codegen::CodegenOptions options = cpu(level);
  options.strict = strict;
  const math::MathForms forms{.fused = strict || level != "x86-64-v2"};
  int seen = 0;
  for (size_t n = 0; n < num_primitives(); ++n) {
    const auto id = static_cast<PrimitiveId>(n);
    const bool estimated = !strict && forms.fused && id == primitives::id_of<primitives::Rsqrt>;
    const bool accepts = is_floating(dtype_of<T>) || id == primitives::id_of<primitives::Pow>;
    if (!accepts || estimated || !is_function(id, dtype_of<T>)) continue;
    ++seen;
    if (!is_tested(id, number, strict, levels.size() - 1)) continue;
    const Primitive& function = primitive(id);
    std::vector<AnyArray> inputs;
    for (int o = 0; o < function.min_operands; ++o) inputs.push_back(points_of<T>(static_cast<uint64_t>(o) + 1));
    const AnyArray want = reference::evaluate_primitive(function, inputs, {}, {}, {.forms = forms})[0];
    for (const bool vectorize : {true, false})
      EXPECT_EQ(difference(run_function(function, inputs, vectorize, options), want), "")
          << function.name << " of " << name(dtype_of<T>) << (vectorize ? " in vectors, " : " alone, ") << level;
  }
  EXPECT_GE(seen, is_floating(dtype_of<T>) ? 33 : 1);
}

template <class T>
class Functions : public testing::Test {};
using Types = testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, float16,
                             bfloat16, float, double>;
TYPED_TEST_SUITE(Functions, Types);

TYPED_TEST(Functions, HaveTheBitsOfNumbersByDefault) {
  for (size_t level = 0; level < cpu_levels().size(); ++level)
    if (cpu_levels()[level] != "native") expect_bits_of_numbers<TypeParam>(level, false);
}

TYPED_TEST(Functions, HaveTheBitsOfNumbersInStrictMode) {
  for (size_t level = 0; level < cpu_levels().size(); ++level)
    if (cpu_levels()[level] != "native") expect_bits_of_numbers<TypeParam>(level, true);
}

// One lane at a time takes the cold path: its vector runs the general body, in which the other lanes keep their bits.
TEST(FunctionBodies, AgreeInCommonLanes) {
  const Primitive& sine = *find_primitive("sin");
  for (int64_t at = 0; at < 48; ++at) {
    std::vector<float> x(kPoints, 0.0f);
    for (size_t i = 0; i < x.size(); ++i) x[i] = 0.37f * static_cast<float>(i % 997) - 100.0f;
    x[static_cast<size_t>(at)] = 1e20f;
    const std::vector<AnyArray> inputs{AnyArray::from(std::span<const float>(x), Shape{kPoints})};
    const AnyArray want = reference::evaluate_primitive(sine, inputs, {}, {}, kStrictReference)[0];
    codegen::CodegenOptions strict;
    strict.strict = true;
    ASSERT_EQ(difference(run_function(sine, inputs, true, strict), want), "") << at;
  }
}

TEST(FunctionBodies, AreOneEachAndShareTheirTables) {
  KernelBuilder k("waves");
  const int32_t in = k.input(DType::f32, 4096), out = k.output(DType::f32, 4096);
  k.parallel(4096, true, [&](Id i) {
    Id x = k.load(in, i);
    for (int n = 0; n < 5; ++n) x = k.op("sin", {k.op("cos", {x})});
    k.store(out, i, x);
  });
  const std::string text = test::stages::llvm_ir(k.program(), cpu("x86-64-v4"));
  const auto count = [&](const std::string& part) {
    int n = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
  };
  for (const std::string function : {"sin", "cos"}) {
    EXPECT_EQ(count("@calque." + function + ".f32x16.general(") -
                  count("call preserve_mostcc <16 x float> @calque." + function),
              1);
  }
  EXPECT_EQ(count("@calque.table"), 2 + 2 * 2) << "two tables, used in two general bodies";
}

}  // namespace
}  // namespace calque::test
