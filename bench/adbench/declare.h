// Shared by the files of this case: random arrays, comparison, and the pairs of variants.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <calque/calque.h>

#include "common/harness.h"

namespace adbench {
namespace cq = calque;

void declare_gmm();
void declare_ba();
void declare_lstm();
void declare_hand();

/// Uniform in [low, high), the same in every run.
inline cq::Array<double> random_array(const cq::Shape& shape, float low, float high, uint64_t seed) {
  const auto floats = bench::random_floats(static_cast<size_t>(shape.num_elements()), low, high, seed);
  return cq::Array<double>::from(std::vector<double>(floats.begin(), floats.end()), shape);
}

inline void check(const std::string& what, std::span<const double> got, std::span<const double> expected) {
  bench::check(what + ": number of elements", double(got.size()), double(expected.size()), 0);
  for (size_t i = 0; i < got.size(); ++i) bench::check(what, got[i], expected[i], 1e-9, 1e-9);
}

/// A rival that fills `result`; it is checked against `expected` first.
template <class Run>
void add_rival(const bench::Task& task, const std::string& name, std::vector<double> expected, Run run) {
  auto result = std::make_shared<std::vector<double>>(expected.size());
  run(result->data());
  check(task.name + ": " + name, *result, expected);
  bench::add(task, name, [run, result] {
    run(result->data());
    benchmark::DoNotOptimize(result->data());
    benchmark::ClobberMemory();
  });
}

/// Our variant: a call whose results are protected from being optimized away.
template <class Call>
void add_ours(const bench::Task& task, Call call) {
  bench::add(task, "calque", [call] {
    auto result = call();
    benchmark::DoNotOptimize(result);
  });
}

}  // namespace adbench
