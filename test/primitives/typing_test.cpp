// Errors of typing rules and their messages.
#include <functional>

#include <gtest/gtest.h>

#include "primitives/list.h"

namespace calque::primitives {
namespace {

using List = std::vector<int64_t>;

Type f32(std::initializer_list<Dim> shape) { return {DType::f32, Shape(shape)}; }
Type i32(std::initializer_list<Dim> shape) { return {DType::i32, Shape(shape)}; }

/// The result types of P for operands of these types.
template <class P>
std::vector<Type> infer(std::vector<Type> operands, Attributes attributes = {}, std::vector<Graph> subgraphs = {}) {
  std::vector<const Type*> pointers;
  for (const Type& t : operands) pointers.push_back(&t);
  std::vector<Type> results;
  get<P>().infer({pointers, attributes, subgraphs}, results);
  return results;
}

/// The message of the E that the call throws.
template <class E>
std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("another exception: ") + e.what();
  }
  return "no exception";
}

TEST(Typing, OperandsOfDifferentShapeAreRefused) {
  EXPECT_EQ(message<ShapeError>([] { infer<Add>({f32({3}), f32({4})}); }),
            "add: operands differ in shape, got f32[3] and f32[4]");
}

TEST(Typing, OperandsOfDifferentDTypeAreRefused) {
  EXPECT_EQ(message<DTypeError>([] { infer<Add>({f32({3}), i32({3})}); }),
            "add: operands differ in dtype, got f32[3] and i32[3]");
}

TEST(Typing, WrongDTypesAreNamed) {
  EXPECT_EQ(message<DTypeError>([] { infer<Exp>({i32({3})}); }), "exp: expects float, got i32[3]");
  EXPECT_EQ(message<DTypeError>([] { infer<And>({f32({}), f32({})}); }), "and: expects bool or integer, got f32[]");
  EXPECT_EQ(message<DTypeError>([] { infer<Lt>({{DType::c64, {}}, {DType::c64, {}}}); }),
            "lt: expects bool, integer or float, got c64[]");
}

TEST(Typing, MatricesAreSquareAndOfMatrixTypes) {
  EXPECT_EQ(message<ShapeError>([] { infer<Cholesky>({f32({3})}); }),
            "cholesky: expects matrices [..., n, n], got f32[3]");
  EXPECT_EQ(message<ShapeError>([] { infer<Cholesky>({f32({2, 3, 4})}); }),
            "cholesky: expects square matrices, got f32[2,3,4]");
  EXPECT_EQ(message<DTypeError>([] { infer<Cholesky>({i32({3, 3})}); }),
            "cholesky: expects complex, f32 or f64, got i32[3,3]");
  EXPECT_EQ(message<DTypeError>([] { infer<Cholesky>({{DType::f16, {3, 3}}}); }),
            "cholesky: expects complex, f32 or f64, got f16[3,3]");
  EXPECT_EQ(infer<Cholesky>({f32({0, 0})}), std::vector{f32({0, 0})});
}

TEST(Typing, RightHandSidesFitTheirMatrices) {
  const auto solve = [](Type a, Type b) {
    return infer<TriangularSolve>({std::move(a), std::move(b)},
                                  {{"lower", true}, {"transpose", false}, {"unit_diagonal", false}});
  };
  EXPECT_EQ(solve(f32({5, 3, 3}), f32({5, 3, 2})), std::vector{f32({5, 3, 2})});
  EXPECT_EQ(solve(f32({0, 0}), f32({0, 2})), std::vector{f32({0, 2})});
  EXPECT_EQ(message<ShapeError>([&] { solve(f32({3, 4}), f32({3, 2})); }),
            "triangular_solve: expects square matrices, got f32[3,4]");
  EXPECT_EQ(message<ShapeError>([&] { solve(f32({3, 3}), f32({3})); }),
            "triangular_solve: expects right-hand sides [..., n, k], got f32[3]");
  EXPECT_EQ(message<ShapeError>([&] { solve(f32({3, 3}), f32({4, 2})); }),
            "triangular_solve: matrices and right-hand sides differ in their number of rows, got f32[3,3] and "
            "f32[4,2]");
  EXPECT_EQ(message<ShapeError>([&] { solve(f32({5, 3, 3}), f32({3, 2})); }),
            "triangular_solve: batch dimensions differ, got f32[5,3,3] and f32[3,2]");
  EXPECT_EQ(message<DTypeError>([&] { solve(f32({3, 3}), {DType::f64, {3, 2}}); }),
            "triangular_solve: operands differ in dtype, got f32[3,3] and f64[3,2]");
  EXPECT_EQ(message<CompileError>(
                [] { infer<TriangularSolve>({f32({3, 3}), f32({3, 2})}, {{"lower", true}, {"transpose", false}}); }),
            "triangular_solve: expects the attribute unit_diagonal, a bool, got none");
}

