#pragma once
// How long the stages of a compilation take.
#include <chrono>
#include <utility>

namespace calque {

/// Counts from when it is made, or from the last lap.
class Stopwatch {
 public:
  /// Seconds since the last lap; the next one begins.
  double lap() {
    const Clock::time_point now = Clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

}  // namespace calque
