// Subnormal numbers: preserved by default, flushed to zero with .flush_subnormals and .fast_math on every computing
// thread; the caller's floating-point mode is always restored.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

#include "codegen/codegen.h"
#include "kernel/lower/build.h"
#include "kernel/schedule/threads.h"
#include "runtime/process/environment.h"

#ifdef __x86_64__
#include <immintrin.h>

#include "support/stages.h"

namespace calque::test {
namespace {

constexpr unsigned kFlush = 1u << 15 | 1u << 6;

/// The bits of MXCSR without the sticky flags.
unsigned mode() { return _mm_getcsr() & ~0x3fu; }

class Mode {
 public:
  explicit Mode(unsigned set) : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | set); }
  Mode(const Mode&) = delete;
  Mode& operator=(const Mode&) = delete;
  ~Mode() { _mm_setcsr(saved_); }

 private:
  unsigned saved_;
};

/// Within the scope compiled kernels are split into the smallest chunks and run on that many threads.
class ManyThreads {
 public:
  explicit ManyThreads(int n) : options_(kernel::thread_options()), threads_(runtime::environment().num_threads) {
    kernel::thread_options() = {0, 0};
    runtime::mutable_environment().num_threads = n;
  }
  ManyThreads(const ManyThreads&) = delete;
  ManyThreads& operator=(const ManyThreads&) = delete;
  ~ManyThreads() {
    kernel::thread_options() = options_;
    runtime::mutable_environment().num_threads = threads_;
  }

 private:
  kernel::ThreadOptions options_;
  int threads_;
};

template <class T>
constexpr T kLeast = std::numeric_limits<T>::min();

const auto halved = [](auto x) { return x * 0.5; };
const auto doubled = [](auto x) { return x * 2.0; };
const JitOptions flushing{.flush_subnormals = true};

template <class T>
void expect_flushed_or_kept() {
  const Array<T> least = {kLeast<T>, -kLeast<T>}, subnormal = {kLeast<T> / 2, -kLeast<T> / 2};
  EXPECT_TRUE(array_equal(Array<T>(jit(halved)(least)), subnormal));
  EXPECT_TRUE(array_equal(Array<T>(jit(doubled)(subnormal)), least));
  for (const JitOptions& options : {flushing, JitOptions{.fast_math = true}}) {
    const Array<T> result = jit(halved, options)(least), of_operand = jit(doubled, options)(subnormal);
    for (const int64_t i : {0, 1}) {
      EXPECT_EQ(result(i), T(0));
      EXPECT_EQ(std::signbit(result(i)), i == 1);
      EXPECT_EQ(of_operand(i), T(0));
    }
    EXPECT_TRUE(array_equal(Array<T>(jit(doubled, options)(least)), Array<T>(least + least)));
  }
}

TEST(Flush, SubnormalsAreZeroWhenAskedFor) {
  expect_flushed_or_kept<float>();
  expect_flushed_or_kept<double>();
}

TEST(Flush, SignOfASubnormalIsZero) {
  const Array<float> x = {kLeast<float> / 2, -kLeast<float> / 2, kLeast<float>, -0.0f, NAN};
  const Array<float> s = jit([](auto v) { return sign(v); }, flushing)(x);
  EXPECT_EQ(s(0), 0.0f);
  EXPECT_EQ(s(1), 0.0f);
  EXPECT_TRUE(std::signbit(s(1)));
  EXPECT_EQ(s(2), 1.0f);
  EXPECT_TRUE(s(3) == 0.0f && std::signbit(s(3)));
  EXPECT_TRUE(std::isnan(s(4)));
}

TEST(Flush, LeavesTheCallersMode) {
  const auto f = jit(halved, flushing);
  const auto g = compile<double(double)>(halved, flushing);
  const Array<double> x = {kLeast<double>};
  for (const unsigned callers : {0u, kFlush, 1u << 15, 3u << 13}) {
    const Mode around(callers);
    const unsigned before = mode();
    EXPECT_EQ(f(x)(0), 0.0);
    EXPECT_EQ(mode(), before);
    EXPECT_EQ(g(kLeast<double>), 0.0);
    EXPECT_EQ(mode(), before);
  }
}

