// References to callables.
#include "calque/detail/function_ref.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace calque::detail {
namespace {

std::string call(FunctionRef<std::string(int, std::string&)> f, int x, std::string& s) { return f(x, s); }
std::unique_ptr<int> moved(FunctionRef<std::unique_ptr<int>(std::unique_ptr<int>)> f) {
  return f(std::make_unique<int>(3));
}

TEST(FunctionRef, CallsWhatItRefersTo) {
  std::string text = "a";
  const std::string suffix = "!";
  const auto append = [&](int n, std::string& s) { return s += std::string(static_cast<size_t>(n), 'b') + suffix; };
  EXPECT_EQ(call(append, 2, text), "abb!");
  EXPECT_EQ(call([](int, const std::string& s) { return s.substr(1); }, 0, text), "bb!");
  const std::function<std::string(int, std::string&)> held = append;
  EXPECT_EQ(call(held, 1, text), "abb!b!");
  EXPECT_EQ(text, "abb!b!");
}

TEST(FunctionRef, MovesArgumentsAndResults) {
  EXPECT_EQ(*moved([](std::unique_ptr<int> p) { return std::make_unique<int>(*p + 1); }), 4);
}

TEST(FunctionRef, CopiesReferToTheSame) {
  int calls = 0;
  const auto count = [&] { ++calls; };
  const auto twice = [](FunctionRef<void()> f) {
    const FunctionRef<void()> copy = f;
    copy();
    f();
  };
  twice(count);
  EXPECT_EQ(calls, 2);
}

static_assert(!std::is_constructible_v<FunctionRef<int()>, std::string>);
static_assert(!std::is_constructible_v<FunctionRef<int(int)>, int (*)(std::string)>);

}  // namespace
}  // namespace calque::detail
