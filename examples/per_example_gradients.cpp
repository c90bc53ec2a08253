// The gradient of the loss of each example of a batch, by vmap(grad(loss)), in one call. Differentially private
// training needs these, since it clips each example's gradient before summation.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <vector>

#include <calque/calque.h>

namespace cq = calque;

using Array = cq::Array<float>;

/// A network with one hidden layer.
template <class A>
struct Network {
  A w1, b1, w2, b2;
};

/// The cross-entropy of one example: pixels [64] and a class.
const auto kLoss = [](const auto& net, auto x, auto label) {
  auto scores = matmul(tanh(matmul(x, net.w1) + net.b1), net.w2) + net.b2;
  return -take(log_softmax(scores, 0), label, 0);
};

Array random_array(const cq::Shape& shape, std::mt19937& bits) {
  std::normal_distribution<float> normal(0.0f, 0.3f);
  std::vector<float> values(static_cast<size_t>(shape.num_elements()));
  for (float& value : values) value = normal(bits);
  return Array::from(values, shape);
}

int main() {
  constexpr int64_t kBatch = 32, kPixels = 64, kHidden = 16, kClasses = 10;
  std::mt19937 bits(1);
  const Network<Array> net{random_array({kPixels, kHidden}, bits), random_array({kHidden}, bits),
                           random_array({kHidden, kClasses}, bits), random_array({kClasses}, bits)};
  const Array x = random_array({kBatch, kPixels}, bits);
  const auto labels = cq::Array<int32_t>::arange(kBatch) % static_cast<int32_t>(kClasses);

  // The network is shared; examples and labels are batched. Every leaf of the gradient gains a leading dimension.
  auto per_example = cq::jit(cq::vmap(cq::grad(kLoss), {.in_axes = {cq::none, 0, 0}}));
  const auto [w1, b1, w2, b2] = per_example(net, x, labels);
  std::cout << "gradients by w1, one an example: " << w1.shape() << '\n';

  // The same, one example at a time.
  auto one = cq::jit(cq::grad(kLoss));
  bool right = w1.shape() == cq::Shape{kBatch, kPixels, kHidden};
  for (int64_t i = 0; i < kBatch; ++i) {
    const auto expected = one(net, x[i], labels[i]);
    right &= cq::allclose(w1[i], expected.w1, 1e-5, 1e-6) && cq::allclose(b1[i], expected.b1, 1e-5, 1e-6);
    right &= cq::allclose(w2[i], expected.w2, 1e-5, 1e-6) && cq::allclose(b2[i], expected.b2, 1e-5, 1e-6);
  }

  // Clipped to length 1 each, then summed.
  auto clipped_sum = cq::jit([](const auto& net, auto x, auto labels) {
    auto clipped = [&](auto x, auto label) {
      auto [w1, b1, w2, b2] = cq::grad(kLoss)(net, x, label);
      auto length = sqrt(sum(w1 * w1) + sum(b1 * b1) + sum(w2 * w2) + sum(b2 * b2));
      auto scale = 1.0 / max(length, 1.0);
      return Network{w1 * scale, b1 * scale, w2 * scale, b2 * scale};
    };
    auto each = cq::vmap(clipped)(x, labels);
    return Network{sum(each.w1, {0}), sum(each.b1, {0}), sum(each.w2, {0}), sum(each.b2, {0})};
  });
  const auto total = clipped_sum(net, x, labels);
  const float length =
      sqrt(sum(total.w1 * total.w1) + sum(total.b1 * total.b1) + sum(total.w2 * total.w2) + sum(total.b2 * total.b2));
  std::cout << "the sum of " << kBatch << " clipped gradients has length " << length << '\n';
  right &= length > 0 && length <= static_cast<float>(kBatch);
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
