// Attention of long sequences, which is computed block by block: values and derivatives beside the composition with a
// matrix of all scores, masks that leave nothing, memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque {
namespace {

using D = Array<double>;
using F = Array<float>;

constexpr int64_t kLength = 530, kOthers = 517, kSize = 6, kOut = 5;  // more than 512 x 512 scores, no whole blocks

/// The definition, with a matrix of scores.
template <class Q, class K, class V, class M>
auto composition(const Q& q, const K& k, const V& v, const M& bias) {
  const int64_t shared = q.shape()[2] / k.shape()[2];
  const auto scores = einsum("btnh,bsnh->bnts", q, repeat(k, shared, 2)) / std::sqrt(double(q.shape()[3]));
  return einsum("bnts,bsnh->btnh", softmax(scores + bias, 3), repeat(v, shared, 2));
}
template <class T = double>
Array<T> normal(uint64_t seed, const Shape& shape) {
  return jit([=](auto key) { return random::normal<T>(key, shape); })(random::key(seed));
}
D lower() {  // 0 where s <= t, else the lowest number
  return jit([] {
    return where(iota<int>(kLength).at(all, newaxis) >= iota<int>(kOthers), 0.0, std::numeric_limits<double>::lowest());
  })();
}

class LongAttention : public testing::Test {
 protected:
  const D q = normal(1, {2, kLength, 4, kSize}), k = normal(2, {2, kOthers, 2, kSize}),
          v = normal(3, {2, kOthers, 2, kOut}), w = normal(4, {2, kLength, 4, kOut});
};

TEST_F(LongAttention, IsTheComposition) {
  const D none = D::zeros({1, 1, 1, 1});
  EXPECT_TRUE(allclose(dot_product_attention(q, k, v), jit([](auto... x) { return composition(x...); })(q, k, v, none),
                       1e-12, 1e-13));
  EXPECT_TRUE(allclose(dot_product_attention(q, k, v, {.causal = true}),
                       jit([](auto... x) { return composition(x...); })(q, k, v, lower()), 1e-12, 1e-13));
  // Without a batch, with a scale.
  EXPECT_TRUE(allclose(dot_product_attention(q.at(1), k.at(1), v.at(1), {.scale = 2 / std::sqrt(6.0)}),
                       dot_product_attention(q * 2.0, k, v).at(1), 1e-12, 1e-13));
}

TEST_F(LongAttention, Masks) {
  const auto with = jit([](auto... x) { return composition(x...); });
  const double low = std::numeric_limits<double>::lowest();
  for (const Shape& of :
       {Shape{1, 1, kLength, kOthers}, Shape{2, 1, 1, kOthers}, Shape{4, kLength, 1}, Shape{kOthers}}) {
    const Array<bool> mask = jit([](auto x) { return x > -0.3; })(normal(7, of));
    const D bias = jit([=](auto m) { return where(m, 0.0, low); })(mask), some = normal(8, of);
    EXPECT_TRUE(allclose(dot_product_attention(q, k, v, mask), with(q, k, v, bias), 1e-12, 1e-13)) << of;
    EXPECT_TRUE(allclose(dot_product_attention(q, k, v, mask, {.causal = true}), with(q, k, v, minimum(bias, lower())),
                         1e-12, 1e-13))
        << of;
    EXPECT_TRUE(allclose(dot_product_attention(q, k, v, some), with(q, k, v, some), 1e-12, 1e-13)) << of;
  }
  // Nothing to attend to: the mean of v; by infinite biases NaN, as softmax of -inf.
  const Array<bool> nothing = jit([](auto t) { return broadcast_to(t % 2 == 0, {kLength, kOthers}); })(
      jit([] { return reshape(iota<int>(kLength), {kLength, 1}); })());
  const D masked = dot_product_attention(q, k, v, nothing);
  const D mean_of_v = jit([](auto x) { return mean(repeat(x, 2, 2), {1}); })(v);
  EXPECT_TRUE(allclose(masked.at(all, 1), mean_of_v, 1e-12, 1e-13));
  EXPECT_TRUE(allclose(masked.at(all, 2), dot_product_attention(q, k, v).at(all, 2), 1e-12, 1e-13));
  const D infinite = jit([](auto m) { return where(m, 0.0, -INFINITY); })(nothing);
  const D out = dot_product_attention(q, k, v, infinite);
  EXPECT_TRUE(std::isnan(out(0, 1, 0, 0)));
  EXPECT_TRUE(allclose(out.at(all, 2), masked.at(all, 2), 1e-12, 1e-13));
}

TEST_F(LongAttention, Derivatives) {
  const D bias = normal(5, {2, 1, 1, kOthers});
  const auto weighed = [](const auto& y, const auto& by) { return sum(y * by); };
  const auto blocks = [=](auto a, auto b, auto c, auto m, auto by) {
    return weighed(dot_product_attention(a, b, c, m, {.causal = true}), by);
  };
  const auto whole = [=](auto a, auto b, auto c, auto m, auto by) {
    return weighed(composition(a, b, c, m + lower()), by);
  };
  const auto [aq, ak, av, am] = jit(grad(blocks, argnums<0, 1, 2, 3>))(q, k, v, bias, w);
  const auto [bq, bk, bv, bm] = jit(grad(whole, argnums<0, 1, 2, 3>))(q, k, v, bias, w);
  EXPECT_TRUE(allclose(aq, bq, 1e-10, 1e-11));
  EXPECT_TRUE(allclose(ak, bk, 1e-10, 1e-11));
  EXPECT_TRUE(allclose(av, bv, 1e-10, 1e-11));
  EXPECT_TRUE(allclose(am, bm, 1e-10, 1e-11));
  // Forward mode along a direction, and the derivative of the gradient.
  const D dq = normal(11, q.shape()), dk = normal(12, k.shape());
  const auto along = [&](auto f) {
    return jit([=](auto a, auto b, auto c, auto m, auto by, auto da, auto db) {
      const auto of = [&](auto x, auto y) { return f(x, y, c, m, by); };
      const auto [value, change] = jvp(of, std::tuple{a, b}, std::tuple{da, db});
      const auto [slope, curvature] = jvp(grad(of, argnums<0, 1>), std::tuple{a, b}, std::tuple{da, db});
      return std::tuple{value, change, std::get<0>(curvature), std::get<1>(curvature)};
    })(q, k, v, bias, w, dq, dk);
  };
  const auto [y, dy, hq, hk] = along(blocks);
  const auto [z, dz, gq, gk] = along(whole);
  EXPECT_TRUE(allclose(y, z, 1e-10, 1e-11));
  EXPECT_TRUE(allclose(dy, dz, 1e-9, 1e-10));
  EXPECT_TRUE(allclose(hq, gq, 1e-9, 1e-10));
  EXPECT_TRUE(allclose(hk, gk, 1e-9, 1e-10));
}

TEST_F(LongAttention, InBatchesAndOtherTypes) {
  const auto f = [](auto a, auto b, auto c) { return dot_product_attention(a, b, c); };
  EXPECT_TRUE(allclose(jit(vmap(f))(q, k, v), dot_product_attention(q, k, v), 1e-12, 1e-13));
  EXPECT_TRUE(allclose(jit(vmap(f, {.in_axes = {0, none, 0}}))(q, k.at(0), v).at(1),
                       dot_product_attention(q.at(1), k.at(0), v.at(1)), 1e-12, 1e-13));
  const auto rounded = [](const auto& x) { return cast<double>(cast<float16>(x)); };
  const auto half = jit([=](auto a, auto b, auto c) {
    return cast<double>(f(cast<float16>(a), cast<float16>(b), cast<float16>(c)));
  })(q, k, v);
  EXPECT_TRUE(allclose(
      half, jit([=](auto a, auto b, auto c) { return f(rounded(a), rounded(b), rounded(c)); })(q, k, v), 2e-3, 1e-3));
  const D simulated = jit(f)(q.at(0).to(gpu_sim()), k.at(0).to(gpu_sim()), v.at(0).to(gpu_sim()));
  EXPECT_TRUE(allclose(simulated.to(cpu()), dot_product_attention(q, k, v).at(0), 1e-12, 1e-13));
}

TEST(LongAttentionMemory, GrowsWithTheLength) {
  const auto f =
      jit(grad([](auto q, auto k, auto v) { return sum(dot_product_attention(q, k, v)); }, argnums<0, 1, 2>));
  const auto bytes = [&](int64_t length) {
    const F x = F::zeros({1, length, 1, 16});
    const std::string text = f.lower(x, x, x).plan().str();
    return std::stoll(text.substr(text.find("workspace") + 9));
  };
  // A matrix of scores would be 4 GiB.
  const int64_t once = bytes(16384), twice = bytes(32768);
  EXPECT_LT(twice, int64_t{64} << 20);
  EXPECT_LT(twice, 2 * once);
}

}  // namespace
}  // namespace calque
