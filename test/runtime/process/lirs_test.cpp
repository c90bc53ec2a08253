// What a bounded cache keeps under access patterns that distinguish policies: cycles, skew, scans, phase changes.
#include <algorithm>
#include <list>
#include <random>

#include <gtest/gtest.h>

#include "runtime/process/flight_cache.h"

namespace calque::runtime {
namespace {

struct Sized {
  int key;
  size_t bytes;
};
struct SizeOf {
  size_t operator()(const Sized& value) const { return value.bytes; }
};

class Trace {
 public:
  explicit Trace(size_t capacity) : table_(capacity), capacity_(capacity) {}
  /// Whether it was a hit.
  bool use(int key, size_t bytes = 1) {
    bool made = false;
    std::vector<std::shared_ptr<const Sized>> evicted;
    const auto hash = static_cast<uint64_t>(key % 64);  // some keys share a hash
    const auto value =
        table_.get(key, hash, [&] { return std::make_shared<const Sized>(Sized{key, bytes}); }, made, evicted);
    EXPECT_EQ(value->key, key);
    if (table_.bytes() > capacity_) {
      EXPECT_GT(bytes, capacity_ / 16);  // the newest stays
    }
    uses_ += 1;
    hits_ += !made;
    return !made;
  }
  double rate() const { return static_cast<double>(hits_) / uses_; }
  void start_counting() { uses_ = hits_ = 0; }
  FlightCache<int, Sized, SizeOf>& table() { return table_; }

 private:
  FlightCache<int, Sized, SizeOf> table_;
  size_t capacity_;
  int uses_ = 0, hits_ = 0;
};

/// Evicts the least recently used.
class LeastRecentlyUsed {
 public:
  explicit LeastRecentlyUsed(size_t capacity) : capacity_(capacity) {}
  void use(int key) {
    ++uses_;
    const auto at = std::ranges::find(keys_, key);
    if (at != keys_.end()) {
      ++hits_;
      keys_.erase(at);
    }
    keys_.push_front(key);
    if (keys_.size() > capacity_) keys_.pop_back();
  }
  double rate() const { return static_cast<double>(hits_) / uses_; }

 private:
  std::list<int> keys_;
  size_t capacity_;
  int uses_ = 0, hits_ = 0;
};

TEST(Lirs, KeepsWhatFitsOfACycle) {
  for (const int n : {400, 512, 600, 1000, 4000}) {
    Trace trace(512);
    for (int i = 0; i < n; ++i) trace.use(i);
    for (int round = 0; round < 4; ++round) {
      trace.start_counting();
      for (int i = 0; i < n; ++i) trace.use(i);
      // When not all fit, at most 511 of n - 1 can be hits.
      EXPECT_GE(trace.rate(), std::min(1.0, 480.0 / n)) << n;
    }
  }
}

TEST(Lirs, KeepsWhatIsUsedOften) {
  std::mt19937 bits(1);
  std::vector<double> weights;
  for (int i = 1; i <= 2000; ++i) weights.push_back(1.0 / i);
  std::discrete_distribution<int> draw(weights.begin(), weights.end());
  Trace trace(100);
  LeastRecentlyUsed recent(100);
  for (int i = 0; i < 20000; ++i) {
    const int key = draw(bits);
    trace.use(key);
    recent.use(key);
  }
  EXPECT_GT(trace.rate(), recent.rate() + 0.03);
  EXPECT_GT(trace.rate(), 0.55);  // 0.634 with the hundred most frequent
}

TEST(Lirs, ScanDoesNotDisplaceWhatIsUsedAgain) {
  Trace trace(100);
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < 50; ++i) trace.use(i);
  for (int i = 1000; i < 4000; ++i) {
    trace.use(i);
    trace.use(i);  // immediate reuse does not count
  }
  trace.start_counting();
  for (int i = 0; i < 50; ++i) trace.use(i);
  EXPECT_EQ(trace.rate(), 1);
}

TEST(Lirs, AdaptsToAnotherPhaseInTwoRounds) {
  Trace trace(100);
  for (int round = 0; round < 100; ++round)
    for (int i = 0; i < 100; ++i) trace.use(i);
  for (int i = 0; i < 90; ++i) trace.use(1000 + i);
  for (int i = 0; i < 90; ++i) trace.use(1000 + i);
  trace.start_counting();
  for (int i = 0; i < 90; ++i) trace.use(1000 + i);
  EXPECT_EQ(trace.rate(), 1);
}

TEST(Lirs, BoundsBytesAndNotNumbers) {
  Trace trace(1000);
  for (int i = 0; i < 900; ++i) trace.use(i);
  EXPECT_EQ(trace.table().size(), 900u);
  for (int i = 1000; i < 1010; ++i) trace.use(i, 60);
  EXPECT_LE(trace.table().bytes(), 1000u);
  trace.use(2000, 5000);  // larger than the capacity: stays until the next insertion
  EXPECT_TRUE(trace.use(2000, 5000));
  trace.use(2001);
  EXPECT_LE(trace.table().bytes(), 1000u);
  trace.table().set_capacity(10);
  trace.use(2002);
  EXPECT_LE(trace.table().bytes(), 10u);
  trace.table().clear();
  EXPECT_EQ(trace.table().size(), 0u);
  EXPECT_EQ(trace.table().bytes(), 0u);
}

TEST(Lirs, RandomAccessesKeepTheBound) {
  std::mt19937 bits(3);
  Trace trace(64);
  for (int i = 0; i < 50000; ++i) {
    const int key = static_cast<int>(bits() % (i % 1000 < 500 ? 40 : 400));
    if (bits() % 1000 == 0) trace.table().clear();
    std::vector<std::shared_ptr<const Sized>> erased;
    if (bits() % 50 == 0) trace.table().erase(key, static_cast<uint64_t>(key % 64), erased);
    trace.use(key, 1 + static_cast<size_t>(key % 4));
  }
  EXPECT_GT(trace.rate(), 0.2);
  EXPECT_LE(trace.table().size(), 64u);
}

}  // namespace
}  // namespace calque::runtime
