#pragma once
// Measures the stages of a compilation.
#include <chrono>
#include <utility>

namespace calque {

/// Measures time since construction or the last lap.
class Stopwatch {
 public:
  /// Returns the seconds since the last lap and starts the next one.
  double lap() {
    const Clock::time_point now = Clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

}  // namespace calque