TEST(Typing, SortsHaveAResultForEachKey) {
  const auto sort = [](const std::vector<Type>& keys, int64_t limit, bool values, bool indices) {
    return infer<Sort>(keys, {{"descending", false}, {"indices", indices}, {"limit", limit}, {"values", values}});
  };
  const Type key = f32({2, 5});
  EXPECT_EQ(sort({key, i32({2, 5})}, 3, true, true), (std::vector{f32({2, 3}), i32({2, 3}), i32({2, 3})}));
  EXPECT_EQ(sort({key}, 5, false, true), std::vector{i32({2, 5})});
  EXPECT_EQ(sort({f32({0})}, 0, true, false), std::vector{f32({0})});
  EXPECT_EQ(message<ShapeError>([&] { sort({f32({})}, 0, true, false); }), "sort: expects rows [..., n], got f32[]");
  EXPECT_EQ(message<ShapeError>([&] { sort({key, f32({5})}, 0, true, false); }),
            "sort: keys differ in shape, got f32[2,5] and f32[5]");
  EXPECT_EQ(message<ShapeError>([&] { sort({key}, 6, true, false); }), "sort: limit is 6, which is not in [0, 5]");
  EXPECT_EQ(message<ShapeError>([&] { sort({key}, 5, false, false); }),
            "sort: has no result: values and indices are false");
  EXPECT_THROW(sort({{DType::c64, {3}}}, 3, true, false), DTypeError);
}

TEST(Typing, TransformsHaveTheirLength) {
  const auto fft = [](const Type& x, const char* kind, int64_t length, bool pairs = false) {
    Attributes attributes{{"kind", std::string(kind)}, {"length", length}};
    if (pairs) attributes.set("pairs", true);
    return infer<Fft>({x}, attributes);
  };
  const Type c5{DType::c64, {3, 5}}, f8{DType::f64, {8}};
  EXPECT_EQ(fft(c5, "fft", 5), std::vector{c5});
  EXPECT_EQ(fft(c5, "ifft", 5), std::vector{c5});
  EXPECT_EQ(fft(f8, "rfft", 8), (std::vector{Type{DType::c128, {5}}}));
  EXPECT_EQ(fft(c5, "irfft", 8), std::vector{f32({3, 8})});
  EXPECT_EQ(fft(c5, "irfft", 9), std::vector{f32({3, 9})});
  EXPECT_EQ(fft(f32({3, 5, 2}), "irfft", 9, true), std::vector{f32({3, 9})});
  EXPECT_EQ(fft(f32({3, 8}), "rfft", 8, true), std::vector{f32({3, 5, 2})});
  EXPECT_EQ(message<ShapeError>([&] { fft(c5, "fft", 4); }), "fft: expects rows of 4 for length 4, got c64[3,5]");
  EXPECT_EQ(message<ShapeError>([&] { fft(c5, "irfft", 10); }), "fft: expects rows of 6 for length 10, got c64[3,5]");
  EXPECT_EQ(message<ShapeError>([&] { fft(c5, "fft", 0); }), "fft: length is 0, expects at least 1");
  EXPECT_EQ(message<ShapeError>([&] { fft(f32({3, 5}), "fft", 3, true); }), "fft: expects pairs, got f32[3,5]");
  EXPECT_EQ(message<DTypeError>([&] { fft(f8, "fft", 8); }), "fft: expects complex, got f64[8]");
  EXPECT_EQ(message<DTypeError>([&] { fft(c5, "rfft", 5); }), "fft: expects f32 or f64, got c64[3,5]");
  EXPECT_EQ(message<CompileError>([&] { fft(c5, "dct", 5); }),
            "fft: kind is \"dct\", expects fft, ifft, rfft or irfft");
}

