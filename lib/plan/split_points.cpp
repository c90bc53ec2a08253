#include "plan/split_points.h"

namespace calque::plan {

std::optional<size_t> CutChooser::reach(size_t position, uint32_t live, uint32_t few) {
  if (position > 0 && total_ > limit_ - limit_ / 4 && (!best_ || live <= live_at_best_)) {
    best_ = position;
    live_at_best_ = live;
    since_best_ = 0;
  }
  if (total_ <= limit_ || !best_ || (total_ <= most_ && live_at_best_ > few)) return std::nullopt;
  total_ = since_best_;
  const size_t cut = *best_;
  best_.reset();
  return cut;
}

void CutChooser::add(uint64_t weight) {
  total_ += weight;
  since_best_ += weight;
}

std::vector<size_t> choose_cuts(const std::vector<uint32_t>& weight, const std::vector<uint32_t>& live,
                                uint64_t limit) {
  std::vector<size_t> cuts;
  CutChooser chooser(limit);
  for (size_t i = 0; i < weight.size(); ++i) {
    if (const auto cut = chooser.reach(i, live[i])) cuts.push_back(*cut);
    chooser.add(weight[i]);
  }
  return cuts;
}

}  // namespace calque::plan
