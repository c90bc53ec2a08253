// A cast of floats rounds where it stands: a product behind it is not fused into a sum, whatever changes its sign.
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using F = Array<float>;
using H = Array<float16>;

/// z is the product of x with itself, rounded to f32.
struct Inputs {
  F x = {0.1f, 0.7f, -0.3f, 1e-3f}, z = {0.1f * 0.1f, 0.7f * 0.7f, -0.3f * -0.3f, 1e-3f * 1e-3f};
};
constexpr auto kProduct = [](auto x) { return cast<float>(cast<double>(x) * cast<double>(x)); };

template <class Function>
void expect_zeros(const Function& f) {
  const Inputs in;
  for (const Device device : {cpu(), gpu_sim()}) {
    const F got = jit(f, {.device = device})(in.x, in.z).to(cpu());
    EXPECT_TRUE(array_equal(got, zeros_like(in.x))) << got;
  }
}

TEST(RoundingCasts, OfProductsWithAnotherSign) {
  expect_zeros([](auto x, auto z) { return abs(z + (-kProduct(x))); });
  expect_zeros([](auto x, auto z) { return abs(-kProduct(x) - (-z)); });
  expect_zeros([](auto x, auto z) { return abs(z + kProduct(x) * -1.0); });
  expect_zeros([](auto x, auto z) { return abs(z + (-kProduct(x)) / 1.0); });
  expect_zeros([](auto x, auto z) { return abs(z + cast<float>(cast<double>(-x) * cast<double>(x))); });
  expect_zeros([](auto x, auto z) { return abs(z + where(x > 0, -kProduct(x), kProduct(-x) * -1.0)); });
  expect_zeros([](auto x, auto z) {
    return abs(vmap([](auto a, auto b) { return b.add(0, -kProduct(a)[0]); })(x.at(all, newaxis), z.at(all, newaxis)))
        .at(all, 0);
  });
}

TEST(RoundingCasts, ToTheOwnTypeRoundToo) {
  expect_zeros([](auto x, auto z) { return abs(z - cast<float>(x * x)); });
  const H x = cast<float16>(F{0.1f, 0.7f}), z = x * x;
  EXPECT_TRUE(array_equal(jit([](auto a, auto b) { return b - cast<float16>(a * a); })(x, z), x - x));
  EXPECT_EQ(grad([](auto a) { return sum(cast<double>(a * a)); })(Array<double>{3})(0), 6.0);
}

}  // namespace
}  // namespace calque::test
