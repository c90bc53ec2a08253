// CALQUE_LOG=compile: one line for each compilation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

#include "runtime/process/environment.h"
#include "runtime/process/log.h"

namespace calque {
namespace {

using F = Array<float>;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

template <class Call>
std::string logged(const std::string& words, const Call& call) {
  testing::internal::CaptureStderr();
  runtime::set_log(words);
  call();
  const std::string text = testing::internal::GetCapturedStderr();
  runtime::set_log(runtime::environment().log);
  return text;
}

TEST(CompileLog, TellsWhereTheTimeWentOncePerCompilation) {
  if (runtime::environment().reference_backend || runtime::environment().disable_jit)
    GTEST_SKIP() << "nothing is compiled";
  const auto f = jit([](auto x) { return x * 3.25f - 17.5f; }, {.name = "logged"});
  EXPECT_THAT(logged("compile", [&] { f(F{1, 2, 3}); }),
              MatchesRegex("calque: compile: logged: 2 equations, 1 kernels, 1 modules: trace [0-9.]+, key [0-9.]+, "
                           "simplify [0-9.]+, plan [0-9.]+, kernel IR [0-9.]+, LLVM IR [0-9.]+, passes [0-9.]+, "
                           "machine code [0-9.]+, link [0-9.]+, in all [0-9.]+ ms\n"));
  EXPECT_THAT(logged("compile", [&] { f(F{4, 5, 6}); }), IsEmpty());
  // A graph whose code is there is not compiled.
  const auto again = jit([](auto x) { return x * 3.25f - 17.5f; }, {.name = "again"});
  EXPECT_THAT(logged("compile", [&] { again(F{1, 2, 3}); }), IsEmpty());
}

TEST(CompileLog, StandsBesideALevel) {
  const auto f = jit([](auto x) { return x * 5.75f - 11.5f; }, {.name = "both"});
  const std::string text = logged("debug,compile", [&] { f(F{1, 2, 3}); });
  if (runtime::environment().disable_jit) GTEST_SKIP() << "nothing is compiled";
  EXPECT_THAT(text, HasSubstr("calque: debug: both: traced"));
  EXPECT_THAT(text, HasSubstr("calque: compile: both: "));
}

TEST(CompileLog, IsSilentUnlessAskedFor) {
  const auto f = jit([](auto x) { return x * 7.75f - 13.5f; });
  EXPECT_THAT(logged("info", [&] { f(F{1, 2, 3}); }), testing::Not(HasSubstr("compile")));
}

TEST(CompileLog, UnknownWordsAreReported) {
  EXPECT_THAT(logged("loud", [] {}), HasSubstr("CALQUE_LOG=loud: loud is neither a level nor compile; taken as warn"));
}

}  // namespace
}  // namespace calque
