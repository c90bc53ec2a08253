#pragma once
// One case for each function with NumPy's names and each layer: types of its inputs and a call.
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "calque/detail/trace.h"
#include "calque/detail/vocabulary.h"

#include "support/random/random.h"
#include "support/transforms.h"

namespace calque::test {

using In = std::span<const detail::Handle>;
using Handles = std::vector<detail::Handle>;

/// An input: floats drawn from [low, high), or integers from [low, high).
struct Input {
  Shape shape;
  double low = -2, high = 2;
  bool integers = false;
};
inline Input indices_in(Shape shape, double low, double high) { return {std::move(shape), low, high, true}; }

struct VocabularyCase {
  std::string name;
  std::vector<Input> inputs;
  std::function<Handles(In)> body;
  /// Has no derivative by construction: results of bools, integers or steps.
  bool constant = false;
  /// By how much 16-bit results may differ from those in f32, in units of their epsilon times the largest result.
  double half_error = 4;
};

/// All of them, in two parts; those that sort are part of the first.
std::vector<VocabularyCase> sorting_cases();
std::vector<VocabularyCase> numpy_cases();
std::vector<VocabularyCase> layer_cases();

inline std::vector<VocabularyCase> vocabulary_cases() {
  std::vector<VocabularyCase> all = numpy_cases();
  for (VocabularyCase& c : layer_cases()) all.push_back(std::move(c));
  return all;
}

/// The function of inputs with these floats.
inline Graph graph_of(const VocabularyCase& c, DType floats) {
  std::vector<Type> types;
  for (const Input& i : c.inputs) types.push_back({i.integers ? DType::i32 : floats, i.shape});
  Graph g = detail::trace_graph(c.name, types, [&](In in, Handles& out) { out = c.body(in); }).graph;
  g.verify(c.name);
  return g;
}

/// Inputs of a case, of which floats are distinct and far from integers and halves of integers.
inline std::vector<AnyArray> inputs_of(const VocabularyCase& c, Rng& rng) {
  std::vector<AnyArray> out;
  for (const Input& i : c.inputs) {
    std::vector<double> numbers(static_cast<size_t>(i.shape.num_elements()));
    std::vector<size_t> order(numbers.size());
    for (size_t k = 0; k < order.size(); ++k) order[k] = k;
    rng.shuffle(order);
    for (size_t k = 0; k < numbers.size(); ++k) {
      const double jitter = 0.3 + 0.4 * static_cast<double>(rng.below(1024)) / 1024;
      double v =
          i.low + (i.high - i.low) * (static_cast<double>(order[k]) + jitter) / static_cast<double>(numbers.size());
      const double off = 2 * v - std::round(2 * v);
      if (std::abs(off) < 0.03) v += std::copysign(0.015, off);
      numbers[k] = v;
    }
    if (!i.integers) {
      out.push_back(from_numbers({DType::f64, i.shape}, numbers));
      continue;
    }
    std::vector<int32_t> whole(numbers.size());
    for (int32_t& n : whole)
      n = static_cast<int32_t>(rng.between(static_cast<int64_t>(i.low), static_cast<int64_t>(i.high) - 1));
    out.push_back(AnyArray::from<int32_t>(std::span<const int32_t>(whole), i.shape));
  }
  return out;
}

}  // namespace calque::test
