// Array<T> as data: construction, access, rejected uses and their messages.
#include "calque/array.h"

#include <sstream>

#include "calque/device.h"

#include "classes/traced.h"

namespace calque::test {
namespace {

template <class T>
std::vector<T> elements(const Array<T>& a) {
  return {a.host().begin(), a.host().end()};
}
template <class T>
std::string text(const T& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

TEST(Array, BracesGiveADimensionForEachLevel) {
  const Array<float> one = {1, 2, 3}, two = {{1, 2, 3}, {4, 5, 6}}, three = {{{1}, {2}}, {{3}, {4}}};
  EXPECT_EQ(one.shape(), (Shape{3}));
  EXPECT_EQ(two.shape(), (Shape{2, 3}));
  EXPECT_EQ(three.shape(), (Shape{2, 2, 1}));
  EXPECT_EQ(elements(two), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  const Array<float> single = {{1}}, column = {{1}, {2}}, cube = {{{7}}};
  EXPECT_EQ(single.shape(), (Shape{1, 1}));
  EXPECT_EQ(column.shape(), (Shape{2, 1}));
  EXPECT_EQ(cube.shape(), (Shape{1, 1, 1}));
}

TEST(Array, NumbersBecome16BitFloatsInOneRounding) {
  constexpr int kAboveTie = (1 << 30) + (1 << 22) + 1;
  constexpr int64_t kWide = (int64_t{1} << 60) + (int64_t{1} << 52) + 1;
  const double real = 1 + 0x1p-8 + 0x1p-45;
  const Array<bfloat16> a = {kAboveTie, 1}, b = {kWide, int64_t{1}}, c = {real, 1.0}, zero = {0.0f};
  EXPECT_EQ(static_cast<float>(a(0)), 0x1.02p30F);
  EXPECT_EQ(static_cast<float>(b(0)), 0x1.02p60F);
  EXPECT_EQ(static_cast<float>(c(0)), 0x1.02p0F);
  // Literals as operands of an array.
  EXPECT_EQ(static_cast<float>((zero + kAboveTie)(0)), 0x1.02p30F);
  EXPECT_EQ(static_cast<float>((zero + kWide)(0)), 0x1.02p60F);
  EXPECT_EQ(static_cast<float>((zero + real)(0)), 0x1.02p0F);
}

TEST(Array, BracesHoldEveryElementType) {
  const Array<std::complex<float>> z = {{1, std::complex<float>(2, 3)}};
  EXPECT_EQ(z(0, 1), std::complex<float>(2, 3));
  const Array<float16> h = {1.5f, 2};
  EXPECT_EQ(static_cast<float>(h(0)), 1.5f);
  const Array<bool> p = {true, false};
  EXPECT_TRUE(p(0));
}

TEST(Array, RaggedBracesAreRefused) {
  int line = 0;
  const std::string message = message_of<ShapeError>([&] {
    line = __LINE__ + 1;
    const Array<float> a = {{1, 2, 3}, {4, 5}};
  });
  EXPECT_EQ(
      message,
      "array: the parts of a braced list differ, part 0 is a list of shape [3] and part 1 is a list of shape [2] " +
          at_line("array_test.cpp", line));
  message_of<ShapeError>([] { const Array<float> a = {{1, 2}, {{3}, {4}}}; });
}

TEST(Array, NumbersThatDoNotFitAreRefused) {
  EXPECT_TRUE(message_of<DTypeError>([] {
                const Array<uint8_t> a = {1, 300};
              }).starts_with("array: 300 is no value of u8 (array_test.cpp:"));
  EXPECT_TRUE(message_of<DTypeError>([] {
                const Array<uint8_t> a = {-1};
              }).starts_with("array: -1 is no value of u8 (array_test.cpp:"));
  message_of<DTypeError>([] { const Array<int32_t> a = {1.5}; });
  message_of<DTypeError>([] { const Array<int32_t> a = 3e9; });
  message_of<DTypeError>([] { const Array<int64_t> a = 9223372036854775808.0; });
  const Array<int64_t> least = -9223372036854775808.0;
  EXPECT_EQ(least.item(), INT64_MIN);
  const Array<int32_t> fine = {2.0, 3};
  EXPECT_EQ(fine(0), 2);
}

TEST(Array, ScalarsHaveRankZero) {
  const Array<double> s = 3.0;
  EXPECT_EQ(s.rank(), 0);
  EXPECT_EQ(s.size(), 1);
  const double value = s;
  EXPECT_EQ(value, 3.0);
  EXPECT_EQ(s(), 3.0);
}

TEST(Array, FactoriesMakeWhatTheySay) {
  EXPECT_EQ(elements(Array<float>::zeros({2, 1})), (std::vector<float>{0, 0}));
  EXPECT_EQ(elements(Array<int16_t>::ones({3})), (std::vector<int16_t>{1, 1, 1}));
  EXPECT_EQ(elements(Array<double>::full({2}, 2.5)), (std::vector<double>{2.5, 2.5}));
  EXPECT_EQ(elements(Array<int64_t>::arange(4)), (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(elements(Array<float>::eye(2)), (std::vector<float>{1, 0, 0, 1}));
  EXPECT_EQ(elements(Array<double>::linspace(0, 1, 5)), (std::vector<double>{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(elements(Array<double>::linspace(3, 1, 1)), (std::vector<double>{3}));
  EXPECT_EQ(Array<float>::linspace(0, 1, 0).size(), 0);
  EXPECT_EQ(Array<float>::zeros({0, 3}).shape(), (Shape{0, 3}));
  message_of<ShapeError>([] { Array<float>::arange(-1); });
  message_of<ShapeError>([] { Array<float>::eye(-2); });
}

TEST(Array, FromCopiesAndCountsElements) {
  std::vector<float> data = {1, 2, 3, 4, 5, 6};
  const Array<float> a = Array<float>::from(std::span<const float>(data), Shape{2, 3});
  data[0] = 9;
  EXPECT_EQ(a(0, 0), 1);
  int line = 0;
  const std::string message = message_of<ShapeError>([&] {
    line = __LINE__ + 1;
    Array<float>::from(data, {2, 2});
  });
  EXPECT_EQ(message, "from: shape [2,2] takes 4 elements, got 6 " + at_line("array_test.cpp", line));
}

TEST(Array, WrapBorrowsUntilTheLastCopyIsGone) {
  float buffer[6] = {1, 2, 3, 4, 5, 6};
  float* deleted = nullptr;
  {
    Array<float> a = Array<float>::wrap(buffer, {2, 3}, [&](float* p) { deleted = p; });
    EXPECT_EQ(a.host().data(), buffer);
    const Array<float> reshaped = a.reshape({6});
    a = Array<float>();
    EXPECT_EQ(deleted, nullptr);
    EXPECT_EQ(reshaped(5), 6);
  }
  EXPECT_EQ(deleted, buffer);
}

TEST(Array, ReshapeKeepsElementsAndCounts) {
  const Array<int> a = Array<int>::arange(6);
  EXPECT_EQ(a.reshape({3, 2})(2, 1), 5);
  EXPECT_EQ(a.reshape({3, 2}).host().data(), a.host().data());
  const std::string message = message_of<ShapeError>([&] { (void)a.reshape({4}); });
  EXPECT_TRUE(message.starts_with("reshape: 6 elements of i32[6] do not fit shape [4] (array_test.cpp:")) << message;
}

TEST(Array, ElementAccessChecksIndices) {
  const Array<int> a = {{1, 2, 3}, {4, 5, 6}};
  EXPECT_EQ(a(1, 2), 6);
  EXPECT_TRUE(message_of<ShapeError>([&] {
                a(2, 0);
              }).starts_with("array: index 2 is out of bounds for dimension 0 of i32[2,3] (array_test.cpp:"));
  EXPECT_TRUE(message_of<ShapeError>([&] {
                a(0, -1);
              }).starts_with("array: index -1 is out of bounds for dimension 1 of i32[2,3] (array_test.cpp:"));
  EXPECT_TRUE(
      message_of<ShapeError>([&] { a(0); }).starts_with("array: i32[2,3] takes 2 indices, got 1 (array_test.cpp:"));
}

TEST(Array, ItemIsTheOneElement) {
  const Array<int> one = {{7}};
  EXPECT_EQ(one.item(), 7);
  const Array<bool> two = {true, false};
  const std::string message = message_of<ShapeError>([&] { two.item(); });
  EXPECT_TRUE(
      message.starts_with("item: an array of one element was expected, got bool[2] with 2 elements; use all(x) or "
                          "any(x) (array_test.cpp:"))
      << message;
  message_of<ShapeError>([&] { return two ? 1 : 0; });
}

TEST(Array, EmptyOnesSaySo) {
  const Array<float> a;
  EXPECT_FALSE(a.has_value());
  int line = 0;
  const std::string message = message_of<ShapeError>([&] {
    line = __LINE__ + 1;
    (void)a.shape();
  });
  EXPECT_EQ(message, "array: it is empty, having been default-constructed; give it elements before it is used " +
                         at_line("array_test.cpp", line));
  message_of<ShapeError>([&] { (void)a.host(); });
  message_of<ShapeError>([&] { (void)a.item(); });
  message_of<ShapeError>([&] { (void)(a + a); });
  message_of<ShapeError>([&] { evaluated([&](auto x) { return x + a; }, Array<float>{1}); });
  EXPECT_EQ(text(a), "<empty>");
}

TEST(Array, TypedViewsCheckTheElementType) {
  const AnyArray any = Array<float>{1, 2};
  EXPECT_EQ(any.as<float>()(1), 2);
  EXPECT_EQ(message_of<DTypeError>([&] { any.as<double>(); }), "array: elements of f64 were expected, got f32[2]");
}

TEST(Array, LivesOnTheCpuUnlessItIsMoved) {
  const Array<float> a = {1};
  EXPECT_EQ(a.device(), cpu());
  EXPECT_EQ(a.to(cpu())(0), 1);
  EXPECT_EQ(devices().front(), cpu());
  EXPECT_EQ(devices().back(), gpu_sim());
  EXPECT_EQ(gpu_available(), devices().size() > 2);
  synchronize();
  const std::string message = message_of<DeviceError>([&] { a.to(gpu(1000)); });
  EXPECT_TRUE(message.starts_with("to: device gpu:1000 is not available")) << message;
  EXPECT_EQ(a.to(gpu_sim()).device(), gpu_sim());
}

TEST(Array, PrintsAsNumPyDoes) {
  EXPECT_EQ(text(Array<int>{{1, 2}, {3, 40}}), "[[ 1  2]\n [ 3 40]]");
  EXPECT_EQ(text(Array<bool>{true, false}), "[ True False]");
  EXPECT_EQ(text(Array<float>(1.5f)), "1.5");
  EXPECT_EQ(text(Array<int>::arange(2000)), "[   0    1    2 ... 1997 1998 1999]");
}

TEST(Comparison, AllcloseHandlesNaNAndInfinityAsNumPyDoes) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const Array<double> a = {1, nan, inf}, b = {1 + 1e-9, nan, inf};
  EXPECT_FALSE(allclose(a, b));
  EXPECT_TRUE(allclose(a, b, 1e-5, 1e-8, true));
  EXPECT_FALSE(allclose(Array<double>{inf}, Array<double>{-inf}, 1, 1));
  EXPECT_FALSE(allclose(Array<double>{inf}, Array<double>{1}, 1, 1));
  EXPECT_TRUE(allclose(Array<float>{1, 1}, Array<float>(1.f)));
  EXPECT_FALSE(allclose(Array<float>{1, 1.1f}, Array<float>(1.f)));
  EXPECT_TRUE(allclose(Array<float>{1}, Array<float>{1.05f}, 0, 0.1));
  EXPECT_TRUE(allclose(Array<float>::zeros({0}), Array<float>{1}));
  message_of<ShapeError>([] { allclose(Array<float>{1, 2}, Array<float>{1, 2, 3}); });
}

TEST(Comparison, ArrayEqualWantsEqualShapes) {
  EXPECT_TRUE(array_equal(Array<int>{1, 2}, Array<int>{1, 2}));
  EXPECT_FALSE(array_equal(Array<int>{1, 1}, Array<int>(1)));
  EXPECT_TRUE(array_equal(Array<float>{0.f}, Array<float>{-0.f}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(array_equal(Array<float>{nan}, Array<float>{nan}));
  EXPECT_TRUE(array_equal(Array<float>{nan}, Array<float>{nan}, true));
}

TEST(Array, ReshapeInfersOneExtent) {
  const Array<int> a = Array<int>::arange(12);
  EXPECT_EQ(a.reshape({4, -1}).shape(), (Shape{4, 3}));
  EXPECT_EQ(a.reshape({-1}).shape(), (Shape{12}));
  EXPECT_EQ(a.reshape(Shape{2, 6}).shape(), (Shape{2, 6}));
  EXPECT_EQ(Array<int>(1).reshape({-1}).shape(), (Shape{1}));
  EXPECT_TRUE(message_of<ShapeError>([&] { (void)a.reshape({5, -1}); })
                  .starts_with("reshape: the extent for which -1 stands would not be a whole number, got i32[12] for "
                               "shape [5,-1] (array_test.cpp:"));
  EXPECT_TRUE(
      message_of<ShapeError>([&] { (void)a.reshape({-1, -1}); }).starts_with("reshape: only one extent can be -1"));
  EXPECT_TRUE(
      message_of<ShapeError>([&] { (void)a.reshape({-2, 6}); }).starts_with("reshape: an extent is at least 0"));
  message_of<ShapeError>([&] { (void)Array<int>::zeros({0, 3}).reshape({0, -1}); });
}

TEST(Array, ArangeThatDoesNotFitItsTypeIsADTypeError) {
  EXPECT_EQ(Array<int8_t>::arange(128)(127), 127);
  EXPECT_EQ(Array<uint8_t>::arange(256)(255), 255);
  const int line = __LINE__ + 1;
  const std::string message = message_of<DTypeError>([] { Array<int8_t>::arange(200); });
  EXPECT_EQ(message,
            "arange: 200 numbers from 0 do not fit i8; count in a wider type " + at_line("array_test.cpp", line));
}

}  // namespace
}  // namespace calque::test
