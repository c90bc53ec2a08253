#include "plan/cuts.h"

namespace calque::plan {

std::vector<size_t> choose_cuts(const std::vector<uint32_t>& weight, const std::vector<uint32_t>& live,
                                uint64_t limit) {
  std::vector<size_t> cuts;
  uint64_t total = 0, since_best = 0;
  size_t best = 0;  // of this piece; 0: none yet
  for (size_t i = 0; i < weight.size(); ++i) {
    if (total > limit - limit / 4 && (best == 0 || live[i] <= live[best])) {
      best = i;
      since_best = 0;
    }
    if (total > limit && best != 0) {
      cuts.push_back(best);
      total = since_best;
      best = 0;
    }
    total += weight[i];
    since_best += weight[i];
  }
  return cuts;
}

}  // namespace calque::plan
