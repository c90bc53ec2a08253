// Straightforward loops for the likelihood of a Gaussian mixture, and its gradient derived by hand.
#include <algorithm>
#include <cmath>
#include <vector>

#include "adbench/adbench.h"

namespace {

struct Work {
  std::vector<double> diagonal, log_determinant, centred, scaled, log_terms;
};

double logsumexp(const double* x, int64_t n) {
  double most = *std::max_element(x, x + n), total = 0;
  for (int64_t i = 0; i < n; ++i) total += std::exp(x[i] - most);
  return most + std::log(total);
}

Work prepare(const GmmProblem& p) {
  Work w;
  w.diagonal.resize(size_t(p.k * p.d));
  w.log_determinant.resize(size_t(p.k));
  w.centred.resize(size_t(p.k * p.d));
  w.scaled.resize(size_t(p.k * p.d));
  w.log_terms.resize(size_t(p.k));
  int64_t row = p.d * (p.d + 1) / 2;
  for (int64_t k = 0; k < p.k; ++k) {
    for (int64_t j = 0; j < p.d; ++j) {
      w.diagonal[size_t(k * p.d + j)] = std::exp(p.factors[k * row + j]);
      w.log_determinant[size_t(k)] += p.factors[k * row + j];
    }
  }
  return w;
}

/// Q (x - mu) of one point and component; the logarithm of its share.
double term(const GmmProblem& p, const Work& w, const double* x, int64_t k, double* __restrict centred,
            double* __restrict scaled) {
  const double* lower = p.factors + k * (p.d * (p.d + 1) / 2) + p.d;
  const double* diagonal = w.diagonal.data() + k * p.d;
  for (int64_t j = 0; j < p.d; ++j) {
    centred[j] = x[j] - p.means[k * p.d + j];
    scaled[j] = diagonal[j] * centred[j];
  }
  for (int64_t j = 0; j < p.d; ++j) {
    double c = centred[j];
    for (int64_t i = j + 1; i < p.d; ++i) scaled[i] += lower[i - j - 1] * c;
    lower += p.d - j - 1;
  }
  double square = 0;
  for (int64_t j = 0; j < p.d; ++j) square += scaled[j] * scaled[j];
  return p.alpha[k] + w.log_determinant[size_t(k)] - 0.5 * square;
}

/// The terms that do not depend on the points.
double regular(const GmmProblem& p, const Work& w) {
  int64_t row = p.d * (p.d + 1) / 2;
  double squares = 0, logs = 0;
  for (double v : w.diagonal) squares += v * v;
  for (double v : w.log_determinant) logs += v;
  for (int64_t k = 0; k < p.k; ++k)
    for (int64_t j = p.d; j < row; ++j) squares += p.factors[k * row + j] * p.factors[k * row + j];
  return 0.5 * p.gamma * p.gamma * squares - p.m * logs - double(p.n) * logsumexp(p.alpha, p.k) + p.constant;
}

}  // namespace

double gmm_plain(const GmmProblem& p) {
  Work w = prepare(p);
  double total = 0;
  for (int64_t i = 0; i < p.n; ++i) {
    for (int64_t k = 0; k < p.k; ++k)
      w.log_terms[size_t(k)] = term(p, w, p.points + i * p.d, k, w.centred.data(), w.scaled.data());
    total += logsumexp(w.log_terms.data(), p.k);
  }
  return total + regular(p, w);
}

double gmm_gradient_plain(const GmmProblem& p, double* gradient) {
  Work w = prepare(p);
  int64_t row = p.d * (p.d + 1) / 2;
  double* by_alpha = gradient;
  double* by_means = by_alpha + p.k;
  double* by_factors = by_means + p.k * p.d;
  std::fill_n(gradient, p.k * (1 + p.d + row), 0.0);
  double total = 0;
  for (int64_t i = 0; i < p.n; ++i) {
    for (int64_t k = 0; k < p.k; ++k)
      w.log_terms[size_t(k)] = term(p, w, p.points + i * p.d, k, w.centred.data() + k * p.d, w.scaled.data() + k * p.d);
    double sum = logsumexp(w.log_terms.data(), p.k);
    total += sum;
    for (int64_t k = 0; k < p.k; ++k) {
      double share = std::exp(w.log_terms[size_t(k)] - sum);
      const double* __restrict centred = w.centred.data() + k * p.d;
      const double* __restrict scaled = w.scaled.data() + k * p.d;
      const double* diagonal = w.diagonal.data() + k * p.d;
      const double* lower = p.factors + k * row + p.d;
      double* __restrict by_lower = by_factors + k * row + p.d;
      by_alpha[k] += share;
      for (int64_t j = 0; j < p.d; ++j) {
        by_factors[k * row + j] += share * (1 - scaled[j] * diagonal[j] * centred[j]);
        double column = diagonal[j] * scaled[j], c = share * centred[j];
        for (int64_t t = j + 1; t < p.d; ++t) {
          column += lower[t - j - 1] * scaled[t];
          by_lower[t - j - 1] -= c * scaled[t];
        }
        by_means[k * p.d + j] += share * column;
        lower += p.d - j - 1;
        by_lower += p.d - j - 1;
      }
    }
  }
  double weights = logsumexp(p.alpha, p.k);
  for (int64_t k = 0; k < p.k; ++k) {
    by_alpha[k] -= double(p.n) * std::exp(p.alpha[k] - weights);
    for (int64_t j = 0; j < p.d; ++j) {
      double q = w.diagonal[size_t(k * p.d + j)];
      by_factors[k * row + j] += p.gamma * p.gamma * q * q - p.m;
    }
    for (int64_t j = p.d; j < row; ++j) by_factors[k * row + j] += p.gamma * p.gamma * p.factors[k * row + j];
  }
  return total + regular(p, w);
}
