// What forces copies of whole arrays is in the text of plans and in explain's.
#include <regex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using D = Array<double>;

/// The list `copied:`, without the numbers of lines.
template <class F, class... X>
std::vector<std::string> copied(const F& f, const X&... x) {
  const std::string plan = f.lower(x...).plan().str();
  std::vector<std::string> lines;
  const std::string begin = "\ncopied: \"";
  for (size_t at = plan.find(begin); at != std::string::npos; at = plan.find(begin, at + 1)) {
    const size_t from = at + begin.size();
    const std::string line = plan.substr(from, plan.find("\"\n", from) - from);
    EXPECT_THAT(f.explain(x...), HasSubstr("  copied: " + line + "\n"));
    lines.push_back(std::regex_replace(line, std::regex("copied_test.cpp:[0-9]+"), "here"));
  }
  return lines;
}
D numbers() { return reshape(D::arange(4000), {40, 100}) * 0.125; }
const auto kHalve = [](auto i, auto x) { return x.set(i, all, x[i] * 0.5); };

/// A loop over a donated array.
template <class Body>
void expect_nothing_copied(const std::string& what, const Body& body) {
  EXPECT_THAT(copied(jit([body](auto x) { return fori_loop(0, 9, body, x); }, {.donate = {0}}), numbers()), IsEmpty())
      << what;
}

TEST(Copied, NothingByLoopsThatUpdateParts) {
  const auto part = range(1, -1);
  expect_nothing_copied("part of a row", [=](auto i, auto x) { return x.add(i, part, 1.0); });
  expect_nothing_copied("of what was a row", [=](auto i, auto x) { return x.set(i + 1, part, 0.5 * x.at(i, part)); });
  expect_nothing_copied("of what was a column",
                        [=](auto i, auto x) { return x.set(part, i + 1, 0.5 * x.at(part, i)); });
  expect_nothing_copied("numbers", [](auto i, auto x) { return x.set(i, 0, x.at(i, 0) + 1.0); });
  expect_nothing_copied("a number", [](auto i, auto x) { return x.set(0, all, x[0] * 0.5 + x[i]); });
  expect_nothing_copied("a sum of the array", [](auto i, auto x) { return x.add(i, i * 7 % 40, -1e-9 * sum(x[i])); });
  const auto inner = [](auto r, auto x) {
    return fori_loop(r, r + 1, [](auto j, auto y) { return y.set(j, j, y.at(j, j) + 1.0); }, x);
  };
  expect_nothing_copied("two inner loops", [=](auto i, auto x) { return inner(i, inner(i, x)); });
  expect_nothing_copied("a row before an inner loop",
                        [=](auto i, auto x) { return inner(i, x.set(i, all, x[i] * 0.5)); });
  expect_nothing_copied("most of it",
                        [=](auto i, auto x) { return x.set(part, part, x.at(part, part) * 0.5).set(i, all, x[i]); });
  EXPECT_THAT(copied(jit(
                         [](auto x) {
                           for (int64_t i = 1; i < 40; ++i) x = x.set(i, all, x[i - 1] * 0.5 + x[i]);
                           return x;
                         },
                         {.donate = {0}}),
                     numbers()),
              IsEmpty());
}

TEST(Copied, WhatTheCallerKeeps) {
  const auto program = [](auto x) { return fori_loop(0, 9, kHalve, x); };
  EXPECT_THAT(copied(jit(program), numbers()),
              ElementsAre("f64[40,100] once, before the loop at here: input 0 is not donated"));
  EXPECT_THAT(copied(jit(program, {.donate = {0}}), numbers()), IsEmpty());
  const D captured = numbers();
  EXPECT_THAT(copied(jit([&](auto last) { return fori_loop(0, last, kHalve, Tracer<double>(captured)); }), 3),
              ElementsAre("f64[40,100] once, before the loop at here: input 1 is not donated"));
  // A captured array is an input, too. Arrays of a few elements are not listed.
  EXPECT_THAT(copied(jit([](auto x) { return fori_loop(0, 3, [](auto i, auto y) { return y.set(i, 0.0); }, x); }),
                     D::arange(10)),
              IsEmpty());
}

