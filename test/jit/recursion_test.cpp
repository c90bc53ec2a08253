// Functions that call themselves while they are traced: a recursion that ends is traced, another is refused in words.
#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include "calque/calque.h"

#include "jit/messages.h"

namespace calque {
namespace {

using F = Array<float>;
using T = Tracer<float>;
using testing::ContainsRegex;
using testing::HasSubstr;

/// A function that calls itself by way of `through`.
template <class Through>
std::string refusal_of_recursion(const Through& through, const char* name = "loop") {
  std::function<T(T)> again;
  const auto f = jit([&](T x) { return again(x) + 1.0f; }, {.name = name});
  again = [&](T x) { return T(through(f, x)); };
  const std::string message = message_of<CompileError>([&] { f(F(1.0f)); });
  EXPECT_FALSE(detail::tracing());
  EXPECT_EQ(jit([](auto x) { return x * 2.0f; })(F(3.0f))(), 6);
  return message;
}

TEST(Recursion, WithoutEndIsRefused) {
  const auto call = [](const auto& f, T x) { return f(x); };
  EXPECT_THAT(refusal_of_recursion(call),
              ContainsRegex("loop: the function calls itself while it is traced, without end or too deeply \\([0-9]+ "
                            "calls\\); tracers have shapes but no elements, so a recursion ends by shapes or static "
                            "values \\(recursion_test.cpp:[0-9]+\\)"));
  EXPECT_THAT(refusal_of_recursion(call, ""), HasSubstr("jit: the function calls itself while it is traced"));
}

TEST(Recursion, ThroughControlFlowIsRefused) {
  const auto wanted = HasSubstr("loop: the function calls itself while it is traced");
  const auto by_value = [](const auto& f, T x) {
    return cond(x > 0.0f, [&](auto v) { return T(f(v - 1.0f)); }, [](auto v) { return T(v); }, x);
  };
  EXPECT_THAT(refusal_of_recursion(by_value), wanted);
  const auto in_loop = [](const auto& f, T x) { return fori_loop(0, 3, [&](auto, auto c) { return T(f(c)); }, x); };
  EXPECT_THAT(refusal_of_recursion(in_loop), wanted);
}

TEST(Recursion, ThroughTransformationsIsRefused) {
  const auto wanted = ContainsRegex("loop: the function calls itself( through [a-z]+)? while it is traced");
  EXPECT_THAT(refusal_of_recursion([](const auto& f, T x) { return grad(f)(x); }), wanted);
  EXPECT_THAT(refusal_of_recursion([](const auto& f, T x) { return checkpoint(f)(x); }), wanted);
  EXPECT_THAT(refusal_of_recursion([](const auto& f, T x) { return sum(vmap(f)(x * F{1, 2})); }), wanted);
}

TEST(Recursion, OfTwoFunctionsIsRefused) {
  std::function<T(T)> first;
  const auto g = jit([&](T x) { return first(x) * 2.0f; }, {.name = "g"});
  const auto f = jit([&](T x) { return T(g(x)) + 1.0f; }, {.name = "f"});
  first = [&](T x) { return T(f(x)); };
  EXPECT_THAT(message_of<CompileError>([&] { f(F(1.0f)); }),
              ContainsRegex("(f: the function calls itself through g|g: the function calls itself through f) while"));
}

TEST(Recursion, OnDataOfOtherShapesIsRefused) {
  std::function<F(F)> again;
  const auto f = jit(
      [&](T x) {
        again(F::ones({static_cast<int64_t>(x.size()) + 1}));
        return x;
      },
      {.name = "grow"});
  again = [&](const F& x) { return F(f(x)); };
  EXPECT_THAT(message_of<CompileError>([&] { f(F{1}); }), HasSubstr("grow: the function calls itself while it is"));
}

/// Runs on a thread with that many bytes of stack.
void run_with_stack(size_t bytes, std::function<void()> work) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0);
  pthread_t thread;
  const auto run = [](void* w) -> void* {
    (*static_cast<std::function<void()>*>(w))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &work), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(Recursion, IsBoundedByTheStackOfTheThread) {
  for (const size_t megabytes : {2, 64}) {
    run_with_stack(megabytes << 20, [] {
      EXPECT_THAT(refusal_of_recursion([](const auto& f, T x) { return f(x); }), HasSubstr("calls itself while it is"));
    });
  }
}

TEST(Recursion, ThatEndsByAStaticValueIsTraced) {
  for (const int depth : {0, 1, 50, 500}) {
    int left = depth;
    std::function<T(T)> again;
    const auto f = jit([&](T x) { return left-- > 0 ? T(again(x) + 1.0f) : x * 2.0f; });
    again = [&](T x) { return T(f(x)); };
    EXPECT_EQ(f(F(3.0f))(), static_cast<float>(6 + depth));
  }
}

TEST(Recursion, ThatEndsByAShapeIsTraced) {
  // The sum by halves.
  std::function<T(T)> again;
  const auto f = jit([&](T x) {
    const auto n = static_cast<int64_t>(x.size());
    if (n == 1) return T(x.at(0));
    return again(x.at(range(0, n / 2))) + again(x.at(range(n / 2, n)));
  });
  again = [&](T x) { return T(f(x)); };
  EXPECT_EQ(f(F::arange(300))(), 300.0f * 299 / 2);
  EXPECT_TRUE(array_equal(grad(f)(F::arange(300)), F::ones({300})));
  EXPECT_EQ(sum(vmap(f)(F::ones({4, 64})))(), 256);
}

}  // namespace
}  // namespace calque
