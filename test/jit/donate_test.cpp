// Results in the memory of donated arguments.
#include <atomic>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque {
namespace {

using F = Array<float>;
using I = Array<int32_t>;

F counting(int64_t n) {
  std::vector<float> v(static_cast<size_t>(n));
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i);
  return F::from(std::span<const float>(v), {n});
}
const float* memory_of(const F& x) { return x.host().data(); }

TEST(DonatedMemory, TakesTheResult) {
  const auto step = jit([](auto w, auto g) { return w - g * 0.5f; }, {.donate = {0}});
  F w = counting(1000);
  const F g = F::ones({1000});
  const float* memory = memory_of(w);
  for (int i = 1; i <= 3; ++i) {
    w = step(w, g);
    EXPECT_EQ(memory_of(w), memory);
    EXPECT_EQ(w(999), 999 - 0.5f * static_cast<float>(i));
  }
}

TEST(DonatedMemory, TakesAnyResultOfItsSize) {
  const auto f =
      jit([](auto x, auto y) { return std::tuple{sum(x), reshape(x * y, {10, 100}), x + 1.0f}; }, {.donate = {0, 1}});
  F x = counting(1000), y = F::full({1000}, 2.0f);
  const float *mx = memory_of(x), *my = memory_of(y);
  const auto [s, a, b] = f(x, y);
  EXPECT_EQ(s(), 499500);
  EXPECT_EQ(a(9, 99), 1998);
  EXPECT_EQ(b(999), 1000);
  EXPECT_TRUE((memory_of(a) == mx && memory_of(b) == my) || (memory_of(a) == my && memory_of(b) == mx));
}

TEST(DonatedMemory, OfAnotherTypeIsTakenOnceItWasRead) {
  // The maximum is computed before the integers are written.
  const auto f = jit([](auto x, auto k) { return k + cast<int32_t>(amax(x)); }, {.donate = {0}});
  F x = counting(500);
  const void* memory = memory_of(x);
  const I result = f(x, I::full({500}, 1));
  EXPECT_EQ(result(7), 500);
  EXPECT_EQ(static_cast<const void*>(result.host().data()), memory);
}

TEST(DonatedMemory, IsReducedBeforeItIsWrittenOver) {
  // In one loop, whose last vector is loaded and stored under a mask. (LLVM moved such a load after the store.)
  for (int64_t n = 1; n < 70; ++n) {
    const auto f =
        jit([](auto x, auto y) { return std::tuple{amax(x), argmax(x, 0), sum(x), -y, -y}; }, {.donate = {0, 1}});
    F x = counting(n), y = counting(n);
    const auto [most, at, all, a, b] = f(x, y);
    ASSERT_EQ(most(), static_cast<float>(n - 1)) << n;
    ASSERT_EQ(at(), n - 1) << n;
    ASSERT_EQ(all(), static_cast<float>(n * (n - 1) / 2)) << n;
    ASSERT_EQ(a(n - 1), static_cast<float>(1 - n)) << n;
    ASSERT_EQ(b(n - 1), static_cast<float>(1 - n)) << n;
  }
}

TEST(DonatedMemory, IsNotTakenWhileItIsRead) {
  const auto mirror = jit([](auto x) { return flip(x, {0}) + x; }, {.donate = {0}});
  const F y = mirror(counting(1000));
  for (const int64_t i : {0, 1, 499, 500, 999}) EXPECT_EQ(y(i), 999);
  const auto centre = jit([](auto x) { return x - mean(x); }, {.donate = {0}});
  EXPECT_EQ(centre(counting(1001))(1000), 500);
  const auto columns = jit([](auto x) { return x - sum(x, {0}, keepdims); }, {.donate = {0}});
  EXPECT_EQ(columns(F::ones({64, 300}))(63, 299), -63);
}

TEST(DonatedMemory, OfALossIsItsGradients) {
  const auto f = jit(value_and_grad([](auto x) { return sum(x * x * 0.5f); }), {.donate = {0}});
  F x = counting(1003);
  const float* memory = memory_of(x);
  const auto [loss, gradient] = f(x);
  EXPECT_EQ(memory_of(gradient), memory);
  EXPECT_FLOAT_EQ(loss(), 1002.0f * 1003.0f * 2005.0f / 12);
  for (const int64_t i : {0, 1, 500, 1002}) EXPECT_EQ(gradient(i), static_cast<float>(i));
}

