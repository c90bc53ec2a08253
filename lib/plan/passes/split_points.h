#pragma once
// Where to split a long sequence of equations into chunks.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace calque::plan {

/// Chooses where to split a sequence of equations so that no chunk weighs much more than a limit. Among the positions
/// near the limit, it takes one across which few values are live.
class SplitPointChooser {
 public:
  explicit SplitPointChooser(uint64_t limit) : SplitPointChooser(limit, limit) {}
  /// A chunk may weigh up to `most` if many values are live across every position near the limit.
  SplitPointChooser(uint64_t limit, uint64_t most) : limit_(limit), most_(most) {}
  /// Advances to the next position, across which `live` values are live; more than `few` are many. When a new chunk
  /// begins, returns its first position, which is this one or an earlier one.
  std::optional<size_t> reach(size_t position, uint32_t live, uint32_t few = UINT32_MAX);
  /// Adds the weight of the equation at the position reached last.
  void add(uint64_t weight);
  /// Starts a new chunk at the next position, for a reason of the caller's.
  void restart() { *this = SplitPointChooser(limit_, most_); }

 private:
  uint64_t limit_, most_;
  uint64_t total_ = 0, since_best_ = 0;
  std::optional<size_t> best_;  ///< of this chunk
  uint32_t live_at_best_ = 0;
};

/// Positions of the first equation of each chunk except the first chunk. `weight` and `live` are by position: the cost
/// of the equation, and the number of values live across the position.
std::vector<size_t> choose_split_points(const std::vector<uint32_t>& weight, const std::vector<uint32_t>& live,
                                        uint64_t limit);

}  // namespace calque::plan