TEST(Typing, FactorsFitTheirMatrices) {
  EXPECT_EQ(infer<Lu>({f32({5, 3, 4})}), (std::vector{f32({5, 3, 4}), Type{DType::i32, {5, 3}}}));
  EXPECT_EQ(infer<Qr>({f32({5, 3, 4})}), (std::vector{f32({5, 3, 3}), f32({5, 3, 4})}));
  EXPECT_EQ(infer<Qr>({f32({4, 0})}), (std::vector{f32({4, 0}), f32({0, 0})}));
  EXPECT_EQ(infer<Det>({f32({5, 3, 3})}), std::vector{f32({5})});
  EXPECT_EQ(infer<SlogDet>({{DType::c64, {3, 3}}}), (std::vector{Type{DType::c64, {}}, f32({})}));
  EXPECT_EQ(message<ShapeError>([] { infer<Lu>({f32({3})}); }), "lu: expects matrices [..., m, n], got f32[3]");
  EXPECT_EQ(message<DTypeError>([] { infer<Qr>({i32({3, 3})}); }), "qr: expects complex, f32 or f64, got i32[3,3]");
  EXPECT_EQ(message<ShapeError>([] { infer<Det>({f32({3, 4})}); }), "det: expects square matrices, got f32[3,4]");
  const auto solve = [](Type a, Type packed, Type perm, Type b) {
    return infer<LuSolve>({std::move(a), std::move(packed), std::move(perm), std::move(b)}, {{"transpose", false}});
  };
  const Type a = f32({2, 3, 3}), perm = i32({2, 3});
  EXPECT_EQ(solve(a, a, perm, f32({2, 3, 7})), std::vector{f32({2, 3, 7})});
  EXPECT_EQ(message<ShapeError>([&] { solve(a, f32({3, 3}), perm, f32({2, 3, 7})); }),
            "lu_solve: the packed factors of f32[2,3,3] have its type, got f32[3,3]");
  EXPECT_EQ(message<ShapeError>([&] { solve(a, a, i32({3}), f32({2, 3, 7})); }),
            "lu_solve: the order of the rows of f32[2,3,3] is i32[2,3], got i32[3]");
  EXPECT_EQ(message<DTypeError>([&] { solve(a, a, perm, {DType::f64, {2, 3, 7}}); }),
            "lu_solve: dtypes differ, got f32[2,3,3] and f64[2,3,7]");
}

TEST(Typing, NumberOfOperandsIsChecked) {
  EXPECT_EQ(message<CompileError>([] { infer<Add>({f32({})}); }), "add: expects 2 operands, got 1");
  EXPECT_EQ(message<CompileError>([] { infer<Concatenate>({}, {{"axis", int64_t{0}}}); }),
            "concatenate: expects at least 1 operands, got 0");
}

TEST(Typing, AttributesAreChecked) {
  EXPECT_EQ(message<CompileError>([] { infer<Transpose>({f32({2})}); }),
            "transpose: expects the attribute perm, a list of integers, got none");
  EXPECT_EQ(message<CompileError>([] { infer<Convert>({f32({})}, {{"dtype", int64_t{3}}}); }),
            "convert: expects the attribute dtype, a dtype, got 3");
  EXPECT_EQ(message<CompileError>([] { infer<Add>({f32({}), f32({})}, {{"axis", int64_t{3}}}); }),
            "add: has no attribute axis");
}

TEST(Typing, ComparisonsGiveBool) {
  EXPECT_EQ(infer<Lt>({f32({2}), f32({2})}), (std::vector{Type{DType::bool_, {2}}}));
}

TEST(Typing, AbsOfComplexGivesTheRealType) { EXPECT_EQ(infer<Abs>({{DType::c64, {2}}}), (std::vector{f32({2})})); }

