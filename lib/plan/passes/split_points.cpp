#include "plan/passes/split_points.h"

namespace calque::plan {

std::optional<size_t> SplitPointChooser::reach(size_t position, uint32_t live, uint32_t few) {
  if (position > 0 && total_ > limit_ - limit_ / 4 && (!best_ || live <= live_at_best_)) {
    best_ = position;
    live_at_best_ = live;
    since_best_ = 0;
  }
  if (total_ <= limit_ || !best_ || (total_ <= most_ && live_at_best_ > few)) return std::nullopt;
  total_ = since_best_;
  const size_t split_point = *best_;
  best_.reset();
  return split_point;
}

void SplitPointChooser::add(uint64_t weight) {
  total_ += weight;
  since_best_ += weight;
}

std::vector<size_t> choose_split_points(const std::vector<uint32_t>& weight, const std::vector<uint32_t>& live,
                                        uint64_t limit) {
  std::vector<size_t> split_points;
  SplitPointChooser chooser(limit);
  for (size_t i = 0; i < weight.size(); ++i) {
    if (const auto split_point = chooser.reach(i, live[i])) split_points.push_back(*split_point);
    chooser.add(weight[i]);
  }
  return split_points;
}

}  // namespace calque::plan