TEST(DonatedMemory, OfWhatIsSharedIsCopied) {
  const auto step = jit([](auto w, auto g) { return w * 2.0f + g; }, {.donate = {0}});
  F w = counting(100);
  const F other = w;
  const float* memory = memory_of(w);
  const F r = step(w, F::ones({100}));
  EXPECT_NE(memory_of(r), memory);
  EXPECT_EQ(r(99), 199);
  // Passed twice: elements must not be overwritten before they are read.
  const auto shifted = jit([](auto a, auto b) { return a + flip(b, {0}); }, {.donate = {0}});
  const F x = counting(100);
  EXPECT_EQ(shifted(x, x)(3), 99);
  EXPECT_THROW(x.host(), DeviceError);
  const auto both = jit([](auto a, auto b) { return std::pair{a + b, a - flip(b, {0})}; }, {.donate = {0, 1}});
  const F z = counting(100);
  const auto [p, q] = both(z, z);
  EXPECT_EQ(p(99), 198);
  EXPECT_EQ(q(99), 99);
}

/// What a use of an array that was given to a donating function is answered with.
testing::Matcher<std::function<void()>> refused() {
  return testing::ThrowsMessage<DeviceError>(testing::HasSubstr("used after it was donated, as argument 0 of "));
}

TEST(DonatedMemory, OfCopiesIsTheirs) {
  const auto step = jit([](auto w) { return w * 2.0f; }, {.donate = {0}});
  const F given = {1, 2, 3}, copy = given, row = given.reshape({1, 3});
  const std::pair<F, F> pair{given, given};
  const F result = step(given);
  EXPECT_TRUE(array_equal(result, F{2, 4, 6}));
  EXPECT_THAT([&] { given.host(); }, refused());
  EXPECT_THAT([&] { step(given); }, refused());
  EXPECT_THAT([&] { (given + 1.0f).host(); }, refused());
  EXPECT_TRUE(array_equal(copy, F{1, 2, 3}));
  EXPECT_TRUE(array_equal(row + row, F{{2, 4, 6}}));
  EXPECT_TRUE(array_equal(jit([](auto p) { return p.first + p.second; })(pair), F{2, 4, 6}));
  // A copy of the array that was given is what that is now.
  const F late = given;
  EXPECT_THAT([&] { late.host(); }, refused());
  // Given in its turn, a copy is refused and the others remain.
  EXPECT_TRUE(array_equal(step(copy), F{2, 4, 6}));
  EXPECT_THAT([&] { copy.host(); }, refused());
  EXPECT_EQ(row(0, 2), 3);
}

TEST(DonatedMemory, OfWhatReturnsUnchangedIsNotCopied) {
  const auto same = jit([](auto a) { return std::pair{a, a}; }, {.donate = {0}});
  const F given = counting(100), copy = given;
  const float* const memory = memory_of(given);
  const auto [a, b] = same(given);
  EXPECT_THAT([&] { given.host(); }, refused());
  for (const F& x : {a, b, copy}) EXPECT_EQ(memory_of(x), memory);
}

TEST(DonatedMemory, GivenTwiceIsRefusedOnce) {
  const auto add = jit([](auto a, auto b) { return a + b * 2.0f; }, {.donate = {0}});
  const F x = {1, 2}, y = x;
  EXPECT_TRUE(array_equal(add(x, y), F{3, 6}));
  EXPECT_THAT([&] { x.host(); }, refused());
  EXPECT_TRUE(array_equal(y, F{1, 2}));
  EXPECT_TRUE(array_equal(add(y, y), F{3, 6}));
  EXPECT_THAT([&] { y.host(); }, refused());
  // Two fields of one argument are both given.
  const auto fields = jit([](auto p) { return p.first - p.second; }, {.donate = {0}});
  const std::pair<F, F> pair{{5, 6}, {1, 2}};
  const F second = pair.second;
  EXPECT_TRUE(array_equal(fields(pair), F{4, 4}));
  EXPECT_THAT([&] { pair.first.host(); }, refused());
  EXPECT_THAT([&] { pair.second.host(); }, refused());
  EXPECT_TRUE(array_equal(second, F{1, 2}));
}

TEST(DonatedMemory, OfATemporaryIsTaken) {
  const auto step = jit([](auto w) { return w + 1.0f; }, {.donate = {0}});
  F w = counting(1000);
  const float* const memory = memory_of(w);
  EXPECT_EQ(memory_of(step(step(std::move(w)))), memory);
}

