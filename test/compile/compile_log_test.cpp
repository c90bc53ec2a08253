// CALQUE_LOG=compile: one line per compilation.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "calque/calque.h"

#include "compile/executable.h"
#include "compile/passes.h"
#include "ir/log.h"
#include "runtime/process/environment.h"

namespace calque {
namespace {

using F = Array<float>;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

template <class Call>
std::string logged(const std::string& words, const Call& call) {
  testing::internal::CaptureStderr();
  set_log(words);
  call();
  const std::string text = testing::internal::GetCapturedStderr();
  set_log("warn");
  return text;
}

TEST(CompileLog, TellsWhereTheTimeWentOncePerCompilation) {
  if (runtime::environment().reference_backend || runtime::environment().disable_jit)
    GTEST_SKIP() << "nothing is compiled";
  const auto f = jit([](auto x) { return x * 3.25f - 17.5f; }, {.name = "logged"});
  EXPECT_THAT(
      logged("compile", [&] { f(F{1, 2, 3}); }),
      MatchesRegex(
          "calque: compile: logged: 2 equations, 1 kernels, 1 modules: trace [0-9.]+, key [0-9.]+, "
          "dce [0-9.]+, rewrite [0-9.]+, expand-linalg [0-9.]+, split-complex [0-9.]+, prepare [0-9.]+, canonicalize "
          "[0-9.]+, [-a-z0-9., ]*"
          "machine-code [0-9.]+, link [0-9.]+, in all [0-9.]+ ms\n"));
  EXPECT_THAT(logged("compile", [&] { f(F{4, 5, 6}); }), IsEmpty());
  // A graph whose code is cached is not compiled.
  const auto again = jit([](auto x) { return x * 3.25f - 17.5f; }, {.name = "again"});
  EXPECT_THAT(logged("compile", [&] { again(F{1, 2, 3}); }), IsEmpty());
}

TEST(CompileLog, CombinesWithALevel) {
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

TEST(CompileLog, DumpWritesTheProgramAfterEachPass) {
  if (runtime::environment().reference_backend || runtime::environment().disable_jit)
    GTEST_SKIP() << "nothing is compiled";
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("calque_dump_" + std::to_string(::getpid()));
  runtime::mutable_environment().dump = folder.string();
  jit([](auto x) { return softmax(x, 0); }, {.name = "dumped"})(F{1, 2, 3, 4, 5});
  runtime::mutable_environment().dump.clear();
  std::map<std::string, std::string> files;  // in order of their numbers
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(file.path());
    files[file.path().filename().string()] = std::string(std::istreambuf_iterator<char>(in), {});
  }
  std::filesystem::remove_all(folder);
  std::vector<std::string> expected, dumped;
  for (const runtime::Pass& pass : runtime::passes_of(Device::Kind::cpu)) expected.emplace_back(pass.info.name);
  for (const auto& [name, text] : files) {
    dumped.push_back(name.substr(3, name.size() - 7));
    EXPECT_THAT(text, testing::ContainsRegex("^(//|;|#) dumped.*: after " + dumped.back()));
    EXPECT_THAT(expected, testing::Contains(dumped.back()));
  }
  ASSERT_GE(dumped.size(), 20u);
  EXPECT_EQ(dumped.front(), "trace");
  // They are numbered as they ran, which is the order of the list.
  const auto at = [&](const std::string& name) { return std::find(expected.begin(), expected.end(), name); };
  for (size_t i = 1; i < dumped.size(); ++i) EXPECT_LT(at(dumped[i - 1]), at(dumped[i])) << dumped[i];
}

TEST(CompileLog, DumpAfterAPassWritesOneFile) {
  if (runtime::environment().reference_backend || runtime::environment().disable_jit)
    GTEST_SKIP() << "nothing is compiled";
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("calque_dump_after_" + std::to_string(::getpid()));
  runtime::mutable_environment().dump = folder.string();
  runtime::mutable_environment().dump_after = "assign-workspace";
  jit([](auto x) { return softmax(x, 0) * 3.25f; }, {.name = "dumped"})(F{1, 2, 3, 4, 5});
  runtime::mutable_environment().dump.clear();
  runtime::mutable_environment().dump_after.clear();
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(folder)) names.push_back(file.path().filename().string());
  std::filesystem::remove_all(folder);
  ASSERT_EQ(names.size(), 1u);
  EXPECT_THAT(names[0], HasSubstr("-assign-workspace.txt"));
}

TEST(CompileLog, AFolderThatCannotBeWrittenToIsReported) {
  if (runtime::environment().reference_backend || runtime::environment().disable_jit)
    GTEST_SKIP() << "nothing is compiled";
  runtime::mutable_environment().dump = "/dev/null/dump";
  const auto f = jit([](auto x) { return x * 1.75f - 19.5f; });
  EXPECT_THAT(logged("warn", [&] { EXPECT_EQ(f(F{2}).host()[0], -16.0f); }),
              HasSubstr("CALQUE_DUMP=/dev/null/dump: cannot be written to"));
  runtime::mutable_environment().dump.clear();
}

TEST(CompileLog, UnknownWordsAreReported) {
  EXPECT_THAT(logged("loud", [] {}), HasSubstr("CALQUE_LOG=loud: loud is neither a level nor compile; taken as warn"));
}

}  // namespace
}  // namespace calque