TEST(Flush, ScalarFunctions) {
  EXPECT_EQ(compile<double(double)>(halved)(kLeast<double>), kLeast<double> / 2);
  EXPECT_EQ(compile<double(double)>(halved, flushing)(kLeast<double>), 0.0);
  EXPECT_EQ(compile<float(float)>(doubled, flushing)(kLeast<float> / 2), 0.0f);
  // The return must not round the result again after the mode is restored.
  const auto chain = compile<double(double, double)>([](auto x, auto y) { return x * y * y; }, flushing);
  EXPECT_EQ(chain(kLeast<double>, 0.5), 0.0);
  EXPECT_EQ(chain(1.0, 3.0), 9.0);
}

TEST(Flush, HostCallRunsInTheCallersMode) {
  unsigned seen = ~0u;
  double preserved = 0;
  const auto inner = jit(halved);
  const auto look = [&](const Array<double>& x) {
    seen = mode();
    preserved = Array<double>(inner(Array<double>{kLeast<double>}))(0);
    return x;
  };
  const auto f = jit(
      [&](auto x) {
        const auto before = x * 0.5;
        const auto y = host_call(look, spec<double>(x.shape()), x);
        return std::pair{before, y * 0.5};
      },
      flushing);
  const Array<double> x = {kLeast<double>, 1.0};
  for (const unsigned callers : {0u, 1u << 15}) {
    const Mode around(callers);
    const unsigned before = mode();
    const auto [a, b] = f(x);
    EXPECT_EQ(a(0), 0.0);
    EXPECT_EQ(b(0), 0.0);
    EXPECT_EQ(b(1), 0.5);
    EXPECT_EQ(seen, before);
    EXPECT_EQ(preserved, callers == 0 ? kLeast<double> / 2 : 0.0);
    EXPECT_EQ(mode(), before);
  }
}

TEST(Flush, ModeIsRestoredWhenACallbackThrows) {
  const auto refuse = [](const Array<double>& x) -> Array<double> {
    if (x(0) > 0) throw std::runtime_error("refused");
    return x;
  };
  const auto f = jit([&](auto x) { return host_call(refuse, spec<double>(x.shape()), x * 2.0) * 2.0; }, flushing);
  const unsigned before = mode();
  EXPECT_THROW(f(Array<double>{1.0}), std::runtime_error);
  EXPECT_EQ(mode(), before);
  EXPECT_EQ(f(Array<double>{-1.0})(0), -4.0);
}

TEST(Flush, EveryThreadFlushesAndKeepsItsModeAfterwards) {
  const int64_t n = 100'000;
  std::vector<double> values(static_cast<size_t>(n));
  for (size_t i = 0; i < values.size(); ++i) values[i] = kLeast<double> * static_cast<double>(i % 3);
  const auto x = Array<double>::from(values, {n});
  const auto body = [](auto v) { return std::pair{v * 0.5, sum(v * 0.5)}; };
  for (const int threads : {1, 2, 3, 8}) {
    const ManyThreads many(threads);
    for (int round = 0; round < 3; ++round) {
      const auto [halves, total] = jit(body, {.name = "a" + std::to_string(threads), .flush_subnormals = true})(x);
      const auto [preserved, whole] = jit(body, {.name = "b" + std::to_string(threads)})(x);
      size_t wrong = 0;
      for (size_t i = 0; i < values.size(); ++i) {
        const bool normal = i % 3 == 2;
        wrong += halves.host()[i] != (normal ? kLeast<double> : 0.0);
        wrong += preserved.host()[i] != values[i] / 2;
      }
      EXPECT_EQ(wrong, 0u) << threads << " threads";
      EXPECT_EQ(total.item(), kLeast<double> * double(n / 3));
      EXPECT_GT(whole.item(), total.item());
    }
  }
}

TEST(Flush, IsPartOfTheCachesKeys) {
  const auto f = [](auto x) { return x * 0.25; };
  const Array<float> x = {kLeast<float>};
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(jit(f)(x)(0), kLeast<float> / 4);
    EXPECT_EQ(jit(f, flushing)(x)(0), 0.0f);
  }
}

TEST(Flush, ExcludesStrict) {
  EXPECT_THAT([] { static_cast<void>(jit(halved, {.name = "step", .strict = true, .flush_subnormals = true})); },
              testing::ThrowsMessage<CompileError>(
                  testing::HasSubstr("step: .flush_subnormals and .strict exclude each other (flush_test.cpp:")));
}

