// Views and creation: the source of each element of the result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/trace_eval.h"

namespace calque::test {
namespace {

namespace ops = detail::ops;
using detail::literal_operand;

/// An array of this shape with elements 0, 1, 2, ...
AnyArray counting(const Shape& shape) {
  AnyArray a = AnyArray::uninitialized({DType::i32, shape});
  for (int64_t i = 0; i < a.size(); ++i) static_cast<int32_t*>(a.mutable_data())[i] = static_cast<int32_t>(i);
  return a;
}

/// Checks that f(x) has shape `shape` and at each index the element of x at from(index).
template <class F, class From>
void check_view(const AnyArray& x, const Shape& shape, F&& f, From&& from) {
  const AnyArray y = result_of({x}, [&](const auto& o) { return f(o[0]); });
  ASSERT_EQ(y.type(), (Type{x.dtype(), shape}));
  for_each_index(shape, [&](const std::vector<int64_t>& i) { EXPECT_EQ(at<int32_t>(y, i), at<int32_t>(x, from(i))); });
}
using Index = std::vector<int64_t>;

TEST(Shape, TransposeFlipAndRoll) {
  const AnyArray x = counting({2, 3, 4});
  check_view(
      x, {4, 3, 2}, [](const Operand& o) { return ops::transpose(o, kHere); },
      [](const Index& i) { return Index{i[2], i[1], i[0]}; });
  check_view(
      x, {3, 4, 2}, [](const Operand& o) { return ops::transpose(o, std::vector<int>{1, -1, 0}, kHere); },
      [](const Index& i) { return Index{i[2], i[0], i[1]}; });
  check_view(
      x, {2, 3, 4}, [](const Operand& o) { return ops::flip(o, Axes{0, -1}, kHere); },
      [](const Index& i) { return Index{1 - i[0], i[1], 3 - i[2]}; });
  for (const int64_t shift : {0, 1, -1, 5, -9}) {
    check_view(
        x, {2, 3, 4}, [&](const Operand& o) { return ops::roll(o, shift, 2, kHere); },
        [&](const Index& i) { return Index{i[0], i[1], (((i[2] - shift) % 4) + 4) % 4}; });
  }
}

TEST(Shape, Diagonal) {
  const AnyArray x = counting({2, 3, 4});
  const auto take = [](int64_t offset, int axis1, int axis2) {
    return [=](const Operand& o) { return ops::diagonal(o, offset, axis1, axis2, kHere); };
  };
  check_view(x, {4, 2}, take(0, 0, 1), [](const Index& i) { return Index{i[1], i[1], i[0]}; });
  check_view(x, {4, 2}, take(1, 0, 1), [](const Index& i) { return Index{i[1], i[1] + 1, i[0]}; });
  check_view(x, {4, 1}, take(-1, 0, 1), [](const Index& i) { return Index{i[1] + 1, i[1], i[0]}; });
  check_view(x, {3, 2}, take(2, 0, -1), [](const Index& i) { return Index{i[1], i[0], i[1] + 2}; });
  check_view(x, {2, 2}, take(-2, 2, 1), [](const Index& i) { return Index{i[0], i[1], i[1] + 2}; });
  for (const int64_t offset : {int64_t{3}, int64_t{-2}, INT64_MAX, INT64_MIN}) {
    check_view(x, {4, 0}, take(offset, 0, 1), [](const Index& i) { return i; });
  }
  const auto error = [&](auto f) { return words_of<ShapeError>({x.type()}, [&](const auto& in) { f(in[0]); }); };
  EXPECT_EQ(error(take(0, 1, 3)), "diagonal: axis 3 is out of range for i32[2,3,4] (model.cpp:42)");
  EXPECT_EQ(error(take(0, 1, -2)), "diagonal: axis -2 is given twice for i32[2,3,4] (model.cpp:42)");
  EXPECT_EQ(words_of<ShapeError>({{DType::f32, {3}}}, [](const auto& in) { ops::trace(in[0], 0, 0, 1, kHere); }),
            "trace: needs an array of two or more dimensions, got f32[3] (model.cpp:42)");
}

TEST(Shape, RepeatAndTile) {
  const AnyArray x = counting({2, 3});
  check_view(
      x, {2, 6}, [](const Operand& o) { return ops::repeat(o, 2, 1, kHere); },
      [](const Index& i) { return Index{i[0], i[1] / 2}; });
  check_view(
      x, {2, 2, 9}, [](const Operand& o) { return ops::tile(o, std::vector<int64_t>{2, 1, 3}, kHere); },
      [](const Index& i) { return Index{i[1], i[2] % 3}; });
  check_view(
      x, {2, 6}, [](const Operand& o) { return ops::tile(o, std::vector<int64_t>{2}, kHere); },
      [](const Index& i) { return Index{i[0], i[1] % 3}; });
}

TEST(Shape, ReshapeExpandAndSqueeze) {
  const AnyArray x = counting({2, 1, 3});
  const auto shape_of = [&](auto f) { return result_of({x}, [&](const auto& o) { return f(o[0]); }).shape(); };
  EXPECT_EQ(shape_of([](const Operand& o) { return ops::squeeze(o, {}, kHere); }), (Shape{2, 3}));
  EXPECT_EQ(shape_of([](const Operand& o) { return ops::squeeze(o, -2, kHere); }), (Shape{2, 3}));
  EXPECT_EQ(shape_of([](const Operand& o) { return ops::expand_dims(o, std::vector<int>{0, -1}, kHere); }),
            (Shape{1, 2, 1, 3, 1}));
  EXPECT_EQ(shape_of([](const Operand& o) { return ops::reshape(o, std::vector<int64_t>{3, 2}, kHere); }),
            (Shape{3, 2}));
}

TEST(Shape, PadFillsCropsAndDilates) {
  const AnyArray x = vec<int32_t>({1, 2, 3});
  const auto run = [&](int64_t low, int64_t high, int64_t interior) {
    const std::vector<int64_t> l{low}, h{high}, i{interior};
    return elements<int32_t>(
        result_of({x}, [&](const auto& o) { return ops::pad(o[0], literal_operand(9), l, h, i, kHere); }));
  };
  EXPECT_EQ(run(1, 2, 0), (std::vector<int32_t>{9, 1, 2, 3, 9, 9}));
  EXPECT_EQ(run(-1, 0, 0), (std::vector<int32_t>{2, 3}));
  EXPECT_EQ(run(0, 0, 1), (std::vector<int32_t>{1, 9, 2, 9, 3}));
  EXPECT_EQ(run(-2, 1, 1), (std::vector<int32_t>{2, 9, 3, 9}));
}

TEST(Shape, ConcatenateStackAndSplit) {
  const AnyArray a = counting({2, 2}), b = counting({2, 1});
  const auto concatenated = result_of({a, b}, [](const auto& o) { return ops::concatenate(o, -1, kHere); });
  EXPECT_EQ(concatenated.shape(), (Shape{2, 3}));
  EXPECT_EQ(elements<int32_t>(concatenated), (std::vector<int32_t>{0, 1, 0, 2, 3, 1}));
  const auto stacked = result_of({a, a}, [](const auto& o) { return ops::stack(o, -1, kHere); });
  EXPECT_EQ(stacked.shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(elements<int32_t>(stacked), (std::vector<int32_t>{0, 0, 1, 1, 2, 2, 3, 3}));
  const auto parts = results_of({counting({7})}, [](std::span<const Handle> x) {
    return ops::split_at(x[0], std::vector<int64_t>{2, -2, 9}, 0, kHere);
  });
  ASSERT_EQ(parts.size(), 4u);
  EXPECT_EQ(elements<int32_t>(parts[0]), (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(elements<int32_t>(parts[1]), (std::vector<int32_t>{2, 3, 4}));
  EXPECT_EQ(elements<int32_t>(parts[2]), (std::vector<int32_t>{5, 6}));
  EXPECT_EQ(parts[3].shape(), Shape{0});
}

TEST(Shape, ConcatenatePromotes) {
  const auto r = trace({{DType::i32, Shape{2}}, {DType::f16, Shape{3}}}, [](std::span<const Handle> x) {
    const Operand both[] = {x[0], x[1]};
    return Handles{ops::concatenate(both, 0, kHere)};
  });
  EXPECT_EQ(r.graph.output_types()[0], (Type{DType::f16, Shape{5}}));
}

TEST(Shape, ViewsThatChangeNothingAreNoEquations) {
  const auto r = trace({{DType::f32, Shape{2, 3}}}, [](std::span<const Handle> x) {
    Handle h = ops::reshape(x[0], std::vector<int64_t>{2, 3}, kHere);
    h = ops::broadcast_to(h, {2, 3}, kHere);
    h = ops::transpose(h, std::vector<int>{0, 1}, kHere);
    h = ops::flip(h, Axes(std::vector<int>{}), kHere);
    return Handles{ops::roll(h, 3, 1, kHere)};
  });
  EXPECT_EQ(r.graph.num_equations(), 0u);
}

TEST(Shape, CastsToTheOwnTypeRoundFloats) {
  const auto equations_for = [](DType d) {
    const auto r =
        trace({{d, Shape{2}}}, [d](std::span<const Handle> x) { return Handles{ops::cast(x[0], d, kHere)}; });
    return r.graph.num_equations();
  };
  EXPECT_EQ(equations_for(DType::i32), 0u);
  EXPECT_EQ(equations_for(DType::bool_), 0u);
  EXPECT_EQ(equations_for(DType::f32), 1u);
  EXPECT_EQ(equations_for(DType::f16), 1u);
}

// ---- creation

template <Elem T, class F>
std::vector<T> made(F&& f) {
  return elements<T>(results_of({}, [&](std::span<const Handle>) { return Handles{f()}; })[0]);
}

TEST(Create, Sequences) {
  EXPECT_EQ(made<int8_t>([] { return ops::arange(DType::i8, 2, 11, 3, kHere); }), (std::vector<int8_t>{2, 5, 8}));
  EXPECT_EQ(made<float>([] { return ops::arange(DType::f32, 1, -1, -0.5, kHere); }),
            (std::vector<float>{1, 0.5, 0, -0.5}));
  EXPECT_EQ(made<int32_t>([] { return ops::arange(DType::i32, 3, 1, 1, kHere); }), std::vector<int32_t>{});
  EXPECT_EQ(made<uint8_t>([] { return ops::iota(DType::u8, 3, kHere); }), (std::vector<uint8_t>{0, 1, 2}));
  const auto line = made<double>([] { return ops::linspace(DType::f64, 0.1, 3.7, 14, kHere); });
  for (int i = 0; i < 14; ++i) EXPECT_NEAR(line[static_cast<size_t>(i)], 0.1 + 3.6 * i / 13, 1e-15);
  EXPECT_EQ(line.back(), 3.7);
  EXPECT_EQ(made<double>([] { return ops::linspace(DType::f64, 2, 3, 1, kHere); }), std::vector<double>{2});
}

TEST(Create, ArraysOfOneValue) {
  EXPECT_EQ(made<float>([] { return ops::eye(DType::f32, 2, kHere); }), (std::vector<float>{1, 0, 0, 1}));
  EXPECT_EQ(made<int32_t>([] { return ops::full(DType::i32, {2}, literal_operand(2.7), kHere); }),
            (std::vector<int32_t>{2, 2}));
  const auto r = results_of({scalar(2.5f)},
                            [](std::span<const Handle> x) { return Handles{ops::full(DType::f64, {3}, x[0], kHere)}; });
  EXPECT_EQ(elements<double>(r[0]), (std::vector<double>{2.5, 2.5, 2.5}));
}

TEST(Create, RefusesWhatNoMemoryHolds) {
  const int64_t huge = int64_t{1} << 40;
  EXPECT_EQ(words_of<ShapeError>({}, [&](const auto&) { ops::zeros(DType::f32, {huge, huge}, kHere); }),
            "array: f32[1099511627776,1099511627776] is too large (model.cpp:42)");
  EXPECT_EQ(words_of<ShapeError>(
                {}, [&](const auto&) { ops::full(DType::f32, {huge, huge}, detail::literal_operand(1), kHere); }),
            "array: f32[1099511627776,1099511627776] is too large (model.cpp:42)");
  EXPECT_EQ(words_of<ShapeError>({}, [](const auto&) { ops::iota(DType::i32, int64_t{1} << 31, kHere); }),
            "iota: 2147483648 elements are too many for i32; count in i64 (model.cpp:42)");
}

TEST(Shape, ReshapeInfersOneExtent) {
  const AnyArray x = counting({2, 6});
  const auto shape_of = [&](std::vector<int64_t> to) {
    return result_of({x}, [&](const auto& o) { return ops::reshape(o[0], to, kHere); }).shape();
  };
  EXPECT_EQ(shape_of({4, -1}), (Shape{4, 3}));
  EXPECT_EQ(shape_of({-1}), (Shape{12}));
  EXPECT_THROW(shape_of({5, -1}), ShapeError);
  EXPECT_THROW(shape_of({-1, -1}), ShapeError);
}

TEST(Shape, OfTooManyDimensionsIsAShapeError) {
  const AnyArray x = vec<int32_t>({1});
  const auto reshaped = [&](size_t rank) {
    return result_of({x}, [&](const auto& o) { return ops::reshape(o[0], std::vector<int64_t>(rank, 1), kHere); });
  };
  EXPECT_EQ(reshaped(64).rank(), 64);
  try {
    reshaped(65);
    ADD_FAILURE();
  } catch (const ShapeError& e) {
    EXPECT_STREQ(e.what(), "reshape: arrays have at most 64 dimensions, got 65 (model.cpp:42)");
  }
}

TEST(Creation, OutsideATraceNamesTheFactoryOfTheType) {
  try {
    ops::iota(DType::i32, 3, kHere);
    ADD_FAILURE();
  } catch (const LeakedTracerError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("Array<int32_t>::arange"));
  }
}

}  // namespace
}  // namespace calque::test
