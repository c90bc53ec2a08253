// More options of functions with NumPy's names, and of arrays: the values are those of JAX 0.10.
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;
using F = Array<float>;
using I = Array<int32_t>;
using B = Array<bool>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

bool close(const D& a, const D& b) { return allclose(a, b, 1e-12, 1e-13, true); }

TEST(MoreOptions, EveryElementAndOneMore) {
  const D x = {{1, 4}, {3, 2}};
  EXPECT_TRUE(array_equal(amax(x, {.where = all, .axes = 1, .initial = 3.5}), D{4, 3.5}));
  EXPECT_TRUE(array_equal(sum(x, {.where = all, .initial = 10}), D(20.0)));
  EXPECT_TRUE(array_equal(amin(D::zeros({0}), {.where = all, .initial = 7}), D(7.0)));
  EXPECT_TRUE(array_equal(jit([](auto v) { return prod(v, {.where = all, .axes = 0, .initial = 2}); })(x), D{6, 16}));
}

TEST(MoreOptions, ReductionsOfNumbersUnderMasks) {
  const D x = {{1, kNaN, 3}, {kNaN, kNaN, 5}};
  const B m = {true, true, false};
  EXPECT_TRUE(close(nanmax(x, {.where = m, .axes = 1, .initial = 0.5}), D{1, 0.5}));
  EXPECT_TRUE(close(nanmax(x, {.where = m, .axes = 1}), D{1, kNaN}));
  EXPECT_TRUE(close(nanmin(x, {.where = all, .axes = 0, .keepdims = keepdims}), D{{1, kNaN, 3}}));
  EXPECT_TRUE(array_equal(nanmin(I{4, 2, 1}, {.where = m}), I(2)));
  EXPECT_TRUE(close(nansum(x, {.where = m, .axes = 1, .initial = 10}), D{11, 10}));
  EXPECT_TRUE(close(nanprod(x, {.where = m, .axes = 1, .initial = 3}), D{3, 3}));
  EXPECT_TRUE(close(nanvar(D{1, kNaN, 3, 8}, {.where = B{true, true, true, false}, .ddof = 1}), D(2.0)));
  EXPECT_TRUE(close(nanstd(D{1, kNaN, 3, 8}, {.where = B{true, true, true, false}}), D(1.0)));
  EXPECT_TRUE(close(nanvar(x, {.axes = 1, .ddof = 0}), D{1, 0}));
  EXPECT_TRUE(close(jit([&](auto mask) { return nanmax(x, {.where = mask}); })(m), D(1.0)));
  EXPECT_THROW((void)nanmax(D::zeros({0}), {.where = B(true)}), ShapeError);
  EXPECT_TRUE(array_equal(nanargmax(x, 1, keepdims), I{{2}, {2}}));
  EXPECT_TRUE(array_equal(nanargmin(x, 0, keepdims), I{{0, -1, 0}}));
}