TEST(Typing, BroadcastNamesTheDimension) {
  EXPECT_EQ(infer<Broadcast>({f32({3, 1})}, {{"axes", List{1, 2}}, {"shape", List{2, 3, 4}}}),
            (std::vector{f32({2, 3, 4})}));
  EXPECT_EQ(message<ShapeError>([] { infer<Broadcast>({f32({3})}, {{"axes", List{0}}, {"shape", List{4}}}); }),
            "broadcast: f32[3] does not broadcast to [4], dimension 0 has extent 3 and not 4");
  EXPECT_EQ(message<ShapeError>([] { infer<Broadcast>({f32({2, 2})}, {{"axes", List{1, 0}}, {"shape", List{2, 2}}}); }),
            "broadcast: expects sorted axes, got [1,0]");
}

TEST(Typing, ReshapeCountsElements) {
  EXPECT_EQ(message<ShapeError>([] { infer<Reshape>({f32({2, 3})}, {{"shape", List{4}}}); }),
            "reshape: expects 6 elements, got f32[2,3] for shape [4]");
  EXPECT_EQ(message<ShapeError>([] { infer<Reshape>({f32({1})}, {{"shape", List{-1, -1}}}); }),
            "reshape: expects extents that are not negative, got [-1,-1]");
}

TEST(Typing, AbsurdSizesAreRefused) {
  const int64_t big = int64_t{1} << 40;
  EXPECT_EQ(message<ShapeError>([&] { infer<Broadcast>({f32({})}, {{"axes", List{}}, {"shape", List{big, big}}}); }),
            "broadcast: the result f32[1099511627776,1099511627776] has too many elements");
  EXPECT_EQ(message<ShapeError>([&] {
              infer<Pad>({f32({2}), f32({})},
                         {{"low", List{INT64_MAX}}, {"high", List{INT64_MAX}}, {"interior", List{INT64_MAX}}});
            }),
            "pad: dimension 0 of f32[2] is padded too far");
  EXPECT_EQ(message<ShapeError>([&] { infer<Neg>({f32({0, big, big})}); }),
            "neg: f32[0,1099511627776,1099511627776] has too many elements");
}

TEST(Typing, SliceStaysInside) {
  const auto slice = [](int64_t start, int64_t limit, int64_t stride) {
    return infer<Slice>({f32({5})}, {{"start", List{start}}, {"limit", List{limit}}, {"stride", List{stride}}});
  };
  EXPECT_EQ(slice(1, 5, 3), (std::vector{f32({2})}));
  EXPECT_EQ(slice(5, 5, 1), (std::vector{f32({0})}));
  EXPECT_EQ(message<ShapeError>([&] { slice(1, 6, 1); }),
            "slice: expects 0 <= start <= limit <= extent, got 1:6 in dimension 0 of f32[5]");
  EXPECT_EQ(message<ShapeError>([&] { slice(0, 5, 0); }), "slice: expects a positive stride, got [0]");
}

TEST(Typing, PadMayCut) {
  EXPECT_EQ(infer<Pad>({f32({5}), f32({})}, {{"low", List{-2}}, {"high", List{1}}, {"interior", List{1}}}),
            (std::vector{f32({8})}));
  EXPECT_EQ(message<ShapeError>(
                [] { infer<Pad>({f32({2}), f32({})}, {{"low", List{-3}}, {"high", List{0}}, {"interior", List{0}}}); }),
            "pad: low -3 and high 0 cut more than dimension 0 of f32[2] has");
}

TEST(Typing, ConcatenateWantsEqualExtentsElsewhere) {
  EXPECT_EQ(infer<Concatenate>({f32({2, 3}), f32({5, 3})}, {{"axis", int64_t{0}}}), (std::vector{f32({7, 3})}));
  EXPECT_EQ(message<ShapeError>([] { infer<Concatenate>({f32({2, 3}), f32({2, 4})}, {{"axis", int64_t{0}}}); }),
            "concatenate: operands differ in shape besides axis 0, got f32[2,3] and f32[2,4]");
}

