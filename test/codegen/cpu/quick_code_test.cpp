// Quickly made code: the functions of lib/math that it calls, compiled at the same time on another thread, compute the
// bits of optimized ones.
#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "codegen/code_image.h"
#include "codegen/codegen.h"
#include "runtime/process/parallel.h"
#include "support/cpu_levels.h"
#include "support/native.h"
#include "support/sanitizers.h"

namespace calque {
namespace {

/// Quick code calls functions of lib/math that were optimized before: tests that look at its own use options that no
/// other test does.
codegen::CodegenOptions options_for(const std::string& cpu, bool quick, bool strict = false) {
  codegen::CodegenOptions options;
  options.target.cpu = cpu;
  options.quick = quick;
  options.strict = strict;
  options.parallel_for = &runtime::parallel_for;
  return options;
}

/// On the common paths and off them.
template <class T>
AnyArray arguments() {
  std::vector<T> values;
  for (int i = -40; i <= 40; ++i)
    for (const double scale : {0x1p-60, 0x1p-4, 0.75, 3.0, 0x1p12, 0x1p90}) values.push_back(static_cast<T>(i * scale));
  const T inf = std::numeric_limits<T>::infinity();
  for (const T special : {inf, -inf, std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::min(),
                          std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::max(), T(-0.0), T(1)})
    values.push_back(special);
  AnyArray x = AnyArray::uninitialized({dtype_of<T>, Shape{static_cast<int64_t>(values.size())}});
  std::copy(values.begin(), values.end(), static_cast<T*>(x.mutable_data()));
  return x;
}

template <class T>
std::vector<std::pair<std::string, Graph>> functions() {
  std::vector<std::pair<std::string, Graph>> graphs;
  const auto add = [&](const char* name, auto f) { graphs.emplace_back(name, jit(f).trace(spec<T>({494}))); };
  add("exp", [](auto x) { return exp(x); });
  add("log1p", [](auto x) { return log1p(x); });
  add("cos", [](auto x) { return cos(x); });
  add("sin and cos", [](auto x) { return sin(x) - cos(x); });
  add("tan", [](auto x) { return tan(x); });
  add("asin", [](auto x) { return asin(x); });
  add("sinh", [](auto x) { return sinh(x); });
  add("lgamma", [](auto x) { return lgamma(x); });
  add("digamma", [](auto x) { return digamma(x); });
  add("erf", [](auto x) { return erf(x); });
  add("pow", [](auto x) { return pow(abs(x), x); });
  add("atan2", [](auto x) { return atan2(x, x * x); });
  return graphs;
}

class QuickCode : public testing::TestWithParam<std::string> {};

template <class T>
void compare_functions(const std::string& cpu, bool strict) {
  const std::vector<AnyArray> inputs{arguments<T>()};
  ASSERT_EQ(inputs[0].size(), 494);
  for (const auto& [name, graph] : functions<T>()) {
    const auto quick = test::run_native(graph, inputs, options_for(cpu, true, strict));
    const auto optimized = test::run_native(graph, inputs, options_for(cpu, false, strict));
    EXPECT_EQ(test::difference(quick[0], optimized[0]), "") << name << (strict ? ", strict" : "");
  }
}

TEST_P(QuickCode, FunctionsComputeTheSameBits) {
  compare_functions<float>(GetParam(), false);
  compare_functions<double>(GetParam(), false);
  compare_functions<double>(GetParam(), true);
}

// Of one thread, they are compiled before the program.
TEST_P(QuickCode, FunctionsAreCompiledBesideTheProgramOrBeforeIt) {
  const std::vector<AnyArray> inputs{arguments<double>()};
  const Graph graph = jit([](auto x) { return cosh(x) + tgamma(x) + acosh(x); }).trace(spec<double>({494}));
  const auto run = [&](codegen::CodegenOptions options, bool parallel) {
    PassLog log;
    options.log = &log;
    if (!parallel) options.parallel_for = nullptr;
    auto outputs = test::run_native(graph, inputs, options);
    EXPECT_EQ(log.runs("machine-code"), 1);
    EXPECT_GE(log.runs("math-library"), 1);
    return outputs;
  };
  const auto quick = run(options_for(GetParam(), true), true);
  const auto strict = run(options_for(GetParam(), true, true), false);
  EXPECT_EQ(test::difference(quick[0], run(options_for(GetParam(), false), false)[0]), "");
  EXPECT_EQ(test::difference(strict[0], run(options_for(GetParam(), false, true), true)[0]), "");
}

// Compiling general bodies would take longer than the rest. The process's functions do not flush subnormals.
TEST(QuickCodeOfNehalem, RareArgumentsAreEvaluatedByTheProcess) {
  if (test::kAddressSanitizer) GTEST_SKIP() << "instrumented code shares no functions";
  const std::vector<AnyArray> inputs{arguments<float>()};
  const Graph graph = jit([](auto x) { return log10(x); }).trace(spec<float>({494}));
  for (const bool flushes : {false, true}) {
    codegen::CodeImage image;
    codegen::CodegenOptions options = options_for("nehalem", true);
    options.flush_subnormals = flushes;
    options.image = &image;
    const auto quick = test::run_native(graph, inputs, options);
    EXPECT_EQ(image.math.size(), flushes ? 1U : 0U);
    ASSERT_EQ(image.objects.size(), 1U);
    EXPECT_EQ(image.objects[0].find("calque_evaluate_f32") == std::string::npos, flushes);
    options.quick = false;
    EXPECT_EQ(test::difference(quick[0], test::run_native(graph, inputs, options)[0]), "") << flushes;
  }
}

TEST_P(QuickCode, FunctionsAreInlinedWhereTheyAreFew) {
  if (test::kAddressSanitizer) GTEST_SKIP() << "instrumented code shares no functions";
  const auto any_called = [&](const Graph& graph, bool quick) {
    codegen::CodeImage image;
    codegen::CodegenOptions options = options_for(GetParam(), quick);
    options.image = &image;
    test::run_native(graph, {arguments<double>()}, options);
    return std::any_of(image.math_functions.begin(), image.math_functions.end(),
                       [](const std::string& name) { return !name.ends_with(".general"); });
  };
  const Graph few = jit([](auto x) { return log1p(exp(x)); }).trace(spec<double>({494}));
  const Graph many = jit([](auto x) { return log1p(exp(x)) + log(x) + tan(x); }).trace(spec<double>({494}));
  EXPECT_FALSE(any_called(few, true));
  EXPECT_TRUE(any_called(many, true));
  EXPECT_FALSE(any_called(many, false));
}

// A function of several vector widths is compiled once.
TEST_P(QuickCode, FewLanesCallTheFunctionOfTheMost) {
  if (test::kAddressSanitizer) GTEST_SKIP() << "instrumented code shares no functions";
  const std::vector<AnyArray> inputs{Array<float>::full({200}, -0.7F), Array<float>{-2000, 0.3F, 5}};
  const Graph graph = jit([](auto x, auto y) {
                        return std::tuple(exp2(x), exp2(y), pow(abs(y), y));
                      }).trace(spec<float>({200}), spec<float>({3}));
  codegen::CodeImage image;
  codegen::CodegenOptions options = options_for(GetParam(), true, true);
  options.image = &image;
  const auto quick = test::run_native(graph, inputs, options);
  size_t widths = 0;
  for (const std::string& name : image.math_functions)
    if (name.starts_with("calque.exp2.") && !name.ends_with(".general")) ++widths;
  EXPECT_EQ(widths, 1U);
  const auto optimized = test::run_native(graph, inputs, options_for(GetParam(), false, true));
  for (size_t i = 0; i < quick.size(); ++i) EXPECT_EQ(test::difference(quick[i], optimized[i]), "");
}

// Bodies of loops are emitted once, and loops keep what LLVM would move out of them.
TEST_P(QuickCode, LoopsComputeTheSameBits) {
  for (const int64_t n : {2, 16, 21, 64, 80, 300, 1000}) {
    const Graph graph =
        jit([](auto x, auto i) {
          const auto later = x.at(range(1)), product = x * 1.25F;
          return std::tuple(x + 1.0F, sum(x), sum(x * x), amax(x), amin(-x), argmax(x), sum(i), amax(i), cumsum(x, 0),
                            later * 1.1F - x.at(range(0, -1)) * 1.1F, gather(x, i), product - flip(product, 0),
                            searchsorted(sort(x), x), any(x > 2.0F), mean(outer(x, x), 1), sort(x).add(i, x));
        }).trace(spec<float>({n}), spec<int32_t>({n}));
    std::vector<AnyArray> inputs{AnyArray::uninitialized({DType::f32, Shape{n}}),
                                 AnyArray::uninitialized({DType::i32, Shape{n}})};
    for (int64_t k = 0; k < n; ++k) {
      static_cast<float*>(inputs[0].mutable_data())[k] = static_cast<float>(k * 37 % 101) * 0.37F - 11.0F;
      static_cast<int32_t*>(inputs[1].mutable_data())[k] = static_cast<int32_t>(k * 7 % n);
    }
    for (const bool strict : {false, true}) {
      const auto quick = test::run_native(graph, inputs, options_for(GetParam(), true, strict));
      const auto optimized = test::run_native(graph, inputs, options_for(GetParam(), false, strict));
      for (size_t r = 0; r < quick.size(); ++r)
        EXPECT_EQ(test::difference(quick[r], optimized[r]), "") << "result " << r << " of " << n << ", " << strict;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpus, QuickCode, testing::ValuesIn(test::cpu_levels()), [](const auto& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace calque
