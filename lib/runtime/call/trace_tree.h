#pragma once
// The paths through a function that asks about its tracers, and the programs compiled of them. There is one tree for
// each signature.
#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "calque/branches.h"

#include "ir/fork.h"
#include "runtime/call/call_table.h"
#include "runtime/call/function_state.h"
#include "trace/branches/merged_trace.h"

namespace calque::runtime {

/// How a run of a program ended.
struct RunStatus {
  int32_t exit = 0;  ///< number of the exit; 0: none
  int64_t history = 0;
  int64_t value = 0;  ///< that was asked for at the exit
};

/// Native code of the paths of one region: those whose results have the same types and structure.
class BranchProgram {
 public:
  BranchProgram(detail::merged::MergedTrace trace, size_t region_) : merged(std::move(trace)), region(region_) {}

  /// Whether a run of the lambda has recorded what the program does along a history.
  bool is_proven(uint64_t history) const;
  void prove(uint64_t history) const;
  bool all_proven() const;

  const detail::merged::MergedTrace merged;
  const size_t region;
  detail::merged::StatusLayout status;
  std::shared_ptr<const CallEntry> entry;

 private:
  mutable std::atomic<uint64_t> last_proven_{UINT64_MAX};
  mutable ForkMutex mutex_;
  mutable std::unordered_set<uint64_t> proven_;
};

class TraceTree {
 public:
  struct Path {
    std::shared_ptr<const detail::RecordedPath> recorded;
    std::shared_ptr<const void> structure;
    std::vector<detail::StaticPart> parts;
    size_t region = 0;
  };

  explicit TraceTree(TraceLimits limits) : limits_(limits) {}

  /// The program that calls run first: the one that the last call has ended in. Null before there is one. Programs live
  /// as long as the tree.
  const BranchProgram* latest() const { return latest_.load(std::memory_order_acquire); }
  void prefer(const BranchProgram& program) {
    if (latest() != &program) latest_.store(&program, std::memory_order_release);
  }

  /// RAII: one thread at a time extends the tree. Throws RecursiveFlight where a thread would wait for itself.
  class Turn {
   public:
    explicit Turn(TraceTree& tree);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    TraceTree& tree_;
  };

  // ---- in a Turn
  /// The newest program of the region of a path that begins with these answers, or null.
  const BranchProgram* program_along(std::span<const int64_t> answers) const;
  /// Throws Error if the path's lambda has recorded something else than before under the same answers.
  void require_deterministic(const detail::RecordedPath& path, const std::string& title) const;
  bool has_path(std::span<const int64_t> answers) const;
  /// Why a path cannot be compiled: a limit, as text. Empty if it can.
  std::string exceeded(const detail::RecordedPath& path) const;
  /// Whether an exit should be compiled now, rather than be served by evaluating: the first ones at once, later ones
  /// when they are taken again.
  bool is_hot(std::span<const int64_t> answers);
  /// Adds a path. The tree has a new program of its region after `add_program`.
  size_t add(detail::RecordedPath path, Traced& traced);
  /// Merges the paths of a region. None if they cannot be.
  std::optional<detail::merged::MergedTrace> merge(size_t region) const;
  const BranchProgram& add_program(std::unique_ptr<BranchProgram> program);
  const Path& first_of(size_t region) const;
  /// Counts a run of the lambda along answers that compiled code had given.
  void count_replay() { ++replays_; }
  bool warn_once() { return !warned_.exchange(true); }

  BranchInfo info() const;
  size_t num_regions() const;
  /// The newest program of each region.
  std::vector<const BranchProgram*> programs() const;
  size_t bytes() const;
  /// The code of all programs.
  std::vector<const Executable*> executables() const;
  /// In the child of a fork: a turn of another thread has ended.
  void forget_other_threads();

 private:
  const BranchProgram* newest(size_t region) const;

  const TraceLimits limits_;
  std::atomic<const BranchProgram*> latest_{nullptr};
  std::atomic<size_t> replays_{0};
  std::atomic<bool> warned_{false};

  mutable ForkMutex mutex_;  ///< of all that follows
  std::vector<Path> paths_;  ///< in the order of their discovery
  std::vector<std::unique_ptr<const BranchProgram>> programs_;
  size_t num_regions_ = 0, num_equations_ = 0;
  std::unordered_map<uint64_t, int> taken_;  ///< exits that are not compiled, by hash of their answers

  ForkMutex turn_;
  std::condition_variable_any turn_ends_;
  bool taken_turn_ = false;
  std::thread::id owner_;
};

}  // namespace calque::runtime