TEST(Typing, BitcastKeepsTheWidth) {
  EXPECT_EQ(message<DTypeError>([] { infer<Bitcast>({f32({})}, {{"dtype", DType::f64}}); }),
            "bitcast: expects a dtype of the width of f32, got f64");
  EXPECT_THROW(infer<Bitcast>({{DType::bool_, {}}}, {{"dtype", DType::u8}}), DTypeError);
}

TEST(Typing, ArgmaxOfNothingIsAShapeError) {
  EXPECT_EQ(message<ShapeError>([] { infer<Argmax>({f32({3, 0})}, {{"axis", int64_t{1}}, {"dtype", DType::i32}}); }),
            "argmax: axis 1 of f32[3,0] is empty");
  EXPECT_EQ(message<ShapeError>([] { infer<Argmax>({f32({129})}, {{"axis", int64_t{0}}, {"dtype", DType::i8}}); }),
            "argmax: axis 0 of f32[129] is too long for indices of i8");
  EXPECT_NO_THROW(infer<Argmax>({f32({128})}, {{"axis", int64_t{0}}, {"dtype", DType::i8}}));
}

TEST(Typing, DotGeneralNamesTheDimensions) {
  const auto dot = [](const Type& a, const Type& b) {
    return infer<DotGeneral>(
        {a, b}, {{"lhs_contract", List{2}}, {"rhs_contract", List{1}}, {"lhs_batch", List{0}}, {"rhs_batch", List{0}}});
  };
  EXPECT_EQ(dot(f32({2, 3, 4}), f32({2, 4, 5})), (std::vector{f32({2, 3, 5})}));
  EXPECT_EQ(message<ShapeError>([&] { dot(f32({2, 3, 4}), f32({2, 5, 5})); }),
            "dot_general: contracted dimensions 2 of f32[2,3,4] and 1 of f32[2,5,5] differ");
  EXPECT_EQ(message<DTypeError>([&] { dot(f32({2, 3, 4}), i32({2, 4, 5})); }),
            "dot_general: operands differ in dtype, got f32[2,3,4] and i32[2,4,5]");
}

TEST(Typing, DynamicSliceWantsAStartForEachDimension) {
  EXPECT_EQ(message<ShapeError>([] { infer<DynamicSlice>({f32({4, 4}), i32({})}, {{"sizes", List{1, 1}}}); }),
            "dynamic_slice: expects a start for each dimension of f32[4,4], got 1");
  EXPECT_EQ(message<ShapeError>([] { infer<DynamicSlice>({f32({4}), i32({})}, {{"sizes", List{5}}}); }),
            "dynamic_slice: sizes [5] do not fit into f32[4]");
  EXPECT_EQ(message<DTypeError>([] { infer<DynamicSlice>({f32({4}), f32({})}, {{"sizes", List{1}}}); }),
            "dynamic_slice: expects integer, got f32[]");
}

Attributes row_gather(int64_t size, const std::string& mode = "fill") {
  return {{"offset_dims", List{1}},
          {"collapsed_slice_dims", List{0}},
          {"start_index_map", List{0}},
          {"operand_batching_dims", List{}},
          {"indices_batching_dims", List{}},
          {"slice_sizes", List{1, size}},
          {"mode", mode}};
}

TEST(Typing, GatherOfRows) {
  EXPECT_EQ(infer<Gather>({f32({5, 3}), i32({7, 1})}, row_gather(3)), (std::vector{f32({7, 3})}));
  EXPECT_EQ(message<ShapeError>([] { infer<Gather>({f32({5, 3}), i32({7, 1})}, row_gather(4)); }),
            "gather: slice_sizes [1,4] do not fit into f32[5,3]");
  EXPECT_EQ(message<ShapeError>([] { infer<Gather>({f32({5, 3}), i32({7, 2})}, row_gather(3)); }),
            "gather: expects index vectors of 1 components for start_index_map [0], got i32[7,2]");
  EXPECT_EQ(message<CompileError>([] { infer<Gather>({f32({5, 3}), i32({7, 1})}, row_gather(3, "wrap")); }),
            "gather: expects mode fill, zero or clip, got wrap");
}

