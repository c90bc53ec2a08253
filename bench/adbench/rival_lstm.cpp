// Forward through the sequence, storing the values of all gates; then backward through time, by hand.
#include <algorithm>
#include <cmath>
#include <vector>

#include "adbench/adbench.h"

namespace {

std::vector<double> zeros(int64_t n) { return std::vector<double>(static_cast<size_t>(n)); }

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// The values of one layer at one time, b numbers each.
struct Gates {
  double *forget, *in, *out, *change, *cell, *squashed, *hidden;
};
constexpr int kKept = 7;

/// All gates of all layers and times.
struct Tape {
  explicit Tape(const LstmProblem& p, int64_t times) : l(p.l), b(p.b), data(zeros(kKept * times * p.l * p.b)) {}
  Gates at(int64_t t, int64_t layer) {
    double* g = data.data() + kKept * b * (t * l + layer);
    return {g, g + b, g + 2 * b, g + 3 * b, g + 4 * b, g + 5 * b, g + 6 * b};
  }
  int64_t l, b;
  std::vector<double> data;
};

/// One layer at one time: `input` is the output of the layer below, hidden and cell are those of the previous time.
void step(const LstmProblem& p, int64_t layer, const double* input, const double* hidden, const double* cell, Gates g) {
  const double *w = p.layers + 8 * p.b * layer, *bias = w + 4 * p.b;
  for (int64_t i = 0; i < p.b; ++i) {
    g.forget[i] = sigmoid(input[i] * w[i] + bias[i]);
    g.in[i] = sigmoid(hidden[i] * w[p.b + i] + bias[p.b + i]);
    g.out[i] = sigmoid(input[i] * w[2 * p.b + i] + bias[2 * p.b + i]);
    g.change[i] = std::tanh(hidden[i] * w[3 * p.b + i] + bias[3 * p.b + i]);
    g.cell[i] = cell[i] * g.forget[i] + g.in[i] * g.change[i];
    g.squashed[i] = std::tanh(g.cell[i]);
    g.hidden[i] = g.out[i] * g.squashed[i];
  }
}

/// Evaluates all layers at time t, stored on the tape as time `now`; the previous time is `before` (-1: the start).
const double* advance(const LstmProblem& p, Tape& tape, int64_t t, int64_t before, int64_t now, double* input) {
  for (int64_t i = 0; i < p.b; ++i) input[i] = p.sequence[t * p.b + i] * p.extra[i];
  const double* signal = input;
  for (int64_t layer = 0; layer < p.l; ++layer) {
    const double *hidden = p.start + 2 * p.b * layer, *cell = hidden + p.b;
    if (before >= 0) {
      Gates last = tape.at(before, layer);
      hidden = last.hidden;
      cell = last.cell;
    }
    step(p, layer, signal, hidden, cell, tape.at(now, layer));
    signal = tape.at(now, layer).hidden;
  }
  return signal;
}

/// Sums the log-likelihoods of x_{t+1}; `by_y`, if not null, receives their derivatives with respect to y.
double likelihood(const LstmProblem& p, const double* top, const double* wanted, double* y, double* by_y) {
  double total = 2, sum = 0, weight = 0;
  for (int64_t i = 0; i < p.b; ++i) {
    y[i] = top[i] * p.extra[p.b + i] + p.extra[2 * p.b + i];
    total += std::exp(y[i]);
  }
  double log_total = std::log(total);
  for (int64_t i = 0; i < p.b; ++i) {
    sum += wanted[i] * (y[i] - log_total);
    weight += wanted[i];
  }
  if (by_y != nullptr)
    for (int64_t i = 0; i < p.b; ++i) by_y[i] = wanted[i] - weight * std::exp(y[i]) / total;
  return sum;
}

}  // namespace

double lstm_plain(const LstmProblem& p) {
  Tape tape(p, 2);  // the current time and the previous one
  auto input = zeros(p.b), y = zeros(p.b);
  double sum = 0;
  for (int64_t t = 0; t + 1 < p.c; ++t) {
    const double* top = advance(p, tape, t, t == 0 ? -1 : 1 - t % 2, t % 2, input.data());
    sum += likelihood(p, top, p.sequence + (t + 1) * p.b, y.data(), nullptr);
  }
  return -sum / double((p.c - 1) * p.b);
}

double lstm_gradient_plain(const LstmProblem& p, double* gradient) {
  int64_t b = p.b, last = p.c - 1;
  Tape tape(p, last);
  auto input = zeros(last * b), y = zeros(b), by_y = zeros(last * b);
  double sum = 0, scale = -1 / double(last * b);
  for (int64_t t = 0; t < last; ++t) {
    const double* top = advance(p, tape, t, t - 1, t, input.data() + t * b);
    sum += likelihood(p, top, p.sequence + (t + 1) * b, y.data(), by_y.data() + t * b);
  }

  std::fill_n(gradient, (8 * p.l + 3) * b, 0.0);
  double* by_extra = gradient + 8 * p.l * b;
  auto by_hidden = zeros(p.l * b), by_cell = zeros(p.l * b), by_signal = zeros(b);
  for (int64_t t = last - 1; t >= 0; --t) {
    const double* top = tape.at(t, p.l - 1).hidden;
    for (int64_t i = 0; i < b; ++i) {
      double d = scale * by_y[size_t(t * b + i)];
      by_extra[b + i] += d * top[i];
      by_extra[2 * b + i] += d;
      by_signal[size_t(i)] = d * p.extra[b + i];
    }
    for (int64_t layer = p.l - 1; layer >= 0; --layer) {
      Gates g = tape.at(t, layer);
      const double* signal = layer > 0 ? tape.at(t, layer - 1).hidden : input.data() + t * b;
      const double* hidden = t > 0 ? tape.at(t - 1, layer).hidden : p.start + 2 * b * layer;
      const double* cell = t > 0 ? tape.at(t - 1, layer).cell : p.start + 2 * b * layer + b;
      const double* w = p.layers + 8 * b * layer;
      double *by_w = gradient + 8 * b * layer, *by_bias = by_w + 4 * b;
      double *dh = by_hidden.data() + layer * b, *dc = by_cell.data() + layer * b;
      for (int64_t i = 0; i < b; ++i) {
        double from_above = dh[i] + by_signal[size_t(i)];
        double d_out = from_above * g.squashed[i] * g.out[i] * (1 - g.out[i]);
        double d_cell = dc[i] + from_above * g.out[i] * (1 - g.squashed[i] * g.squashed[i]);
        double d_forget = d_cell * cell[i] * g.forget[i] * (1 - g.forget[i]);
        double d_in = d_cell * g.change[i] * g.in[i] * (1 - g.in[i]);
        double d_change = d_cell * g.in[i] * (1 - g.change[i] * g.change[i]);
        by_w[i] += d_forget * signal[i];
        by_w[b + i] += d_in * hidden[i];
        by_w[2 * b + i] += d_out * signal[i];
        by_w[3 * b + i] += d_change * hidden[i];
        by_bias[i] += d_forget;
        by_bias[b + i] += d_in;
        by_bias[2 * b + i] += d_out;
        by_bias[3 * b + i] += d_change;
        dc[i] = d_cell * g.forget[i];
        dh[i] = d_in * w[b + i] + d_change * w[3 * b + i];
        by_signal[size_t(i)] = d_forget * w[i] + d_out * w[2 * b + i];
      }
    }
    for (int64_t i = 0; i < b; ++i) by_extra[i] += by_signal[size_t(i)] * p.sequence[t * b + i];
  }
  return sum * scale;
}
