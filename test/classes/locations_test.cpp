// Every operator records the user's line where it is written.
#include "calque/creation.h"
#include "calque/gather_scatter.h"
#include "calque/shapes.h"

#include "classes/traced.h"

namespace calque::test {
namespace {

/// The line of the equation of that primitive, or 0 if there is none.
unsigned line_of(const Graph& graph, std::string_view primitive) {
  for (const Equation& e : graph.equations()) {
    if (e.primitive() != primitive) continue;
    EXPECT_NE(std::string_view(e.location().file_name()).find("locations_test.cpp"), std::string_view::npos);
    return e.location().line();
  }
  return 0;
}

TEST(Locations, OfOperatorsAreTheirLines) {
  unsigned first = 0;
  const Graph g = traced_graph(
      [&](auto x, auto y) {
        first = __LINE__;
        auto a = x + y;
        auto b = a * 2.0;
        auto c = 3.0 - b;
        auto d = c / y;
        auto e = -d;
        auto f = e < y;
        x %= y;
        return std::tuple{e, f, x};
      },
      Array<float>::zeros({2}), Array<float>::zeros({2}));
  EXPECT_EQ(line_of(g, "add"), first + 1);
  EXPECT_EQ(line_of(g, "mul"), first + 2);
  EXPECT_EQ(line_of(g, "sub"), first + 3);
  EXPECT_EQ(line_of(g, "div"), first + 4);
  EXPECT_EQ(line_of(g, "neg"), first + 5);
  EXPECT_EQ(line_of(g, "lt"), first + 6);
  EXPECT_EQ(line_of(g, "rem"), first + 7);
}

TEST(Locations, OfMixedTypesAndLiteralsAreTheirLines) {
  unsigned first = 0;
  const Graph g = traced_graph(
      [&](auto x, auto y) {
        first = __LINE__;
        auto a = x + y;
        auto b = x * 0.5;
        auto c = y == 3;
        return std::tuple{a, b, c};
      },
      Array<int8_t>::zeros({2}), Array<uint8_t>::zeros({2}));
  EXPECT_EQ(line_of(g, "add"), first + 1);
  EXPECT_EQ(line_of(g, "mul"), first + 2);
  EXPECT_EQ(line_of(g, "eq"), first + 3);
}

TEST(Locations, OfIndexingAreTheirLines) {
  unsigned first = 0;
  const Graph g = traced_graph(
      [&](auto x, auto i) {
        first = __LINE__;
        auto a = x[range(0, 2)];
        auto b = x[i];
        auto c = x.set(1, 2.0f);
        auto d = x.add(i, 1);
        return std::tuple{a, b, c, d};
      },
      Array<float>::zeros({5}), Array<int>::zeros({2}));
  EXPECT_EQ(line_of(g, "slice"), first + 1);
  EXPECT_EQ(line_of(g, "gather"), first + 2);
  EXPECT_EQ(line_of(g, "dynamic_update_slice"), first + 3);
  EXPECT_EQ(line_of(g, "scatter_add"), first + 4);
}

TEST(Locations, OfLogicalOperatorsAreNearTheirLine) {
  unsigned first = 0;
  const Graph g = traced_graph(
      [&](auto x) {
        first = __LINE__;
        return x > 0 && x < 1;
      },
      Array<float>::zeros({2}));
  EXPECT_EQ(line_of(g, "and"), first + 1);
}

TEST(Locations, OfErrorsOfIndicesAndBracesAreTheirLines) {
  const Array<double> x = {1, 2, 3};
  int line = __LINE__ + 1;
  std::string message = message_of<ShapeError>([&] { x(0, 0); });
  EXPECT_EQ(message, "array: f64[3] takes 1 index, got 2 " + at_line("locations_test.cpp", line));
  line = __LINE__ + 1;
  message = message_of<ShapeError>([&] { x(5); });
  EXPECT_TRUE(message.ends_with(at_line("locations_test.cpp", line))) << message;
  line = __LINE__ + 1;
  message = message_of<DTypeError>([] { Array<uint8_t> z{1, 300}; });
  EXPECT_TRUE(message.ends_with(at_line("locations_test.cpp", line))) << message;
}

TEST(Locations, OfErrorsInLambdasAreTheirLines) {
  const Array<float> x = Array<float>::zeros({3});
  const Array<int> i = {0, 1};
  int line = __LINE__ + 1;
  std::string message = message_of<ShapeError>([&] { evaluated([&](auto t) { return gather(t, i, i); }, x); });
  EXPECT_TRUE(message.ends_with(at_line("locations_test.cpp", line))) << message;
  line = __LINE__ + 1;
  message = message_of<ShapeError>([&] { evaluated([](auto t) { return t + calque::zeros<float>({-2}); }, x); });
  EXPECT_EQ(message, "zeros: an extent is at least 0, got -2 " + at_line("locations_test.cpp", line));
  line = __LINE__ + 1;
  message = message_of<ShapeError>([&] { evaluated([](auto t) { return tile(t, {-1}); }, x); });
  EXPECT_EQ(message, "tile: repetitions must not be negative, got [-1] " + at_line("locations_test.cpp", line));
}

TEST(Locations, OfNegativeExtentsAreTheirLines) {
  const int line = __LINE__ + 1;
  const std::string message = message_of<ShapeError>([] { Array<float>::zeros({2, -1}); });
  EXPECT_EQ(message, "zeros: an extent is at least 0, got -1 " + at_line("locations_test.cpp", line));
}

}  // namespace
}  // namespace calque::test
