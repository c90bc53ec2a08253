// Views, indexing, reductions and contractions on cases small enough to verify by hand.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "support/arrays.h"
#include "support/random/random.h"

namespace calque::test {
namespace {

using namespace primitives;
using List = std::vector<int64_t>;
using F = std::vector<float>;
using I = std::vector<int32_t>;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

AnyArray matrix23() { return arr<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6}); }

TEST(Views, MoveElements) {
  EXPECT_EQ(elements<int32_t>(apply<Transpose>({matrix23()}, {{"perm", List{1, 0}}})), (I{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(elements<int32_t>(apply<Reverse>({matrix23()}, {{"axes", List{0, 1}}})), (I{6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(elements<int32_t>(
                apply<Slice>({matrix23()}, {{"start", List{0, 0}}, {"limit", List{2, 3}}, {"stride", List{1, 2}}})),
            (I{1, 3, 4, 6}));
  EXPECT_EQ(elements<int32_t>(apply<Broadcast>({vec<int32_t>({1, 2})}, {{"axes", List{0}}, {"shape", List{2, 2}}})),
            (I{1, 1, 2, 2}));
  EXPECT_EQ(elements<int32_t>(apply<Concatenate>({matrix23(), arr<int32_t>({2, 1}, {7, 8})}, {{"axis", int64_t{1}}})),
            (I{1, 2, 3, 7, 4, 5, 6, 8}));
}

TEST(Views, PadInterleavesThenAddsOrCuts) {
  const auto pad = [](int64_t low, int64_t high, int64_t interior) {
    return elements<int32_t>(apply<Pad>({vec<int32_t>({1, 2, 3}), scalar<int32_t>(0)},
                                        {{"low", List{low}}, {"high", List{high}}, {"interior", List{interior}}}));
  };
  EXPECT_EQ(pad(1, 2, 0), (I{0, 1, 2, 3, 0, 0}));
  EXPECT_EQ(pad(0, 0, 1), (I{1, 0, 2, 0, 3}));
  EXPECT_EQ(pad(-1, 1, 2), (I{0, 0, 2, 0, 0, 3, 0}));
  EXPECT_EQ(pad(2, -4, 0), (I{0}));
}

TEST(Iota, CountsAlongItsAxis) {
  const Attributes a{{"axis", int64_t{1}}, {"dtype", DType::f16}, {"shape", List{2, 3}}};
  const auto result = elements<float16>(apply<Iota>({}, a));
  EXPECT_EQ(static_cast<float>(result[5]), 2);
  const Attributes narrow{{"axis", int64_t{0}}, {"dtype", DType::i8}, {"shape", List{130}}};
  EXPECT_EQ(elements<int8_t>(apply<Iota>({}, narrow))[129], -127);
}

TEST(DynamicSlice, ClampsTheWindow) {
  const auto x = vec<int32_t>({0, 1, 2, 3, 4});
  const auto at = [&](auto start) {
    return elements<int32_t>(apply<DynamicSlice>({x, scalar(start)}, {{"sizes", List{2}}}));
  };
  EXPECT_EQ(at(int32_t{1}), (I{1, 2}));
  EXPECT_EQ(at(int32_t{-3}), (I{0, 1}));
  EXPECT_EQ(at(int64_t{INT64_MAX}), (I{3, 4}));
  EXPECT_EQ(at(uint64_t{UINT64_MAX}), (I{3, 4}));
  EXPECT_EQ(at(uint8_t{255}), (I{3, 4}));
  EXPECT_EQ(elements<int32_t>(apply<DynamicUpdateSlice>({x, vec<int32_t>({8, 9}), scalar<int32_t>(7)})),
            (I{0, 1, 2, 8, 9}));
}

AnyArray take_rows(const AnyArray& x, const AnyArray& indices, const std::string& mode) {
  return apply<Gather>({x, indices}, {{"offset_dims", List{1}},
                                      {"collapsed_slice_dims", List{0}},
                                      {"start_index_map", List{0}},
                                      {"operand_batching_dims", List{}},
                                      {"indices_batching_dims", List{}},
                                      {"slice_sizes", List{1, x.shape()[1]}},
                                      {"mode", mode}});
}

TEST(Gather, FillsOrClipsWhatIsOutside) {
  const auto x = arr<float>({2, 2}, {1, 2, 3, 4});
  const auto i = arr<int32_t>({3, 1}, {1, -1, 2});
  const auto filled = elements<float>(take_rows(x, i, "fill"));
  EXPECT_EQ(filled[0], 3);
  for (size_t k = 2; k < 6; ++k) EXPECT_TRUE(std::isnan(filled[k]));
  EXPECT_EQ(elements<float>(take_rows(x, i, "clip")), (F{3, 4, 1, 2, 3, 4}));
}

TEST(Gather, FillDependsOnTheDType) {
  const auto i = arr<int32_t>({1, 1}, {9});
  EXPECT_EQ(elements<int8_t>(take_rows(arr<int8_t>({1, 1}, {5}), i, "fill"))[0], -128);
  EXPECT_EQ(elements<uint16_t>(take_rows(arr<uint16_t>({1, 1}, {5}), i, "fill"))[0], 65535);
  EXPECT_EQ(elements<bool>(take_rows(arr<bool>({1, 1}, {false}), i, "fill"))[0], true);
}

TEST(Gather, BatchingDimensionsMoveTogether) {
  // take_along_axis: result[b, k] = x[b, indices[b, k]]
  const Attributes a{{"offset_dims", List{}},
                     {"collapsed_slice_dims", List{1}},
                     {"start_index_map", List{1}},
                     {"operand_batching_dims", List{0}},
                     {"indices_batching_dims", List{0}},
                     {"slice_sizes", List{1, 1}},
                     {"mode", std::string("fill")}};
  EXPECT_EQ(elements<int32_t>(apply<Gather>({matrix23(), arr<int64_t>({2, 2, 1}, {2, 0, 1, 1})}, a)), (I{3, 1, 5, 5}));
}

template <class P>
AnyArray scatter_rows(const AnyArray& x, const AnyArray& indices, const AnyArray& updates) {
  return apply<P>({x, indices, updates}, {{"update_window_dims", List{}},
                                          {"inserted_window_dims", List{0}},
                                          {"scatter_dims_to_operand_dims", List{0}},
                                          {"operand_batching_dims", List{}},
                                          {"indices_batching_dims", List{}}});
}

TEST(Scatter, CombinesInOrderAndDropsWhatIsOutside) {
  const auto x = vec<float>({10, 20, 30});
  const auto i = arr<int32_t>({4, 1}, {1, 1, -1, 3});
  const auto u = vec<float>({1, 2, 3, 4});
  EXPECT_EQ(elements<float>(scatter_rows<Scatter>(x, i, u)), (F{10, 2, 30}));
  EXPECT_EQ(elements<float>(scatter_rows<ScatterAdd>(x, i, u)), (F{10, 23, 30}));
  EXPECT_EQ(elements<float>(scatter_rows<ScatterMul>(x, i, u)), (F{10, 40, 30}));
  EXPECT_EQ(elements<float>(scatter_rows<ScatterMin>(x, i, u)), (F{10, 1, 30}));
  EXPECT_EQ(elements<float>(scatter_rows<ScatterMax>(x, i, u)), (F{10, 20, 30}));
}

TEST(Scatter, HalvesAccumulateInF32) {
  const auto one = float16(1);
  const auto result =
      scatter_rows<ScatterAdd>(vec<float16>({float16(2048)}), arr<int32_t>({2, 1}, {0, 0}), vec<float16>({one, one}));
  EXPECT_EQ(static_cast<float>(elements<float16>(result)[0]), 2050);
}

TEST(Scatter, DropsAWindowThatIsPartlyOutside) {
  const Attributes a{{"update_window_dims", List{1}},
                     {"inserted_window_dims", List{}},
                     {"scatter_dims_to_operand_dims", List{0}},
                     {"operand_batching_dims", List{}},
                     {"indices_batching_dims", List{}}};
  const auto result =
      apply<ScatterAdd>({vec<int32_t>({0, 0, 0}), arr<int32_t>({2, 1}, {1, 2}), arr<int32_t>({2, 2}, {1, 2, 3, 4})}, a);
  EXPECT_EQ(elements<int32_t>(result), (I{0, 1, 2}));
}

template <class P>
AnyArray over(const AnyArray& x, const List& axes) {
  return apply<P>({x}, {{"axes", axes}});
}

TEST(Reductions, RunOverAxes) {
  EXPECT_EQ(elements<int32_t>(over<ReduceSum>(matrix23(), {0})), (I{5, 7, 9}));
  EXPECT_EQ(elements<int32_t>(over<ReduceSum>(matrix23(), {1})), (I{6, 15}));
  EXPECT_EQ(elements<int32_t>(over<ReduceProd>(matrix23(), {0, 1})), (I{720}));
  EXPECT_EQ(elements<int32_t>(over<ReduceMax>(matrix23(), {})), (I{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(elements<int32_t>(over<ReduceAnd>(matrix23(), {1})), (I{0, 4}));
  EXPECT_EQ(elements<int32_t>(over<ReduceOr>(matrix23(), {1})), (I{3, 7}));
}

TEST(Reductions, OfNothingGiveTheNeutralElement) {
  const auto floats = AnyArray::uninitialized({DType::f32, {0}});
  const auto bytes = AnyArray::uninitialized({DType::u8, {0}});
  const auto bools = AnyArray::uninitialized({DType::bool_, {0}});
  EXPECT_EQ(elements<float>(over<ReduceSum>(floats, {0})), (F{0}));
  EXPECT_EQ(elements<float>(over<ReduceProd>(floats, {0})), (F{1}));
  EXPECT_EQ(elements<float>(over<ReduceMax>(floats, {0})), (F{-kInf}));
  EXPECT_EQ(elements<float>(over<ReduceMin>(floats, {0})), (F{kInf}));
  EXPECT_EQ(elements<uint8_t>(over<ReduceMin>(bytes, {0}))[0], 255);
  EXPECT_EQ(elements<uint8_t>(over<ReduceAnd>(bytes, {0}))[0], 255);
  EXPECT_EQ(elements<bool>(over<ReduceAnd>(bools, {0}))[0], true);
  EXPECT_EQ(elements<bool>(over<ReduceMax>(bools, {0}))[0], false);
}

TEST(Reductions, ExtremesPropagateNaN) {
  EXPECT_TRUE(std::isnan(elements<float>(over<ReduceMax>(vec<float>({1, kNaN, 3}), {0}))[0]));
  EXPECT_TRUE(std::isnan(elements<float>(over<ReduceMin>(vec<float>({kNaN, 1}), {0}))[0]));
}

TEST(Reductions, LongSumsStayAccurate) {
  std::vector<float> x(1'000'003, 0.1F);
  const auto array = AnyArray::from(std::span<const float>(x), Shape{x.size()});
  const double want = static_cast<double>(0.1F) * static_cast<double>(x.size());
  EXPECT_NEAR(elements<float>(over<ReduceSum>(array, {0}))[0], want, want * 4e-7);
  std::vector<float16> ones(4099, float16(1));
  const auto halves = AnyArray::from(std::span<const float16>(ones), Shape{ones.size()});
  EXPECT_EQ(static_cast<float>(elements<float16>(over<ReduceSum>(halves, {0}))[0]), 4100);
}

TEST(Reductions, SumsOfAnyLengthAddEveryElementOnce) {
  for (int n = 0; n < 70; ++n) {
    std::vector<float> x;
    for (int i = 0; i < n; ++i) x.push_back(static_cast<float>(i + 1));
    const auto array = AnyArray::from(std::span<const float>(x), Shape{n});
    EXPECT_EQ(elements<float>(over<ReduceSum>(array, {0}))[0], static_cast<float>(n * (n + 1) / 2)) << n;
  }
}

TEST(Argmax, TakesTheFirstNaNThenTheFirstGreatest) {
  const auto arg = [](const AnyArray& x, bool max) {
    const Attributes a{{"axis", int64_t{0}}, {"dtype", DType::i32}};
    return elements<int32_t>(max ? apply<Argmax>({x}, a) : apply<Argmin>({x}, a))[0];
  };
  EXPECT_EQ(arg(vec<float>({1, 3, 3}), true), 1);
  EXPECT_EQ(arg(vec<float>({1, kNaN, 3, kNaN}), true), 1);
  EXPECT_EQ(arg(vec<float>({1, kNaN, 0}), false), 1);
  EXPECT_EQ(arg(vec<float>({0.0F, -0.0F}), false), 0);
  EXPECT_EQ(arg(vec<int8_t>({-128, -128}), true), 0);
  EXPECT_EQ(arg(vec<bool>({false, true}), true), 1);
}

TEST(Cumulative, RunsBothWays) {
  const auto run = [](const AnyArray& x, int64_t axis, bool reverse) {
    return elements<int32_t>(apply<Cumsum>({x}, {{"axis", axis}, {"reverse", reverse}}));
  };
  EXPECT_EQ(run(matrix23(), 1, false), (I{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(run(matrix23(), 0, true), (I{5, 7, 9, 4, 5, 6}));
  const auto max = apply<Cummax>({vec<float>({1, kNaN, 2})}, {{"axis", int64_t{0}}, {"reverse", false}});
  EXPECT_EQ(elements<float>(max)[0], 1);
  EXPECT_TRUE(std::isnan(elements<float>(max)[2]));
}

TEST(DotGeneral, OrdersResultDimensionsBatchFirst) {
  const auto a = arr<int32_t>({2, 1, 2}, {1, 2, 3, 4});
  const auto b = arr<int32_t>({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const auto c = apply<DotGeneral>(
      {a, b}, {{"lhs_contract", List{2}}, {"rhs_contract", List{1}}, {"lhs_batch", List{0}}, {"rhs_batch", List{0}}});
  EXPECT_EQ(c.shape(), (Shape{2, 1, 2}));
  EXPECT_EQ(elements<int32_t>(c), (I{7, 10, 43, 50}));
}

TEST(DotGeneral, OfBoolIsOrOfAnds) {
  const Attributes a{
      {"lhs_contract", List{0}}, {"rhs_contract", List{0}}, {"lhs_batch", List{}}, {"rhs_batch", List{}}};
  EXPECT_EQ(elements<bool>(apply<DotGeneral>({vec<bool>({true, true}), vec<bool>({true, true})}, a))[0], true);
  EXPECT_EQ(elements<bool>(apply<DotGeneral>({vec<bool>({true, false}), vec<bool>({false, true})}, a))[0], false);
}

}  // namespace
}  // namespace calque::test