TEST(Copied, WhatIsReadAfterTheUpdate) {
  EXPECT_THAT(
      copied(jit(
                 [](auto x) {
                   return fori_loop(
                       0, 9,
                       [](auto i, auto s) {
                         auto [a, total] = s;
                         const auto changed = a.set(i, all, a[i] * 0.5);
                         return std::tuple{changed, total + sum(a * flip(changed, 0))};
                       },
                       std::tuple{x, 0.0});
                 },
                 {.donate = {0}}),
             numbers()),
      UnorderedElementsAre(
          "f64[40,100] once, before the loop at here: no result of the program has the memory of input 0",
          "f64[40,100] in each iteration of the loop at here: set (here) overwrites what mul (here) reads after it"));
  EXPECT_THAT(copied(jit(
                         [](auto x) {
                           return fori_loop(
                               0, 9,
                               [](auto i, auto a) {
                                 const auto inner = fori_loop(0, i, kHalve, a);
                                 return a.set(i, all, inner[3]);
                               },
                               x);
                         },
                         {.donate = {0}}),
                     numbers()),
              ElementsAre("f64[40,100] in each iteration of the loop at here: the loop (here) overwrites what set "
                          "(here) reads after it"));
  EXPECT_THAT(
      copied(jit(
                 [](auto x) {
                   return fori_loop(
                       0, 9,
                       [](auto i, auto a) {
                         const auto other = cond(
                             a.at(i, 0) > 1.0, [](auto y) { return y.set(2, 3, 1.0); }, [](auto y) { return y; }, a);
                         return a.set(i, all, other[3] + other[2]);
                       },
                       x);
                 },
                 {.donate = {0}}),
             numbers()),
      ElementsAre(
          "f64[40,100] in each iteration of the loop at here: cond (here) overwrites what set (here) reads after it"));
}

TEST(Copied, WhatTheNextIterationReads) {
  EXPECT_THAT(copied(jit(
                         [](auto x) {
                           return fori_loop(
                               0, 9, [=](auto i, auto total) { return total + sum(fori_loop(0, i, kHalve, x)); }, 0.0);
                         },
                         {.donate = {0}}),
                     numbers()),
              ElementsAre("f64[40,100] in each iteration of the loop at here: the loop (here) overwrites what the next "
                          "iteration reads"));
}

TEST(Copied, WhatIsTwoOfTheResults) {
  EXPECT_THAT(copied(jit([](auto x, auto i) {
                       const auto y = flip(x, 0) * 2.0;
                       return std::tuple{y, y.set(i, all, 0.0)};
                     }),
                     numbers(), 3),
              ElementsAre("f64[40,100] once: set (here) overwrites a value that is a result, too"));
  EXPECT_THAT(copied(jit([](auto x) {
                       return fori_loop(
                           0, 9,
                           [](auto i, auto s) {
                             auto [a, b] = s;
                             return std::tuple{kHalve(i, a), kHalve(i + 1, b)};
                           },
                           std::tuple{x, x});
                     }),
                     numbers()),
              ElementsAre("f64[40,100] once, before the loop at here: the loop (here) has the array as two operands"));
}

TEST(Copied, CarriesThatMoveOn) {
  EXPECT_THAT(copied(jit([](auto x) {
                       return fori_loop(
                           0, 9,
                           [](auto i, auto s) {
                             auto [a, b, c] = s;
                             return std::tuple{b, c, kHalve(i, a)};
                           },
                           std::tuple{x, x * 2.0, x * 3.0});
                     }),
                     numbers()),
              ElementsAre("f64[40,100] once, before the loop at here: input 0 is not donated"));
  EXPECT_THAT(copied(jit([](auto x) {
                       return fori_loop(
                           0, 9,
                           [](auto, auto s) {
                             auto [a, b] = s;
                             return std::tuple{b, flip(a, 0) * 0.5 + b};
                           },
                           std::tuple{x, x * 2.0});
                     }),
                     numbers()),
              ElementsAre("f64[40,100] once, before the loop at here: input 0 is not donated"));
  EXPECT_THAT(copied(jit([](auto x) {
                       return fori_loop(
                           0, 9,
                           [](auto i, auto s) {
                             auto [a, b, c] = s;
                             return std::tuple{kHalve(i, b), a, a};
                           },
                           std::tuple{x, x * 2.0, x * 3.0});
                     }),
                     numbers()),
              UnorderedElementsAre("f64[40,100] once, before the loop at here: input 0 is not donated",
                                   "f64[40,100] in each iteration of the loop at here: a carry becomes another one, "
                                   "which has memory of its own"));
}

}  // namespace
}  // namespace calque
