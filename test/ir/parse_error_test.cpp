// Malformed texts: the message gives the position, what was expected, and what was found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/build.h"
#include "support/random/random_graph.h"

namespace calque::test {
namespace {

std::string error(std::string_view text) {
  return message_of<ParseError>([&] { parse(text); });
}

/// The error of an equation in a graph with inputs %0: f32[3], %1: f32[3]. The equation is on line 3, column 3.
std::string equation_error(const std::string& equation) {
  return error("calque 1\ngraph f(%0: f32[3], %1: f32[3]) {\n  " + equation + "\n  return %0\n}\n");
}

/// The error of a constant's section, on line 4.
std::string constant_error(const std::string& section) {
  return error("calque 1\ngraph f() {\n  return @c0 }\nconstant @c0: " + section + "\n");
}

TEST(ParseError, Header) {
  EXPECT_EQ(error(""), "parse: line 1, column 1: expected 'calque' to start the text, got the end of the text");
  EXPECT_EQ(error("jaxpr"), "parse: line 1, column 1: expected 'calque' to start the text, got 'jaxpr'");
  EXPECT_EQ(error("calque 2\n"), "parse: line 1, column 8: expected version 1 of the text form, got 2");
  EXPECT_EQ(error("calque 1\n\nfunction"),
            "parse: line 3, column 1: expected 'graph' after the version, got 'function'");
}

TEST(ParseError, Tokens) {
  EXPECT_EQ(error("calque 1 graph ; "), "parse: line 1, column 16: unexpected character ';'");
  EXPECT_EQ(error(std::string_view("calque\n \0", 9)), "parse: line 2, column 2: unexpected byte 0x00");
  EXPECT_EQ(error("\xff"), "parse: line 1, column 1: unexpected byte 0xff");
  EXPECT_EQ(error("calque 1 graph \"f\n\""), "parse: line 1, column 16: the string does not end on its line");
  EXPECT_EQ(error("calque 1 graph \"\\q\""), "parse: line 1, column 17: unknown escape in a string");
  EXPECT_EQ(error("calque 1 graph \"\\x4\""), "parse: line 1, column 17: expected two hexadecimal digits after \\x");
  EXPECT_EQ(error("calque 1 graph (%"), "parse: line 1, column 17: expected a name after '%'");
  EXPECT_EQ(error("calque -"), "parse: line 1, column 8: expected a number after '-'");
}

TEST(ParseError, Inputs) {
  EXPECT_EQ(error("calque 1\ngraph f(x: f32[])"),
            "parse: line 2, column 9: expected an input like '%0: f32[3]', got 'x'");
  EXPECT_EQ(error("calque 1\ngraph f(%0: f31[])"), "parse: line 2, column 13: expected an element type, got 'f31'");
  EXPECT_EQ(error("calque 1\ngraph f(%0: f32)"),
            "parse: line 2, column 16: expected '[' after an element type, got ')'");
  EXPECT_EQ(error("calque 1\ngraph f(%0: f32[2 3])"),
            "parse: line 2, column 19: expected ']' or ',' after an extent, got '3'");
  EXPECT_EQ(error("calque 1\ngraph f(%0: f32[-2])"), "parse: line 2, column 17: an extent is at least 0, got -2");
  EXPECT_EQ(error("calque 1\ngraph f(%0: f32[], %0: f32[]) {return}"), "parse: line 2, column 20: %0 is defined twice");
}

TEST(ParseError, HugeShapesAreRefusedNotComputed) {
  EXPECT_EQ(error("calque 1\ngraph f(%0: f32[4294967296,4294967296,4294967296])"),
            "parse: line 2, column 13: the type f32[4294967296,4294967296,4294967296] is too large");
  EXPECT_EQ(error("calque 1\ngraph f(%0: f32[99999999999999999999])"),
            "parse: line 2, column 17: expected an extent, got '99999999999999999999'");
  std::string many = "calque 1\ngraph f(%0: f32[1";
  for (int i = 0; i < 100; ++i) many += ",1";
  EXPECT_THAT(error(many + "]) {return}"), testing::HasSubstr("a shape has too many dimensions"));
}

TEST(ParseError, Equations) {
  EXPECT_EQ(equation_error("%2: f32[3] = sine %0"), "parse: line 3, column 16: there is no primitive 'sine'");
  EXPECT_EQ(equation_error("%2: f32[3] = add %0 %7"), "parse: line 3, column 23: %7 is not defined before its use");
  EXPECT_EQ(equation_error("%2: f32[4] = add %0 %1"),
            "parse: line 3, column 7: expected the type f32[3] that add gives, got f32[4]");
  EXPECT_EQ(equation_error("%2, %3 = add %0 %1"), "parse: line 3, column 12: add has 1 results, got names for 2");
  EXPECT_EQ(equation_error("%1 = neg %0"), "parse: line 3, column 3: %1 is defined twice");
  EXPECT_EQ(equation_error("%2 add %0"), "parse: line 3, column 6: expected '=' after the results, got 'add'");
  EXPECT_EQ(equation_error("%2 = add %0"), "parse: line 3, column 8: add: expected 2 operands, got 1");
  EXPECT_THAT(equation_error("%2 = add %0 1:f32[4]"), testing::StartsWith("parse: line 3, column 8: add: "));
  EXPECT_EQ(equation_error("%2 = neg @c0"), "parse: line 3, column 12: there is no section for constant @c0");
}

TEST(ParseError, Attributes) {
  EXPECT_EQ(equation_error("%2 = reverse[axes] %0"),
            "parse: line 3, column 20: expected '=' after an attribute's name, got ']'");
  EXPECT_EQ(equation_error("%2 = reverse[axes=[0,x]] %0"), "parse: line 3, column 24: expected an integer, got 'x'");
  EXPECT_EQ(equation_error("%2 = reverse[axes=[0], axes=[0]] %0"),
            "parse: line 3, column 26: attribute axes is given twice");
  EXPECT_EQ(equation_error("%2 = reverse[axes=what] %0"),
            "parse: line 3, column 21: expected an attribute's value, got 'what'");
  EXPECT_THAT(equation_error("%2 = reverse[axes=0.5] %0"), testing::StartsWith("parse: line 3, column 8: reverse: "));
  EXPECT_THAT(equation_error("%2 = reverse[axes=99999999999999999999] %0"),
              testing::StartsWith("parse: line 3, column 21: expected a 64-bit integer"));
}

TEST(ParseError, Literals) {
  EXPECT_EQ(equation_error("%2 = add %0 1"),
            "parse: line 4, column 3: expected ':' and a type after a literal, got 'return'");
  EXPECT_EQ(equation_error("%2 = add %0 1.5:i32[3]"),
            "parse: line 3, column 15: expected an element of type i32, got '1.5'");
  EXPECT_EQ(equation_error("%2 = add %0 300:i8[3]"),
            "parse: line 3, column 15: expected an element of type i8, got '300'");
  EXPECT_EQ(equation_error("%2 = add %0 1e99:f32[3]"),
            "parse: line 3, column 15: expected an element of type f32, got '1e99'");
  EXPECT_EQ(equation_error("%2 = add %0 nan(0x0):f32[3]"),
            "parse: line 3, column 15: expected an element of type f32, got 'nan(0x0)'");
  EXPECT_EQ(equation_error("%2 = add %0 (1,2):f32[3]"),
            "parse: line 3, column 15: expected an element of type f32, got '('");
  EXPECT_EQ(equation_error("%2 = add %0 true:f32[3]"),
            "parse: line 3, column 15: expected an element of type f32, got 'true'");
}

TEST(ParseError, Locations) {
  EXPECT_EQ(equation_error("%2 = neg %0 loc(a.cpp:1:2)"),
            "parse: line 3, column 19: expected a file name in quotes, got 'a.cpp'");
  EXPECT_EQ(equation_error("%2 = neg %0 loc(\"a.cpp\":-1:2)"), "parse: line 3, column 27: a line is out of range");
}

TEST(ParseError, Ends) {
  EXPECT_EQ(error("calque 1\ngraph f() {"),
            "parse: line 2, column 12: expected an equation or 'return', got the end of the text");
  EXPECT_EQ(error("calque 1\ngraph f() { return"),
            "parse: line 2, column 19: expected an output, got the end of the text");
  EXPECT_EQ(error("calque 1\ngraph f() { return }\ngraph"),
            "parse: line 3, column 1: expected a constant section or the end of the text, got 'graph'");
  EXPECT_EQ(error("calque 1\ngraph f() { return ] }"), "parse: line 2, column 20: expected an output, got ']'");
}

TEST(ParseError, Constants) {
  EXPECT_EQ(constant_error("f32[2] = [1]"), "parse: line 4, column 24: f32[2] has 2 elements, got 1");
  EXPECT_EQ(constant_error("f32[2] = [1,x]"), "parse: line 4, column 27: expected an element of type f32, got 'x'");
  EXPECT_EQ(constant_error("f32[2] = base64 \"AAAA\""), "parse: line 4, column 24: f32[2] has 8 bytes, got 3");
  EXPECT_EQ(constant_error("f32[2] = base64 \"AA_A\""), "parse: line 4, column 31: the contents are not base64");
  EXPECT_EQ(constant_error("bool[1] = base64 \"Ag==\""),
            "parse: line 4, column 32: a byte of a bool array is neither 0 nor 1");
  EXPECT_EQ(constant_error("f32[2] = xxh3 \"12\""), "parse: line 4, column 29: expected 32 hexadecimal digits");
  EXPECT_EQ(constant_error("f32[2] = 5"), "parse: line 4, column 24: expected '[', 'base64' or 'xxh3', got '5'");
  EXPECT_EQ(constant_error("f32[1] = [1]\nconstant @c0: f32[1] = [2]"),
            "parse: line 5, column 10: constant @c0 has two sections");
}

TEST(ParseError, DeepNestingIsRefused) {
  std::string text = "calque 1\ngraph ";
  for (int i = 0; i < 100'000; ++i) text += "(%0: f32[]) { %1 = call[name=\"f\"] %0 {\n";
  EXPECT_THAT(error(text), testing::HasSubstr("sub-graphs are nested too deeply"));
}

TEST(ParseError, SubgraphsAreClosed) {
  EXPECT_EQ(equation_error("%2 = call[name=\"f\"] %0 { (%5: f32[3]) { return %1 } }"),
            "parse: line 3, column 50: %1 is not defined before its use");
}

/// For any mutation of a text, parse returns a graph that verifies, or throws ParseError.
TEST(ParseDamaged, NeverCrashes) {
  Rng rng(9);
  constexpr std::string_view kFragments[] = {"%0",     "[",      "]",   "{",        "}",
                                             "(",      ")",      ":",   ",",        "=",
                                             "f32[3]", "return", "\"",  "-1",       "9223372036854775807",
                                             "0",      "nan",    "@c0", "constant", "loc(",
                                             "<",      "i8[0]"};
  int accepted = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    std::string text = print(random_graph(seed % 300, {.max_equations = 12}));
    const auto edits = rng.between(1, 4);
    for (int64_t i = 0; i < edits && !text.empty(); ++i) {
      const size_t at = rng.below(text.size());
      switch (rng.below(5)) {
        case 0:
          text.erase(at, rng.below(8));
          break;
        case 1:
          text.insert(at, rng.pick(kFragments));
          break;
        case 2:
          text[at] = static_cast<char>(rng.next());
          break;
        case 3:
          text.resize(at + 1);
          break;
        default: {
          const size_t from = rng.below(text.size());
          text.insert(at, std::string(text.substr(from, rng.below(60))));
        }
      }
    }
    try {
      const Graph g = parse(text);
      g.verify();
      EXPECT_EQ(parse(print(g)), g);
      ++accepted;
    } catch (const ParseError&) {
    }
  }
  EXPECT_GT(accepted, 0);
}

TEST(ParseDamaged, EveryPrefixIsAnErrorWithAPosition) {
  const std::string text = print(random_graph(12, {.max_equations = 10}));
  for (size_t size = 0; size + 2 < text.find("\n}\n"); ++size) {
    EXPECT_THAT(error(text.substr(0, size)), testing::StartsWith("parse: line ")) << size;
  }
}

}  // namespace
}  // namespace calque::test
