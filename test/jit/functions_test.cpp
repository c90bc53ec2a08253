// Elementary functions: they are ordinary operations until code generation.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string plan_of(const auto& lowered) { return lowered.plan().str(); }

Array<float> array(const std::vector<float>& values) {
  return Array<float>::from(values, {static_cast<int64_t>(values.size())});
}

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Functions, KernelsAreNamedAsUsersCallThem) {
  const std::string plan = plan_of(jit([](auto x) { return softmax(x, 1); }).lower(spec<float>({8, 100})));
  EXPECT_THAT(plan, HasSubstr("exp"));
  EXPECT_THAT(plan, Not(HasSubstr("while")));
  EXPECT_THAT(plan, Not(HasSubstr("bitcast")));
  const std::string wave = jit([](auto x) { return sin(x) * cos(x); }).explain(spec<float>({100}));
  EXPECT_THAT(wave, HasSubstr("sin"));
  EXPECT_THAT(wave, Not(HasSubstr("while")));
}

TEST(Functions, InALoopOverElementsAreOneKernel) {
  const auto f =
      jit([](auto x) { return while_loop([](auto y) { return y > 0.5f; }, [](auto y) { return sin(y) * 0.99f; }, x); });
  const auto per_element = jit(vmap(
      [](auto x) { return while_loop([](auto y) { return y > 0.5f; }, [](auto y) { return sin(y) * 0.99f; }, x); }));
  const std::string plan = plan_of(per_element.lower(spec<float>({1000})));
  EXPECT_EQ(count(plan, "\nkernel "), 1u) << plan;
  const Array<float> x = array({0.25f, 0.75f, 1.5f, 3.0f, 0.5f});
  const Array<float> got = per_element(x);
  for (int64_t i = 0; i < 5; ++i) EXPECT_EQ(got.at(i).item(), f(x.at(i)).item());
}

// Remainders iterate until the rest is smaller than the divisor: exact multiples take the last iteration.
TEST(Functions, RemaindersEndInFastMath) {
  const auto f =
      jit([](auto x, auto y) { return std::tuple{fmod(x, y), mod(x, y), remainder(x, y)}; }, {.fast_math = true});
  std::vector<float> x, y;
  for (int i = 1; i <= 4096; ++i) {
    const float divisor = static_cast<float>(i % 97 + 1) / 3;
    y.push_back(divisor);
    x.push_back(divisor * static_cast<float>(i * 4051));
  }
  x.push_back(151610400.0f);
  y.push_back(9.0f);
  const auto [a, b, c] = f(array(x), array(y));
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(a.host()[i], std::fmod(x[i], y[i])) << x[i] << " " << y[i];
    ASSERT_EQ(b.host()[i], std::fmod(x[i], y[i])) << x[i] << " " << y[i];
    ASSERT_EQ(c.host()[i], std::remainder(x[i], y[i])) << x[i] << " " << y[i];
  }
}

// Short loops call functions shared in the process; long loops inline their hot paths.
TEST(Functions, HaveTheSameBitsCalledAndInlined) {
  constexpr int64_t kFew = 7, kMany = 1400;
  const auto chain = [](int n) {
    return jit([n](auto x) {
      auto y = x;
      for (int i = 0; i < n; ++i) y = sin(y + 0.5f) + exp(y * -1.0f);
      return y;
    });
  };
  const std::vector<float> numbers = {-2.0f, 0.0f, 0.5f, 3e9f, INFINITY, NAN, 7.0f};
  std::vector<float> repeated;
  for (int64_t i = 0; i < kMany; ++i) repeated.push_back(numbers[static_cast<size_t>(i % kFew)]);
  for (const int n : {1, 2, 3, 4}) {
    const Array<float> called = chain(n)(array(numbers));
    const Array<float> inlined = chain(n)(array(repeated));
    for (int64_t i = 0; i < kMany; ++i) {
      const float a = called.at(i % kFew).item(), b = inlined.at(i).item();
      EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << n << " " << i << ": " << a << " " << b;
    }
  }
}

// Long code calls sin and cos of one value as one function, with the same bits as separate calls.
template <class T>
void expect_pairs(const JitOptions& options) {
  constexpr int kPairs = 40;
  const auto both = jit(
      [](auto x) {
        std::vector<Tracer<T>> values;
        for (int k = 0; k < kPairs; ++k) {
          const auto angle = x + static_cast<T>(k);
          values.push_back(sin(angle));
          values.push_back(cos(angle));
        }
        return stack(values, 0);
      },
      options);
  const auto sine = jit([](auto x, auto k) { return sin(x + k); }, options);
  const auto cosine = jit([](auto x, auto k) { return cos(x + k); }, options);
  const T huge = std::numeric_limits<T>::max() / 3, infinity = std::numeric_limits<T>::infinity();
  const auto x = Array<T>::from({T(0.5), T(-3), huge, T(1e9), -infinity, T(1e-30), T(-0.0)}, {7});
  if (default_device() == cpu()) {  // devices inline both
    const std::string code = both.lower(x).llvm_ir().str();
    EXPECT_EQ(count(code, "@calque.sincos."), kPairs + 1u) << code;
  }
  const Array<T> got = both(x);
  for (int k = 0; k < kPairs; ++k) {
    const auto same_bits = [&](const Array<T>& want, int64_t row) {
      for (int64_t i = 0; i < x.size(); ++i) {
        const T a = got.at(row).at(i).item(), b = want.at(i).item();
        EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << k << " " << i << ": " << a << " " << b;
        EXPECT_EQ(std::signbit(a), std::signbit(b)) << k << " " << i;
      }
    };
    same_bits(sine(x, static_cast<T>(k)), 2 * k);
    same_bits(cosine(x, static_cast<T>(k)), 2 * k + 1);
  }
}

// Beside much other arithmetic the time of a call does not matter.
TEST(Functions, AreCalledInLongBodies) {
  if (default_device() != cpu()) GTEST_SKIP() << "devices inline functions";
  const auto calls = [](int steps) {
    const auto f = jit([steps](auto x) {
      auto y = expm1(x);
      for (int i = 0; i < steps; ++i) y = y * x + static_cast<float>(i);
      return y;
    });
    return count(f.lower(Array<float>::ones({5000})).llvm_ir().str(), "@calque.expm1.") != 0;
  };
  EXPECT_TRUE(calls(60));
  EXPECT_FALSE(calls(5));
}

// A sine and a cosine of different values that select the same value in some lanes are not combined.
TEST(Functions, SinesAndCosinesOfDifferentValuesStayApart) {
  const auto f = jit([](auto x) {
    Tracer<float> y = x;
    for (int i = 0; i < 40; ++i) y = sin(where(x > 0.5f, y, 2.0f)) + cos(where(x > 0.5f, y, 3.0f)) * 0.5f;
    return y;
  });
  const std::vector<float> numbers = {0.25f, 0.75f, 1.5f};
  const Array<float> got = f(array(numbers));
  for (size_t k = 0; k < numbers.size(); ++k) {
    float y = numbers[k];
    for (int i = 0; i < 40; ++i)
      y = numbers[k] > 0.5f ? std::sin(y) + std::cos(y) * 0.5f : std::sin(2.0f) + std::cos(3.0f) * 0.5f;
    EXPECT_NEAR(got.host()[k], y, 2e-6f) << numbers[k];
  }
}

TEST(Functions, SinAndCosOfOneValueAreComputedTogether) {
  for (const JitOptions& options : {JitOptions{}, JitOptions{.strict = true}}) {
    expect_pairs<float>(options);
    expect_pairs<double>(options);
  }
}

}  // namespace
}  // namespace calque::test
