// Variants on the same data: ours, a call that returns its results; and rivals, which fill a separate buffer and are
// checked against the reference first.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/harness.h"

namespace bench {

/// The allowed difference between a result and the reference.
struct Tolerance {
  double rtol = 0, atol = 0;
};

/// Our variant: a call whose result is protected from being optimized away.
template <class Call>
void add_ours(const Task& task, Call call, const std::string& variant = "calque") {
  add(task, variant, [call = std::move(call)] {
    auto result = call();
    benchmark::DoNotOptimize(result);
  });
}

/// A rival that fills `result`; it is checked against `expected` first.
template <class T, class Run>
void add_rival(const Task& task, const std::string& name, const std::vector<T>& expected, Tolerance tolerance,
               Run run) {
  auto result = std::make_shared<std::vector<T>>(expected.size());
  run(result->data());
  check(task.name + " " + task.size + ": " + name, std::span<const T>(*result), std::span<const T>(expected),
        tolerance.rtol, tolerance.atol);
  add(task, name, [run = std::move(run), result] {
    run(result->data());
    benchmark::DoNotOptimize(result->data());
    benchmark::ClobberMemory();
  });
}

}  // namespace bench
