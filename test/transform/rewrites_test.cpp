// Rewrites as text: how an equation is rewritten, and which rewrites must not happen. Both sides are also evaluated.
#include <gtest/gtest.h>

#include "math/evaluate.h"
#include "reference/evaluate.h"
#include "support/random/random_graph.h"
#include "support/same_arrays.h"
#include "transform/simplify/eliminate_dead_code.h"
#include "transform/simplify/passes.h"
#include "transform/simplify/simplify.h"

namespace calque::transform {
namespace {

struct Case {
  const char* name;
  const char* pass;
  const char* inputs;
  const char* before;  // equations and return
  const char* after;   // the same, or null when nothing may change
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

Graph graph_of(const char* inputs, const char* body) {
  return parse(std::string("calque 1\ngraph f(") + inputs + ") {\n" + body + "\n}\n");
}

class Rewrite : public testing::TestWithParam<Case> {};

TEST_P(Rewrite, GivesTheExpectedGraph) {
  const Case& c = GetParam();
  const Graph before = graph_of(c.inputs, c.before);
  const Graph after = canonicalize(run_pass(find_pass(c.pass), before));
  after.verify(c.pass);
  EXPECT_EQ(after, canonicalize(graph_of(c.inputs, c.after ? c.after : c.before))) << after;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const auto inputs = test::random_inputs(before, seed);
    ASSERT_EQ(test::difference(reference::evaluate(before, inputs), reference::evaluate(after, inputs)), "") << after;
  }
}

constexpr const char* kNothing = nullptr;

const Case kCases[] = {
    // parts of concatenations
    {"SliceOfAStack", "algebra", "%0: f32[2,1], %1: f32[2,1]",
     "%2 = concatenate[axis=1] %0 %1 %3 = slice[limit=[2,2], start=[1,1], stride=[1,1]] %2 return %3",
     "%2 = slice[limit=[2,1], start=[1,0], stride=[1,1]] %1 return %2"},
    {"SliceIsAnOperandOfAStack", "algebra", "%0: f32[2,1], %1: f32[2,1]",
     "%2 = concatenate[axis=1] %0 %1 %3 = slice[limit=[2,1], start=[0,0], stride=[1,1]] %2 return %3", "return %0"},
    {"SliceOfAConcatenationStays", "algebra", "%0: f32[2,3], %1: f32[2,4]",
     "%2 = concatenate[axis=1] %0 %1 %3 = slice[limit=[2,3], start=[0,0], stride=[1,1]] %2 return %3", kNothing},
    {"SlicesInOrderAreTheWhole", "algebra", "%0: f32[2,3]",
     "%1 = slice[limit=[2,1], start=[0,0], stride=[1,1]] %0 %2 = slice[limit=[2,3], start=[0,1], stride=[1,1]] %0 "
     "%3 = concatenate[axis=1] %1 %2 return %3",
     "return %0"},
    {"SlicesThatFollowAreOne", "algebra", "%0: f32[9], %1: f32[2]",
     "%2 = slice[limit=[3], start=[1], stride=[1]] %0 %3 = slice[limit=[8], start=[3], stride=[1]] %0 "
     "%4 = concatenate[axis=0] %1 %2 %3 return %4",
     "%2 = slice[limit=[8], start=[1], stride=[1]] %0 %3 = concatenate[axis=0] %1 %2 return %3"},
    {"SlicesOutOfOrderStay", "algebra", "%0: f32[4]",
     "%1 = slice[limit=[4], start=[2], stride=[1]] %0 %2 = slice[limit=[2], start=[0], stride=[1]] %0 "
     "%3 = concatenate[axis=0] %1 %2 return %3",
     kNothing},
    {"SlicesOfOtherRowsStay", "algebra", "%0: f32[4,4]",
     "%1 = slice[limit=[2,2], start=[0,0], stride=[1,1]] %0 %2 = slice[limit=[4,4], start=[2,2], stride=[1,1]] %0 "
     "%3 = concatenate[axis=1] %1 %2 return %3",
     kNothing},
    {"SelectOfStacks", "algebra", "%0: bool[2], %1: f32[2,1], %2: f32[2,2], %3: f32[2,1], %4: f32[2,2]",
     "%5 = broadcast[axes=[0], shape=[2,3]] %0 %6 = concatenate[axis=1] %1 %2 %7 = concatenate[axis=1] %3 %4 "
     "%8 = select %5 %6 %7 return %8",
     "%5 = broadcast[axes=[0], shape=[2,1]] %0 %6 = select %5 %1 %3 %7 = broadcast[axes=[0], shape=[2,2]] %0 "
     "%8 = select %7 %2 %4 %9 = concatenate[axis=1] %6 %8 return %9"},
    {"SelectOfAStackAndASplat", "algebra", "%0: bool[2], %1: f32[2,1], %2: f32[2,1]",
     "%3 = broadcast[axes=[0], shape=[2,2]] %0 %4 = concatenate[axis=1] %1 %2 %5 = select %3 0:f32[2,2] %4 return %5",
     "%3 = broadcast[axes=[0], shape=[2,1]] %0 %4 = select %3 0:f32[2,1] %1 %5 = broadcast[axes=[0], shape=[2,1]] %0 "
     "%6 = select %5 0:f32[2,1] %2 %7 = concatenate[axis=1] %4 %6 return %7"},
    {"SelectAlongTheAxisStays", "algebra", "%0: bool[3], %1: f32[2,1], %2: f32[2,2]",
     "%3 = broadcast[axes=[1], shape=[2,3]] %0 %4 = concatenate[axis=1] %1 %2 %5 = select %3 %4 0:f32[2,3] return %5",
     kNothing},
    {"SelectOfOtherPartsStays", "algebra", "%0: bool[2], %1: f32[2,1], %2: f32[2,2]",
     "%3 = broadcast[axes=[0], shape=[2,3]] %0 %4 = concatenate[axis=1] %1 %2 %5 = concatenate[axis=1] %2 %1 "
     "%6 = select %3 %4 %5 return %6",
     kNothing},
    {"SelectOfAStackAndPadding", "algebra", "%0: bool[2], %1: f32[2,1], %2: f32[2,1], %3: f32[2,1]",
     "%4 = broadcast[axes=[0], shape=[2,2]] %0 %5 = concatenate[axis=1] %1 %2 "
     "%6 = pad[high=[0,0], interior=[0,0], low=[0,1]] %3 0:f32[] %7 = select %4 %6 %5 return %7",
     "%4 = broadcast[axes=[0], shape=[2,1]] %0 %5 = select %4 0:f32[2,1] %1 "
     "%6 = broadcast[axes=[0], shape=[2,1]] %0 %7 = select %6 %3 %2 %8 = concatenate[axis=1] %5 %7 return %8"},
    {"SelectOfPadding", "algebra", "%0: bool[2], %1: f32[2,1]",
     "%2 = broadcast[axes=[0], shape=[2,3]] %0 %3 = pad[high=[0,1], interior=[0,0], low=[0,1]] %1 5:f32[] "
     "%4 = select %2 5:f32[2,3] %3 return %4",
     "%2 = broadcast[axes=[0], shape=[2,1]] %0 %3 = select %2 5:f32[2,1] %1 "
     "%4 = pad[high=[0,1], interior=[0,0], low=[0,1]] %3 5:f32[] return %4"},
    {"SelectOfOtherPaddingStays", "algebra", "%0: bool[2], %1: f32[2,1]",
     "%2 = broadcast[axes=[0], shape=[2,3]] %0 %3 = pad[high=[0,1], interior=[0,0], low=[0,1]] %1 5:f32[] "
     "%4 = select %2 %3 0:f32[2,3] return %4",
     kNothing},
    {"AddOfStacks", "algebra", "%0: f32[2,1], %1: f32[2,1], %2: f32[2,1], %3: f32[2,1]",
     "%4 = concatenate[axis=1] %0 %1 %5 = concatenate[axis=1] %2 %3 %6 = add %4 %5 return %6",
     "%4 = add %0 %2 %5 = add %1 %3 %6 = concatenate[axis=1] %4 %5 return %6"},
    {"AddOfAStackAndPaddingKeepsSignsOfZeros", "algebra", "%0: f32[1], %1: f32[1], %2: f32[1]",
     "%3 = concatenate[axis=0] %0 %1 %4 = pad[high=[1], interior=[0], low=[0]] %2 0:f32[] %5 = add %3 %4 return %5",
     "%3 = add %0 %2 %4 = add %1 0:f32[1] %5 = concatenate[axis=0] %3 %4 return %5"},
    {"AddOfLongPartsStays", "algebra", "%0: f32[2], %1: f32[1], %2: f32[2], %3: f32[1]",
     "%4 = concatenate[axis=0] %0 %1 %5 = concatenate[axis=0] %2 %3 %6 = add %4 %5 return %6", kNothing},
    {"AddOfAStackAndASplatStays", "algebra", "%0: f32[1], %1: f32[1]",
     "%2 = concatenate[axis=0] %0 %1 %3 = add %2 2:f32[2] return %3", kNothing},
    {"SliceOfPadding", "algebra", "%0: f32[2,3]",
     "%1 = pad[high=[0,2], interior=[0,0], low=[1,0]] %0 7:f32[] "
     "%2 = slice[limit=[3,5], start=[0,3], stride=[1,1]] %1 return %2",
     "return 7:f32[3,2]"},
    {"SliceInsideOfPadding", "algebra", "%0: f32[2,3]",
     "%1 = pad[high=[0,2], interior=[0,0], low=[1,0]] %0 7:f32[] "
     "%2 = slice[limit=[3,3], start=[2,1], stride=[1,1]] %1 return %2",
     "%1 = slice[limit=[2,3], start=[1,1], stride=[1,1]] %0 return %1"},
    {"SliceAcrossPaddingStays", "algebra", "%0: f32[3]",
     "%1 = pad[high=[2], interior=[0], low=[1]] %0 7:f32[] %2 = slice[limit=[4], start=[0], stride=[1]] %1 return %2",
     kNothing},
    {"SliceOfInteriorPaddingStays", "algebra", "%0: f32[3]",
     "%1 = pad[high=[2], interior=[1], low=[1]] %0 7:f32[] %2 = slice[limit=[4], start=[1], stride=[1]] %1 return %2",
     kNothing},
    // arithmetic
    {"AddNegativeZero", "algebra", "%0: f32[3]", "%1 = add -0:f32[3] %0 return %1", "return %0"},
    {"AddPositiveZeroStays", "algebra", "%0: f32[3]", "%1 = add %0 0:f32[3] return %1", kNothing},
    {"AddZeroInt", "algebra", "%0: i32[3]", "%1 = add 0:i32[3] %0 return %1", "return %0"},
    {"SubZero", "algebra", "%0: f16[3]", "%1 = sub %0 0:f16[3] return %1", "return %0"},
    {"SubNegativeZeroStays", "algebra", "%0: f32[3]", "%1 = sub %0 -0:f32[3] return %1", kNothing},
    {"ZeroMinusStays", "algebra", "%0: f32[3]", "%1 = sub 0:f32[3] %0 return %1", kNothing},
    {"SubSelfInt", "algebra", "%0: u8[2]", "%1 = sub %0 %0 return %1", "return 0:u8[2]"},
    {"SubSelfFloatStays", "algebra", "%0: f32[2]", "%1 = sub %0 %0 return %1", kNothing},
    {"MulOne", "algebra", "%0: f64[]", "%1 = mul 1:f64[] %0 return %1", "return %0"},
    {"MulZeroInt", "algebra", "%0: i8[2]", "%1 = mul %0 0:i8[2] return %1", "return 0:i8[2]"},
    {"MulZeroFloatStays", "algebra", "%0: f32[2]", "%1 = mul %0 0:f32[2] return %1", kNothing},
    {"DivOne", "algebra", "%0: bf16[2]", "%1 = div %0 1:bf16[2] return %1", "return %0"},
    {"DivPowerOfTwo", "algebra", "%0: f32[9]", "%1 = div %0 -8:f32[9] return %1",
     "%1 = mul %0 -0.125:f32[9] return %1"},
    {"DivPowerOfTwoHalf", "algebra", "%0: f16[9]", "%1 = div %0 16384:f16[9] return %1",
     "%1 = mul %0 0x1p-14:f16[9] return %1"},
    {"DivPowerOfTwoOutOfRangeStays", "algebra", "%0: f16[9]", "%1 = div %0 32768:f16[9] return %1", kNothing},
    {"DivThreeStays", "algebra", "%0: f32[9]", "%1 = div %0 3:f32[9] return %1", kNothing},
    {"DivIntStays", "algebra", "%0: i32[9]", "%1 = div %0 2:i32[9] return %1", kNothing},
    {"RemOne", "algebra", "%0: i32[9]", "%1 = rem %0 1:i32[9] return %1", "return 0:i32[9]"},
    {"NegNeg", "algebra", "%0: f32[3]", "%1 = neg %0 %2 = neg %1 return %2", "return %0"},
    {"AbsNeg", "algebra", "%0: i8[30]", "%1 = neg %0 %2 = abs %1 return %2", "%1 = abs %0 return %1"},
    {"AbsNegUnsignedStays", "algebra", "%0: u8[9]", "%1 = neg %0 %2 = abs %1 return %2", kNothing},
    {"AbsAbs", "algebra", "%0: f32[3]", "%1 = abs %0 %2 = abs %1 return %2", "%1 = abs %0 return %1"},
    {"MaxSelf", "algebra", "%0: f32[9]", "%1 = max %0 %0 return %1", "return %0"},
    {"FloorCeil", "algebra", "%0: f32[9]", "%1 = ceil %0 %2 = floor %1 return %2", "%1 = ceil %0 return %1"},
    {"RoundInt", "algebra", "%0: i32[9]", "%1 = round %0 return %1", "return %0"},
    // logic
    {"AndTrue", "algebra", "%0: bool[4]", "%1 = and %0 true:bool[4] return %1", "return %0"},
    {"OrTrue", "algebra", "%0: bool[4]", "%1 = or true:bool[4] %0 return %1", "return true:bool[4]"},
    {"XorTrue", "algebra", "%0: bool[4]", "%1 = xor %0 true:bool[4] return %1", "%1 = not %0 return %1"},
    {"AndZero", "algebra", "%0: i16[4]", "%1 = and %0 0:i16[4] return %1", "return 0:i16[4]"},
    {"OrOnes", "algebra", "%0: u16[4]", "%1 = or %0 65535:u16[4] return %1", "return 65535:u16[4]"},
    {"XorSelf", "algebra", "%0: u64[4]", "%1 = xor %0 %0 return %1", "return 0:u64[4]"},
    {"NotNot", "algebra", "%0: i64[4]", "%1 = not %0 %2 = not %1 return %2", "return %0"},
    {"ShiftZero", "algebra", "%0: i64[4]", "%1 = shr_arithmetic %0 0:i64[4] return %1", "return %0"},
    {"LeSelf", "algebra", "%0: i64[4]", "%1 = le %0 %0 return %1", "return true:bool[4]"},
    {"LtSelf", "algebra", "%0: bool[4]", "%1 = lt %0 %0 return %1", "return false:bool[4]"},
    {"EqSelfFloatStays", "algebra", "%0: f32[9]", "%1 = eq %0 %0 return %1", kNothing},
    {"SelectLiteral", "algebra", "%0: f32[2], %1: f32[2]", "%2 = select false:bool[2] %0 %1 return %2", "return %1"},
    {"SelectSame", "algebra", "%0: bool[2], %1: f32[2]", "%2 = select %0 %1 %1 return %2", "return %1"},
    {"SelectNot", "algebra", "%0: bool[2], %1: f32[2], %2: f32[2]", "%3 = not %0 %4 = select %3 %1 %2 return %4",
     "%3 = select %0 %2 %1 return %3"},
    {"SelectTrueFalse", "algebra", "%0: bool[2]", "%1 = select %0 true:bool[2] false:bool[2] return %1", "return %0"},
    {"SelectFalseTrue", "algebra", "%0: bool[2]", "%1 = select %0 false:bool[2] true:bool[2] return %1",
     "%1 = not %0 return %1"},
    // conversions
    {"ConvertSame", "algebra", "%0: f32[2]", "%1 = convert[dtype=f32] %0 return %1", "return %0"},
    {"ConvertWidenTwice", "algebra", "%0: i8[9]", "%1 = convert[dtype=i32] %0 %2 = convert[dtype=f64] %1 return %2",
     "%1 = convert[dtype=f64] %0 return %1"},
    {"ConvertThereAndBack", "algebra", "%0: f16[9]", "%1 = convert[dtype=f32] %0 %2 = convert[dtype=f16] %1 return %2",
     "return %0"},
    {"ConvertThereAndBackOfIntegers", "algebra", "%0: i8[9]",
     "%1 = mul %0 %0 %2 = convert[dtype=i32] %1 %3 = convert[dtype=i8] %2 return %3", "%1 = mul %0 %0 return %1"},
    {"ConvertThereAndBackRounds", "algebra", "%0: f16[9]",
     "%1 = mul %0 %0 %2 = convert[dtype=f32] %1 %3 = convert[dtype=f16] %2 return %3",
     "%1 = mul %0 %0 %2 = convert[dtype=f16] %1 return %2"},
    {"ConvertWrapsThroughWider", "algebra", "%0: i16[9]",
     "%1 = convert[dtype=i64] %0 %2 = convert[dtype=u8] %1 return %2", "%1 = convert[dtype=u8] %0 return %1"},
    {"ConvertNarrowStays", "algebra", "%0: f32[9]", "%1 = convert[dtype=f16] %0 %2 = convert[dtype=f32] %1 return %2",
     kNothing},
    {"ConvertSignedToUnsignedStays", "algebra", "%0: i8[9]",
     "%1 = convert[dtype=u16] %0 %2 = convert[dtype=i32] %1 return %2", kNothing},
    {"ConvertSaturatesStays", "algebra", "%0: i16[9]", "%1 = convert[dtype=f32] %0 %2 = convert[dtype=i8] %1 return %2",
     kNothing},
    {"ConvertExactOnTheWay", "algebra", "%0: i32[40]",
     "%1 = convert[dtype=f64] %0 %2 = convert[dtype=bf16] %1 return %2", "%1 = convert[dtype=bf16] %0 return %1"},
    {"ConvertDoubleRoundingStays", "algebra", "%0: i32[40]",
     "%1 = convert[dtype=f32] %0 %2 = convert[dtype=bf16] %1 return %2", kNothing},
    {"ConvertHalvesStay", "algebra", "%0: f16[9]", "%1 = convert[dtype=bf16] %0 %2 = convert[dtype=f32] %1 return %2",
     kNothing},
    {"BitcastBack", "algebra", "%0: f32[9]", "%1 = bitcast[dtype=i32] %0 %2 = bitcast[dtype=u32] %1 return %2",
     "%1 = bitcast[dtype=u32] %0 return %1"},
    // views
    {"ReshapeTwice", "algebra", "%0: f32[2,3]", "%1 = reshape[shape=[6]] %0 %2 = reshape[shape=[3,2]] %1 return %2",
     "%1 = reshape[shape=[3,2]] %0 return %1"},
    {"ReshapeBack", "algebra", "%0: f32[2,3]", "%1 = reshape[shape=[6]] %0 %2 = reshape[shape=[2,3]] %1 return %2",
     "return %0"},
    {"TransposeTwice", "algebra", "%0: f32[2,3,4]",
     "%1 = transpose[perm=[1,2,0]] %0 %2 = transpose[perm=[1,0,2]] %1 return %2",
     "%1 = transpose[perm=[2,1,0]] %0 return %1"},
    {"TransposeBack", "algebra", "%0: f32[2,3]",
     "%1 = transpose[perm=[1,0]] %0 %2 = transpose[perm=[1,0]] %1 return %2", "return %0"},
    {"BroadcastTwice", "algebra", "%0: f32[1,3]",
     "%1 = broadcast[axes=[1,2], shape=[2,1,3]] %0 %2 = broadcast[axes=[0,2,3], shape=[2,5,4,3]] %1 return %2",
     "%1 = broadcast[axes=[2,3], shape=[2,5,4,3]] %0 return %1"},
    {"ReverseTwice", "algebra", "%0: f32[2,3]", "%1 = reverse[axes=[0,1]] %0 %2 = reverse[axes=[0]] %1 return %2",
     "%1 = reverse[axes=[1]] %0 return %1"},
    {"ReverseUnit", "algebra", "%0: f32[1,3]", "%1 = reverse[axes=[0]] %0 return %1", "return %0"},
    {"SliceAll", "algebra", "%0: f32[3]", "%1 = slice[limit=[3], start=[0], stride=[1]] %0 return %1", "return %0"},
    {"SliceTwice", "algebra", "%0: f32[20]",
     "%1 = slice[limit=[20], start=[1], stride=[2]] %0 %2 = slice[limit=[9], start=[2], stride=[3]] %1 return %2",
     "%1 = slice[limit=[18], start=[5], stride=[6]] %0 return %1"},
    {"SliceOfHugeStride", "algebra", "%0: f32[3]",
     "%1 = slice[limit=[3], start=[1], stride=[9223372036854775807]] %0 "
     "%2 = broadcast[axes=[0], shape=[4]] %1 %3 = slice[limit=[2], start=[0], stride=[1]] %2 return %3",
     kNothing},
    {"PadNothing", "algebra", "%0: f32[3]", "%1 = pad[high=[0], interior=[0], low=[0]] %0 1:f32[] return %1",
     "return %0"},
    {"PadSplat", "algebra", "", "%1 = pad[high=[2], interior=[0], low=[0]] 1:f32[3] 1:f32[] return %1",
     "return 1:f32[5]"},
    {"ConcatenateOne", "algebra", "%0: f32[3], %1: f32[0]", "%2 = concatenate[axis=0] %1 %0 return %2", "return %0"},
    {"DynamicSliceAll", "algebra", "%0: f32[3], %1: i32[]", "%2 = dynamic_slice[sizes=[3]] %0 %1 return %2",
     "return %0"},
    {"DynamicSliceLiteral", "algebra", "%0: f32[5,5]", "%1 = dynamic_slice[sizes=[2,3]] %0 4:u64[] 1:u64[] return %1",
     "%1 = slice[limit=[5,4], start=[3,1], stride=[1,1]] %0 return %1"},
    {"DynamicSliceHugeStart", "algebra", "%0: f32[5]",
     "%1 = dynamic_slice[sizes=[2]] %0 18446744073709551615:u64[] return %1",
     "%1 = slice[limit=[5], start=[3], stride=[1]] %0 return %1"},
    {"DynamicUpdateAll", "algebra", "%0: f32[3], %1: f32[3], %2: i32[]", "%3 = dynamic_update_slice %0 %1 %2 return %3",
     "return %1"},
    {"DynamicUpdateNothing", "algebra", "%0: f32[3], %1: f32[0], %2: i32[]",
     "%3 = dynamic_update_slice %0 %1 %2 return %3", "return %0"},
    {"BroadcastSplat", "algebra", "", "%0 = broadcast[axes=[], shape=[100]] 2:f32[] return %0", "return 2:f32[100]"},
    {"IotaOne", "algebra", "", "%0 = iota[axis=0, dtype=i32, shape=[1,4]] return %0", "return 0:i32[1,4]"},
    {"EmptyResult", "algebra", "%0: f32[0]", "%1 = exp %0 return %1", "return 0:f32[0]"},
    {"ReduceMaxUnit", "algebra", "%0: f32[1,3]", "%1 = reduce_max[axes=[0]] %0 return %1",
     "%1 = reshape[shape=[3]] %0 return %1"},
    {"ReduceSumUnitStays", "algebra", "%0: f32[1,3]", "%1 = reduce_sum[axes=[0]] %0 return %1", kNothing},
    {"ReduceMaxSplat", "algebra", "", "%0 = reduce_max[axes=[0]] 2:f32[100] return %0", "return 2:f32[]"},
    // laws combined
    {"Together", "simplify", "%0: f32[3], %1: f32[3]",
     "%2 = neg %0 %3 = neg %2 %4 = mul %3 1:f32[3] %5 = add %4 %1 %6 = add %1 %0 %7 = sub %5 0:f32[3] return %6, %7",
     "%2 = add %0 %1 return %2, %2"},
    // folding
    {"FoldAdd", "fold", "", "%0 = add 1.5:f32[] 2:f32[] return %0", "return 3.5:f32[]"},
    {"FoldSplats", "fold", "", "%0 = mul 3:i8[1000] 50:i8[1000] return %0", "return -106:i8[1000]"},
    {"FoldDivisionByZero", "fold", "", "%0 = div 3:u8[] 0:u8[] return %0", "return 255:u8[]"},
    {"FoldConvert", "fold", "", "%0 = convert[dtype=i32] 2.9:f32[7] return %0", "return 2:i32[7]"},
    {"FoldChain", "fold", "", "%0 = add 1:f32[] 2:f32[] %1 = mul %0 %0 return %1", "return 9:f32[]"},
    {"FoldExpNeedsItsForm", "fold", "", "%0 = exp 1:f32[] return %0", kNothing},
    {"FoldFloatSumStays", "fold", "", "%0 = reduce_sum[axes=[0]] 1:f32[4] return %0", kNothing},
    {"FoldIntSum", "fold", "", "%0 = reduce_sum[axes=[0]] 3:i32[4] return %0", "return 12:i32[]"},
    {"FoldLargeStays", "fold", "", "%0 = reduce_sum[axes=[0]] 3:i32[17] return %0", kNothing},
    {"FoldCond", "fold", "%0: f32[]",
     "%1 = cond false:bool[] %0 { (%0: f32[]) { return %0 } (%0: f32[]) { %1 = neg %0 return %1 } } return %1",
     "%1 = neg %0 return %1"},
    {"FoldSwitchClamps", "fold", "%0: f32[]",
     "%1 = switch 7:i32[] %0 { (%0: f32[]) { return %0 } (%0: f32[]) { %1 = neg %0 return %1 } } return %1",
     "%1 = neg %0 return %1"},
    {"FoldInsideLoops", "fold", "%0: f32[]",
     "%1 = scan[carry=1, consts=0, length=3, reverse=false, unroll=1] %0 "
     "{ (%0: f32[]) { %1 = add 1:f32[] 1:f32[] %2 = mul %0 %1 return %2 } } return %1",
     "%1 = scan[carry=1, consts=0, length=3, reverse=false, unroll=1] %0 "
     "{ (%0: f32[]) { %2 = mul %0 2:f32[] return %2 } } return %1"},
    // merging
    {"MergeEqual", "cse", "%0: f32[3]", "%1 = exp %0 %2 = exp %0 %3 = add %1 %2 return %3",
     "%1 = exp %0 %2 = add %1 %1 return %2"},
    {"MergeCommuted", "cse", "%0: f32[], %1: f32[]", "%2 = add %0 %1 %3 = add %1 %0 return %2, %3",
     "%2 = add %0 %1 return %2, %2"},
    {"MergeNotCommutative", "cse", "%0: f32[], %1: f32[]", "%2 = sub %0 %1 %3 = sub %1 %0 return %2, %3", kNothing},
    {"MergeSeesAttributes", "cse", "%0: f32[2,2]", "%1 = reverse[axes=[0]] %0 %2 = reverse[axes=[1]] %0 return %1, %2",
     kNothing},
    {"MergeChains", "cse", "%0: f32[]", "%1 = exp %0 %2 = neg %1 %3 = exp %0 %4 = neg %3 return %2, %4",
     "%1 = exp %0 %2 = neg %1 return %2, %2"},
    {"MergeLiteralsByBits", "cse", "%0: f32[]", "%1 = add %0 0:f32[] %2 = add %0 -0:f32[] return %1, %2", kNothing},
    {"MergeSubgraphs", "cse", "%0: f32[]",
     "%1 = call[name=\"f\"] %0 { (%0: f32[]) { %1 = neg %0 return %1 } } "
     "%2 = call[name=\"f\"] %0 { (%9: f32[]) { %1 = neg %9 return %1 } } "
     "%3 = call[name=\"f\"] %0 { (%0: f32[]) { %1 = abs %0 return %1 } } return %1, %2, %3",
     "%1 = call[name=\"f\"] %0 { (%0: f32[]) { %1 = neg %0 return %1 } } "
     "%3 = call[name=\"f\"] %0 { (%0: f32[]) { %1 = abs %0 return %1 } } return %1, %1, %3"},
    // calls
    {"InlineCall", "inline", "%0: f32[]",
     "%1 = call[name=\"f\"] %0 { (%0: f32[]) { %1 = neg %0 %2 = call[name=\"g\"] %1 "
     "{ (%0: f32[]) { %1 = abs %0 return %1 } } return %2 } } return %1",
     "%1 = neg %0 %2 = abs %1 return %2"},
    {"InlineCustom", "inline", "%0: f32[]",
     "%1 = custom_jvp %0 { (%0: f32[]) { %1 = neg %0 return %1 } "
     "(%0: f32[], %1: f32[]) { return %0, %1 } } return %1",
     "%1 = neg %0 return %1"},
    {"InlineInsideLoops", "inline", "%0: f32[]",
     "%1 = scan[carry=1, consts=0, length=3, reverse=false, unroll=1] %0 "
     "{ (%0: f32[]) { %1 = call[name=\"f\"] %0 { (%0: f32[]) { %1 = neg %0 return %1 } } return %1 } } return %1",
     "%1 = scan[carry=1, consts=0, length=3, reverse=false, unroll=1] %0 "
     "{ (%0: f32[]) { %1 = neg %0 return %1 } } return %1"},
};

INSTANTIATE_TEST_SUITE_P(Cases, Rewrite, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(FoldConstants, ReadsSmallConstantsOnly) {
  const auto folded = [](int64_t n) {
    Graph g;
    const Value c = g.add_constant(AnyArray::full<float>({n}, 2.0f));
    g.set_outputs({g.append(*find_primitive("neg"), {c}).result()});
    return run_pass(find_pass("fold"), g);
  };
  const Graph small = folded(16);
  ASSERT_TRUE(small.is_literal(small.outputs()[0]));
  EXPECT_EQ(small.literal(small.outputs()[0]).as<float>(), -2.0f);
  EXPECT_EQ(folded(17).num_equations(), 1u);
}

TEST(FoldConstants, FunctionsHaveTheBitsOfTheirForms) {
  const Graph g = parse("calque 1\ngraph () { %0 = tan 1234.5:f64[3] return %0 }\n");
  EXPECT_EQ(simplify(g).num_equations(), 1u);
  for (const bool fused : {false, true}) {
    const math::MathForms forms{.fused = fused};
    const Graph folded = simplify(g, InlineScope::all, forms);
    ASSERT_TRUE(folded.is_literal(folded.outputs()[0]));
    const double want = math::evaluate_f64(find_primitive("tan")->id, forms, 1234.5, 1234.5);
    EXPECT_EQ(folded.literal(folded.outputs()[0]).as<double>(), want);
  }
}

TEST(FoldConstants, KeepsConstantsWithoutData) {
  const Graph g = parse(
      "calque 1\ngraph () { %0 = neg @c0 return %0 }\n"
      "constant @c0: f32[2] = xxh3 \"0123456789abcdef0123456789abcdef\"\n");
  EXPECT_EQ(run_pass(find_pass("fold"), g), g);
  EXPECT_EQ(run_pass(find_pass("simplify"), g), g);
}

TEST(EliminateDeadCode, DropsChainsAndKeepsTheOrder) {
  const Graph g = parse(
      "calque 1\ngraph (%0: f32[]) { %1 = exp %0 %2 = sin %1 %3 = cos %0 %4 = neg %0 "
      "%5 = call[name=\"f\"] %4 { (%0: f32[]) { %1 = abs %0 return %0 } } return %5, %3 }");
  const Graph want = parse(
      "calque 1\ngraph (%0: f32[]) { %3 = cos %0 %4 = neg %0 "
      "%5 = call[name=\"f\"] %4 { (%0: f32[]) { return %0 } } return %5, %3 }");
  EXPECT_EQ(eliminate_dead_code(g), want);
}

TEST(Passes, KeepLocationsAndNames) {
  const Graph g = parse(
      "calque 1\ngraph step(%0: f32[]) { %1 = exp %0 loc(\"a.cpp\":3:1) %2 = div %1 4:f32[] loc(\"a.cpp\":4:1) return "
      "%2 }");
  const Graph s = run_pass(find_pass("simplify"), g);
  EXPECT_EQ(s.name(), "step");
  EXPECT_EQ(to_string(s.equations()[0].location()), "a.cpp:3");
  EXPECT_EQ(s.equations()[1].primitive(), "mul");
  EXPECT_EQ(to_string(s.equations()[1].location()), "a.cpp:4");
}

}  // namespace
}  // namespace calque::transform