TEST(MoreOptions, SoftmaxUnderMasks) {
  const D x = {{1, 2, 3}, {4, 5, 6}};
  const B m = {{true, true, false}, {false, false, false}};
  EXPECT_TRUE(close(softmax(x, {.where = m}), D{{0.2689414213699951, 0.7310585786300049, 0}, {0, 0, 0}}));
  EXPECT_TRUE(close(log_softmax(x, {.where = m}),
                    D{{-1.3132616875182228, -0.31326168751822286, -kInf}, {-kInf, -kInf, -kInf}}));
  EXPECT_TRUE(close(softmax(x), softmax(x, 1)));
  EXPECT_TRUE(close(softmax(x, {.where = all, .axis = 0}), softmax(x, 0)));
  // Rows without elements have derivatives of 0.
  EXPECT_TRUE(close(grad([&](auto v) { return sum(softmax(v, {.where = m}) * v); })(D{{0, 0, 1}, {1, 2, 3}}),
                    D{{0.5, 0.5, 0}, {0, 0, 0}}));
  EXPECT_TRUE(close(logsumexp(D{1, 2, 3}, {.where = B{true, false, true}}), D(3.1269280110429727)));
  EXPECT_TRUE(close(logsumexp(x, {.where = m, .axes = 1, .keepdims = keepdims}), D{{2.3132616875182226}, {-kInf}}));
  EXPECT_TRUE(close(logmeanexp(D{1, 2, 3}, {.where = B{true, false, true}}), D(2.4337808304830273)));
  EXPECT_TRUE(close(logmeanexp(x, {.where = m, .axes = 1}), D{2.3132616875182226 - 0.6931471805599453, kNaN}));
  EXPECT_TRUE(close(logsumexp(D{1, 2, 3}, D{1, -2, 0.5}), D(kNaN)));
  const auto [logs, signs_of] = logsumexp(D{1, 2, 3}, D{1, -2, 0.5}, {}, signs);
  EXPECT_TRUE(close(logs, D(0.7016419515146479)));
  EXPECT_TRUE(close(signs_of, D(-1.0)));
  EXPECT_TRUE(close(logsumexp(D{kInf, 0}, D{0, 1}), D(0.0)));
  EXPECT_TRUE(close(logsumexp(D::zeros({0}), D::zeros({0})), D(-kInf)));
  EXPECT_TRUE(close(standardize(D{1, 3, 7}, {.where = B{true, true, false}}),
                    D{-0.9999950000374996, 0.9999950000374996, 4.999975000187498}));
  EXPECT_TRUE(close(standardize(D{1, 3, 7}, 2.0, 4.0), D{-0.4999993750011719, 0.4999993750011719, 2.4999968750058597}));
  EXPECT_THROW((void)softmax(x, {.where = B{true, false}}), ShapeError);
}

TEST(MoreOptions, Polynomials) {
  const D x = {0, 1, 2, 3}, y = {1, 3, 2, 5}, w = {1, 2, 1, 0.5};
  EXPECT_TRUE(close(polyfit(x, y, 1, {.w = w}), D{0.7432432432432424, 1.7972972972972971}));
  const auto [c, v] = polyfit_cov(x, y, 1);
  EXPECT_TRUE(close(c, D{1.1, 1.1}));
  EXPECT_TRUE(close(v, D{{0.27, -0.405}, {-0.405, 0.945}}));
  EXPECT_TRUE(close(std::get<1>(polyfit_cov(x, y, 1, {.w = w})),
                    D{{0.5683893352812267, -0.6138604821037248}, {-0.6138604821037248, 0.9321585098612116}}));
  EXPECT_TRUE(close(std::get<1>(polyfit_cov(x, y, 1, {.w = w, .unscaled = true})),
                    D{{0.3378378378378377, -0.3648648648648647}, {-0.3648648648648647, 0.5540540540540537}}));
  const D columns = std::get<1>(polyfit_cov(x, stack({y, D{25, 4, 9, 1}}, 1), 1));
  EXPECT_TRUE(close(columns, D{{{0.27, 11.83}, {-0.405, -17.745}}, {{-0.405, -17.745}, {0.945, 41.405}}}));
  EXPECT_THROW((void)polyfit_cov(D{1, 2}, D{1, 2}, 1), ShapeError);
  EXPECT_THROW((void)polyfit(x, y, 1, {.w = D{1}}), ShapeError);
  EXPECT_TRUE(close(polyint(D{6, 2}, 2, D{5, 4}), D{1, 1, 5, 4}));
  EXPECT_TRUE(close(polyint(D{6, 2}, 3, 7), D{0.25, 1.0 / 3, 3.5, 7, 7}));
  EXPECT_TRUE(close(polyder(polyint(D{6, 2, 1}, 3, D{3, 2, 1}), 3), D{6, 2, 1}));
  EXPECT_THROW((void)polyint(D{6, 2}, 3, D{5, 4}), ShapeError);
}

