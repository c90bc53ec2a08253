// The peak memory of a call is its arguments, its results and the workspace stated by its plan; calls leak nothing.
#include <gtest/gtest.h>
#include <malloc.h>

#include "calque/calque.h"

#include "runtime/memory/array_pool.h"
#include "runtime/process/environment.h"
#include "support/sanitizers.h"

namespace calque {
namespace {

using F = Array<float>;

bool has_pool() { return !test::kAddressSanitizer && !runtime::environment().guard; }

int64_t workspace_of(const auto& lowered) {
  std::ostringstream out;
  out << lowered.plan();
  const std::string text = out.str(), before = ": workspace ";
  return std::stoll(text.substr(text.find(before) + before.size()));
}

constexpr double kMegabyte = 1 << 20;
// Packing buffers of two threads for the operands of products, which stay cached. Only for cases with products, where
// any call may be the first of a thread.
constexpr double kPacked = 4 * kMegabyte;

/// Calls f and compares the peak above the previous use with `results` bytes and the workspace; threads may cache
/// `cached` bytes more.
template <class Function, class... Arguments>
void expect_stated(const char* what, const Function& f, double results, double cached, const Arguments&... arguments) {
  const auto workspace = static_cast<double>(workspace_of(f.lower(arguments...)));
  for (int call = 0; call < 2; ++call) {
    runtime::peak_bytes_in_use(true);
    const size_t before = runtime::bytes_in_use();
    {
      [[maybe_unused]] const auto result = f(arguments...);
    }
    const auto used = static_cast<double>(runtime::peak_bytes_in_use() - before);
    EXPECT_LE(used, (results + workspace) * 1.05 + std::max(cached, kMegabyte))
        << what << " with a workspace of " << workspace;
    EXPECT_GE(used, results * 0.95 - kMegabyte) << what;
    EXPECT_GE(runtime::bytes_in_use(), before) << what;
    EXPECT_LE(static_cast<double>(runtime::bytes_in_use() - before), cached) << what;
  }
}

TEST(Peak, IsArgumentsResultsAndStatedWorkspace) {
  if (!has_pool()) GTEST_SKIP() << "this build has no pool";
  constexpr int64_t n = 2048;
  constexpr double bytes = 4.0 * n * n;
  const F x = F::full({n, n}, 0.5f), row = F::full({n}, 0.25f);
  const auto chain = [](auto a) { return exp(a * 2.0f) - a; };
  expect_stated("chain", jit(chain), bytes, 0, x);
  expect_stated("loss and gradient", jit(value_and_grad([&](auto a) { return sum(chain(a) * chain(a)); })), bytes, 0,
                x);
  expect_stated("softmax", jit([](auto a) { return softmax(a, 1); }), bytes, 0, x);
  const auto norm = [](auto a, auto gain) {
    const auto c = a - mean(a, {1}, keepdims);
    return c / sqrt(mean(c * c, {1}, keepdims) + 1e-5f) * gain;
  };
  expect_stated("layernorm", jit(norm), bytes, 0, x, row);
  expect_stated("gradient of layernorm", jit(grad([&](auto a, auto g) { return sum(norm(a, g)); })), bytes, 0, x, row);
  expect_stated("cumulative sum", jit([](auto a) { return cumsum(a, 0); }), bytes, 0, x);
  expect_stated("product", jit([](auto a) { return matmul(a, a) + a; }), bytes, kPacked, x);
  expect_stated("loop", jit([](auto a) { return fori_loop(0, 5, [&](auto, auto v) { return v * 0.5f + a; }, a); }),
                bytes, 0, x);
}

TEST(Peak, OfADonatedArgumentIsTheWorkspace) {
  if (!has_pool()) GTEST_SKIP() << "this build has no pool";
  const auto step = jit([](auto w, auto g) { return w - g * 0.5f; }, {.donate = {0}});
  F w = F::full({1 << 22}, 2.0f);
  const F g = F::ones({1 << 22});
  w = step(w, g);
  const size_t before = runtime::bytes_in_use();
  runtime::peak_bytes_in_use(true);
  for (int i = 0; i < 10; ++i) w = step(w, g);
  EXPECT_EQ(runtime::peak_bytes_in_use(), before);
  EXPECT_EQ(w(5), 2.0f - 11 * 0.5f);
}

TEST(Peak, ManyCallsLeaveNothingBehind) {
  if (test::kAddressSanitizer || test::kThreadSanitizer) GTEST_SKIP() << "sanitizers replace the allocator";
  const auto f = jit([](auto a, auto b) { return std::pair{a * b + 1.0f, sum(a)}; });
  const auto g = jit([](auto a, auto b) { return a - b; }, {.donate = {0}});
  F x = F::full({100}, 1.0f);
  const F y = F::full({100}, 1.0f);
  const auto calls = [&](int n) {
    for (int i = 0; i < n; ++i) {
      const auto [product, total] = f(x, y);
      x = g(x, y);
    }
  };
  calls(1000);
  const size_t before = mallinfo2().uordblks;
  calls(100'000);
  const size_t after = mallinfo2().uordblks;
  EXPECT_LE(after, before + (size_t{64} << 10));
}

}  // namespace
}  // namespace calque
