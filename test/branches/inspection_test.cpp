// Inspecting, compiling and exporting functions that follow their data, with paths that are known and not.
#include <filesystem>

#include <unistd.h>

#include "branches/branches.h"

namespace calque::test {
namespace {

using testing::HasSubstr;

constexpr auto halves = [](auto x) {
  if (x > 1.0) return x * 2.0;
  return x + 1.0;
};

TEST(InspectedBranches, AreClosedOrAnErrorWithTheLine) {
  const auto f = jit([](auto x) { return halves(x); }, following());
  f.clear_cache();
  EXPECT_THAT(message_of<CompileError>([&] { (void)f.trace(2.0); }), HasSubstr("inspection_test.cpp:"));
  EXPECT_THAT(f.explain(2.0), HasSubstr("inspection_test.cpp:"));
  EXPECT_EQ(f(2.0).item(), 4);
  EXPECT_THAT(message_of<CompileError>([&] { (void)f.trace(2.0); }), HasSubstr("has only been true"));
  EXPECT_THAT(message_of<CompileError>([&] { (void)f.lower(2.0); }), HasSubstr("has only been true"));
  EXPECT_THAT(f.explain(2.0), HasSubstr("1 open exit"));
  EXPECT_EQ(f(0.0).item(), 1);
  EXPECT_THAT(f.explain(2.0), HasSubstr("0 open exits"));
  EXPECT_EQ(f.trace(2.0).outputs().size(), 1u);
  const auto compiled = f.lower(2.0).compile();
  EXPECT_EQ(compiled(3.0).item(), 6);
  EXPECT_EQ(compiled(0.5).item(), 1.5);
  const std::string object = testing::TempDir() + "/calque_branches_" + std::to_string(getpid()) + ".o";
  f.lower(2.0).export_object(object);
  EXPECT_GT(std::filesystem::file_size(object), 0u);
  std::filesystem::remove(object);
}

TEST(InspectedBranches, OfResultsThatDifferInType) {
  const auto f = jit([](auto k, auto x) { return x[range(0, int(k))]; }, following());
  const D x{1, 2, 3};
  EXPECT_EQ(f(1, x).size(), 1);
  EXPECT_EQ(f(2, x).size(), 2);
  EXPECT_THAT(message_of<CompileError>([&] { (void)f.lower(1, x); }), HasSubstr("inspection_test.cpp:"));
  EXPECT_THAT(f.explain(1, x), HasSubstr("1 at 1, 2 at 1 of 2 questions"));
}

TEST(InspectedBranches, AreCountedAndCleared) {
  const auto f = jit([](auto x) { return halves(x) * 3.0; }, following());
  f.clear_cache();
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(f.branch_info(0.0).traces, 0u);
    EXPECT_EQ(f(2.0).item(), 12);
    EXPECT_EQ(f.branch_info(0.0).traces, 1u);
    EXPECT_EQ(f.branch_info(0.0).open_exits, 1u);
    EXPECT_EQ(f.cache_info().entries, 1u);
    EXPECT_EQ(f(0.0).item(), 3);
    EXPECT_EQ(f.branch_info(0.0).traces, 2u);
    EXPECT_EQ(f.branch_info(0.0).open_exits, 0u);
    EXPECT_EQ(f(1.0).item(), 6);
    EXPECT_EQ(f.cache_info().misses, 1u);
    f.clear_cache();
    EXPECT_EQ(f.cache_info().entries, 0u);
  }
}

/// Functions of one captureless lambda share what is compiled, and so the tree of the first.
TEST(InspectedBranches, OfOneLambdaWithTwoLimits) {
  const auto lambda = [](auto k, auto x) { return x * double(int(k)); };
  const auto few = jit(lambda, following({.values = 1}));
  const auto many = jit(lambda, following());
  few.clear_cache();
  for (int k = 0; k < 6; ++k) {
    EXPECT_EQ(few(k, 2.0).item(), 2 * k);
    EXPECT_EQ(many(k, 3.0).item(), 3 * k);
  }
}

TEST(InspectedBranches, WithAStaleHandleOnTheEntry) {
  const auto f = jit([](auto x) { return halves(x) - 1.0; }, following());
  EXPECT_EQ(f(2.0).item(), 3);
  EXPECT_EQ(f(0.0).item(), 0);
  EXPECT_EQ(f(D(5.0)).item(), 9);
  EXPECT_EQ(f(Array<float>(2.f)).item(), 3);
  EXPECT_EQ(f(Array<float>(0.f)).item(), 0);
  EXPECT_EQ(f(0.5).item(), 0.5);
}

}  // namespace
}  // namespace calque::test