TEST(DonatedMemory, OfACapturedArrayIsKeptByTheCapture) {
  for (const int64_t n : {2, 1000}) {  // a literal of the code, an input of it
    F x = counting(n);
    const auto f = jit([x](auto a) { return a + x; }, {.donate = {0}});
    const auto by_reference = jit([&x](auto a) { return std::pair{a * x, x}; }, {.donate = {0}});
    EXPECT_EQ(f(F(x))(n - 1), static_cast<float>(2 * n - 2));
    EXPECT_EQ(f(x)(1), 2);
    EXPECT_THAT([&] { x.host(); }, refused());
    EXPECT_EQ(f(counting(n))(1), 2);
    x = counting(n);
    EXPECT_EQ(by_reference(x).first(1), 1);
    EXPECT_THAT([&] { x.host(); }, refused());
    EXPECT_EQ(by_reference(F::full({n}, 3.0f)).first(1), 3);
    EXPECT_EQ(by_reference(F::full({n}, 3.0f)).second(1), 1);
  }
}

TEST(DonatedMemory, IsDonatedWhenTheCallFails) {
  const auto fail = [](const F& x) {
    if (x.size() != 0) throw std::runtime_error("no");
    return x;
  };
  const auto fails = jit([&](auto x) { return x + host_call(fail, spec<float>({2}), x); }, {.donate = {0}});
  const F alone = {1, 2}, shared = {3, 4}, copy = shared;
  EXPECT_ANY_THROW(fails(alone));
  EXPECT_ANY_THROW(fails(shared));
  EXPECT_THAT([&] { alone.host(); }, refused());
  EXPECT_THAT([&] { shared.host(); }, refused());
  EXPECT_TRUE(array_equal(copy, F{3, 4}));
}

TEST(DonatedMemory, OfCopiesIsReadByOtherThreadsMeanwhile) {
  const auto step = jit([](auto w) { return w + 1.0f; }, {.donate = {0}});
  const auto reads = jit([](auto w) { return sum(w); });
  for (int round = 0; round < 50; ++round) {
    F given = F::ones({5000});
    std::vector<std::thread> readers;
    std::atomic<int> right = 0;
    for (int t = 0; t < 2; ++t) {
      readers.emplace_back([&, copy = given] {
        for (int i = 0; i < 20; ++i) right += reads(F(copy))() == 5000 && copy(4999) == 1;
      });
    }
    for (int i = 0; i < 10; ++i) given = step(given);
    EXPECT_EQ(given(4999), 11);
    for (std::thread& reader : readers) reader.join();
    EXPECT_EQ(right, 40);
  }
}

TEST(DonatedMemory, ThatAnotherArgumentBorrowsIsCopied) {
  const F x = counting(64);
  const F part = F::wrap(const_cast<float*>(x.host().data()) + 32, {32}, [](float*) {});
  const auto g = jit([](auto a, auto b) { return a + concatenate(std::vector{flip(b, {0}), b}, 0); }, {.donate = {0}});
  const F y = g(x, part);
  for (const int64_t i : {0, 31}) EXPECT_EQ(y(i), 63);
  EXPECT_EQ(y(63), 126);
}

TEST(DonatedMemory, OfTheCallerIsCopied) {
  std::vector<float> buffer = {1, 2};
  const F x = F::wrap(buffer.data(), {2}, [](float*) {});
  const F y = jit([](auto v) { return v + 1.0f; }, {.donate = {0}})(x);
  EXPECT_EQ(buffer, (std::vector<float>{1, 2}));
  EXPECT_EQ(y(1), 3);
}

TEST(DonatedMemory, CapturedArraysStayWhole) {
  const F captured = counting(50);
  const auto f = jit([captured](auto x) { return x + flip(captured, {0}); }, {.donate = {0}});
  const F x = counting(50);
  EXPECT_EQ(f(x)(0), 49);
  EXPECT_EQ(f(counting(50))(49), 49);
}

TEST(DonatedMemory, FunctionsOfOneLambdaMayDonateOrNot) {
  const auto lambda = [](auto x) { return x * 3.0f; };
  const auto keeps = jit(lambda);
  const auto takes = jit(lambda, {.donate = {0}});
  const F x = counting(20);
  EXPECT_EQ(keeps(x)(19), 57);
  EXPECT_EQ(takes(x)(19), 57);
  const F y = counting(20);
  EXPECT_EQ(keeps(y)(19), 57);
  EXPECT_EQ(y(19), 19);
}

TEST(DonatedMemory, IsShownInThePlan) {
  const auto f = jit([](auto x, auto y) { return x + y; }, {.donate = {1}});
  std::ostringstream out;
  out << f.lower(spec<float>({64}), counting(64)).plan();
  EXPECT_THAT(out.str(), testing::HasSubstr("output 0: f32[64] in the memory of input 1"));
  const auto compiled = f.lower(counting(64), counting(64)).compile();
  const F x = counting(64), y = counting(64);
  const float* memory = memory_of(y);
  const F r = compiled(x, y);
  EXPECT_EQ(memory_of(r), memory);
  EXPECT_EQ(r(63), 126);
}

}  // namespace
}  // namespace calque
