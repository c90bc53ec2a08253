#pragma once
// A line on standard error that says how far long work has come and how long the rest will take. Only on a terminal:
// files and pipes get nothing of it.
#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>

namespace calque::cli {

/// "45 s", "3 min", "1 h 20 min": rounded, as estimates are.
std::string approximate_time(double seconds);

/// Steps may end on several threads.
class Progress {
 public:
  /// `noun`: what the steps are, in the plural.
  Progress(size_t steps, std::string noun);
  ~Progress() { hide(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// A step has ended. The line is written again after a while.
  void step();
  /// Removes the line, before something else is written to the terminal; `show` writes it again.
  void hide();
  void show();
  /// Writes the line to stay, before another program writes to the terminal.
  void announce();

 private:
  using Clock = std::chrono::steady_clock;
  std::string line() const;
  void write(bool at_once);

  const size_t steps_;
  const std::string noun_;
  const bool terminal_;
  const Clock::time_point start_ = Clock::now();
  std::mutex mutex_;
  size_t done_ = 0;
  bool visible_ = false;
  Clock::time_point written_ = start_;
};

}  // namespace calque::cli
