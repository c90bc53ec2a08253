// Storing the value early is safe when the loop is the only user of the destination, when no other instruction after
// the reduction loads memory (an operand may alias the result), and when the store does not round the value.
#include "kernel/schedule/reuse_reduction_values.h"

#include <algorithm>
#include <cstring>

#include "kernel/ir/cost.h"
#include "kernel/ir/walk.h"

namespace calque::kernel {

namespace {

// Recomputing fewer floating-point operations than this is faster than a store and a load.
constexpr int kExpensive = 12;

class ReductionValueReuse {
 public:
  explicit ReductionValueReuse(Kernel& kernel) : k_(kernel) {}
  void run() { visit(k_.body); }

 private:
  void visit(Region& r) {
    for (size_t a = 0; a < r.instructions.size(); ++a) {
      Instruction& i = r.instructions[a];
      if (is_reduction(i) && flat(i)) {
        for (size_t b = a + 1; b < r.instructions.size(); ++b)
          if (is_loop(r.instructions[b], LoopKind::parallel) && try_reuse(r, a, b)) break;
      } else {
        for (Region& inner : i.regions) visit(inner);
      }
    }
  }

  static bool flat(const Instruction& i) {
    return std::none_of(i.regions[0].instructions.begin(), i.regions[0].instructions.end(),
                        [](const Instruction& inner) { return inner.op == Op::loop || inner.op == Op::store; });
  }
  /// The value of the reduction that is equal to a value of the loop, or kNone.
  Id& equal_value(Id id) { return value_map_[static_cast<size_t>(id)]; }
  /// Whether `a` of the loop and `b` of the reduction compute equal values.
  bool same(const Instruction& a, const Instruction& b) {
    if (a.op != b.op || a.primitive != b.primitive || a.exact != b.exact || a.buffer != b.buffer ||
        a.operands.size() != b.operands.size() || a.results.size() != b.results.size() ||
        a.regions.size() != b.regions.size() || a.op == Op::store || a.op == Op::loop ||
        std::memcmp(a.literal.bytes, b.literal.bytes, sizeof a.literal.bytes) != 0)
      return false;
    for (size_t n = 0; n < a.operands.size(); ++n)
      if (a.operands[n] != b.operands[n] && equal_value(a.operands[n]) != b.operands[n]) return false;
    for (size_t n = 0; n < a.results.size(); ++n)
      if (k_.values[static_cast<size_t>(a.results[n])] != k_.values[static_cast<size_t>(b.results[n])]) return false;
    for (size_t n = 0; n < a.regions.size(); ++n)
      if (!same(a.regions[n], b.regions[n])) return false;
    return true;
  }
  bool same(const Region& a, const Region& b) {
    if (a.parameters.size() != b.parameters.size() || a.instructions.size() != b.instructions.size()) return false;
    for (size_t n = 0; n < a.parameters.size(); ++n) equal_value(a.parameters[n]) = b.parameters[n];
    for (size_t n = 0; n < a.instructions.size(); ++n) {
      if (!same(a.instructions[n], b.instructions[n])) return false;
      map(a.instructions[n], b.instructions[n]);
    }
    return true;
  }
  void map(const Instruction& a, const Instruction& b) {
    for (size_t n = 0; n < a.results.size(); ++n) equal_value(a.results[n]) = b.results[n];
  }

  bool try_reuse(Region& parent, size_t first, size_t second) {
    Instruction &reduction = parent.instructions[first], &loop = parent.instructions[second];
    if (reduction.extent != loop.extent || reduction.regions[0].parameters.empty() || !ends_in_only_store(loop))
      return false;
    value_map_.assign(k_.values.size(), kNone);
    equal_value(loop.regions[0].parameters[0]) = reduction.regions[0].parameters[0];
    std::vector<bool> shared;
    for (const Instruction& i : loop.regions[0].instructions) {
      shared.push_back(false);
      for (const Instruction& j : reduction.regions[0].instructions)
        if (same(i, j)) {
          map(i, j);
          shared.back() = true;
          break;
        }
    }
    const Instruction& store = loop.regions[0].instructions.back();
    const Id value = shared_value(loop.regions[0], shared);
    if (value == kNone || store.operands.size() != 2 || equal_value(store.operands[0]) == kNone ||
        k_.values[static_cast<size_t>(value)] != k_.buffers[static_cast<size_t>(store.buffer)].dtype ||
        uses_of(k_.body, store.buffer) != 1)
      return false;
    Region changed = loop.regions[0];
    load_instead(changed, value, store);
    remove_dead(changed);
    if (count_if(changed, is_load) != 1 || conflicts(parent, first, second)) return false;
    Instruction write;
    write.op = Op::store;
    write.buffer = store.buffer;
    write.operands = Ids{equal_value(store.operands[0]), equal_value(value)};
    auto& body = reduction.regions[0].instructions;
    body.insert(body.end() - 1, std::move(write));
    loop.regions[0] = std::move(changed);
    return true;
  }

