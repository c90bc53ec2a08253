#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace calque::plan {

/// Chooses where to cut a run of equations so that no piece weighs much more than a limit. Of the positions near the
/// limit, one is taken across which few values are wanted.
class CutChooser {
 public:
  explicit CutChooser(uint64_t limit) : CutChooser(limit, limit) {}
  /// A piece may weigh up to `most` where many values cross every position near the limit.
  CutChooser(uint64_t limit, uint64_t most) : limit_(limit), most_(most) {}
  /// The next position, to which `live` values cross from before: many, where they are more than `few`. Returns the
  /// first position of a new piece, this one or an earlier one, when one begins.
  std::optional<size_t> reach(size_t position, uint32_t live, uint32_t few = UINT32_MAX);
  /// The weight of what is at the position reached last.
  void add(uint64_t weight);
  /// A piece begins at the position to be reached next, for some other reason.
  void restart() { *this = CutChooser(limit_, most_); }

 private:
  uint64_t limit_, most_;
  uint64_t total_ = 0, since_best_ = 0;
  std::optional<size_t> best_;  ///< of this piece
  uint32_t live_at_best_ = 0;
};

/// Positions of the first equation of each piece but the first one. `weight` and `live` are by position: what the
/// equation costs, and how many values cross to it from before.
std::vector<size_t> choose_cuts(const std::vector<uint32_t>& weight, const std::vector<uint32_t>& live, uint64_t limit);

}  // namespace calque::plan
