// Activations at the ends of their domains, pooling with ties, attention under masks, normalizations: values, errors.
#include <limits>

#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;
using F = Array<float>;
using I = Array<int32_t>;
using B = Array<bool>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

bool close(const D& a, const D& b, double tolerance = 1e-12) { return allclose(a, b, tolerance, tolerance, true); }

TEST(Layers, ActivationsHaveLimits) {
  const D x = {-kInf, kInf, kNaN};
  EXPECT_TRUE(close(relu6(x), D{0, 6, kNaN}));
  EXPECT_TRUE(close(elu(x, 2), D{-2, kInf, kNaN}));
  EXPECT_TRUE(close(celu(x, 2), D{-2, kInf, kNaN}));
  EXPECT_TRUE(close(silu(x), D{0, kInf, kNaN}));
  EXPECT_TRUE(close(gelu(x), D{0, kInf, kNaN}));
  EXPECT_TRUE(close(gelu(x, {.approximate = false}), D{0, kInf, kNaN}));
  EXPECT_TRUE(close(mish(x), D{0, kInf, kNaN}));
  EXPECT_TRUE(close(hard_silu(x), D{0, kInf, kNaN}));
  EXPECT_TRUE(close(soft_sign(x), D{-1, 1, kNaN}));
  EXPECT_TRUE(close(softplus(x), D{0, kInf, kNaN}));
  EXPECT_TRUE(close(log_sigmoid(x), D{-kInf, 0, kNaN}));
  EXPECT_TRUE(close(squareplus(x), D{0, kInf, kNaN}));
  EXPECT_TRUE(close(sparse_plus(x), D{0, kInf, kNaN}));
  EXPECT_TRUE(close(sparse_sigmoid(D{-2, 0, 2}), D{0, 0.5, 1}));
  EXPECT_TRUE(close(leaky_relu(D{-2, 3}), D{-0.02, 3}));
  EXPECT_TRUE(close(squareplus(D{0, -1, 2}, 0), D{0, 0, 2}));
  static_assert(std::same_as<decltype(silu(I{1})), F>);
  EXPECT_TRUE(close(grad([](auto v) { return sum(silu(v) + gelu(v) + mish(v)); })(D{-1000, 1000}), D{0, 3}));
  EXPECT_TRUE(close(log1mexp(D{1e-20, 1, 50, kInf, -1, kNaN}),
                    D{std::log(1e-20), std::log1p(-std::exp(-1)), -std::exp(-50), 0, kNaN, kNaN}, 1e-14));
  EXPECT_THROW(squareplus(x, -1), ShapeError);
  EXPECT_THROW(silu(Array<std::complex<float>>{1.0f}), DTypeError);
  EXPECT_THROW(glu(D{1, 2, 3}), ShapeError);
}

TEST(Layers, PoolingOfWindows) {
  const D x = reshape(D{1, 5, 2, 4, 3, 9}, {1, 6, 1});
  const auto flat = [](const D& y) { return reshape(y, {-1}); };
  EXPECT_TRUE(array_equal(flat(max_pool(x, {.window = {2}, .strides = {2}})), D{5, 4, 9}));
  EXPECT_TRUE(array_equal(flat(max_pool(x, {.window = {3}})), D{5, 5, 4, 9}));
  EXPECT_TRUE(array_equal(flat(min_pool(x, {.window = {3}, .padding = same})), D{1, 1, 2, 2, 3, 3}));
  EXPECT_TRUE(close(flat(avg_pool(x, {.window = {3}, .strides = {2}, .padding = {{1, 1}}})), D{3, 11.0 / 3, 16.0 / 3}));
  EXPECT_TRUE(
      close(flat(avg_pool(x, {.window = {3}, .strides = {2}, .padding = {{1, 1}}}, true)), D{2, 11.0 / 3, 16.0 / 3}));
  EXPECT_TRUE(array_equal(flat(sum_pool(x, {.window = {2}})), D{6, 7, 6, 7, 12}));
  EXPECT_EQ(max_pool(x, {.window = {7}}).shape(), (Shape{1, 0, 1}));
  EXPECT_EQ(max_pool(D::zeros({0, 4, 2}), {.window = {2}}).shape(), (Shape{0, 3, 2}));
  EXPECT_TRUE(array_equal(max_pool(reshape(Array<int8_t>{-5, -7}, {1, 2, 1}), {.window = {3}, .padding = same}),
                          reshape(Array<int8_t>{-5, -5}, {1, 2, 1})));
  static_assert(std::same_as<decltype(avg_pool(I{1}, {})), F>);
  EXPECT_THROW(max_pool(D{1}, {.window = {2}}), ShapeError);
  EXPECT_THROW(max_pool(x, {.window = {2, 2}}), ShapeError);
  EXPECT_THROW(max_pool(x, {.window = {0}}), ShapeError);
  EXPECT_THROW(max_pool(x, {.window = {2}, .padding = {{2, 0}}}), ShapeError);
}