TEST(Flush, SimulatedGpuFlushes) {
  const Array<float> x = Array<float>{kLeast<float>, 2.0f}.to(gpu_sim());
  const Array<float> preserved = jit(halved)(x), flushed = jit(halved, flushing)(x);
  EXPECT_EQ(preserved.to(cpu())(0), kLeast<float> / 2);
  EXPECT_EQ(flushed.to(cpu())(0), 0.0f);
  EXPECT_EQ(flushed.to(cpu())(1), 1.0f);
}

TEST(Flush, CodeForOtherProcessors) {
  const auto ptx = [](const JitOptions& options) { return jit(halved, options).lower(spec<float>({64})).ptx().str(); };
  EXPECT_THAT(ptx(flushing), testing::HasSubstr(".ftz.f32"));
  EXPECT_THAT(ptx({}), testing::Not(testing::HasSubstr(".ftz")));
  codegen::CodegenOptions options;
  options.target = {"generic", "aarch64-linux-gnu"};
  const kernel::Program program = test::stages::build_program(jit(halved).trace(spec<float>({64})), {});
  EXPECT_THAT(test::stages::assembly(program, options), testing::Not(testing::HasSubstr("FPCR")));
  options.flush_subnormals = true;
  EXPECT_THAT(test::stages::assembly(program, options), testing::HasSubstr("msr\tFPCR"));
}

TEST(Flush, ExponentialsThatUnderflow) {
  const Array<double> x = {-708.3, -708.5, -720, -745, -746, -800, -1e300};
  const Array<double> preserved = jit([](auto v) { return exp(v); })(x);
  for (const int64_t i : {0, 1, 2, 3}) EXPECT_NEAR(preserved(i) / std::exp(x(i)), 1, i < 3 ? 1e-12 : 0.5);
  for (const int64_t i : {4, 5, 6}) EXPECT_EQ(preserved(i), 0.0);
  for (const JitOptions& options : {flushing, JitOptions{.fast_math = true}}) {
    const Array<double> flushed = jit([](auto v) { return exp(v); }, options)(x);
    EXPECT_NEAR(flushed(0) / preserved(0), 1, 1e-14);
    for (int64_t i = 1; i < 7; ++i) EXPECT_EQ(flushed(i), 0.0) << x(i);
  }
}

/// The result for a subnormal argument is that of zero or of the argument itself; or the argument is returned.
TEST(Flush, FunctionsAtSubnormalArguments) {
  const std::vector<double> tiny = {0x1p-1074, 0x1p-1030, 0x1.fp-1023, -0x1p-1074, -0x1p-1030};
  const auto x = Array<double>::from(tiny, {int64_t(tiny.size())});
  const auto expect = [&](const char* what, const auto& f) {
    const Array<double> got = jit(f, flushing)(x), whole = jit(f)(x), zero = jit(f)(x * 0.0);
    for (size_t i = 0; i < tiny.size(); ++i) {
      const double g = got.host()[i], w = whole.host()[i], z = zero.host()[i];
      const auto same = [&](double a) { return g == a || (std::isnan(g) && std::isnan(a)); };
      EXPECT_TRUE(same(w) || same(z) || same(tiny[i]))
          << what << " of " << tiny[i] << " is " << g << ", not " << w << " or " << z;
    }
  };
  expect("exp", [](auto v) { return exp(v); });
  expect("exp2", [](auto v) { return exp2(v); });
  expect("expm1", [](auto v) { return expm1(v); });
  expect("log", [](auto v) { return log(v); });
  expect("log2", [](auto v) { return log2(v); });
  expect("log1p", [](auto v) { return log1p(v); });
  expect("sqrt", [](auto v) { return sqrt(v); });
  expect("cbrt", [](auto v) { return cbrt(v); });
  expect("sin", [](auto v) { return sin(v); });
  expect("cos", [](auto v) { return cos(v); });
  expect("tan", [](auto v) { return tan(v); });
  expect("tanh", [](auto v) { return tanh(v); });
  expect("asinh", [](auto v) { return asinh(v); });
  expect("erf", [](auto v) { return erf(v); });
  expect("lgamma", [](auto v) { return lgamma(v); });
  expect("sigmoid", [](auto v) { return sigmoid(v); });
}

}  // namespace
}  // namespace calque::test
#endif
