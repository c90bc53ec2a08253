#pragma once
// Shared by the parts of the tour: headlines, a stopwatch, truncated listings.
#include <chrono>
#include <cstddef>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>

namespace tour {

inline void headline(std::string_view text) { std::cout << "\n==== " << text << "\n\n"; }

/// Milliseconds that `run()` takes.
template <class Run>
double milliseconds(const Run& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// The printed text of a value, up to `limit` lines.
template <class Listing>
void show(std::string_view title, const Listing& listing, size_t limit = 60) {
  std::ostringstream text;
  text << listing;
  std::istringstream lines(text.str());
  std::cout << "---- " << title << '\n';
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    if (count < limit) std::cout << line << '\n';
  }
  if (count > limit) std::cout << "... " << count - limit << " more lines\n";
  std::cout << '\n';
}

}  // namespace tour