TEST(Typing, ScatterWantsUpdatesOfTheIndicesShape) {
  const Attributes rows{{"update_window_dims", List{1}},
                        {"inserted_window_dims", List{0}},
                        {"scatter_dims_to_operand_dims", List{0}},
                        {"operand_batching_dims", List{}},
                        {"indices_batching_dims", List{}}};
  EXPECT_EQ(infer<ScatterAdd>({f32({5, 3}), i32({7, 1}), f32({7, 3})}, rows), (std::vector{f32({5, 3})}));
  EXPECT_EQ(message<ShapeError>([&] { infer<ScatterAdd>({f32({5, 3}), i32({7, 1}), f32({6, 3})}, rows); }),
            "scatter_add: updates f32[6,3] and indices i32[7,1] differ in dimension 0");
  EXPECT_EQ(message<ShapeError>([&] { infer<ScatterAdd>({f32({5, 3}), i32({7, 1}), f32({7, 4})}, rows); }),
            "scatter_add: windows of f32[7,4] do not fit into f32[5,3]");
}

/// A graph that returns the inputs with the indices `outputs`.
Graph pass(const std::vector<Type>& inputs, const std::vector<size_t>& outputs) {
  Graph g;
  std::vector<Value> values;
  for (const Type& t : inputs) values.push_back(g.add_input(t));
  std::vector<Value> results;
  for (const size_t i : outputs) results.push_back(values[i]);
  g.set_outputs(results);
  return g;
}

TEST(Typing, CondWantsBranchesThatAgree) {
  const std::vector<Type> types{f32({2}), f32({3})};
  EXPECT_EQ(infer<Cond>({{DType::bool_, {}}, types[0], types[1]}, {}, {pass(types, {1}), pass(types, {1})}),
            (std::vector{f32({3})}));
  EXPECT_EQ(message<ShapeError>([&] {
              infer<Cond>({{DType::bool_, {}}, types[0], types[1]}, {}, {pass(types, {0}), pass(types, {1})});
            }),
            "cond: branches differ, result of branch 1, 0: expects f32[2], got f32[3]");
  EXPECT_EQ(message<DTypeError>([&] { infer<Cond>({f32({})}, {}, {pass({}, {}), pass({}, {})}); }),
            "cond: expects a predicate bool[], got f32[]");
}

TEST(Typing, ScanCarryKeepsItsType) {
  const Attributes attributes{{"consts", int64_t{0}},
                              {"carry", int64_t{1}},
                              {"length", int64_t{4}},
                              {"reverse", false},
                              {"unroll", int64_t{1}}};
  const std::vector<Type> body{f32({3}), {DType::f64, {3}}};
  EXPECT_EQ(message<DTypeError>([&] { infer<Scan>({f32({3}), {DType::f64, {4, 3}}}, attributes, {pass(body, {1})}); }),
            "scan: carry changes type, f32[3] in and f64[3] out (carry 0)");
  EXPECT_EQ(infer<Scan>({f32({3}), {DType::f64, {4, 3}}}, attributes, {pass(body, {0, 1})}),
            (std::vector<Type>{f32({3}), {DType::f64, {4, 3}}}));
  EXPECT_EQ(message<ShapeError>([&] { infer<Scan>({f32({3}), {DType::f64, {5, 3}}}, attributes, {pass(body, {0})}); }),
            "scan: expects xs of leading extent 4, got f64[5,3]");
}

TEST(Typing, WhileWantsOneBoolOverTheLanes) {
  const Attributes attributes{{"cond_consts", int64_t{0}}, {"body_consts", int64_t{0}}};
  const std::vector<Type> carry{{DType::bool_, {3}}, f32({2})};
  EXPECT_EQ(message<ShapeError>([&] { infer<While>(carry, attributes, {pass(carry, {0}), pass(carry, {0, 1})}); }),
            "while: a condition bool[3] expects carries whose shape starts with [3], got f32[2]");
  EXPECT_EQ(message<DTypeError>([&] { infer<While>(carry, attributes, {pass(carry, {1}), pass(carry, {0, 1})}); }),
            "while: expects a condition that gives one bool, got f32[2]");
  EXPECT_EQ(message<ShapeError>([&] {
              const std::vector<Type> two{f32({2}), f32({3})};
              infer<While>(two, attributes, {pass(two, {0}), pass(two, {1, 0})});
            }),
            "while: carry changes type, f32[2] in and f32[3] out (carry 0)");
}

