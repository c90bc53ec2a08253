// A later reduction moves up to an earlier one. What it needs, and what lies between the two, moves before both, which
// is possible when none of it depends on the earlier one's results. Bodies of reductions store nothing.
#include "kernel/merge_reductions.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace calque::kernel {

namespace {

/// Accumulators of more results would not leave registers for what they add up.
constexpr size_t kMostResults = 4;
constexpr size_t kMostInstructions = 400;

class Merger {
 public:
  explicit Merger(Kernel& kernel) : k_(kernel) {}
  void run() { visit(k_.body); }

 private:
  void visit(Region& r) {
    for (Instruction& i : r.instructions)
      for (Region& inner : i.regions) visit(inner);
    for (size_t a = 0; a < r.instructions.size(); ++a) {
      if (!is_candidate(r.instructions[a])) continue;
      for (size_t b = a + 1; b < r.instructions.size(); ++b)
        if (is_candidate(r.instructions[b]) && try_merge(r, a, b)) b = a;  // other instructions have moved
    }
  }

  /// A sum, product or extremum whose body is straight code.
  bool is_candidate(const Instruction& i) const {
    if (i.op != Op::loop || i.loop != LoopKind::reduction || i.results.empty()) return false;
    if (i.regions[0].instructions.size() > kMostInstructions) return false;
    for (size_t r = 0; r < i.results.size(); ++r)
      if (i.combiners[r] == Combiner::argmax || i.combiners[r] == Combiner::argmin) return false;
    return std::all_of(i.regions[0].instructions.begin(), i.regions[0].instructions.end(),
                       [](const Instruction& inner) { return inner.regions.empty() && inner.op != Op::store; });
  }
  DType dtype(Id id) const { return k_.values[static_cast<size_t>(id)]; }

  bool try_merge(Region& r, size_t a, size_t b) {
    const Instruction &first = r.instructions[a], &second = r.instructions[b];
    if (first.extent != second.extent || first.results.size() + second.results.size() > kMostResults) return false;
    // One width of vectors suits both.
    if (size_of(dtype(first.results[0])) != size_of(dtype(second.results[0]))) return false;
    std::vector<size_t> moved;
    if (!reaches(r, a, b, moved)) return false;
    Instruction both = first;
    const size_t shared = append(both, second);
    // The index and an address are shared by any two loops; a load, or more than one operation, is work saved.
    if (shared == 0) return false;
    // In order: what moves up, the merged loop, the rest of what was between.
    std::vector<Instruction> order;
    for (const size_t n : moved) order.push_back(std::move(r.instructions[n]));
    order.push_back(std::move(both));
    for (size_t n = a + 1; n < b; ++n)
      if (!std::binary_search(moved.begin(), moved.end(), n)) order.push_back(std::move(r.instructions[n]));
    std::move(order.begin(), order.end(), r.instructions.begin() + static_cast<std::ptrdiff_t>(a));
    r.instructions.erase(r.instructions.begin() + static_cast<std::ptrdiff_t>(b));
    return true;
  }

  /// Finds what between `a` and `b` the second needs; it has to move before the first. False when it cannot.
  bool reaches(const Region& r, size_t a, size_t b, std::vector<size_t>& moved) const {
    std::unordered_set<Id> wanted, given(r.instructions[a].results.begin(), r.instructions[a].results.end());
    std::unordered_set<int32_t> read;
    want(r.instructions[b], wanted, read);
    for (size_t n = b; n-- > a + 1;) {
      const Instruction& i = r.instructions[n];
      const bool needed = std::any_of(i.results.begin(), i.results.end(), [&](Id id) { return wanted.count(id) != 0; });
      if (!needed) continue;
      if (i.op != Op::constant && i.op != Op::scalar && i.op != Op::load) return false;
      want(i, wanted, read);
      moved.push_back(n);
    }
    for (const Id id : wanted)
      if (given.count(id)) return false;
    std::reverse(moved.begin(), moved.end());
    // Nothing may be read before it is written.
    for (size_t n = a + 1; n < b; ++n)
      if (stores(r.instructions[n], read)) return false;
    return true;
  }
  static void want(const Instruction& i, std::unordered_set<Id>& wanted, std::unordered_set<int32_t>& read) {
    wanted.insert(i.operands.begin(), i.operands.end());
    if (i.op == Op::load) read.insert(i.buffer);
    for (const Region& inner : i.regions)
      for (const Instruction& n : inner.instructions) want(n, wanted, read);
  }
  static bool stores(const Instruction& i, const std::unordered_set<int32_t>& buffers) {
    if (i.op == Op::store && buffers.count(i.buffer)) return true;
    for (const Region& inner : i.regions)
      for (const Instruction& n : inner.instructions)
        if (stores(n, buffers)) return true;
    return false;
  }

  /// Adds what `other` does to a loop; returns how many loads and floating-point operations both had in common.
  size_t append(Instruction& loop, const Instruction& other) {
    Region& body = loop.regions[0];
    Instruction yield = std::move(body.instructions.back());
    body.instructions.pop_back();
    std::unordered_map<Id, Id> names{{other.regions[0].parameters[0], body.parameters[0]}};
    const auto name = [&](Id id) {
      const auto at = names.find(id);
      return at == names.end() ? id : at->second;
    };
    size_t shared = 0;
    const size_t own = body.instructions.size();
    std::unordered_multimap<uint64_t, size_t> known;
    for (size_t n = 0; n < own; ++n) known.emplace(hash(body.instructions[n]), n);
    for (Instruction i : other.regions[0].instructions) {
      for (Id& o : i.operands) o = name(o);
      if (i.op == Op::yield) {
        for (const Id o : i.operands) yield.operands.push_back(o);
        break;
      }
      const auto [begin, end] = known.equal_range(hash(i));
      const auto twin =
          std::find_if(begin, end, [&](const auto& entry) { return same(body.instructions[entry.second], i); });
      if (twin != end) {
        const Id had = body.instructions[twin->second].results[0];
        names[i.results[0]] = had;
        shared += i.op == Op::load || is_floating(dtype(had));
        continue;
      }
      body.instructions.push_back(std::move(i));
    }
    body.instructions.push_back(std::move(yield));
    for (size_t n = 0; n < other.results.size(); ++n) {
      loop.operands.push_back(other.operands[n]);
      loop.results.push_back(other.results[n]);
      loop.combiners.push_back(other.combiners[n]);
    }
    return shared;
  }

  static uint64_t hash(const Instruction& i) {
    uint64_t h = static_cast<uint64_t>(i.op) * 0x9e3779b97f4a7c15ULL + static_cast<uint64_t>(i.primitive);
    h = h * 0x9e3779b97f4a7c15ULL + static_cast<uint64_t>(i.buffer + 1);
    for (const Id o : i.operands) h = h * 0x9e3779b97f4a7c15ULL + static_cast<uint64_t>(o);
    return h ^ (h >> 31);
  }
  bool same(const Instruction& a, const Instruction& b) const {
    return a.op == b.op && a.primitive == b.primitive && a.exact == b.exact && a.buffer == b.buffer &&
           a.operands == b.operands && a.literal == b.literal && dtype(a.results[0]) == dtype(b.results[0]);
  }

  Kernel& k_;
};

}  // namespace

void merge_reductions(Kernel& kernel) { Merger(kernel).run(); }

}  // namespace calque::kernel
