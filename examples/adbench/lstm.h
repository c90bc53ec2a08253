#pragma once
// ADBench's LSTM: the loss of a character model whose gates are elementwise. The recurrence is a scan over
// the sequence; its gradient is a scan in the other direction.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <calque/calque.h>

#include "adbench/reader.h"

namespace adbench::lstm {

/// The parameters of l layers over b characters.
template <class A>
struct Parameters {
  A layers;  // [l, 2, 4, b]: weights and biases of the gates forget, in, out and of the change
  A extra;   // [3, b]: input weight, output weight, output bias
};

/// The state of a layer.
template <class A>
struct Memory {
  A hidden, cell;  // [b]
};

/// One step of one layer: its next state, whose `hidden` is its output. `gates` has shape [2, 4, b].
inline const auto kStep = [](auto gates, auto input, const auto& memory) {
  const auto gate = [&](int i, auto x) { return x * gates.at(0, i) + gates.at(1, i); };
  auto forget = sigmoid(gate(0, input)), in = sigmoid(gate(1, memory.hidden)), out = sigmoid(gate(2, input));
  auto cell = memory.cell * forget + in * tanh(gate(3, memory.hidden));
  return Memory{out * tanh(cell), cell};
};

/// The loss over a sequence [c, b] from these initial states, one for each layer.
inline const auto kLoss = [](const auto& parameters, const auto& start, auto sequence) {
  const int64_t last = sequence.shape()[0] - 1;
  auto input_weight = parameters.extra[0], output_weight = parameters.extra[1], output_bias = parameters.extra[2];
  const auto advance = [&](auto memories, auto x) {
    auto signal = x * input_weight;
    for (size_t i = 0; i < memories.size(); ++i) {
      memories[i] = kStep(parameters.layers[i], signal, memories[i]);
      signal = memories[i].hidden;
    }
    return std::pair{memories, signal};
  };
  auto outputs = cq::scan(advance, start, sequence.at(cq::range(0, last))).second;  // [c - 1, b]

  auto y = outputs * output_weight + output_bias;
  auto normalized = y - log(sum(exp(y), {1}, cq::keepdims) + 2.0);
  return -mean(sequence.at(cq::range(1, cq::none)) * normalized);
};

struct Problem {
  Parameters<cq::Array<double>> parameters;
  std::vector<Memory<cq::Array<double>>> start;
  cq::Array<double> sequence;
};

inline Problem read(const std::string& path) {
  Reader file(path);
  const int64_t l = file.integer("l, the number of layers", 1);
  const int64_t c = file.integer("c, the length of the sequence", 2);
  const int64_t b = file.integer("b, the number of characters", 1);
  Problem problem;
  problem.parameters.layers = file.numbers("the main parameters", {l, 2, 4, b});
  problem.parameters.extra = file.numbers("the extra parameters", {3, b});
  for (int64_t i = 0; i < l; ++i) {
    auto hidden = file.numbers("the state", {b}), cell = file.numbers("the state", {b});
    problem.start.push_back({hidden, cell});
  }
  problem.sequence = file.numbers("the sequence", {c, b});
  file.finish();
  return problem;
}

}  // namespace adbench::lstm
