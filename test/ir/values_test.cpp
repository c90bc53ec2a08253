// Element types, shapes, attributes, literals, locations.
#include <cmath>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>

#include "calque/ir/graph.h"

#include "ir/build.h"

namespace calque {
namespace {

using test::message_of;

TEST(DType, EveryNameReadsBack) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto d = static_cast<DType>(i);
    EXPECT_EQ(dtype_from_name(name(d)), d);
    EXPECT_EQ(visit_dtype(d, []<class T>() { return dtype_of<T>; }), d);
    EXPECT_EQ(visit_dtype(d, []<class T>() { return sizeof(T); }), size_of(d));
  }
  EXPECT_EQ(name(DType::bool_), "bool");
  EXPECT_EQ(name(DType::c128), "c128");
  EXPECT_FALSE(dtype_from_name("float"));
  EXPECT_FALSE(dtype_from_name(""));
}

TEST(DType, PromotionIsTheLeastUpperBound) {
  using enum DType;
  EXPECT_EQ(promote(u8, i8), i16);
  EXPECT_EQ(promote(u32, i32), i64);
  EXPECT_EQ(promote(u64, i8), f32);
  EXPECT_EQ(promote(i64, f16), f16);
  EXPECT_EQ(promote(bf16, f16), f32);
  EXPECT_EQ(promote(f64, c64), c128);
  EXPECT_EQ(promote(u8, i32), i32);
  EXPECT_EQ(promote(bool_, u16), u16);
  for (int i = 0; i < kDTypeCount; ++i) {
    for (int j = 0; j < kDTypeCount; ++j) {
      const auto a = static_cast<DType>(i), b = static_cast<DType>(j);
      EXPECT_EQ(promote(a, b), promote(b, a));
      EXPECT_EQ(promote(promote(a, b), b), promote(a, b)) << a << ' ' << b;
    }
  }
}

TEST(Shape, CountsElements) {
  EXPECT_EQ(Shape().num_elements(), 1);
  EXPECT_EQ((Shape{2, 3, 4}).num_elements(), 24);
  EXPECT_EQ((Shape{2, 0, 4}).num_elements(), 0);
  EXPECT_EQ((Shape{2, 3, 4}).rank(), 3);
}

TEST(Shape, RefusesToCountWhatDoesNotFit) {
  const int64_t huge = int64_t{1} << 40;
  EXPECT_EQ((Shape{huge, huge, 0}.num_elements()), 0);
  EXPECT_THROW((Shape{huge, huge}.num_elements()), ShapeError);
  EXPECT_THROW(AnyArray::uninitialized({DType::f64, Shape{huge, huge}}), ShapeError);
  EXPECT_THROW(AnyArray::uninitialized({DType::f64, Shape{int64_t{1} << 61}}), ShapeError);
}

TEST(Shape, RefusesNegativeExtents) {
  EXPECT_EQ(
      message_of<ShapeError>([] { Shape{2, -1}; }).find("shape: an extent is at least 0, got -1 (values_test.cpp:"),
      0u);
  EXPECT_THROW(Shape(std::vector<int64_t>{-3}), ShapeError);
  EXPECT_THROW((Shape{1}).with(0, -1), ShapeError);
  EXPECT_THROW((Shape{1}).with_inserted(1, -1), ShapeError);
}

