// A function that is compiled again and again says which part of its signature changes, once, and explain says it
// always.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"
#include "calque/eigen.h"

namespace calque {
namespace {

using F = Array<float>;
using testing::HasSubstr;
using testing::Not;

struct Settings {
  double gamma;
  int order;
};

/// What `calls` writes to standard error.
template <class Calls>
std::string log_of(const Calls& calls) {
  testing::internal::CaptureStderr();
  calls();
  return testing::internal::GetCapturedStderr();
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(SignatureChanges, AStaticMemberThatChangesIsNamedOnce) {
  const auto f = jit([s = 1.0](auto x, const auto& p) { return x * (s * p.gamma); }, {.name = "step"});
  const std::string log = log_of([&] {
    for (int i = 0; i < 20; ++i) f(1.0, Settings{0.1 * i, 3});
  });
  EXPECT_EQ(count_of(log, "compiled"), 1u) << log;
  EXPECT_THAT(log, HasSubstr("step: compiled 8 times because of the value of argument 1.gamma"));
  EXPECT_THAT(log, HasSubstr("signature_changes_test.cpp:"));
  EXPECT_THAT(log, Not(HasSubstr("order")));
  EXPECT_THAT(f.explain(1.0, Settings{0.5, 3}),
              HasSubstr("warning: compiled 19 times because of the value of argument 1.gamma"));
}

TEST(SignatureChanges, SevenChangesAreSilent) {
  const auto f = jit([s = 2.0](auto x, const auto& p) { return x * (s * p.gamma); });
  EXPECT_EQ(log_of([&] {
              for (int i = 0; i < 8; ++i) f(1.0, Settings{0.1 * i, 3});
            }),
            "");
  EXPECT_THAT(f.explain(1.0, Settings{0.1, 3}), Not(HasSubstr("warning")));
}

TEST(SignatureChanges, SeveralMembersAreNamedTogether) {
  const auto f = jit([s = 3.0](auto x, const auto& p) { return x * (s * p.gamma + p.order); });
  const std::string log = log_of([&] {
    for (int i = 0; i < 20; ++i) f(1.0, Settings{0.1 * i, i});
  });
  EXPECT_EQ(count_of(log, "compiled"), 1u) << log;
  EXPECT_THAT(log, HasSubstr("the value of argument 1.gamma and the value of argument 1.order"));
}

TEST(SignatureChanges, ShapesSizesAndLayouts) {
  const auto shapes = jit([s = 4.0f](auto x) { return x * s; });
  EXPECT_THAT(log_of([&] {
                for (int i = 1; i < 20; ++i) shapes(F::zeros({i}));
              }),
              HasSubstr("the shape of argument 0 (argument 0 is f32[9], was f32[8])"));
  const auto sizes = jit([](const auto& xs) { return xs.at(0); });
  EXPECT_THAT(log_of([&] {
                for (size_t i = 1; i < 20; ++i) sizes(std::vector<F>(i, F{1}));
              }),
              HasSubstr("the number of elements of argument 0 (argument 0 has 9 elements, had 8)"));
  const auto layouts = jit([s = 5.0f](auto x) { return x * s; });
  EXPECT_THAT(log_of([&] {
                for (int i = 3; i < 20; ++i) layouts(Eigen::MatrixXf(Eigen::MatrixXf::Zero(i, 9)).topRows(3));
              }),
              HasSubstr("the memory layout of argument 0"));
}

TEST(SignatureChanges, AStaticArgumentIsToldToBeAnOrdinaryOne) {
  const auto f = jit([s = 8.0f](auto x, int n) { return x * (s + static_cast<float>(n)); });
  EXPECT_THAT(log_of([&] {
                for (int i = 0; i < 20; ++i) f(1.0f, static_arg(i));
              }),
              HasSubstr("the value of argument 1 (argument 1 is 8, was 7); a static value is part of the signature: to "
                        "compile once, pass it without static_arg"));
}

TEST(SignatureChanges, AlternatingSignaturesAreSilent) {
  const auto f = jit([s = 6.0f](auto x, const auto& p) { return x * (s * static_cast<float>(p.order)); });
  EXPECT_EQ(log_of([&] {
              for (int i = 0; i < 100; ++i) f(F::zeros({1 + i % 3}), Settings{1.0, i % 2});
            }),
            "");
}

TEST(SignatureChanges, ClearingTheCacheForgetsThem) {
  const auto f = jit([s = 7.0f](auto x) { return x * s; });
  EXPECT_EQ(log_of([&] {
              for (int i = 1; i < 20; ++i) {
                f(F::zeros({i}));
                if (i % 5 == 0) f.clear_cache();
              }
            }),
            "");
}

TEST(SignatureChanges, ExplainNamesTheStaticPartThatDiffers) {
  const auto f = jit([](auto x, const auto& p, int n, const auto& name) {
    return x * static_cast<float>(p.order + n) * (name.value == "a" ? 1.0f : 2.0f);
  });
  struct Name {
    std::string value;
  };
  const auto explain = [&](float x, Settings s, int n, const char* name) {
    return f.explain(x, s, static_arg(n), Name{name});
  };
  f(1.0f, Settings{0.5, 1}, static_arg(3), Name{"a"});
  EXPECT_THAT(explain(1.0f, {0.5, 1}, 3, "a"), HasSubstr("cache: hit"));
  EXPECT_THAT(explain(1.0f, {0.25, 1}, 3, "a"), HasSubstr("argument 1.gamma is 0.25, was 0.5;"));
  EXPECT_THAT(explain(1.0f, {0.5, -2}, 3, "a"), HasSubstr("argument 1.order is -2, was 1;"));
  EXPECT_THAT(explain(1.0f, {0.5, 1}, 4, "a"), HasSubstr("argument 2 is 4, was 3;"));
  EXPECT_THAT(explain(1.0f, {0.5, 1}, 3, "long name"), HasSubstr("argument 3.value is \"long name\", was \"a\";"));
  EXPECT_THAT(explain(1.0f, {0.25, 1}, 4, "a"),
              HasSubstr("argument 1.gamma is 0.25, was 0.5; argument 2 is 4, was 3;"));
}

}  // namespace
}  // namespace calque
