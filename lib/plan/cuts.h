#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace calque::plan {

/// Where to cut a run of equations so that no piece weighs much more than `limit`: positions of the first equation of
/// each piece but the first one. Of the places near the limit, one is taken across which few values are wanted.
/// `weight` and `live` are by position: what the equation costs, and how many values cross to it from before.
std::vector<size_t> choose_cuts(const std::vector<uint32_t>& weight, const std::vector<uint32_t>& live, uint64_t limit);

}  // namespace calque::plan
