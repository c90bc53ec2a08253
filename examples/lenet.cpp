// LeNet on handwritten digits: two convolutions with pooling, two dense layers, dropout, trained with Adam on every
// digit but each fifth, which is kept for testing. Draws the loss and the accuracy to lenet.svg. Data: the UCI digits
// (examples/data).
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <calque/calque.h>

#include "pictures/plot.h"

namespace cq = calque;
using namespace cq::tree_operators;
using F = cq::Array<float>;

/// Convolutions [3, 3, in, out], dense layers [in, out].
template <class A>
struct LeNet {
  A c1, a1, c2, a2, w1, b1, w2, b2;
};
struct Digits {
  F images;                    // [count, 8, 8, 1]
  cq::Array<int32_t> classes;  // [count]
};

/// Rows of 64 pixels and a class. `held_out`: each fifth, else the others.
Digits read_digits(const std::string& path, bool held_out) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<float> pixels;
  std::vector<int32_t> classes;
  std::string line;
  for (int row = 0; std::getline(file, line); ++row) {
    if ((row % 5 == 4) != held_out) continue;
    std::stringstream numbers(line);
    std::string number;
    for (int i = 0; i < 64 && std::getline(numbers, number, ','); ++i) pixels.push_back(std::stof(number) / 16);
    std::getline(numbers, number);
    classes.push_back(std::stoi(number));
  }
  const auto count = static_cast<int64_t>(classes.size());
  return {F::from(pixels, {count, 8, 8, 1}), cq::Array<int32_t>::from(classes)};
}

/// Scores of ten classes. `keep` is the probability of a unit of the hidden layer, 1 when testing.
const auto kScores = [](const auto& net, auto x, auto key, double keep) {
  auto layer1 = max_pool(relu(conv(x, net.c1, {.padding = cq::same}) + net.a1), {.window = {2, 2}, .strides = {2, 2}});
  auto layer2 =
      max_pool(relu(conv(layer1, net.c2, {.padding = cq::same}) + net.a2), {.window = {2, 2}, .strides = {2, 2}});
  auto flat = layer2.reshape({layer2.shape()[0], -1});
  auto hidden = relu(matmul(flat, net.w1) + net.b1);
  auto kept = cq::random::bernoulli(key, keep, hidden.shape());
  return matmul(where(kept, hidden / keep, 0.0), net.w2) + net.b2;
};
/// The mean cross-entropy.
const auto kLoss = [](const auto& net, auto x, auto classes, auto key) {
  auto logits = log_softmax(kScores(net, x, key, 0.8), 1);
  return -mean(take_along_axis(logits, classes.at(cq::all, cq::newaxis), 1));
};

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "examples/data/digits.csv";
  const Digits train = read_digits(path, false), test = read_digits(path, true);
  const auto count = train.images.shape()[0];

  const auto initialize = cq::jit([](auto key) {
    auto keys = cq::random::split(key, 4);
    auto layer = [&](int i, const cq::Shape& shape, int64_t inputs) {
      return cq::random::normal<float>(keys[i], shape) * std::sqrt(2.0 / static_cast<double>(inputs));
    };
    auto none = [](int64_t n) { return cq::zeros<float>({n}); };
    return LeNet{layer(0, {3, 3, 1, 8}, 9), none(8),  layer(1, {3, 3, 8, 16}, 72), none(16),
                 layer(2, {64, 64}, 64),    none(64), layer(3, {64, 10}, 64),      none(10)};
  });
  // One step of Adam on a batch drawn at random.
  constexpr int64_t kBatch = 64;
  const auto step =
      cq::jit([=](const auto& net, const auto& m, const auto& v, auto t, auto key, auto images, auto classes) {
        auto keys = cq::random::split(key, 2);
        auto rows = cq::random::randint<int32_t>(keys[0], {kBatch}, 0, static_cast<int32_t>(count));
        auto [loss, g] = cq::value_and_grad(kLoss)(net, take(images, rows, 0), take(classes, rows, 0), keys[1]);
        auto mean = 0.9 * m + 0.1 * g, square = 0.999 * v + 0.001 * (g * g);
        auto rate = 0.003 * sqrt(1 - pow(0.999, t)) / (1 - pow(0.9, t));
        auto next =
            cq::tree_map([&](auto a, auto p, auto q) { return a - rate * p / (sqrt(q) + 1e-8); }, net, mean, square);
        return std::tuple{next, mean, square, loss};
      });
  const auto accuracy = cq::jit([](const auto& net, auto images, auto classes) {
    return mean(cast<float>(argmax(kScores(net, images, cq::random::key(0), 1), 1) == classes));
  });

  LeNet<F> net = initialize(cq::random::key(1)), m = cq::zeros_like(net), v = m;
  const auto key = cq::random::key(2);
  pictures::Numbers steps, losses, tested_at, right;
  double average = 0, last = 0;
  for (int t = 1; t <= 600; ++t) {
    F loss;
    std::tie(net, m, v, loss) =
        step(net, m, v, static_cast<float>(t), cq::random::fold_in(key, t), train.images, train.classes);
    average = t == 1 ? loss.item() : 0.9 * average + 0.1 * loss.item();
    steps.push_back(t);
    losses.push_back(average);
    if (t % 50 != 0) continue;
    last = accuracy(net, test.images, test.classes).item();
    tested_at.push_back(t);
    right.push_back(last);
    std::cout << "step " << t << ": loss " << average << ", " << 100 * last << " % of the test digits right\n";
  }
  pictures::Plot plot("LeNet on 8 x 8 digits", "step", "");
  plot.curve(steps, losses, "#4c78a8");
  plot.points(tested_at, right, "#e45756", 3.5);
  plot.label("loss, averaged", "#4c78a8");
  plot.label("share of test digits that are right", "#e45756");
  plot.reach(0);
  plot.write("lenet.svg");
  return last > 0.95 ? EXIT_SUCCESS : EXIT_FAILURE;
}
