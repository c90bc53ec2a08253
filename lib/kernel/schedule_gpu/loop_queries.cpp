#include "kernel/schedule_gpu/loop_queries.h"

#include <algorithm>
#include <set>

#include "kernel/ir/cost.h"
#include "primitives/elementwise/arithmetic.h"
#include "primitives/registry.h"

namespace calque::kernel {

using namespace primitives;

bool has_loops(const Instruction& i) {
  return is_counted(i) || std::any_of(i.regions.begin(), i.regions.end(), [](const Region& r) { return has_loops(r); });
}

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

Strides::Strides(const Kernel& kernel) : defined_(kernel.values.size(), nullptr) { index(kernel.body); }

void Strides::index(const Region& region) {
  for (const Instruction& i : region.instructions) {
    for (const Id r : i.results) defined_[static_cast<size_t>(r)] = &i;
    for (const Region& inner : i.regions) index(inner);
  }
}

std::optional<int64_t> Strides::step(Id id, Id variable) const {
  std::unordered_map<Id, std::optional<int64_t>> known;
  return step(id, variable, known);
}

std::optional<int64_t> Strides::step(Id id, Id variable, std::unordered_map<Id, std::optional<int64_t>>& known) const {
  if (id == variable) return 1;
  if (const auto at = known.find(id); at != known.end()) return at->second;
  std::optional<int64_t> result = 0;
  if (const Instruction* i = defined_[static_cast<size_t>(id)]) {
    const auto of = [&](size_t o) { return step(i->operands[o], variable, known); };
    const auto moves = [&] {
      return std::any_of(i->operands.begin(), i->operands.end(), [&](Id o) {
        const auto s = step(o, variable, known);
        return !s || *s != 0;
      });
    };
    if (!i->regions.empty()) {
      result = std::nullopt;
    } else if (i->op == Op::scalar && (i->primitive == id_of<Add> || i->primitive == id_of<Sub>)) {
      const auto a = of(0), b = of(1);
      result = a && b ? std::optional(i->primitive == id_of<Add> ? *a + *b : *a - *b) : std::nullopt;
    } else if (moves()) {
      result = std::nullopt;
      const Instruction* factor =
          i->op == Op::scalar && i->primitive == id_of<Mul> ? defined_[static_cast<size_t>(i->operands[1])] : nullptr;
      if (const auto a = factor && factor->op == Op::constant ? of(0) : std::nullopt)
        result = *a * factor->literal.as<int64_t>();
    }
  }
  known.emplace(id, result);
  return result;
}

Strides::Accesses Strides::accesses(const Region& region, Id variable) const {
  Accesses all;
  std::unordered_map<Id, std::optional<int64_t>> known;
  const auto walk = [&](auto&& self, const Region& r) -> void {
    for (const Instruction& i : r.instructions) {
      if (i.op == Op::load || i.op == Op::store) {
        const auto s = step(i.operands[0], variable, known);
        ++(!s ? all.other : *s == 0 ? all.fixed : *s == 1 || *s == -1 ? all.unit : all.other);
      }
      for (const Region& inner : i.regions) self(self, inner);
    }
  };
  walk(walk, region);
  return all;
}

}  // namespace calque::kernel
