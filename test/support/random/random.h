#pragma once
// Random numbers for tests: the same on every machine and standard library, unlike std's distributions.
#include <cstddef>
#include <cstdint>
#include <utility>

namespace calque::test {

/// SplitMix64 (Steele, Lea, Flood 2014), and distributions that tests use.
class Rng {
 public:
  /// Streams of different seeds start far apart: the initial state is the mixed seed, not the seed itself.
  explicit Rng(uint64_t seed) : state_(seed ^ 0x632be59bd9b4e019) {
    const uint64_t mixed = next();
    state_ = mixed ^ (next() << 1);
  }

  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// In [0, n), n >= 1.
  size_t below(size_t n) { return static_cast<size_t>(next() % n); }
  /// In [low, high].
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(below(static_cast<size_t>(high - low) + 1));
  }
  bool chance(int percent) { return below(100) < static_cast<size_t>(percent); }
  template <class Container>
  const auto& pick(const Container& items) {
    return items[below(std::size(items))];
  }
  template <class Container>
  void shuffle(Container& items) {
    for (size_t i = std::size(items); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  uint64_t state_;
};

}  // namespace calque::test
