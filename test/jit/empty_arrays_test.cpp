// Dimensions of extent zero, in every function that indexes, reduces, scans or rearranges: eager and compiled, on the
// CPU and on the simulator, with gradients and under vmap.
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque {
namespace {

using F = Array<float>;
using I = Array<int32_t>;

F zeros(const Shape& shape) { return F::zeros(shape); }
I indices(const Shape& shape) { return I::zeros(shape); }

using Traced = std::function<Tracer<float>(const Tracer<float>&)>;
using Eager = std::function<F(const F&)>;

/// Checks that f(x) has that shape and, if `value` is given, that value everywhere: compiled and eager, on both
/// devices, for an empty batch and one of two, and that its gradient has the shape of x.
void expect_shape(const char* name, const Traced& f, const Eager& eager, const F& x, const Shape& shape,
                  std::optional<float> value = {}) {
  SCOPED_TRACE(name);
  const auto on_tracers = [f](Tracer<float> v) { return f(v); };
  const auto to_scalar = [f](Tracer<float> v) { return sum(f(v)); };
  const auto check = [&](const F& y) {
    EXPECT_EQ(y.shape(), shape);
    for (const float v : y.host()) {
      if (value) {
        EXPECT_TRUE(std::isnan(*value) ? std::isnan(v) : v == *value) << v;
      }
    }
  };
  check(jit(on_tracers)(x));
  check(jit(on_tracers)(x.to(gpu_sim())));
  check(eager(x));
  EXPECT_EQ(grad(to_scalar)(x).shape(), x.shape());
  EXPECT_EQ(grad(to_scalar)(x.to(gpu_sim())).shape(), x.shape());
  for (const int64_t batch : {0, 2}) {
    SCOPED_TRACE(batch);
    const F xs = F::zeros(x.shape().with_inserted(0, batch));
    EXPECT_EQ(vmap(on_tracers)(xs).shape(), shape.with_inserted(0, batch));
    EXPECT_EQ(vmap(grad(to_scalar))(xs).shape(), xs.shape());
  }
}
#define EXPECT_SHAPE(f, ...) \
  expect_shape(              \
      #f, [=](const Tracer<float>& x) -> Tracer<float> { return f; }, [=](const F& x) -> F { return f; }, __VA_ARGS__)

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(EmptyArrays, TakeAlongAxis) {
  EXPECT_SHAPE(take_along_axis(x, indices({0, 2}), 1), zeros({0, 3}), Shape{0, 2});
  EXPECT_SHAPE(take_along_axis(x, indices({0, 2}), -1), zeros({0, 3}), Shape{0, 2});
  EXPECT_SHAPE(take_along_axis(x, indices({2, 0}), 0), zeros({3, 0}), Shape{2, 0});
  EXPECT_SHAPE(take_along_axis(x, indices({2, 0}), 1), zeros({2, 3}), Shape{2, 0});
  EXPECT_SHAPE(take_along_axis(x, indices({2, 1}), 1), zeros({2, 0}), Shape{2, 1}, kNaN);
  EXPECT_SHAPE(take_along_axis(x, indices({0, 2}), 1, mode::clip), zeros({0, 3}), Shape{0, 2});
  EXPECT_SHAPE(take_along_axis(x, indices({0, 2}), 1, mode::wrap), zeros({0, 3}), Shape{0, 2});
  EXPECT_SHAPE(take_along_axis(x, indices({1, 2}), 1), zeros({0, 3}), Shape{0, 2});
}

TEST(EmptyArrays, TakeAndGather) {
  EXPECT_SHAPE(take(x, indices({2}), 1), zeros({0, 3}), Shape{0, 2});
  EXPECT_SHAPE(take(x, indices({2}), 0), zeros({0, 3}), Shape{2, 3}, kNaN);
  EXPECT_SHAPE(take(x, indices({0}), 0), zeros({4, 3}), Shape{0, 3});
  EXPECT_SHAPE(take(x, indices({0, 2}), 0), zeros({4, 3}), Shape{0, 2, 3});
  EXPECT_SHAPE(gather(x, indices({2})), zeros({4, 0}), Shape{2, 0});
  EXPECT_SHAPE(gather(x, indices({0}), indices({0})), zeros({4, 3}), Shape{0});
  EXPECT_SHAPE(gather(x, indices({2}), indices({2})), zeros({4, 0}), Shape{2}, kNaN);
  EXPECT_SHAPE(x.at(indices({0})), zeros({4, 3}), Shape{0, 3});
}

TEST(EmptyArrays, Scatter) {
  EXPECT_SHAPE(scatter_add(x, indices({0}), zeros({0, 3})), F::ones({4, 3}), Shape{4, 3});
  EXPECT_SHAPE(scatter_add(x, indices({2}), zeros({2, 0})), zeros({4, 0}), Shape{4, 0});
  EXPECT_SHAPE(scatter_add(x, indices({2}), F::ones({2, 3})), zeros({0, 3}), Shape{0, 3});
  EXPECT_SHAPE(x.set(indices({0}), 2.0f), zeros({4, 3}), Shape{4, 3}, 0);
}

TEST(EmptyArrays, Windows) {
  EXPECT_SHAPE(dynamic_slice(x, {0, 0}, {0, 2}), zeros({0, 3}), Shape{0, 2});
  EXPECT_SHAPE(dynamic_slice(x, {1, 1}, {0, 2}), zeros({4, 3}), Shape{0, 2});
  EXPECT_SHAPE(dynamic_update_slice(x, zeros({0, 2}), {0, 1}), zeros({4, 3}), Shape{4, 3}, 0);
  EXPECT_SHAPE(dynamic_update_slice(x, zeros({0, 2}), {0, 1}), zeros({0, 3}), Shape{0, 3});
}

TEST(EmptyArrays, ReductionsOfNothing) {
  EXPECT_SHAPE(sum(x, {0}), zeros({0, 3}), Shape{3}, 0);
  EXPECT_SHAPE(sum(x), zeros({0, 3}), Shape{}, 0);
  EXPECT_SHAPE(prod(x, {0}), zeros({0, 3}), Shape{3}, 1);
  EXPECT_SHAPE(mean(x, {0}), zeros({0, 3}), Shape{3}, kNaN);
  EXPECT_SHAPE(var(x, {0}), zeros({0, 3}), Shape{3}, kNaN);
  EXPECT_SHAPE(norm(x, {0}), zeros({0, 3}), Shape{3}, 0);
  EXPECT_SHAPE(logsumexp(x, {0}), zeros({0, 3}), Shape{3}, -kInfinity);
}

TEST(EmptyArrays, ReductionsToNothing) {
  EXPECT_SHAPE(sum(x, {1}), zeros({0, 3}), Shape{0});
  EXPECT_SHAPE(prod(x, {1}), zeros({0, 3}), Shape{0});
  EXPECT_SHAPE(mean(x, {1}), zeros({0, 3}), Shape{0});
  EXPECT_SHAPE(var(x, {1}), zeros({0, 3}), Shape{0});
  EXPECT_SHAPE(stddev(x, {1}), zeros({0, 3}), Shape{0});
  EXPECT_SHAPE(norm(x, {1}), zeros({0, 3}), Shape{0});
  EXPECT_SHAPE(logsumexp(x, {1}), zeros({0, 3}), Shape{0});
  EXPECT_SHAPE(amax(x, {1}), zeros({0, 3}), Shape{0});
  EXPECT_SHAPE(amin(x, {1}), zeros({0, 3}), Shape{0});
  EXPECT_SHAPE(x * cast<float>(argmax(x, 0)), zeros({3, 0}), Shape{3, 0});
  EXPECT_SHAPE(x * cast<float>(argmin(x, 0)), zeros({3, 0}), Shape{3, 0});
}

TEST(EmptyArrays, AlongAnAxis) {
  for (const Shape& shape : {Shape{0, 3}, Shape{3, 0}}) {
    SCOPED_TRACE(to_string(Type{DType::f32, shape}));
    for (const int axis : {0, 1}) {
      EXPECT_SHAPE(cumsum(x, axis), zeros(shape), shape);
      EXPECT_SHAPE(cumprod(x, axis), zeros(shape), shape);
      EXPECT_SHAPE(cummax(x, axis), zeros(shape), shape);
      EXPECT_SHAPE(cummin(x, axis), zeros(shape), shape);
      EXPECT_SHAPE(softmax(x, axis), zeros(shape), shape);
      EXPECT_SHAPE(log_softmax(x, axis), zeros(shape), shape);
      EXPECT_SHAPE(layer_norm(x, axis), zeros(shape), shape);
    }
  }
}

TEST(EmptyArrays, Rearranged) {
  EXPECT_SHAPE(flip(x), zeros({0, 3}), Shape{0, 3});
  EXPECT_SHAPE(roll(x, 2, 0), zeros({0, 3}), Shape{0, 3});
  EXPECT_SHAPE(roll(x, 2, 1), zeros({0, 3}), Shape{0, 3});
  EXPECT_SHAPE(transpose(x), zeros({0, 3}), Shape{3, 0});
  EXPECT_SHAPE(reshape(x, {3, 0, 2}), zeros({0, 3}), Shape{3, 0, 2});
  EXPECT_SHAPE(concatenate({x, x}, 0), zeros({0, 3}), Shape{0, 3});
  EXPECT_SHAPE(stack({x, x}, 1), zeros({0, 3}), Shape{0, 2, 3});
  EXPECT_SHAPE(tile(x, {2, 2}), zeros({0, 3}), Shape{0, 6});
  EXPECT_SHAPE(repeat(x, 2, 0), zeros({0, 3}), Shape{0, 3});
  EXPECT_SHAPE(pad(x, 1.0f, {1, 0}, {1, 0}), zeros({0, 3}), Shape{2, 3}, 1);
  EXPECT_SHAPE(broadcast_to(x, {2, 0, 3}), zeros({0, 3}), Shape{2, 0, 3});
}

TEST(EmptyArrays, Products) {
  EXPECT_SHAPE(matmul(x, F::ones({3, 4})), zeros({0, 3}), Shape{0, 4});
  EXPECT_SHAPE(matmul(x, zeros({0, 4})), zeros({3, 0}), Shape{3, 4}, 0);
  EXPECT_SHAPE(matmul(x, zeros({3, 0})), zeros({2, 3}), Shape{2, 0});
  EXPECT_SHAPE(dot(x, zeros({0})), zeros({0}), Shape{}, 0);
  EXPECT_SHAPE(outer(x, F::ones({3})), zeros({0}), Shape{0, 3});
  EXPECT_SHAPE(einsum("ij,kj->ik", x, zeros({2, 0})), zeros({3, 0}), Shape{3, 2}, 0);
}

}  // namespace
}  // namespace calque
