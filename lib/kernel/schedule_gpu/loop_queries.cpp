#include "kernel/schedule_gpu/loop_queries.h"

#include <algorithm>
#include <set>

#include "kernel/ir/cost.h"
#include "kernel/ir/walk.h"

namespace calque::kernel {

bool has_loops(const Instruction& i) { return is_or_contains(i, is_counted); }

bool has_stores(const Region& region) {
  return contains(region, [](const Instruction& i) { return i.op == Op::store || i.op == Op::contraction; });
}

namespace {

void collect(const Instruction& i, std::set<Id>& defined, std::vector<Id>& used, bool operands = true) {
  for (const Id o : i.operands)
    if (operands && defined.count(o) == 0) used.push_back(o);
  for (const Region& r : i.regions) {
    defined.insert(r.parameters.begin(), r.parameters.end());
    for (const Instruction& inner : r.instructions) collect(inner, defined, used);
  }
  defined.insert(i.results.begin(), i.results.end());
}

std::vector<Id> free_in(const Instruction& i, bool operands) {
  std::set<Id> defined;
  std::vector<Id> used;
  collect(i, defined, used, operands);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  return used;
}

}  // namespace

std::vector<Id> free_values(const Instruction& i) { return free_in(i, true); }
std::vector<Id> free_in_regions(const Instruction& i) { return free_in(i, false); }

double work(const Kernel& kernel, const Instruction& i) {
  double inner = 0;
  for (const Region& r : i.regions) inner += work(kernel, r);
  if (i.op == Op::loop) return 1 + static_cast<double>(i.extent) * inner;
  if (i.op == Op::contraction)
    return static_cast<double>(i.rows) * static_cast<double>(i.columns) *
           (work(kernel, i.regions[2]) +
            static_cast<double>(i.extent) * (work(kernel, i.regions[0]) + work(kernel, i.regions[1])));
  constexpr double kWhileIterations = 8;  // assumed trip count
  return cost_of(kernel, i).operations + (i.op == Op::while_ ? kWhileIterations : 1) * inner;
}

double work(const Kernel& kernel, const Region& region) {
  double sum = 0;
  for (const Instruction& i : region.instructions) sum += work(kernel, i);
  return sum;
}

std::vector<const Instruction*> nest_of(const Instruction& loop) {
  std::vector<const Instruction*> nest{&loop};
  for (;;) {
    if (!nest.back()->locals.empty()) return nest;  // of the iteration of one group
    const Instruction* inner = nullptr;
    for (const Instruction& i : nest.back()->regions[0].instructions) {
      if (i.op == Op::store || (inner && has_loops(i)) || (!is_parallel(i) && has_loops(i))) return nest;
      if (!i.regions.empty() && !is_parallel(i) && has_stores(Region{{}, {i}})) return nest;
      if (is_parallel(i)) {
        if (inner) return nest;
        inner = &i;
      }
    }
    if (!inner) return nest;
    nest.push_back(inner);
  }
}

}  // namespace calque::kernel
