#pragma once
// Part 2: softmax regression on handwritten digits. Eigen matrices go in and come out; the gradient of the mean
// cross-entropy, X^T (softmax(X w + b) - Y) / n, is written by hand.
#include <algorithm>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <calque/calque.h>
#include <calque/eigen.h>

#include "tour/show.h"

namespace tour {
namespace cq = calque;
using Matrix = Eigen::MatrixXf;

inline constexpr int kSteps = 1000;
inline constexpr float kRate = 0.5f;

/// Images in rows, pixels from 0 to 1, and what they show.
struct Digits {
  Matrix images;
  Eigen::VectorXi labels;
};

/// Weights and offsets of a linear classifier: of Eigen matrices, of arrays, and of tracers inside a lambda.
template <class A>
struct Classifier {
  A w, b;
};

/// Rows of 64 pixels from 0 to 16 and a label. Throws std::runtime_error when the file is not there or not of that
/// form.
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

/// One step of gradient descent. A generic lambda: the two functions below are made of it.
inline constexpr auto kDescend = [](const auto& m, auto x, auto y, auto rate) {
  auto error = (softmax(matmul(x, m.w) + m.b, -1) - y) / x.shape()[0];
  return Classifier{m.w - rate * matmul(x.T(), error), m.b - rate * sum(error, {0}, cq::keepdims)};
};

/// True when at least 96 of 100 held-out digits are read correctly.
inline bool digits(const std::string& path) {
  headline("2. Handwritten digits, by softmax regression");
  const Digits all = read_digits(path), train = part(all, false), test = part(all, true);
  const Matrix truth = one_hot(train.labels);
  std::cout << train.labels.size() << " digits to learn from, " << test.labels.size() << " held out (every fifth)\n";

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

  auto read = cq::jit([](const auto& m, auto x) { return argmax(matmul(x, m.w) + m.b, -1); });
  const Eigen::VectorXi seen = read(model, test.images);
  const auto right = (seen.array() == test.labels.array()).count();
  const double accuracy = static_cast<double>(right) / static_cast<double>(test.labels.size());
  std::cout << "read correctly: " << right << " of " << test.labels.size() << ", accuracy " << accuracy << '\n';

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
  return accuracy >= 0.96 && same;
}

}  // namespace tour
