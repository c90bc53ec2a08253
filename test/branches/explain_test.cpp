// What explain and branch_tree_dot say of branches that follow the data.
#include "branches/branches.h"

namespace calque::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The lines about branches of a report.
std::string branches_of(const std::string& report) {
  const size_t begin = report.find("branches:");
  return report.substr(begin, report.find("device:") - begin);
}
size_t count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

/// A function of its own for each call, since the lambda has a capture.
auto model(double bound) {
#line 10 "model.cpp"
  return [bound](auto x, auto k) {
    auto y = 2.0 * sum(x);
    if (y > bound) return y;
    if (exp(y) < x[0] + 3.0) y = y + 1.0;
    return y * double(int(k));
  };
#line 32 "explain_test.cpp"
}

TEST(ExplainedBranches, AreLinesWithWhatIsAskedAndAnswered) {
  const auto f = jit(model(1.0), following());
  EXPECT_THAT(f.explain(D{1, 2}, 7), HasSubstr("branches: 1 question on the path of these arguments (model.cpp:12)"));
  (void)f(D{1, 2}, 7);
  EXPECT_EQ(
      branches_of(f.explain(D{1, 2}, 7)),
      "branches: questions at 1 line, 1 path, 1 open exit; 1 compilation, 0 replays\n"
      "  model.cpp:12  bool     (2 * reduce_sum(argument 0)) > 1  true; the other answer leads out of this code\n");
  (void)f(D{-1, -2}, 7);
  const std::string two = branches_of(f.explain(D{1, 2}, 7));
  EXPECT_THAT(
      two, AllOf(HasSubstr("questions at 3 lines, 2 paths, 2 open exits; 2 compilations"), HasSubstr("  false, true\n"),
                 HasSubstr("model.cpp:13  bool     exp("), HasSubstr("  integer  argument 1"),
                 HasSubstr("7; other values lead out"), Not(HasSubstr("limit"))));
}

TEST(ExplainedBranches, OfOneLineAreCounted) {
  const auto f = jit(
      [](auto x) {
        while (x > 1.0) x = x * 0.5;
        return x;
      },
      following());
  (void)f(7.0);
  const std::string text = branches_of(f.explain(1.0));
  EXPECT_THAT(text, AllOf(HasSubstr("questions at 1 line, 1 path, 4 open exits"),
                          HasSubstr("false at 1, true at 3 of 4 questions; the other answer at 4 leads out")));
}

TEST(ExplainedBranches, NameTheLimitsThatAreReached) {
  const auto f = jit([](auto k, auto x) { return x * double(int(k)); }, following({.values = 2}));
  for (int k = 0; k < 4; ++k) (void)f(k, 1.0);
  EXPECT_THAT(f.explain(0, 1.0), HasSubstr("  the limit of 2 values is reached at explain_test.cpp:"));
  const auto g = jit(
      [](auto x) {
        while (x > 1.0) x = x * 0.5;
        return x;
      },
      following({.traces = 2}));
  for (int k = 1; k < 9; ++k) (void)g(double(1 << k));
  EXPECT_THAT(g.explain(1.0), HasSubstr("  the limit of 2 paths is reached: calls along others run the lambda\n"));
}

TEST(ExplainedBranches, AreDrawn) {
  const auto f = jit(model(1.0), following());
  EXPECT_EQ(branch_tree_dot(f, D{1, 2}, 7), "digraph branches {\n}\n");
  (void)f(D{1, 2}, 7);
  (void)f(D{-1, -2}, 7);
  const std::string text = branch_tree_dot(f, D{1, 2}, 7);
  EXPECT_EQ(count(text, "shape=hexagon"), 3u) << text;
  EXPECT_EQ(count(text, "style=dashed"), 2u) << text;
  EXPECT_EQ(count(text, "shape=ellipse"), 2u) << text;
  EXPECT_THAT(text, AllOf(HasSubstr("model.cpp:12\\n(2 * reduce_sum(argument 0)) > 1"), HasSubstr("[label=\"7\"]"),
                          HasSubstr("[label=\"others\", style=dashed]"), HasSubstr("[label=\"true\"]")));
  // Each node but the first is reached.
  for (size_t at = text.find("[label=\"result"); at != std::string::npos; at = text.find("[label=\"result", at + 1)) {
    const size_t begin = text.rfind('\n', at) + 3;
    EXPECT_THAT(text, HasSubstr(" -> " + text.substr(begin, at - begin - 1)));
  }
  // Results of other types are drawn beside.
  const auto g = jit([](auto k, auto x) { return x[range(0, int(k))]; }, following());
  (void)g(1, D{1, 2, 3});
  (void)g(2, D{1, 2, 3});
  EXPECT_EQ(count(branch_tree_dot(g, 1, D{1, 2, 3}), "[label=\"call\""), 2u);
  EXPECT_THAT(g.explain(1, D{1, 2, 3}), HasSubstr("2 functions, whose results differ in type or shape"));
}

}  // namespace
}  // namespace calque::test