TEST(Layers, RunningReductions) {
  const I x = {3, 1, 4, 1, 5};
  EXPECT_TRUE(array_equal(reduce_window(x, window_reduction::sum, {.window = {2}}), I{4, 5, 5, 6}));
  EXPECT_TRUE(array_equal(reduce_window(x, window_reduction::max, {.window = {3}, .padding = same}), I{3, 4, 4, 5, 5}));
  EXPECT_TRUE(array_equal(reduce_window(x, window_reduction::min, {.window = {2}, .strides = {2}}), I{1, 1}));
  EXPECT_TRUE(array_equal(reduce_window(I{{1, 2}, {3, 4}}, window_reduction::prod, {.window = {2, 2}}), I{{24}}));
  EXPECT_TRUE(array_equal(reduce_window(B{true, true}, window_reduction::sum, {.window = {2}}), I{2}));
  EXPECT_TRUE(array_equal(reduce_window(I(7), window_reduction::sum, {}), I(7)));
  EXPECT_THROW(reduce_window(x, window_reduction::sum, {.window = {2, 2}}), ShapeError);
  EXPECT_THROW(reduce_window(B{true}, window_reduction::max, {.window = {1}}), DTypeError);
}

/// Windows of every width, of which wide ones are combined by halves, against their definition.
TEST(Layers, PoolingOfWideWindows) {
  D x = D::zeros({1, 41, 1});
  for (int64_t i = 0; i < 41; ++i) x = x.set(0, i, 0, std::sin(static_cast<double>(i * i)));
  for (int64_t window = 1; window <= 41; window += 4) {
    for (const int64_t stride : {1, 2, 5}) {
      const PoolOptions options{{window}, {stride}, valid};
      const D most = max_pool(x, options), sums = sum_pool(x, options);
      ASSERT_EQ(most.shape()[1], (41 - window) / stride + 1);
      for (int64_t i = 0; i < most.shape()[1]; ++i) {
        double want = -kInf, sum = 0;
        for (int64_t k = i * stride; k < i * stride + window; ++k) {
          want = std::max(want, x.at(0, k, 0).item());
          sum += x.at(0, k, 0).item();
        }
        EXPECT_EQ(most.at(0, i, 0).item(), want);
        EXPECT_NEAR(sums.at(0, i, 0).item(), sum, 1e-13);
      }
    }
  }
}

