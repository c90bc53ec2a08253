#pragma once
// ADBench's GMM: the log-likelihood of points under a mixture of Gaussians with a Wishart prior. Written with arrays
// only: no loop over points, components or dimensions.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include <calque/calque.h>

#include "adbench/reader.h"

namespace adbench::gmm {

using D = cq::Tracer<double>;

/// K components in D dimensions. The inverse covariance of a component is Q^T Q with a lower triangular Q.
template <class A>
struct Mixture {
  A alpha;    // [K]: logarithms of the weights, up to a common constant
  A means;    // [K, D]
  A factors;  // [K, D (D + 1) / 2]: logarithms of Q's diagonal, then the part below it, column by column
};

/// The parameters of the prior.
struct Wishart {
  double gamma;
  int64_t m;

  /// C: n D (log gamma - log(2) / 2) - log Gamma_D(n / 2), with n = D + m + 1.
  double constant(int64_t d) const {
    const double n = static_cast<double>(d + m + 1), dimensions = static_cast<double>(d);
    double log_gamma = dimensions * (dimensions - 1) / 4 * std::log(std::numbers::pi);
    for (int64_t j = 1; j <= d; ++j) log_gamma += std::lgamma(n / 2 + static_cast<double>(1 - j) / 2);
    return n * dimensions * (std::log(gamma) - std::numbers::ln2 / 2) - log_gamma;
  }
};

/// Lower triangular matrices [K, D, D] with these diagonals [K, D] and, below them, these columns one after the other
/// [K, D (D - 1) / 2].
inline D lower_triangular(const D& diagonal, const D& below) {
  const int64_t k = diagonal.shape()[0], d = diagonal.shape()[1];
  std::vector<int32_t> row, column;
  for (int32_t j = 0; j < d; ++j) {
    for (int32_t i = j + 1; i < d; ++i) {
      row.push_back(i);
      column.push_back(j);
    }
  }
  const cq::Shape count{static_cast<int64_t>(row.size())};
  const auto each = cq::Array<int32_t>::arange(d), rows = cq::Array<int32_t>::from(row, count),
             columns = cq::Array<int32_t>::from(column, count);
  return cq::zeros<double>({k, d, d}).add(cq::all, each, each, diagonal).add(cq::all, rows, columns, below);
}

/// The logarithm of the likelihood of points [D, N] under components with these Q [K, D, D], Q mu [K, D] and logarithms
/// of their weights times the determinants of Q [K]. Points are along the last dimension, so that operations on points
/// are vectorized.
inline const auto kPoints = [](auto q, auto q_mu, auto log_weights, auto points) {
  auto scaled = einsum("kij,jn->kin", q, points) - expand_dims(q_mu, 2);
  return sum(logsumexp(expand_dims(log_weights, 1) - 0.5 * sum(scaled * scaled, {1}), {0}));
};

/// The same for any number of points in bounded memory: many points are processed in blocks that fit into the cache,
/// and the derivative recomputes each block.
inline D by_blocks(const D& q, const D& q_mu, const D& log_weights, const D& points) {
  constexpr int64_t kAtOnce = 1 << 22, kInCache = 1 << 17;
  const int64_t d = points.shape()[0], n = points.shape()[1];
  if (n <= kAtOnce / q_mu.size()) return kPoints(q, q_mu, log_weights, points);
  const int64_t block = std::min(n, std::max<int64_t>(16, kInCache / q_mu.size())), whole = n / block * block;
  const auto of_block = [&](auto part) { return cq::checkpoint(kPoints)(q, q_mu, log_weights, part); };
  auto blocks = transpose(reshape(points.at(cq::all, cq::range(0, whole)), {d, n / block, block}), {1, 0, 2});
  return sum(cq::map(of_block, blocks)) + of_block(points.at(cq::all, cq::range(whole, n)));
}

/// The function of ADBench, for a mixture and points [D, N], of tracers.
inline auto log_likelihood(const Wishart& prior) {
  return [prior](const auto& mixture, auto points) {
    const int64_t d = points.shape()[0], n = points.shape()[1], k = mixture.alpha.size();
    auto log_diagonal = mixture.factors.at(cq::all, cq::range(0, d));
    auto below = mixture.factors.at(cq::all, cq::range(d, cq::none));
    auto diagonal = exp(log_diagonal);

    auto q = lower_triangular(diagonal, below);
    auto log_weights = mixture.alpha + sum(log_diagonal, {1});
    auto data = by_blocks(q, einsum("kij,kj->ki", q, mixture.means), log_weights, points) -
                static_cast<double>(n) * logsumexp(mixture.alpha);

    auto regular = 0.5 * prior.gamma * prior.gamma * (sum(diagonal * diagonal) + sum(below * below)) -
                   static_cast<double>(prior.m) * sum(log_diagonal);
    const double normalization = 0.5 * static_cast<double>(n * d) * std::log(2 * std::numbers::pi);
    return data + regular - (normalization + static_cast<double>(k) * prior.constant(d));
  };
}

struct Problem {
  Mixture<cq::Array<double>> mixture;
  cq::Array<double> points;  // [D, N]
  Wishart prior;
};

inline Problem read(const std::string& path, bool replicate) {
  Reader file(path);
  const int64_t d = file.integer("D, the number of dimensions", 1);
  const int64_t k = file.integer("K, the number of components", 1);
  const int64_t n = file.integer("N, the number of points", 1);
  Problem problem;
  problem.mixture.alpha = file.numbers("alpha", {k});
  problem.mixture.means = file.numbers("the means", {k, d});
  file.expect("the factors", {k, d, d / 2});  // before D (D + 1) / 2 can overflow
  problem.mixture.factors = file.numbers("the factors", {k, d * (d + 1) / 2});
  problem.points = file.numbers("the points", {replicate ? 1 : n, d});
  if (replicate) problem.points = tile(problem.points, {n, 1});
  problem.points = transpose(problem.points);
  problem.prior.gamma = file.number("gamma");
  problem.prior.m = file.integer("m", 0);
  if (problem.prior.gamma <= 0) file.fail("expected a gamma above 0");
  file.finish();
  return problem;
}

}  // namespace adbench::gmm