TEST(MoreOptions, FlattenedAndFilled) {
  const I x = {{1, 2}, {3, 4}};
  EXPECT_TRUE(array_equal(repeat(x, 2), I{1, 1, 2, 2, 3, 3, 4, 4}));
  EXPECT_TRUE(array_equal(repeat(x, {1, 0, 2, 1}), I{1, 3, 3, 4}));
  EXPECT_TRUE(array_equal(insert(x, {1}, 9), I{1, 9, 2, 3, 4}));
  EXPECT_TRUE(array_equal(delete_(x, {0, -1}), I{2, 3}));
  EXPECT_TRUE(array_equal(concatenate({x, x}), concatenate({x, x}, 0)));
  EXPECT_TRUE(array_equal(stack({x, x}), stack({x, x}, 0)));
  EXPECT_TRUE(array_equal(split(I{1, 2, 3, 4}, 2)[1], I{3, 4}));
  EXPECT_TRUE(array_equal(array_split(I{1, 2, 3}, {1})[1], I{2, 3}));
  EXPECT_TRUE(array_equal(compress(B{false, true, true}, I{{1, 2, 3}, {4, 5, 6}}, 1, {.size = 3, .fill_value = 9}),
                          I{{2, 3, 9}, {5, 6, 9}}));
  EXPECT_TRUE(array_equal(compress(B{false, true, true}, I{{1, 2, 3}, {4, 5, 6}}, 1), I{{2, 3}, {5, 6}}));
  EXPECT_TRUE(array_equal(compress(B{false, true, true}, x), I{2, 3}));
  EXPECT_TRUE(array_equal(compress(B{true, true, true}, x, {.size = 2}), I{1, 2}));
  EXPECT_TRUE(array_equal(extract(I{0, 1, 1}, I{1, 2, 3}, {.size = 3, .fill_value = -1}), I{2, 3, -1}));
  EXPECT_TRUE(array_equal(take(I{10, 20, 30}, I{2, 9, -1, -4}, 0, {.fill_value = 7}), I{30, 7, 30, 7}));
  EXPECT_TRUE(array_equal(take(I::zeros({0}), I{0}, 0, {.fill_value = 7}), I{7}));
  EXPECT_TRUE(array_equal(take(x, I{9}, mode::clip), I{4}));
  EXPECT_TRUE(array_equal(take(x, I{-1}, mode::wrap), I{4}));
  EXPECT_TRUE(array_equal(take_along_axis(x, I{{0, 5}, {-1, -3}}, 1, {.fill_value = 7}), I{{1, 7}, {4, 7}}));
  EXPECT_TRUE(array_equal(put_along_axis(I{{1, 2, 3}}, I{{5, -1}}, I{{8, 9}}, 1, mode::wrap), I{{1, 2, 9}}));
  EXPECT_TRUE(array_equal(put_along_axis(I{{1, 2, 3}}, I{{-5}}, 8, 1, mode::clip), I{{8, 2, 3}}));
  EXPECT_TRUE(array_equal(place(I{{0, 1, 2}, {3, 4, 5}}, B{{true, false, true}, {true, true, false}}, I{7, 8, 9}),
                          I{{7, 1, 8}, {9, 7, 5}}));
  EXPECT_TRUE(array_equal(place(x, x > 1, 0), I{{1, 0}, {0, 0}}));
  EXPECT_THROW((void)place(x, B{true, false}, 0), ShapeError);
  EXPECT_THROW((void)place(x, x > 1, I::zeros({0})), ShapeError);
  EXPECT_TRUE(array_equal(fill_diagonal(I::zeros({3, 3}), I{7, 8}), I{{7, 0, 0}, {0, 8, 0}, {0, 0, 7}}));
  EXPECT_TRUE(array_equal(fill_diagonal(I::zeros({3, 2}), I{7, 8}), I{{7, 0}, {0, 8}, {0, 0}}));
  EXPECT_THROW((void)fill_diagonal(x, I::zeros({0})), ShapeError);
}