TEST(Layers, TiesOfPoolingGoToTheFirst) {
  const D x = reshape(D{3, 1, 3, 3, 3, 2}, {1, 2, 3, 1});
  const auto f = [](auto v) { return sum(max_pool(v, {.window = {2, 2}})); };
  EXPECT_TRUE(array_equal(grad(f)(x), reshape(D{1, 0, 1, 0, 0, 0}, {1, 2, 3, 1})));
  const D wide = D::ones({1, 12, 1});
  EXPECT_TRUE(array_equal(grad([](auto v) { return sum(max_pool(v, {.window = {11}})); })(wide),
                          reshape(D{1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {1, 12, 1})));
  EXPECT_TRUE(std::isnan(sum(max_pool(reshape(D{kNaN, 1, 2}, {1, 3, 1}), {.window = {3}})).item()));
  EXPECT_TRUE(std::isnan(sum(max_pool(reshape(D{1, 2, kNaN}, {1, 3, 1}), {.window = {3}})).item()));
}

TEST(Layers, TransposedConvolutionIsTheTranspose) {
  // Of one channel, with valid padding: x[i] w[k] is added at i stride + (K - 1 - k).
  const D x = reshape(D{1, 10, 100}, {1, 3, 1}), w = reshape(D{1, 2, 3}, {3, 1, 1});
  EXPECT_TRUE(array_equal(reshape(conv_transpose(x, w, {.strides = {2}}), {-1}), D{3, 2, 31, 20, 310, 200, 100}));
  EXPECT_EQ(conv_transpose(x, w, {.strides = {2}, .padding = same}).shape(), (Shape{1, 6, 1}));
  EXPECT_EQ(conv_transpose(x, reshape(D{1}, {1, 1, 1}), {.strides = {4}}).shape(), (Shape{1, 12, 1}));
  EXPECT_THROW(conv_transpose(x, reshape(D{1, 2}, {1, 2, 1})), ShapeError);
  EXPECT_THROW(conv_transpose(x, w, {.strides = {1, 1}}), ShapeError);
}

TEST(Layers, AttentionUnderMasks) {
  const auto number = [](int64_t seed) {
    D x = D::zeros({1, 3, 2, 2});
    for (int64_t i = 0; i < 12; ++i) x = x.set(0, i / 4, i / 2 % 2, i % 2, std::sin(static_cast<double>(seed + 5 * i)));
    return x;
  };
  const D q = number(1), k = number(2), v = number(3);
  const D lower = {{0, -kInf, -kInf}, {0, 0, -kInf}, {0, 0, 0}};
  const D causal = dot_product_attention(q, k, v, {.causal = true});
  EXPECT_TRUE(close(causal, dot_product_attention(q, k, v, isfinite(lower))));
  EXPECT_TRUE(close(causal, dot_product_attention(q, k, v, lower)));
  EXPECT_TRUE(close(causal.at(0, 0), v.at(0, 0)));
  EXPECT_TRUE(close(dot_product_attention(q.at(0), k.at(0), v.at(0)), dot_product_attention(q, k, v).at(0)));
  const D one = k.at(calque::all, calque::all, range(0, 1)), one_v = v.at(calque::all, calque::all, range(0, 1));
  EXPECT_TRUE(
      close(dot_product_attention(q, one, one_v), dot_product_attention(q, repeat(one, 2, 2), repeat(one_v, 2, 2))));
  EXPECT_THROW(dot_product_attention(q, k, v.at(0)), ShapeError);
  EXPECT_THROW(dot_product_attention(q, k, v.at(calque::all, range(0, 2))), ShapeError);
  EXPECT_THROW(dot_product_attention(q, k, v, B{true, false}), ShapeError);
}

TEST(Layers, Normalizations) {
  const D x = {{1, 2, 3}, {4, 4, 7}};
  const D s = standardize(x, {.epsilon = 0});
  EXPECT_TRUE(close(mean(s, 1), D{0, 0}) && close(var(s, 1), D{1, 1}));
  EXPECT_TRUE(close(rms_norm(x, 1, 0), x / sqrt(mean(x * x, 1, keepdims))));
  const D m = mean(x, 0), v = var(x, 0);
  EXPECT_TRUE(close(batch_norm(x, m, v, D{1, 2, 3}, 0.5), (x - m) / sqrt(v + 1e-5) * D{1, 2, 3} + 0.5));
  EXPECT_THROW(batch_norm(x, D{1, 2}, v, 1, 0), ShapeError);
  EXPECT_TRUE(array_equal(one_hot<float>(I{1, -1, 3}, 3), F{{0, 1, 0}, {0, 0, 0}, {0, 0, 0}}));
  EXPECT_TRUE(array_equal(one_hot<int32_t>(Array<uint8_t>{255}, 2, 0), I{{0}, {0}}));
  EXPECT_TRUE(array_equal(one_hot<int32_t>(Array<int64_t>{int64_t{1} << 32}, 1), I{{0}}));
  EXPECT_THROW(one_hot<float>(D{1}, 3), DTypeError);
  EXPECT_TRUE(array_equal(embedding(x, I{{1}, {0}}), D{{{4, 4, 7}}, {{1, 2, 3}}}));
  EXPECT_TRUE(close(logmeanexp(D{1000, 1000}), D(1000.0)));
}

TEST(Layers, DropoutKeepsTheMean) {
  const D x = D::ones({20000});
  const auto f = jit([](auto v, auto seed) { return dropout(random::key(seed), v, 0.25); });
  const D y = f(x, 7);
  EXPECT_NEAR(mean(y).item(), 1, 0.02);
  EXPECT_TRUE(all((y == 0.0) | (y == 1 / 0.75)).item());
  EXPECT_FALSE(array_equal(y, f(x, 8)));
  EXPECT_TRUE(array_equal(jit([](auto v) { return dropout(random::key(1), v, 0); })(x), x));
  EXPECT_THROW(jit([](auto v) { return dropout(random::key(1), v, 1); })(x), ShapeError);
}

}  // namespace
}  // namespace calque::test
