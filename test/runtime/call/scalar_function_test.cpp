// compile<R(A...)>: scalar entries, and functions that use the ordinary entry.
#include <cmath>
#include <cstdint>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

#include "codegen/codegen.h"
#include "compile/executable.h"
#include "kernel/lower/build.h"
#include "support/stages.h"
#include "transform/simplify/simplify.h"

namespace calque {
namespace {

using testing::HasSubstr;

template <class T>
class ScalarOf : public testing::Test {};
using Types = testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, float, double,
                             long long, unsigned long, signed char, float16, bfloat16>;
TYPED_TEST_SUITE(ScalarOf, Types);

TYPED_TEST(ScalarOf, ArgumentsAndResultsHaveTheirValues) {
  using T = TypeParam;
  const auto f = compile<T(T, T)>([](auto x, auto y) { return x * y + y; });
  const auto less = compile<bool(T, T)>([](auto x, auto y) { return x < y; });
  const auto pick = compile<T(bool, T, T)>([](auto on, auto x, auto y) { return where(on, x + x, y); });
  const T three = static_cast<T>(3), five = static_cast<T>(5), high = std::numeric_limits<T>::max();
  EXPECT_EQ(f(three, five), static_cast<T>(20));
  EXPECT_TRUE(less(three, five));
  EXPECT_FALSE(less(high, three));
  EXPECT_EQ(pick(true, three, high), static_cast<T>(6));
  EXPECT_EQ(pick(false, three, high), high);
  if constexpr (std::is_signed_v<T>) {
    EXPECT_EQ(f(static_cast<T>(-3), five), static_cast<T>(-10));
    EXPECT_TRUE(less(static_cast<T>(-3), five));
  }
}

TEST(ScalarFunction, TakesMoreArgumentsThanThereAreRegisters) {
  const auto f = compile<double(double, int, float, bool, double, double, int64_t, double, double, uint8_t, double,
                                double, int, double, int, int, int, double)>(
      [](auto a, auto b, auto c, auto d, auto e, auto s, auto g, auto h, auto i, auto j, auto k, auto l, auto m, auto n,
         auto o, auto p, auto q, auto r) {
        return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * s + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k + 12 * l + 13 * m +
               14 * n + 15 * o + 16 * p + 17 * q + 18 * r;
      });
  EXPECT_EQ(f(1, 1, 1, true, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), 171);
  EXPECT_EQ(f(1, -2, 3, false, 5, -6, 7, 8, 9, 10, 11, 12, 13, 14, -15, 16, -17, 18),
            1 - 4 + 9 + 25 - 36 + 49 + 64 + 81 + 100 + 121 + 144 + 169 + 196 - 225 + 256 - 289 + 324);
}

TEST(ScalarFunction, ReadsCapturedArraysLargeAndSmall) {
  const Array<double> large = Array<double>::arange(100), small = {1, 2, 3};
  const auto f = compile<double(double)>([=](auto x) { return sum(large * x) + sum(small) * x + large[7]; });
  EXPECT_EQ(f(2.0), 2 * 4950 + 12 + 7);
}

TEST(ScalarFunction, LoopsAndBranchesInside) {
  const auto root = compile<double(double)>([](auto a) {
    return std::get<0>(while_loop([](const auto& s) { return std::get<1>(s) < 60; },
                                  [&](const auto& s) {
                                    const auto& [x, n] = s;
                                    return std::tuple{0.5 * (x + a / x), n + 1};
                                  },
                                  std::tuple{a, 0}));
  });
  EXPECT_DOUBLE_EQ(root(2.0), std::sqrt(2.0));
  const auto chosen = compile<float(float, bool)>(
      [](auto x, auto on) { return cond(on, [](auto y) { return sin(y); }, [](auto y) { return y * y; }, x); });
  EXPECT_FLOAT_EQ(chosen(0.5f, true), std::sin(0.5f));
  EXPECT_EQ(chosen(0.5f, false), 0.25f);
}

TEST(ScalarFunction, HostCallsUseTheOrdinaryEntry) {
  const auto f = compile<double(double)>([](auto x) {
    return x + host_call(
                   [](const Array<double>& y) {
                     if (y.item() < 0) throw std::runtime_error("below zero");
                     return Array<double>(std::sqrt(y.item()));
                   },
                   spec<double>({}), x * 1.0);
  });
  EXPECT_EQ(f(4.0), 6.0);
  EXPECT_THROW(f(-4.0), std::runtime_error);
  EXPECT_EQ(f(9.0), 12.0);
}

TEST(ScalarFunction, MovedFromIsEmptyAndCopiesShare) {
  auto f = compile<double(double)>([](auto x) { return x * 2.0; });
  const auto copy = f;
  const auto moved = std::move(f);
  EXPECT_EQ(copy(3), 6);
  EXPECT_EQ(moved(3), 6);
  EXPECT_FALSE(f);  // NOLINT(bugprone-use-after-move)
  EXPECT_THAT([&] { f(3); }, testing::ThrowsMessage<Error>(HasSubstr("function: it is empty")));
  f = copy;
  EXPECT_EQ(f(4), 8);
}

/// The code of a scalar function of this graph.
std::shared_ptr<const codegen::CompiledProgram> code_of(const Graph& graph, std::vector<DType> arguments) {
  codegen::CodegenOptions options;
  options.scalar_arguments = std::move(arguments);
  return test::stages::compile(test::stages::build_program(transform::simplify(graph)), options);
}

TEST(ScalarEntry, IsThereWhenNothingIsCalled) {
  const auto code = code_of(jit([](auto x) { return sin(x) * x; }).trace(1.0), {DType::f64});
  EXPECT_EQ(code->entry(), nullptr);
  ASSERT_NE(code->scalar_entry(), nullptr);
  using Entry = double (*)(double, const codegen::ScalarData*);
  EXPECT_DOUBLE_EQ(reinterpret_cast<Entry>(const_cast<void*>(code->scalar_entry()))(0.5, nullptr), std::sin(0.5) * 0.5);
}

TEST(ScalarEntry, IsNotThereForArraysHalvesAndCallbacks) {
  const auto none = [](const Graph& graph, DType argument) {
    const auto code = code_of(graph, {argument});
    return code->entry() != nullptr && code->scalar_entry() == nullptr;
  };
  EXPECT_TRUE(none(jit([](auto x) { return broadcast_to(x, {3}) + 1.0; }).trace(1.0), DType::f64));
  EXPECT_TRUE(none(jit([](auto x) { return x + x; }).trace(bfloat16(1.0f)), DType::bf16));
  EXPECT_TRUE(none(jit([](auto x) {
                     debug_print("{}", x);
                     return x + 1.0;
                   }).trace(1.0),
                   DType::f64));
}

}  // namespace
}  // namespace calque
