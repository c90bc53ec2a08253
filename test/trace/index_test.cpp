// Indexing by arrays: modes, negative indices of every integer type, windows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/trace_eval.h"

namespace calque::test {
namespace {

namespace ops = detail::ops;
using detail::literal_operand;

constexpr int32_t kFill = std::numeric_limits<int32_t>::min();
const AnyArray kRow = vec<int32_t>({10, 11, 12});

template <Elem I>
std::vector<int32_t> taken(std::initializer_list<I> indices, mode m) {
  return elements<int32_t>(
      result_of({kRow, vec<I>(indices)}, [&](const auto& o) { return ops::take(o[0], o[1], 0, m, kHere); }));
}

TEST(Take, WrapsOnceThenFills) {
  EXPECT_EQ(taken<int32_t>({0, 2, 3, -1, -3, -4, 100}, mode::fill),
            (std::vector<int32_t>{10, 12, kFill, 12, 10, kFill, kFill}));
  EXPECT_EQ(taken<int8_t>({0, -1, 127, -128}, mode::fill), (std::vector<int32_t>{10, 12, kFill, kFill}));
  EXPECT_EQ(taken<uint8_t>({0, 255}, mode::fill), (std::vector<int32_t>{10, kFill}));
  EXPECT_EQ(taken<uint32_t>({2, UINT32_MAX}, mode::fill), (std::vector<int32_t>{12, kFill}));
  EXPECT_EQ(taken<uint64_t>({2, UINT64_MAX, uint64_t{1} << 63}, mode::fill), (std::vector<int32_t>{12, kFill, kFill}));
  EXPECT_EQ(taken<int64_t>({2, INT64_MAX, INT64_MIN, int64_t{1} << 32}, mode::fill),
            (std::vector<int32_t>{12, kFill, kFill, kFill}));
}

TEST(Take, ClipsAndWraps) {
  EXPECT_EQ(taken<int32_t>({-5, -1, 0, 2, 3, 9}, mode::clip), (std::vector<int32_t>{10, 10, 10, 12, 12, 12}));
  EXPECT_EQ(taken<uint64_t>({UINT64_MAX, 1}, mode::clip), (std::vector<int32_t>{12, 11}));
  EXPECT_EQ(taken<int32_t>({-5, -1, 0, 2, 3, 10}, mode::wrap), (std::vector<int32_t>{11, 12, 10, 12, 10, 11}));
  EXPECT_EQ(taken<uint64_t>({4, 5, UINT64_MAX, uint64_t{1} << 63}, mode::wrap), (std::vector<int32_t>{11, 12, 10, 12}));
}

TEST(Take, ReplacesTheAxisByTheIndicesShape) {
  std::mt19937 generator(21);
  const AnyArray x = random_array<double>({2, 3, 4}, generator);
  const AnyArray i = arr<int32_t>({2, 2}, {2, 0, 1, -1});
  const AnyArray got = result_of({x, i}, [](const auto& o) { return ops::take(o[0], o[1], 1, mode::fill, kHere); });
  ASSERT_EQ(got.shape(), (Shape{2, 2, 2, 4}));
  for_each_index(got.shape(), [&](const std::vector<int64_t>& p) {
    const int32_t k = at<int32_t>(i, {p[1], p[2]});
    EXPECT_EQ(at<double>(got, p), at<double>(x, {p[0], k < 0 ? k + 3 : k, p[3]}));
  });
}

TEST(Take, OfNothingFills) {
  const AnyArray empty = AnyArray::full<float>(Shape{2, 0}, 0);
  const AnyArray got = result_of({empty, vec<int32_t>({0, 5})},
                                 [](const auto& o) { return ops::take(o[0], o[1], 1, mode::fill, kHere); });
  ASSERT_EQ(got.shape(), (Shape{2, 2}));
  for (float v : elements<float>(got)) EXPECT_TRUE(std::isnan(v));
  EXPECT_EQ(words_of<ShapeError>({empty.type(), {DType::i32, Shape{1}}},
                                 [](const auto& o) { ops::take(o[0], o[1], 1, mode::clip, kHere); }),
            "take: axis 1 of f32[2,0] is empty: no element to clip or wrap to (model.cpp:42)");
}

TEST(Take, AScalarIndexDropsTheAxis) {
  EXPECT_EQ(elements<int32_t>(result_of(
                {kRow}, [](const auto& o) { return ops::take(o[0], literal_operand(-1), 0, mode::fill, kHere); })),
            std::vector<int32_t>{12});
}

TEST(TakeAlongAxis, BroadcastsTheOtherDimensions) {
  std::mt19937 generator(22);
  const AnyArray x = random_array<double>({2, 3, 4}, generator);
  const AnyArray i = arr<int32_t>({1, 5, 4}, {0, 1, 2, 0, 1, 1, 1, 1, 2, 2, 2, 2, -1, -2, -3, 0, 0, 0, 0, 0});
  const AnyArray got =
      result_of({x, i}, [](const auto& o) { return ops::take_along_axis(o[0], o[1], 1, mode::fill, kHere); });
  ASSERT_EQ(got.shape(), (Shape{2, 5, 4}));
  for_each_index(got.shape(), [&](const std::vector<int64_t>& p) {
    const int32_t k = at<int32_t>(i, p);
    EXPECT_EQ(at<double>(got, p), at<double>(x, {p[0], k < 0 ? k + 3 : k, p[2]}));
  });
}

TEST(Gather, IndexesLeadingDimensions) {
  std::mt19937 generator(23);
  const AnyArray x = random_array<double>({3, 4, 2}, generator);
  const AnyArray i = arr<int32_t>({2, 1}, {0, -1}), j = vec<int64_t>({3, 0, 9});
  const AnyArray got =
      result_of({x, i, j}, [](const auto& o) { return ops::gather(o[0], std::span(o).subspan(1), kHere); });
  ASSERT_EQ(got.shape(), (Shape{2, 3, 2}));
  for_each_index(got.shape(), [&](const std::vector<int64_t>& p) {
    const int64_t a = p[0] == 0 ? 0 : 2, b = j.data_as<int64_t>()[p[1]];
    if (b == 9) {
      EXPECT_TRUE(std::isnan(at<double>(got, p)));
    } else {
      EXPECT_EQ(at<double>(got, p), at<double>(x, {a, b, p[2]}));
    }
  });
}

TEST(ScatterAdd, AddsRowsDropsWhatIsOutside) {
  const AnyArray x = arr<int32_t>({3, 2}, {1, 2, 3, 4, 5, 6}), i = vec<int32_t>({0, 2, 0, -1, 3, -4});
  const auto got = elements<int32_t>(
      result_of({x, i}, [](const auto& o) { return ops::scatter_add(o[0], o[1], literal_operand(10), kHere); }));
  EXPECT_EQ(got, (std::vector<int32_t>{21, 22, 3, 4, 25, 26}));
  EXPECT_EQ(words_of<ShapeError>({x.type(), i.type(), {DType::i32, Shape{2, 3}}},
                                 [](const auto& o) { ops::scatter_add(o[0], o[1], o[2], kHere); }),
            "scatter_add: i32[2,3] does not broadcast to [6,2] (model.cpp:42)");
}

TEST(DynamicSlice, WrapsOnceThenClamps) {
  const AnyArray x = vec<int32_t>({0, 1, 2, 3, 4});
  for (const auto& [start, first] :
       std::vector<std::pair<int64_t, int32_t>>{{1, 1}, {-2, 3}, {4, 3}, {-9, 0}, {99, 3}}) {
    const auto got = elements<int32_t>(result_of({x, scalar<int64_t>(start)}, [](const auto& o) {
      const std::vector<int64_t> sizes{2};
      return ops::dynamic_slice(o[0], std::span(o).subspan(1), sizes, kHere);
    }));
    EXPECT_EQ(got, (std::vector<int32_t>{first, first + 1})) << start;
  }
}

TEST(DynamicUpdateSlice, MixesKindsOfStarts) {
  const AnyArray x = AnyArray::full<float>(Shape{3, 3}, 0);
  const auto got = elements<float>(result_of({x, arr<float>({1, 2}, {7, 8}), scalar<uint8_t>(1)}, [](const auto& o) {
    const Operand starts[] = {o[2], literal_operand(-1)};
    return ops::dynamic_update_slice(o[0], o[1], starts, kHere);
  }));
  EXPECT_EQ(got, (std::vector<float>{0, 0, 0, 0, 7, 8, 0, 0, 0}));
}

}  // namespace
}  // namespace calque::test
