#pragma once
// Part 2: handwritten digits, learned by gradient descent on the mean cross-entropy. The models are lambdas, their
// gradients come from value_and_grad: first softmax regression, with Eigen matrices as arguments and results, then a
// network with a hidden layer.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <calque/calque.h>
#include <calque/eigen.h>

#include "tour/show.h"

namespace tour {
namespace cq = calque;
using Matrix = Eigen::MatrixXf;

inline constexpr int kSteps = 1000, kNetworkSteps = 2000, kHidden = 128;
inline constexpr float kRate = 0.5f;

/// Images in rows, pixels from 0 to 1, and their labels.
struct Digits {
  Matrix images;
  Eigen::VectorXi labels;
};

/// Weights and biases of a linear classifier: Eigen matrices, arrays, or tracers inside a lambda. Its gradient has the
/// same type.
template <class A>
struct Classifier {
  A w, b;
  /// The scores of the ten digits for images [n, 64].
  template <class X>
  auto scores(const X& x) const {
    return matmul(x, w) + b;
  }
  template <class R>
  Classifier moved(const R& step, const Classifier& direction) const {
    return {w + step * direction.w, b + step * direction.b};
  }
};

/// The same with a hidden layer in between: w1 [64, hidden], w2 [10, hidden].
template <class A>
struct Network {
  A w1, b1, w2, b2;
  template <class X>
  auto scores(const X& x) const {
    return matmul(tanh(matmul(x, w1) + b1), w2.T()) + b2;
  }
  template <class R>
  Network moved(const R& step, const Network& d) const {
    return {w1 + step * d.w1, b1 + step * d.b1, w2 + step * d.w2, b2 + step * d.b2};
  }
};

/// Rows of 64 pixels from 0 to 16 and a label. Throws std::runtime_error when the file does not exist or
/// does not have that form.
inline Digits read_digits(const std::string& path) {
  constexpr int kPixels = 64;
  std::ifstream file(path);
  std::vector<float> pixels;
  std::vector<int> labels;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::vector<float> row;
    for (std::string field; std::getline(fields, field, ',');) row.push_back(std::stof(field));
    if (row.size() != kPixels + 1) throw std::runtime_error(path + ": expected 64 pixels and a label in every line");
    labels.push_back(static_cast<int>(row.back()));
    pixels.insert(pixels.end(), row.begin(), row.end() - 1);
  }
  if (labels.empty()) throw std::runtime_error(path + ": no data");
  const auto rows = static_cast<Eigen::Index>(labels.size());
  using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return {Eigen::Map<RowMajor>(pixels.data(), rows, kPixels) / 16.0f, Eigen::Map<Eigen::VectorXi>(labels.data(), rows)};
}

/// The rows whose index mod 5 is 4, or all others.
inline Digits part(const Digits& digits, bool held_out) {
  std::vector<Eigen::Index> rows;
  for (Eigen::Index i = 0; i < digits.labels.size(); ++i) {
    if ((i % 5 == 4) == held_out) rows.push_back(i);
  }
  return {digits.images(rows, Eigen::all), digits.labels(rows)};
}

inline Matrix one_hot(const Eigen::VectorXi& labels) {
  Matrix result = Matrix::Zero(labels.size(), 10);
  for (Eigen::Index i = 0; i < labels.size(); ++i) result(i, labels[i]) = 1;
  return result;
}

/// The mean cross-entropy of a model on images [n, 64] that show `truth` [n, 10].
inline constexpr auto kLoss = [](const auto& model, auto images, auto truth) {
  return -sum(truth * log_softmax(model.scores(images), -1)) / images.shape()[0];
};

/// One step of gradient descent, for any model. A generic lambda, used by all training below.
inline constexpr auto kDescend = [](const auto& model, auto images, auto truth, auto rate) {
  auto [loss, gradient] = cq::value_and_grad(kLoss)(model, images, truth);
  return model.moved(-rate, gradient);
};

/// The digits that a model predicts.
inline constexpr auto kRead = [](const auto& model, auto images) { return argmax(model.scores(images), -1); };

inline double accuracy(const Eigen::VectorXi& seen, const Digits& test) {
  const auto right = (seen.array() == test.labels.array()).count();
  std::cout << "read correctly: " << right << " of " << test.labels.size();
  const double share = static_cast<double>(right) / static_cast<double>(test.labels.size());
  std::cout << ", accuracy " << std::fixed << std::setprecision(3) << share << '\n';
  return share;
}

