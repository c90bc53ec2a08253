// A helper enters a loop by raising `inside_` and then looking at `epoch_` again; the caller ends it by changing
// `epoch_` and then waiting for `inside_` to be 0. All four are sequentially consistent, so that a helper either sees
// the end or is waited for. Pieces are never in no share but while the thread that moves them is inside.
#include "runtime/team.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>

namespace calque::runtime {
namespace {

using Clock = std::chrono::steady_clock;

/// How long a helper looks for another loop: several times the gap between two kernels of one call.
constexpr std::chrono::microseconds kLinger{100};
constexpr int kPauses = 64;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits a little; after some times gives the processor to whoever wants it.
class Backoff {
 public:
  /// Whether it gave the processor away.
  bool wait() {
    if (++times_ % kPauses != 0) {
      pause();
      return false;
    }
    std::this_thread::yield();
    return true;
  }

 private:
  int times_ = 0;
};

constexpr uint64_t packed(uint64_t begin, uint64_t end) { return begin << 32 | end; }
constexpr uint64_t begin_of(uint64_t pieces) { return pieces >> 32; }
constexpr uint64_t end_of(uint64_t pieces) { return pieces & UINT32_MAX; }

}  // namespace

void Team::run(int64_t count, int64_t grain, int threads, Body body, void* environment, Summon summon) noexcept {
  constexpr int64_t kMostPieces = INT32_MAX;
  const int64_t wanted = (count + grain - 1) / grain, together = (wanted + kMostPieces - 1) / kMostPieces;
  grain *= together;
  const int64_t pieces = (count + grain - 1) / grain;
  participants_ = static_cast<int>(std::min<int64_t>(pieces, threads));
  if (participants_ > allocated_) {
    shares_.reset(new (std::nothrow) Share[static_cast<size_t>(participants_)]);
    allocated_ = shares_ ? participants_ : 0;
  }
  if (participants_ <= 1 || !shares_) return body(environment, 0, count);
  for (int64_t p = 0; p < participants_; ++p) {
    const auto bound = [&](int64_t n) { return static_cast<uint64_t>(pieces * n / participants_); };
    shares_[static_cast<size_t>(p)].pieces.store(packed(bound(p), bound(p + 1)), std::memory_order_relaxed);
  }
  count_ = count;
  grain_ = grain;
  body_ = body;
  environment_ = environment;
  joined_.store(1, std::memory_order_relaxed);
  epoch_.fetch_add(1);
  if (const int missing = participants_ - 1 - attached_.load(); missing > 0) {
    attached_.fetch_add(missing);
    summon(*this, missing);
  }
  work(0);
  epoch_.fetch_add(1);
  for (Backoff backoff; inside_.load() != 0;) backoff.wait();
}

void Team::help() noexcept {
  uint64_t seen = 0;
  Backoff backoff;
  bool stays = false;
  Clock::time_point until;
  for (;;) {
    const uint64_t epoch = epoch_.load();
    if ((epoch & 1) != 0 && epoch != seen) {
      inside_.fetch_add(1);
      if (epoch_.load() == epoch) {
        if (const int share = joined_.fetch_add(1); share < participants_) {
          work(share);
          stays = true;
        }
      }
      inside_.fetch_sub(1);
      seen = epoch;
      until = Clock::now() + kLinger;
      continue;
    }
    if (stays && (!backoff.wait() || Clock::now() < until)) continue;
    // Who counts on this helper has begun a loop before it left, or does not count it.
    attached_.fetch_sub(1);
    const uint64_t last = epoch_.load();
    if ((last & 1) == 0 || last == seen) return;
    attached_.fetch_add(1);
  }
}

void Team::work(int share) noexcept {
  do {
    while (take(share)) {
    }
  } while (steal(share));
}

/// Runs a quarter of what is left of the thread's own share.
bool Team::take(int share) noexcept {
  std::atomic<uint64_t>& own = shares_[static_cast<size_t>(share)].pieces;
  uint64_t pieces = own.load();
  for (;;) {
    const uint64_t begin = begin_of(pieces), end = end_of(pieces);
    if (begin == end) return false;
    const uint64_t next = begin + (end - begin + 3) / 4;
    if (!own.compare_exchange_weak(pieces, packed(next, end))) continue;
    body_(environment_, static_cast<int64_t>(begin) * grain_, std::min(count_, static_cast<int64_t>(next) * grain_));
    return true;
  }
}

/// Makes half of another thread's share the thread's own, which is empty.
bool Team::steal(int share) noexcept {
  for (int i = 1; i < participants_; ++i) {
    std::atomic<uint64_t>& other = shares_[static_cast<size_t>((share + i) % participants_)].pieces;
    uint64_t pieces = other.load();
    while (begin_of(pieces) != end_of(pieces)) {
      const uint64_t begin = begin_of(pieces), end = end_of(pieces), middle = begin + (end - begin) / 2;
      if (!other.compare_exchange_weak(pieces, packed(begin, middle))) continue;
      shares_[static_cast<size_t>(share)].pieces.store(packed(middle, end));
      return true;
    }
  }
  return false;
}

}  // namespace calque::runtime