TEST(Typing, CustomVjpCotangentsHaveTheTypesOfResultsAndOperands) {
  const std::vector<Type> x{f32({2})};
  EXPECT_EQ(infer<CustomVjp>(x, {}, {pass(x, {0}), pass(x, {0, 0}), pass({x[0], x[0]}, {1})}), x);
  EXPECT_EQ(message<CompileError>([&] { infer<CustomVjp>(x, {}, {pass(x, {0}), pass(x, {0, 0}), pass(x, {0})}); }),
            "custom_vjp: input of bwd: expects 2 values, got 1");
}

TEST(Typing, CustomRootEquationsHaveTheTypesOfSolutions) {
  const std::vector<Type> p{f32({3})}, x{f32({2})};
  const std::vector<Type> xp{x[0], p[0]}, xxp{x[0], x[0], p[0]};
  const Graph solve = [] {
    Graph g;
    g.add_input(f32({3}));
    g.set_outputs({g.add_literal(make_literal(DType::f32, int64_t{1}), f32({2})),
                   g.add_literal(make_literal(DType::i32, int64_t{1}), {DType::i32, {}})});
    return g;
  }();
  EXPECT_EQ(infer<CustomRoot>(p, {}, {solve, pass(xp, {0}), pass(xxp, {0})}),
            (std::vector<Type>{f32({2}), {DType::i32, {}}}));
  EXPECT_EQ(message<CompileError>([&] { infer<CustomRoot>(p, {}, {solve, pass(xp, {0}), pass(xp, {0})}); }),
            "custom_root: input of tangent_solve: expects 3 values, got 2");
  EXPECT_EQ(message<CompileError>([&] { infer<CustomRoot>(p, {}, {solve, pass(xp, {0, 0, 0}), pass(xxp, {0})}); }),
            "custom_root: solve gives 2 values, expects 3");
  const std::vector<Type> i{{DType::i32, {}}};
  EXPECT_EQ(message<DTypeError>([&] {
              infer<CustomRoot>(i, {}, {pass(i, {0}), pass({i[0], i[0]}, {0}), pass({i[0], i[0], i[0]}, {0})});
            }),
            "custom_root: solves for floating or complex values, got i32[]");
}

TEST(Typing, LinearSolveHasAsManyUnknownsAsEquations) {
  const std::vector<Type> ab{f32({3}), f32({2})};
  const Graph one = pass(ab, {1});
  EXPECT_EQ(infer<LinearSolve>(ab, {}, {one, one}), (std::vector<Type>{f32({2})}));
  EXPECT_EQ(infer<LinearSolve>(ab, {}, {one, one, one, one}), (std::vector<Type>{f32({2})}));
  EXPECT_EQ(message<CompileError>([&] { infer<LinearSolve>(ab, {}, {one, one, one}); }),
            "linear_solve: has vecmat without transpose_solve");
  EXPECT_EQ(message<CompileError>([&] { infer<LinearSolve>(ab, {}, {one, pass(ab, {1, 1})}); }),
            "linear_solve: solve gives 1 values, expects 2");
}

TEST(Typing, DebugPrintCountsItsPlaceholders) {
  const auto print = [](const std::string& format) { infer<DebugPrint>({f32({})}, {{"format", format}}); };
  EXPECT_NO_THROW(print("{{x}} = {}"));
  EXPECT_EQ(message<CompileError>([&] { print("{} {}"); }),
            "debug_print: the format has 2 placeholders for 1 operands");
  EXPECT_EQ(message<CompileError>([&] { print("{0}"); }),
            "debug_print: expects only {} in the format (write {{ for a brace), got \"{0}\"");
}

}  // namespace
}  // namespace calque::primitives