TEST(Shape, InsertsRemovesAndReplaces) {
  const Shape s{2, 3, 4, 5, 6};
  EXPECT_EQ(s.with_inserted(0, 7), (Shape{7, 2, 3, 4, 5, 6}));
  EXPECT_EQ(s.with_inserted(5, 7), (Shape{2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(s.without(1), (Shape{2, 4, 5, 6}));
  EXPECT_EQ(s.with(4, 1), (Shape{2, 3, 4, 5, 1}));
  EXPECT_EQ(s, (Shape{2, 3, 4, 5, 6}));
}

TEST(Shape, StridesAreRowMajor) {
  EXPECT_EQ(row_major_strides(Shape{2, 3, 4}), (Shape::Dims{12, 4, 1}));
  EXPECT_TRUE(row_major_strides(Shape{}).empty());
}

TEST(Shape, BroadcastFollowsNumPy) {
  bool ok = false;
  EXPECT_EQ(broadcast_shapes(Shape{3, 1}, Shape{4}, ok), (Shape{3, 4}));
  EXPECT_TRUE(ok);
  EXPECT_EQ(broadcast_shapes(Shape{}, Shape{2, 0}, ok), (Shape{2, 0}));
  EXPECT_TRUE(ok);
  EXPECT_EQ(broadcast_shapes(Shape{1}, Shape{0}, ok), (Shape{0}));
  EXPECT_TRUE(ok);
  broadcast_shapes(Shape{3}, Shape{4}, ok);
  EXPECT_FALSE(ok);
}

TEST(Shape, PrintsAsText) {
  EXPECT_EQ(to_string(Shape{2, 3}), "[2,3]");
  EXPECT_EQ(to_string(Type{DType::bf16, {}}), "bf16[]");
}

TEST(Attributes, StaySortedWhateverTheOrderGiven) {
  Attributes a{{"shape", std::vector<int64_t>{1}}, {"axes", std::vector<int64_t>{}}, {"mode", std::string("clip")}};
  Attributes b{{"mode", std::string("clip")}};
  b.set("shape", std::vector<int64_t>{1});
  b.set("axes", std::vector<int64_t>{4});
  EXPECT_FALSE(a == b);
  b.set("axes", std::vector<int64_t>{});
  EXPECT_EQ(a, b);
  std::vector<std::string_view> names;
  for (const Attribute& item : a) names.push_back(item.name);
  EXPECT_EQ(names, (std::vector<std::string_view>{"axes", "mode", "shape"}));
}

TEST(Attributes, MissingOrMistypedNamesTheAttribute) {
  const Attributes a{{"axis", int64_t{1}}};
  EXPECT_EQ(a.integer("axis"), 1);
  EXPECT_NE(message_of<CompileError>([&] { a.ints("axis"); }).find("axis"), std::string::npos);
  EXPECT_NE(message_of<CompileError>([&] { a.integer("length"); }).find("length"), std::string::npos);
  EXPECT_EQ(a.find("x"), nullptr);
}

TEST(Attributes, FloatsCompareByBits) {
  const auto of = [](double v) { return Attributes{{"x", v}}; };
  EXPECT_EQ(of(std::numeric_limits<double>::quiet_NaN()), of(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(of(0.0) == of(-0.0));
  EXPECT_FALSE(of(1.0) == (Attributes{{"x", int64_t{1}}}));
}

TEST(Attributes, PrintAsText) {
  EXPECT_EQ(to_string(AttributeValue(true)), "true");
  EXPECT_EQ(to_string(AttributeValue(int64_t{-3})), "-3");
  EXPECT_EQ(to_string(AttributeValue(3.0)), "3.0");
  EXPECT_EQ(to_string(AttributeValue(1e300)), "1e+300");
  EXPECT_EQ(to_string(AttributeValue(std::string("a\"\n\x80"))), R"("a\"\n\x80")");
  EXPECT_EQ(to_string(AttributeValue(DType::u16)), "u16");
  EXPECT_EQ(to_string(AttributeValue(std::vector<int64_t>{1, -2})), "[1,-2]");
  EXPECT_EQ(to_string(AttributeValue(std::vector<Type>{{DType::f32, {2}}, {DType::i32, {}}})), "(f32[2], i32[])");
  EXPECT_EQ(to_string(AttributeValue(std::shared_ptr<const Opaque>(std::make_shared<UnboundOpaque>("f g")))),
            R"(<"f g">)");
}

TEST(Opaque, EachHasAnIdentityOfItsOwn) {
  const UnboundOpaque a("x"), b("x");
  const UnboundOpaque copy = a;
  EXPECT_NE(a.identity(), b.identity());
  EXPECT_NE(a.identity(), copy.identity());
}

TEST(Intern, EqualTextsShareOnePointer) {
  const std::string one = "name", two = "name";
  EXPECT_EQ(intern(one).data(), intern(two).data());
  EXPECT_EQ(intern_file("a.cpp"), intern_file(std::string("a.cpp")));
}

TEST(Location, ShowsTheBaseName) {
  EXPECT_EQ(to_string(Location("/src/deep/model.cpp", 42, 7)), "model.cpp:42");
  EXPECT_EQ(where_text(Location("model.cpp", 42)), " (model.cpp:42)");
  EXPECT_EQ(where_text(Location()), "");
  std::ostringstream out;
  out << Location("/src/model.cpp", 42, 7) << ", " << Location();
  EXPECT_EQ(out.str(), "model.cpp:42, unknown");
}

TEST(Literal, ConvertsAsTheLibraryDoes) {
  EXPECT_EQ(make_literal(DType::i8, 300.0).as<int8_t>(), 127);
  EXPECT_EQ(make_literal(DType::i8, -300.7).as<int8_t>(), -128);
  EXPECT_EQ(make_literal(DType::u8, -1.0).as<uint8_t>(), 0);
  EXPECT_EQ(make_literal(DType::i64, 1e30).as<int64_t>(), INT64_MAX);
  EXPECT_EQ(make_literal(DType::u64, 1.8446744073709552e19).as<uint64_t>(), UINT64_MAX);
  EXPECT_EQ(make_literal(DType::i32, std::nan("")).as<int32_t>(), 0);
  EXPECT_EQ(make_literal(DType::i32, -2.9).as<int32_t>(), -2);
  EXPECT_EQ(make_literal(DType::bool_, 0.5).as<bool>(), true);
  EXPECT_EQ(make_literal(DType::i8, int64_t{257}).as<int8_t>(), 1);
  EXPECT_EQ(make_literal(DType::f16, 0.1).as<float16>(), float16(0.1f));
  EXPECT_EQ(make_literal(DType::c64, 2.0).as<std::complex<float>>(), std::complex<float>(2, 0));
}

TEST(Literal, BytesPastTheElementAreZero) {
  Literal l;
  l.bytes[0] = 3;
  EXPECT_EQ(make_literal(DType::u8, 3.0), l);
}

}  // namespace
}  // namespace calque
