#include "calque/progress.h"

#include <cmath>
#include <iostream>

#include <fmt/format.h>
#include <unistd.h>

namespace calque::cli {

std::string approximate_time(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s", std::ceil(seconds));
  const auto minutes = static_cast<long>(std::ceil(seconds / 60));
  if (minutes < 60) return fmt::format("{} min", minutes);
  return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

Progress::Progress(size_t steps, std::string noun)
    : steps_(steps), noun_(std::move(noun)), terminal_(isatty(STDERR_FILENO) == 1) {}

std::string Progress::line() const {
  std::string text = fmt::format("{} of {} {}", done_, steps_, noun_);
  // Steps differ, so the time of few says little, except of steps that take long.
  const double passed = std::chrono::duration<double>(Clock::now() - start_).count();
  if (done_ > 0 && done_ < steps_ && passed > 0.5) {
    const double left = passed / static_cast<double>(done_) * static_cast<double>(steps_ - done_);
    text += ", about " + approximate_time(left) + " left";
  }
  return text;
}

void Progress::write(bool at_once) {
  if (!terminal_) return;
  const Clock::time_point now = Clock::now();
  if (!at_once && now - written_ < std::chrono::milliseconds(100)) return;
  written_ = now;
  visible_ = true;
  std::cerr << "\r" << line() << "\x1b[K" << std::flush;
}

void Progress::step() {
  const std::lock_guard lock(mutex_);
  ++done_;
  write(false);
}

void Progress::hide() {
  const std::lock_guard lock(mutex_);
  if (visible_) std::cerr << "\r\x1b[K" << std::flush;
  visible_ = false;
}

void Progress::show() {
  const std::lock_guard lock(mutex_);
  write(true);
}

void Progress::announce() {
  const std::lock_guard lock(mutex_);
  write(true);
  if (visible_) std::cerr << std::endl;
  visible_ = false;
}

}  // namespace calque::cli