  /// Whether the loop's body has no inner loops, apart from cold paths, and one store, at its end.
  static bool ends_in_only_store(const Instruction& loop) {
    const auto& body = loop.regions[0].instructions;
    if (body.empty() || body.back().op != Op::store) return false;
    return std::all_of(body.begin(), body.end() - 1,
                       [](const Instruction& i) { return i.op != Op::loop && i.op != Op::store; });
  }

  /// The only shared floating-point value that unshared instructions use, if it is expensive; else kNone.
  Id shared_value(const Region& body, const std::vector<bool>& shared) const {
    Id value = kNone;
    int operations = 0;
    std::vector<bool> is_shared(k_.values.size());
    for (size_t n = 0; n < shared.size(); ++n) {
      const Instruction& i = body.instructions[n];
      if (shared[n]) {
        for (const Id r : i.results) is_shared[static_cast<size_t>(r)] = true;
        if (i.op == Op::scalar && is_floating(k_.values[static_cast<size_t>(i.results[0])]))
          operations += cost_of(k_, i).operations;
        continue;
      }
      if (!i.regions.empty()) return kNone;
      for (const Id o : i.operands) {
        if (!is_shared[static_cast<size_t>(o)] || !is_floating(k_.values[static_cast<size_t>(o)])) continue;
        if (value != kNone && value != o) return kNone;
        value = o;
      }
    }
    return operations >= kExpensive ? value : kNone;
  }

  /// Replaces the uses of `value` by a load from the destination of `store`.
  void load_instead(Region& body, Id value, const Instruction& store) {
    Instruction load;
    load.op = Op::load;
    load.buffer = store.buffer;
    load.operands = Ids{store.operands[0]};
    load.results = Ids{k_.add_value(k_.values[static_cast<size_t>(value)])};
    const auto definition = [&](Id id) {
      return std::find_if(body.instructions.begin(), body.instructions.end(), [&](const Instruction& i) {
        return std::find(i.results.begin(), i.results.end(), id) != i.results.end();
      });
    };
    auto at = definition(value);
    for (auto i = at + 1; i != body.instructions.end(); ++i)
      for (Id& o : i->operands)
        if (o == value) o = load.results[0];
    const auto index = definition(store.operands[0]);
    if (index != body.instructions.end()) at = std::max(at, index);
    body.instructions.insert(at + 1, std::move(load));
  }

  static void remove_dead(Region& body) {
    std::vector<Id> used;
    const auto use = [&](const Instruction& i) { used.insert(used.end(), i.operands.begin(), i.operands.end()); };
    std::vector<Instruction> kept;
    for (auto i = body.instructions.rbegin(); i != body.instructions.rend(); ++i) {
      const auto is_used = [&](Id id) { return std::find(used.begin(), used.end(), id) != used.end(); };
      if (i->op != Op::store && std::none_of(i->results.begin(), i->results.end(), is_used)) continue;
      walk(*i, use);
      kept.push_back(std::move(*i));
    }
    std::reverse(kept.begin(), kept.end());
    body.instructions = std::move(kept);
  }

  /// Whether an instruction other than the loop loads after the reduction, or stores between the two.
  static bool conflicts(const Region& parent, size_t first, size_t second) {
    for (size_t n = first + 1; n < parent.instructions.size(); ++n) {
      if (n == second) continue;
      const Instruction& i = parent.instructions[n];
      if (is_or_contains(i, is_load) || (n < second && is_or_contains(i, is_store))) return true;
    }
    return false;
  }
  static size_t uses_of(const Region& r, int32_t buffer) {
    return count_if(r, [&](const Instruction& i) { return (is_load(i) || is_store(i)) && i.buffer == buffer; });
  }

  Kernel& k_;
  std::vector<Id> value_map_;  // by value of the loop: the equal value of the reduction
};

}  // namespace

void reuse_reduction_values(Kernel& kernel) { ReductionValueReuse(kernel).run(); }

}  // namespace calque::kernel