/// Softmax regression, one step per call and all steps in one call. True if at least 96 of 100 held-out digits are
/// classified correctly and both ways agree.
inline bool regression(const Digits& train, const Matrix& truth, const Digits& test) {
  auto step = cq::jit(kDescend, {.name = "descend"});
  Classifier<Matrix> model{Matrix::Zero(64, 10), Matrix::Zero(1, 10)};
  std::vector<double> times;
  for (int i = 0; i < kSteps; ++i) {
    times.push_back(milliseconds([&] {
      auto [w, b] = step(model, train.images, truth, kRate);
      model = {w, b};
    }));
  }
  const double first = times.front();
  std::nth_element(times.begin() + 1, times.begin() + kSteps / 2, times.end());
  std::cout << std::fixed << std::setprecision(3) << "first step (trace, compile, run): " << first << " ms\n"
            << "a later step (median):            " << times[kSteps / 2] << " ms\n";
  const cq::CacheInfo info = step.cache_info();
  std::cout << "cache: " << info.hits << " hits, " << info.misses << " misses, " << info.entries << " entries\n";

  // The same descent, its loop compiled as well: one native call for the whole training.
  auto train_all = cq::jit(
      [](const auto& m, auto x, auto y, auto rate) {
        return cq::fori_loop(0, kSteps, [=](auto, const auto& now) { return kDescend(now, x, y, rate); }, m);
      },
      {.name = "train"});
  const Classifier<Matrix> zero{Matrix::Zero(64, 10), Matrix::Zero(1, 10)};
  auto whole = train_all.lower(zero, train.images, truth, kRate).compile();
  Classifier<Matrix> model2;
  const double once = milliseconds([&] {
    auto [w, b] = whole(zero, train.images, truth, kRate);
    model2 = {w, b};
  });
  const bool same = (model.w - model2.w).norm() <= 1e-3f * model.w.norm();
  std::cout << "all " << kSteps << " steps as one call:         " << once << " ms" << (same ? "" : ", WRONG weights")
            << '\n';

  const Eigen::VectorXi seen = cq::jit(kRead)(model, test.images);
  const double share = accuracy(seen, test);
  for (Eigen::Index i = 0; i < test.labels.size(); ++i) {
    if (seen[i] == test.labels[i]) continue;
    std::cout << "\na misread one, a " << test.labels[i] << " taken for a " << seen[i] << ":\n";
    for (int row = 0; row < 8; ++row) {
      for (int column = 0; column < 8; ++column) {
        const auto shade = static_cast<size_t>(test.images(i, 8 * row + column) * 4.0f);
        std::cout << std::string(2, " .+#@"[shade]);
      }
      std::cout << '\n';
    }
    break;
  }
  return share >= 0.96 && same;
}

/// Weights from a normal distribution with variance 1 / n for sums over n values.
inline cq::Array<float> random_weights(const cq::Shape& shape, int n, std::mt19937& bits) {
  std::normal_distribution<float> normal(0.0f, 1.0f / std::sqrt(static_cast<float>(n)));
  std::vector<float> values(static_cast<size_t>(shape.num_elements()));
  for (float& value : values) value = normal(bits);
  return cq::Array<float>::from(values, shape);
}

/// A hidden layer with tanh, from random weights. True if at least 96 of 100 held-out digits are classified correctly.
inline bool network(const Digits& train, const Matrix& truth, const Digits& test) {
  std::mt19937 bits(1);
  const Network<cq::Array<float>> start{random_weights({64, kHidden}, 64, bits), cq::Array<float>::zeros({1, kHidden}),
                                        random_weights({10, kHidden}, kHidden, bits), cq::Array<float>::zeros({1, 10})};
  auto train_all = cq::jit(
      [](const auto& m, auto x, auto y, auto rate) {
        return cq::fori_loop(0, kNetworkSteps, [=](auto, const auto& now) { return kDescend(now, x, y, rate); }, m);
      },
      {.name = "train_network"});
  const auto images = cq::Array<float>::from(train.images), wanted = cq::Array<float>::from(truth);  // row-major
  auto whole = train_all.lower(start, images, wanted, kRate).compile();
  Network<cq::Array<float>> model;
  const double once = milliseconds([&] { model = whole(start, images, wanted, kRate); });
  std::cout << "\na network with " << kHidden << " hidden units, " << kNetworkSteps << " steps as one call: " << once
            << " ms\n";
  return accuracy(cq::jit(kRead)(model, test.images), test) >= 0.96;
}

/// True if both models reach their accuracy.
inline bool digits(const std::string& path) {
  headline("2. Handwritten digits, by gradient descent");
  const Digits all = read_digits(path), train = part(all, false), test = part(all, true);
  const Matrix truth = one_hot(train.labels);
  std::cout << train.labels.size() << " digits to learn from, " << test.labels.size() << " held out (every fifth)\n";
  const bool learned = regression(train, truth, test);
  return network(train, truth, test) && learned;
}

}  // namespace tour
