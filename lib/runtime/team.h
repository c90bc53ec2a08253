#pragma once
// The threads that run the pieces of one caller's parallel loops, one loop after another. Kernels follow each other
// within microseconds, while waking a thread takes tens of them: so helpers stay for a moment after a loop and look for
// the next one.
#include <atomic>
#include <cstdint>
#include <memory>

namespace calque::runtime {

class Team {
 public:
  using Body = void (*)(void* environment, int64_t begin, int64_t end);
  /// Makes that many threads call `help`, some time later or never.
  using Summon = void (*)(Team& team, int helpers) noexcept;

  Team() = default;
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// Runs body(environment, begin, end) on parts of [0, count) that begin at multiples of `grain`, on at most `threads`
  /// threads: the caller's and helpers. Returns when all is done; work that helpers do not come for is the caller's.
  /// The body must not throw.
  void run(int64_t count, int64_t grain, int threads, Body body, void* environment, Summon summon) noexcept;
  /// Takes part in loops until none has come for a while.
  void help() noexcept;
  /// In a loop: another one, on the same team, is not possible.
  bool busy() const { return (epoch_.load(std::memory_order_relaxed) & 1) != 0; }
  /// Undoes `run`'s count of helpers that could not be summoned.
  void excuse(int helpers) { attached_.fetch_sub(helpers); }

 private:
  /// The pieces [begin, end) that wait for one thread, in one word. Its owner takes some from the front, other threads
  /// half from the back.
  struct alignas(64) Share {
    std::atomic<uint64_t> pieces{0};
  };

  void work(int share) noexcept;
  bool take(int share) noexcept;
  bool steal(int share) noexcept;

  // Of the loop that runs; changed while there is none and nobody is inside.
  std::unique_ptr<Share[]> shares_;
  int allocated_ = 0, participants_ = 0;
  int64_t count_ = 0, grain_ = 1;
  Body body_ = nullptr;
  void* environment_ = nullptr;
  std::atomic<int> joined_{0};  ///< threads that have a share

  std::atomic<uint64_t> epoch_{0};  ///< odd: a loop runs
  std::atomic<int> inside_{0};      ///< helpers that may be reading what belongs to the loop
  std::atomic<int> attached_{0};    ///< helpers that were summoned and have not left
};

}  // namespace calque::runtime
