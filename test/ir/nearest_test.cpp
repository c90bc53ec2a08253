// What a misspelled name may have meant.
#include "ir/text/nearest.h"

#include <gtest/gtest.h>

namespace calque {
namespace {

constexpr std::string_view kNames[] = {"opt", "run", "lower", "conformance", "info"};

TEST(Nearest, IsAtTheFewestChanges) {
  EXPECT_EQ(text::nearest("lower", kNames), "lower");
  EXPECT_EQ(text::nearest("lowr", kNames), "lower");
  EXPECT_EQ(text::nearest("lwoer", kNames), "lower");
  EXPECT_EQ(text::nearest("conformence", kNames), "conformance");
  EXPECT_EQ(text::nearest("opts", kNames), "opt");
}

TEST(Nearest, IsNothingForOtherWords) {
  EXPECT_EQ(text::nearest("xyzzy", kNames), "");
  EXPECT_EQ(text::nearest("", kNames), "");
  EXPECT_EQ(text::nearest("lower", {}), "");
}

TEST(Nearest, IsTheFirstOfSeveral) {
  constexpr std::string_view names[] = {"abcx", "abcy"};
  EXPECT_EQ(text::nearest("abcz", names), "abcx");
}

}  // namespace
}  // namespace calque
