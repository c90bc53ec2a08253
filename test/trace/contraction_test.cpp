// Products compared with the sums that define them.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/trace_eval.h"

namespace calque::test {
namespace {

namespace ops = detail::ops;

/// einsum by one loop over all letters.
AnyArray brute_force(const std::vector<std::string>& inputs, const std::string& output,
                     const std::vector<AnyArray>& xs) {
  std::map<char, int64_t> extents;
  for (size_t k = 0; k < xs.size(); ++k) {
    for (size_t d = 0; d < inputs[k].size(); ++d) extents[inputs[k][d]] = xs[k].shape()[d];
  }
  std::string letters = output;
  for (const auto& [c, n] : extents) {
    if (output.find(c) == std::string::npos) letters += c;
  }
  std::vector<int64_t> all, result;
  for (char c : letters) all.push_back(extents[c]);
  for (char c : output) result.push_back(extents[c]);
  AnyArray out = AnyArray::full<double>(Shape(result), 0);
  const auto strides = row_major_strides(out.shape());
  for_each_index(Shape(all), [&](const std::vector<int64_t>& index) {
    double product = 1;
    for (size_t k = 0; k < xs.size(); ++k) {
      std::vector<int64_t> own;
      for (char c : inputs[k]) own.push_back(index[letters.find(c)]);
      product *= at<double>(xs[k], own);
    }
    int64_t offset = 0;
    for (size_t d = 0; d < result.size(); ++d) offset += index[d] * strides[d];
    static_cast<double*>(out.mutable_data())[offset] += product;
  });
  return out;
}

void expect_close(const AnyArray& got, const AnyArray& want, const std::string& what) {
  ASSERT_EQ(got.type(), want.type()) << what;
  for (int64_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got.data_as<double>()[i], want.data_as<double>()[i], 1e-12) << what << " at " << i;
  }
}

TEST(Einsum, IsTheSumOverItsLetters) {
  const std::map<char, int64_t> extents{{'i', 3}, {'j', 4}, {'k', 2}, {'l', 5}, {'b', 2}, {'h', 3}};
  std::mt19937 generator(11);
  for (const std::string spec : {"ij,jk->ik",       "ij,jk->ki",   "bij,bjk->bik", "ij,ij->",      "ii->i",
                                 "iij->j",          "iji->ij",     "iii->i",       "ii,ii->i",     "ij->j",
                                 "i,j->ij",         "ij,k->kij",   "ijk,ik->ij",   "ij,jk,kl->li", "i,ij,j->",
                                 "bhij,bhkj->bhik", "ijkl,lk->ij", "ij,kl->",      "ij,ij->ji",    "b,bi,bij->j",
                                 "ij,jk,ki->",      "->",          "i->",          "jk,j->kj"}) {
    std::vector<std::string> inputs;
    std::vector<AnyArray> xs;
    const std::string output = spec.substr(spec.find("->") + 2);
    std::stringstream list(spec.substr(0, spec.find("->")));
    for (std::string one; std::getline(list, one, ',');) inputs.push_back(one);
    if (inputs.empty()) inputs.emplace_back();
    for (const std::string& input : inputs) {
      std::vector<int64_t> shape;
      for (char c : input) shape.push_back(extents.at(c));
      xs.push_back(random_array<double>(Shape(shape), generator));
    }
    const AnyArray got = result_of(xs, [&](const auto& o) { return ops::einsum(spec, o, kHere); });
    expect_close(got, brute_force(inputs, output, xs), spec);
  }
}

TEST(Einsum, WithoutAnOutputKeepsSingleLettersSorted) {
  std::mt19937 generator(12);
  const std::vector<AnyArray> xs{random_array<double>({3, 4}, generator), random_array<double>({2, 3}, generator)};
  const AnyArray got = result_of(xs, [&](const auto& o) { return ops::einsum("zb, az", o, kHere); });
  expect_close(got, brute_force({"zb", "az"}, "ab", xs), "zb,az");
}

TEST(Einsum, BroadcastsWhatStandsUnderDots) {
  std::mt19937 generator(13);
  const auto reshaped = [](const AnyArray& a, const Shape& shape) {
    AnyArray out = AnyArray::uninitialized({a.dtype(), shape});
    std::copy_n(a.data_as<double>(), a.size(), static_cast<double*>(out.mutable_data()));
    return out;
  };
  const auto expect = [&](const std::string& spec, const std::vector<AnyArray>& xs, const AnyArray& want) {
    expect_close(result_of(xs, [&](const auto& o) { return ops::einsum(spec, o, kHere); }), want, spec);
  };
  const AnyArray x = random_array<double>({2, 3, 4}, generator), y = random_array<double>({5, 4, 2}, generator);
  const AnyArray thin = reshaped(x, {2, 1, 3, 4});
  expect("...ij,...jk->...ik", {thin, y}, brute_force({"aij", "bjk"}, "abik", {x, y}));
  expect("...ij,...jk", {thin, y}, brute_force({"aij", "bjk"}, "abik", {x, y}));
  expect("i...->...", {x}, brute_force({"iab"}, "ab", {x}));
  expect("...", {x}, x);
  expect("a...b,bc->a...c", {x, reshaped(y, {4, 10})}, brute_force({"aib", "bc"}, "aic", {x, reshaped(y, {4, 10})}));
  expect("ijk...->kji...", {x}, brute_force({"ijk"}, "kji", {x}));
}

TEST(Einsum, SaysWhatIsWrongUnderDots) {
  const auto shape_words = [](const char* spec, Shape a, Shape b) {
    return words_of<ShapeError>({{DType::f32, a}, {DType::f32, b}},
                                [&](const auto& o) { ops::einsum(spec, o, kHere); });
  };
  EXPECT_EQ(shape_words("...i,...i->...i", {2, 4}, {3, 4}),
            "einsum: dimensions under '...' do not broadcast, 2 and, in f32[3,4], 3 (model.cpp:42)");
  EXPECT_EQ(shape_words("...i,i->i", {2, 4}, {4}),
            "einsum: the output of \"...i,i->i\" lacks '...' for 1 dimension (model.cpp:42)");
  EXPECT_EQ(shape_words("...ij,i->i", {2}, {2}),
            "einsum: \"...ij\" is for an array of rank 2 or more, got f32[2] (model.cpp:42)");
  const auto words = [](const char* spec) {
    return words_of<ParseError>({{DType::f32, Shape{2, 2}}}, [&](const auto& o) { ops::einsum(spec, o, kHere); });
  };
  EXPECT_EQ(words("..i->i"), "einsum: expected '...' at column 1 of \"..i->i\" (model.cpp:42)");
  EXPECT_EQ(words("...i...->i"),
            "einsum: '...' stands twice in one array at column 5 of \"...i...->i\" (model.cpp:42)");
  EXPECT_EQ(words("ij->...i"), "einsum: the output's '...' is in no input at column 5 of \"ij->...i\" (model.cpp:42)");
}

TEST(Einsum, ReadsItsTextWithCare) {
  const auto words = [](const char* spec) {
    return words_of<ParseError>({{DType::f32, Shape{2, 2}}}, [&](const auto& o) { ops::einsum(spec, o, kHere); });
  };
  EXPECT_EQ(words("ij->j->"),
            "einsum: expected letters, ',' or one '->', got '-' at column 6 of \"ij->j->\" (model.cpp:42)");
  EXPECT_EQ(words("i1->i"),
            "einsum: expected letters, ',' or one '->', got '1' at column 2 of \"i1->i\" (model.cpp:42)");
  EXPECT_EQ(words("ij->ii"), "einsum: the output has 'i' twice at column 6 of \"ij->ii\" (model.cpp:42)");
  EXPECT_EQ(words("ij->k"), "einsum: the output's 'k' is in no input at column 5 of \"ij->k\" (model.cpp:42)");
}

TEST(Matmul, BroadcastsBatchDimensions) {
  std::mt19937 generator(13);
  struct Case {
    Shape a, b;
    std::string spec_a, spec_b, out;
    Shape result;
  };
  const Case cases[] = {
      {{2, 3}, {3, 4}, "ij", "jk", "ik", {2, 4}},
      {{3}, {3, 4}, "j", "jk", "k", {4}},
      {{2, 3}, {3}, "ij", "j", "i", {2}},
      {{3}, {3}, "j", "j", "", {}},
      {{5, 2, 3}, {3, 4}, "bij", "jk", "bik", {5, 2, 4}},
      {{2, 3}, {5, 3, 4}, "ij", "bjk", "bik", {5, 2, 4}},
      {{5, 2, 3}, {5, 3, 4}, "bij", "bjk", "bik", {5, 2, 4}},
      {{5, 1, 2, 3}, {6, 3, 4}, "bxij", "cjk", "bcik", {5, 6, 2, 4}},
      {{3}, {5, 3, 4}, "j", "bjk", "bk", {5, 4}},
      {{5, 2, 3}, {3}, "bij", "j", "bi", {5, 2}},
      {{1, 2, 3}, {5, 3, 4}, "xij", "bjk", "bik", {5, 2, 4}},
  };
  for (const Case& c : cases) {
    const std::vector<AnyArray> xs{random_array<double>(c.a, generator), random_array<double>(c.b, generator)};
    const AnyArray got = result_of(xs, [&](const auto& o) { return ops::matmul(o[0], o[1], kHere); });
    const AnyArray want = brute_force({c.spec_a, c.spec_b}, c.out, xs);
    expect_close(got, AnyArray({DType::f64, c.result}, want.storage()), c.spec_a + "," + c.spec_b);
  }
}

TEST(Matmul, NamesTheOperandsThatDoNotFit) {
  EXPECT_EQ(words_of<ShapeError>({{DType::f32, Shape{3, 4}}, {DType::f32, Shape{5, 2}}},
                                 [](const auto& o) { ops::matmul(o[0], o[1], kHere); }),
            "matmul: inner dimensions differ, got f32[3,4] and f32[5,2] (model.cpp:42)");
  EXPECT_EQ(words_of<ShapeError>({{DType::f32, Shape{2, 3, 4}}, {DType::f32, Shape{3, 4, 2}}},
                                 [](const auto& o) { ops::matmul(o[0], o[1], kHere); }),
            "matmul: batch dimensions do not broadcast, got f32[2,3,4] and f32[3,4,2] (model.cpp:42)");
}

TEST(Dot, IsNumPys) {
  std::mt19937 generator(14);
  const std::vector<AnyArray> xs{random_array<double>({2, 3, 4}, generator),
                                 random_array<double>({5, 4, 6}, generator)};
  expect_close(result_of(xs, [&](const auto& o) { return ops::dot(o[0], o[1], kHere); }),
               brute_force({"abj", "cjd"}, "abcd", xs), "dot");
  const AnyArray s = scalar(2.0);
  expect_close(result_of({xs[0], s}, [&](const auto& o) { return ops::dot(o[0], o[1], kHere); }),
               brute_force({"abj", ""}, "abj", {xs[0], s}), "dot with a scalar");
}

TEST(Tensordot, SumsOverPairsOfAxes) {
  std::mt19937 generator(15);
  const std::vector<AnyArray> xs{random_array<double>({3, 4, 2}, generator),
                                 random_array<double>({2, 5, 3}, generator)};
  const std::vector<int> a{0, -1}, b{2, 0};
  expect_close(result_of(xs, [&](const auto& o) { return ops::tensordot(o[0], o[1], a, b, kHere); }),
               brute_force({"iaj", "jbi"}, "ab", xs), "tensordot");
  expect_close(result_of({xs[0], xs[1]}, [&](const auto& o) { return ops::tensordot(o[0], o[1], 1, kHere); }),
               brute_force({"abj", "jcd"}, "abcd", xs), "tensordot 1");
  expect_close(result_of({xs[0], xs[1]}, [&](const auto& o) { return ops::tensordot(o[0], o[1], 0, kHere); }),
               brute_force({"abc", "def"}, "abcdef", xs), "tensordot 0");
}

TEST(Outer, FlattensItsOperands) {
  std::mt19937 generator(16);
  const std::vector<AnyArray> xs{random_array<double>({3}, generator), random_array<double>({4}, generator)};
  expect_close(result_of(xs, [&](const auto& o) { return ops::outer(o[0], o[1], kHere); }),
               brute_force({"i", "j"}, "ij", xs), "outer");
}

// ---- convolution

struct Convolution {
  Shape x, w;
  ConvOptions options;
  std::vector<std::pair<int64_t, int64_t>> padding;  // the padding that the options mean
  Shape result;
};

class Conv : public testing::TestWithParam<Convolution> {};

TEST_P(Conv, IsTheSumOverTheWindow) {
  const Convolution& c = GetParam();
  std::mt19937 generator(17);
  const AnyArray x = random_array<double>(c.x, generator), w = random_array<double>(c.w, generator);
  const AnyArray got = result_of({x, w}, [&](const auto& o) { return ops::conv(o[0], o[1], c.options, kHere); });
  ASSERT_EQ(got.shape(), c.result);
  const size_t spatial = c.x.size() - 2;
  const int64_t groups = c.options.groups, in_group = c.w[spatial], out_group = c.w[spatial + 1] / groups;
  for_each_index(c.result, [&](const std::vector<int64_t>& p) {
    const int64_t group = p[spatial + 1] / out_group;
    double sum = 0;
    for_each_index(Shape(std::vector<int64_t>(c.w.begin(), c.w.end() - 1)), [&](const std::vector<int64_t>& k) {
      std::vector<int64_t> in{p[0]}, kernel = k;
      for (size_t d = 0; d < spatial; ++d) {
        const int64_t stride = c.options.strides.empty() ? 1 : c.options.strides[d];
        const int64_t dilation = c.options.dilation.empty() ? 1 : c.options.dilation[d];
        in.push_back(p[d + 1] * stride + k[d] * dilation - c.padding[d].first);
        if (in.back() < 0 || in.back() >= c.x[d + 1]) return;
      }
      in.push_back(group * in_group + k[spatial]);
      kernel.push_back(p[spatial + 1]);
      sum += at<double>(x, in) * at<double>(w, kernel);
    });
    EXPECT_NEAR(at<double>(got, p), sum, 1e-12);
  });
}

INSTANTIATE_TEST_SUITE_P(
    Geometries, Conv,
    testing::Values(
        Convolution{{2, 7, 3}, {3, 3, 4}, {}, {{0, 0}}, {2, 5, 4}},
        Convolution{{1, 6, 5, 2}, {3, 2, 2, 3}, {.padding = same}, {{1, 1}, {0, 1}}, {1, 6, 5, 3}},
        Convolution{{2, 7, 8, 2}, {3, 3, 2, 2}, {.strides = {2, 3}, .padding = same}, {{1, 1}, {0, 1}}, {2, 4, 3, 2}},
        Convolution{{1, 9, 2}, {3, 2, 1}, {.strides = {2}, .padding = {{2, 1}}, .dilation = {3}}, {{2, 1}}, {1, 3, 1}},
        Convolution{{2, 5, 5, 4}, {2, 3, 2, 6}, {.groups = 2}, {{0, 0}, {0, 0}}, {2, 4, 3, 6}},
        Convolution{{1, 5, 4}, {3, 1, 4}, {.padding = {{-1, 2}}, .groups = 4}, {{-1, 2}}, {1, 4, 4}},
        Convolution{{1, 3, 4, 3, 2}, {2, 2, 2, 2, 1}, {}, {{0, 0}, {0, 0}, {0, 0}}, {1, 2, 3, 2, 1}},
        Convolution{{3, 4}, {4, 5}, {}, {}, {3, 5}}, Convolution{{2, 2, 1}, {3, 1, 1}, {}, {{0, 0}}, {2, 0, 1}}));

TEST(ConvErrors, NameShapesAndOptions) {
  const auto words = [](const Shape& x, const Shape& w, const ConvOptions& options) {
    return words_of<ShapeError>({{DType::f32, x}, {DType::f32, w}},
                                [&](const auto& o) { ops::conv(o[0], o[1], options, kHere); });
  };
  EXPECT_EQ(words({2, 7, 3}, {3, 2, 4}, {}),
            "conv: w must have 3 input channels, got f32[2,7,3] and f32[3,2,4] (model.cpp:42)");
  EXPECT_EQ(
      words({2, 7, 3}, {3, 3}, {}),
      "conv: needs x [N, spatial..., C] and w [spatial..., C / groups, O] of one rank, got f32[2,7,3] and f32[3,3] "
      "(model.cpp:42)");
  EXPECT_EQ(words({2, 7, 3}, {3, 3, 4}, {.strides = {1, 1}}),
            "conv: strides needs one number for each of 1 spatial dimensions, got 2 (model.cpp:42)");
  EXPECT_EQ(words({2, 7, 3}, {3, 1, 4}, {.groups = 2}),
            "conv: channels of f32[2,7,3] and f32[3,1,4] do not divide into 2 groups (model.cpp:42)");
}

}  // namespace
}  // namespace calque::test
