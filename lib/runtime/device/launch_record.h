#pragma once
// Launches on a device that are not known to have succeeded: a kernel's failure is reported by a later wait, which does
// not say which kernel failed.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace calque::runtime {

/// Thread-safe.
class LaunchRecord {
 public:
  /// `label` must live as long as the process.
  void add(const char* label) {
    labels_[count_.fetch_add(1, std::memory_order_relaxed) % kKept].store(label, std::memory_order_relaxed);
  }
  /// Number of launches.
  uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  /// The first `count` launches have succeeded.
  void ended(uint64_t count) {
    uint64_t before = ended_.load(std::memory_order_relaxed);
    while (before < count && !ended_.compare_exchange_weak(before, count, std::memory_order_relaxed)) {
    }
  }
  /// `; launched before: kernel a, kernel b and 3 more`, or nothing. Latest last, each named once.
  std::string text() const {
    const uint64_t last = count(), ended = ended_.load(std::memory_order_relaxed);
    const uint64_t first = std::max(ended, last > kKept ? last - kKept : 0);
    std::vector<const char*> named;
    for (uint64_t i = first; i < last; ++i) {
      const char* const label = labels_[i % kKept].load(std::memory_order_relaxed);
      if (label != nullptr && std::find(named.begin(), named.end(), label) == named.end()) named.push_back(label);
    }
    std::string text;
    for (const char* label : named) text += (text.empty() ? "; launched before: " : ", ") + std::string(label);
    if (!text.empty() && first > ended) text += " and " + std::to_string(first - ended) + " more";
    return text;
  }

 private:
  static constexpr size_t kKept = 8;
  std::array<std::atomic<const char*>, kKept> labels_{};
  std::atomic<uint64_t> count_{0}, ended_{0};
};

}  // namespace calque::runtime