TEST(MoreOptions, CumulativeWithoutElements) {
  EXPECT_TRUE(array_equal(cumsum(I{{1, 2}, {3, 4}}, {.axis = 1, .include_initial = true}), I{{0, 1, 3}, {0, 3, 7}}));
  EXPECT_TRUE(array_equal(cumprod(I{2, 3}, {.reverse = true, .include_initial = true}), I{6, 3, 1}));
  EXPECT_TRUE(array_equal(cummax(D{2, 1}, {.include_initial = true}), D{-kInf, 2, 2}));
  EXPECT_TRUE(array_equal(cumsum(D::zeros({0}), {.include_initial = true}), D{0}));
  const D f = {{1, 2, 6}, {3, 4, 5}};
  const std::vector<D> g = gradient(f, {2, 0.5}, {0, 1});
  EXPECT_TRUE(close(g[0], D{{1, 1, -0.5}, {1, 1, -0.5}}));
  EXPECT_TRUE(close(g[1], D{{2, 5, 8}, {2, 2, 2}}));
  EXPECT_TRUE(close(gradient(f, std::vector<double>{})[1], D{{1, 2.5, 4}, {1, 1, 1}}));
  EXPECT_THROW((void)gradient(f, {1, 2, 3}), ShapeError);
  EXPECT_THROW((void)gradient(f, {1, 2}, {0, 0}), ShapeError);
  const D xp = {0, 1, 2}, fp = {0, 10, 30};
  EXPECT_TRUE(close(interp(D{-1, 0.5, 4}, xp, fp, {.left = extrapolate, .right = extrapolate}), D{-10, 5, 70}));
  EXPECT_TRUE(close(interp(D{-1, 4}, xp, fp, {.left = 3, .right = extrapolate}), D{3, 70}));
  EXPECT_TRUE(close(interp(D{-1, 9}, D{1}, D{5}, {.left = extrapolate, .right = extrapolate}), D{5, 5}));
}

TEST(MoreOptions, Patches) {
  const D x = D::arange(16).reshape({1, 4, 2, 2}) + 1;
  EXPECT_TRUE(array_equal(
      conv_patches(x, {.window = {2, 2}, .strides = {2, 1}, .padding = {{0, 0}, {1, 0}}, .dilation = {2, 1}}),
      D{{{{0, 1, 0, 9, 0, 2, 0, 10}, {1, 3, 9, 11, 2, 4, 10, 12}}}}));
  // A convolution is the product of its windows and its kernel.
  const D w = D::arange(24).reshape({2, 3, 2, 2});
  const D patches = conv_patches(x, {.window = {2, 3}, .padding = same});
  EXPECT_TRUE(close(matmul(patches, reshape(transpose(w, {2, 0, 1, 3}), {12, 2})), conv(x, w, {.padding = same})));
  EXPECT_EQ(conv_patches(x, {.window = {5, 1}}).shape(), (Shape{1, 0, 2, 10}));
  EXPECT_THROW((void)conv_patches(x, {.window = {2}}), ShapeError);
  EXPECT_THROW((void)conv_patches(D{1}, {}), ShapeError);
}

TEST(MoreOptions, ShapesOfElements) {
  EXPECT_EQ(D::from(std::vector<double>(6), {-1, 3}).shape(), (Shape{2, 3}));
  EXPECT_EQ(D::from(std::span<const double>(), {0, 3}).shape(), (Shape{0, 3}));
  const auto message = [](const std::vector<int64_t>& shape) -> std::string {
    try {
      (void)D::from(std::vector<double>(6), shape);
    } catch (const ShapeError& e) {
      return e.what();
    }
    return "";
  };
  const auto begins = [&](const std::vector<int64_t>& shape, std::string_view text) {
    EXPECT_TRUE(message(shape).starts_with(text)) << message(shape);
  };
  begins({-1, 4}, "from: the extent for which -1 stands would not be a whole number, got 6 elements for shape [-1,4]");
  begins({-1, -1}, "from: only one extent can be -1, got 6 elements for shape [-1,-1]");
  begins({-1, 0}, "from: the extent for which -1 stands would not be a whole number, got 6 elements for shape [-1,0]");
  begins({-2, 3}, "from: an extent is at least 0, or -1 where it follows from the others, got 6 elements");
  begins({2, 2}, "from: shape [2,2] takes 4 elements, got 6");
}

}  // namespace
}  // namespace calque::test
