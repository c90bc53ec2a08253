// rival_gmm.cpp vectorized by hand: eight points at a time, one per lane, so that every loop over dimensions uses whole
// vectors. Exponentials are those of the C library.
#include <algorithm>
#include <cmath>
#include <vector>

#include "adbench/adbench.h"

namespace {

constexpr int64_t kLanes = 8;
typedef double Lanes __attribute__((vector_size(sizeof(double) * kLanes)));

Lanes lanes_exp(Lanes x) {
  for (int64_t i = 0; i < kLanes; ++i) x[i] = std::exp(x[i]);
  return x;
}

std::vector<Lanes> lanes_of_zeros(int64_t n) { return std::vector<Lanes>(static_cast<size_t>(n), Lanes{}); }

double total_of(Lanes x) {
  double total = 0;
  for (int64_t i = 0; i < kLanes; ++i) total += x[i];
  return total;
}

double logsumexp(const double* x, int64_t n) {
  double most = *std::max_element(x, x + n), total = 0;
  for (int64_t i = 0; i < n; ++i) total += std::exp(x[i] - most);
  return most + std::log(total);
}

/// The mixture's likelihood of the points, and the contribution of the points to its gradient when Gradient is set.
template <bool Gradient>
double data_term(const GmmProblem& p, const std::vector<double>& diagonal, const std::vector<double>& log_determinant,
                 double* gradient) {
  int64_t d = p.d, row = d * (d + 1) / 2;
  auto x = lanes_of_zeros(d), centred = lanes_of_zeros(p.k * d), scaled = centred, log_terms = lanes_of_zeros(p.k);
  auto sums = lanes_of_zeros(Gradient ? p.k * (1 + d + row) : 0);  // of alpha, means, factors, by lane
  Lanes* by_alpha = sums.data();
  Lanes* by_means = by_alpha + p.k;
  Lanes* by_factors = by_means + p.k * d;
  double total = 0;
  for (int64_t start = 0; start < p.n; start += kLanes) {
    int64_t count = std::min(kLanes, p.n - start);
    Lanes counts = {};
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const double* point = p.points + (start + std::min(lane, count - 1)) * d;
      for (int64_t j = 0; j < d; ++j) x[size_t(j)][lane] = point[j];
      counts[lane] = lane < count ? 1 : 0;
    }
    Lanes most = {};
    for (int64_t k = 0; k < p.k; ++k) {
      Lanes* c = centred.data() + (Gradient ? k * d : 0);
      Lanes* s = scaled.data() + (Gradient ? k * d : 0);
      const double* lower = p.factors + k * row + d;
      for (int64_t j = 0; j < d; ++j) {
        c[j] = x[size_t(j)] - p.means[k * d + j];
        s[j] = c[j] * diagonal[size_t(k * d + j)];
      }
      for (int64_t j = 0; j < d; ++j) {
        Lanes cj = c[j];
        for (int64_t i = j + 1; i < d; ++i) s[i] += *lower++ * cj;
      }
      Lanes square = {};
      for (int64_t j = 0; j < d; ++j) square += s[j] * s[j];
      Lanes term = p.alpha[k] + log_determinant[size_t(k)] - 0.5 * square;
      log_terms[size_t(k)] = term;
      most = k == 0 ? term : term > most ? term : most;
    }
    Lanes sum = {};
    for (int64_t k = 0; k < p.k; ++k) {
      log_terms[size_t(k)] = lanes_exp(log_terms[size_t(k)] - most);
      sum += log_terms[size_t(k)];
    }
    for (int64_t lane = 0; lane < count; ++lane) total += most[lane] + std::log(sum[lane]);
    if constexpr (!Gradient) continue;
    Lanes scale = counts / sum;
    for (int64_t k = 0; k < p.k; ++k) {
      Lanes share = log_terms[size_t(k)] * scale;
      const Lanes *c = centred.data() + k * d, *s = scaled.data() + k * d;
      const double* lower = p.factors + k * row + d;
      Lanes* by_lower = by_factors + k * row + d;
      by_alpha[k] += share;
      for (int64_t j = 0; j < d; ++j) {
        Lanes column = diagonal[size_t(k * d + j)] * s[j], cj = share * c[j];
        by_factors[k * row + j] += share - cj * column;
        for (int64_t i = j + 1; i < d; ++i) {
          column += *lower++ * s[i];
          *by_lower++ -= cj * s[i];
        }
        by_means[k * d + j] += share * column;
      }
    }
  }
  for (size_t i = 0; i < sums.size(); ++i) gradient[i] = total_of(sums[i]);
  return total;
}

template <bool Gradient>
double run(const GmmProblem& p, double* gradient) {
  int64_t d = p.d, row = d * (d + 1) / 2;
  std::vector<double> diagonal(size_t(p.k * d)), log_determinant(size_t(p.k), 0.0);
  double squares = 0, logs = 0;
  for (int64_t k = 0; k < p.k; ++k) {
    for (int64_t j = 0; j < row; ++j) {
      double v = p.factors[k * row + j];
      if (j < d) {
        log_determinant[size_t(k)] += v;
        logs += v;
        v = diagonal[size_t(k * d + j)] = std::exp(v);
      }
      squares += v * v;
    }
  }
  double weights = logsumexp(p.alpha, p.k);
  double value = data_term<Gradient>(p, diagonal, log_determinant, gradient) + 0.5 * p.gamma * p.gamma * squares -
                 p.m * logs - double(p.n) * weights + p.constant;
  if constexpr (Gradient) {
    double* by_factors = gradient + p.k * (1 + d);
    for (int64_t k = 0; k < p.k; ++k) {
      gradient[k] -= double(p.n) * std::exp(p.alpha[k] - weights);
      for (int64_t j = 0; j < row; ++j) {
        double v = j < d ? diagonal[size_t(k * d + j)] : p.factors[k * row + j];
        by_factors[k * row + j] += j < d ? p.gamma * p.gamma * v * v - p.m : p.gamma * p.gamma * v;
      }
    }
  }
  return value;
}

}  // namespace

double gmm_lanes(const GmmProblem& p) { return run<false>(p, nullptr); }
double gmm_gradient_lanes(const GmmProblem& p, double* gradient) { return run<true>(p, gradient); }
