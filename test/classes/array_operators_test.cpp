// Operators on Arrays only run at once, compiled; the same spellings as on tracers.
#include "calque/calque.h"

#include "classes/traced.h"

namespace calque::test {
namespace {

template <class T>
std::vector<T> elements(const Array<T>& a) {
  return {a.host().begin(), a.host().end()};
}

TEST(ArrayOperators, RunAtOnce) {
  const Array<float> a = {1, 2, 3}, b = {4, 5, 6};
  EXPECT_EQ(elements(a + b * 2), (std::vector<float>{9, 12, 15}));
  EXPECT_EQ(elements(0.5 * a - b), (std::vector<float>{-3.5, -4, -4.5}));
  EXPECT_EQ(elements(1 / a), (std::vector<float>{1, 0.5, 1.f / 3}));
  EXPECT_EQ(elements(-a), (std::vector<float>{-1, -2, -3}));
  EXPECT_EQ(elements(b % 2), (std::vector<float>{0, 1, 0}));
  EXPECT_TRUE((a < b)(0));
  EXPECT_FALSE((a == 2)(0));
  EXPECT_TRUE((2.0 == a)(1));
}

TEST(ArrayOperators, PromoteAndBroadcast) {
  const Array<int> i = {1, 2};
  const Array<double> d = {{0.5}, {1.5}};
  const Array<double> sum = i + d;
  EXPECT_EQ(sum.shape(), (Shape{2, 2}));
  EXPECT_EQ(sum(1, 0), 2.5);
  const Array<double> scaled = i * 0.1;
  EXPECT_EQ(scaled(0), 0.1);
  const Array<int16_t> mixed = Array<int8_t>{-3} + Array<uint8_t>{200};
  EXPECT_EQ(mixed(0), 197);
  const Array<int> truncated = i / 2;
  EXPECT_EQ(truncated(0), 0);
  EXPECT_EQ((i & 1)(1), 0);
  EXPECT_EQ((1 << i)(1), 4);
}

TEST(ArrayOperators, OfBoolAndHalves) {
  const Array<bool> p = {true, false}, q = {true, true};
  EXPECT_EQ(elements(p && q), (std::vector<bool>{true, false}));
  EXPECT_EQ(elements(!p || p), (std::vector<bool>{true, true}));
  EXPECT_EQ(elements(p + 1), (std::vector<int>{2, 1}));
  const Array<bfloat16> h = {1.5f, 2};
  EXPECT_EQ(static_cast<float>((h * h + 1)(0)), 3.25f);
  EXPECT_EQ(static_cast<float>((-h)(1)), -2.f);
  EXPECT_EQ(static_cast<float>((h + Array<int>{1, 1})(0)), 2.5f);
}

TEST(ArrayOperators, CompoundAssignmentKeepsCopies) {
  Array<float> a = {1, 2};
  const Array<float> copy = a;
  a += Array<int>{10, 20};
  a -= 0.5;
  a *= 2;
  a /= copy;
  EXPECT_EQ(elements(a), (std::vector<float>{21, 21.5}));
  EXPECT_EQ(elements(copy), (std::vector<float>{1, 2}));
  Array<int> i = {7, 8};
  i %= 4;
  i <<= 1;
  i |= 1;
  EXPECT_EQ(elements(i), (std::vector<int>{7, 1}));
}

TEST(ArrayOperators, DecideBranchesByTheirElement) {
  const Array<float> a = {1, 2};
  EXPECT_TRUE(sum(a) > 2.0f ? true : false);
  EXPECT_TRUE(all(a > 0) ? true : false);
  EXPECT_FALSE(any(a > 5) ? true : false);
  const float first = a[0];
  EXPECT_EQ(first, 1);
}

TEST(ArrayOperators, ShapesThatDoNotBroadcastAreAnErrorWithTheLine) {
  const Array<float> a = {1, 2, 3}, b = {1, 2};
  int line = 0;
  const std::string message = message_of<ShapeError>([&] {
    line = __LINE__ + 1;
    (void)(a - b);
  });
  EXPECT_NE(message.find("f32[3] and f32[2]"), std::string::npos) << message;
  EXPECT_NE(message.find(at_line("array_operators_test.cpp", line)), std::string::npos) << message;
}

TEST(ArrayOperators, RunAtOnceInsideATraceAndAreConstantsOfIt) {
  const Array<float> w = {1, 2};
  const Graph g = traced_graph(
      [w](auto x) {
        const Array<float> twice = w * 2;
        EXPECT_EQ(twice(1), 4);
        return x + twice;
      },
      Array<float>{1, 1});
  EXPECT_EQ(count(g, "mul"), 0);
  EXPECT_EQ(count(g, "add"), 1);
}

}  // namespace
}  // namespace calque::test
