// The place is safe when the loop is the only one that uses it, when nothing after the reduction reads other memory (an
// operand may lie where the result does), and when the stored value is exact.
#include "kernel/schedule/reuse_reduction_values.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "kernel/ir/cost.h"

namespace calque::kernel {

namespace {

// Fewer floating-point instructions than this are computed again sooner than stored and read.
constexpr int kDear = 12;

class Keeper {
 public:
  explicit Keeper(Kernel& kernel) : k_(kernel) {}
  void run() { visit(k_.body); }

 private:
  void visit(Region& r) {
    for (size_t a = 0; a < r.instructions.size(); ++a) {
      Instruction& i = r.instructions[a];
      if (is_reduction(i) && flat(i)) {
        for (size_t b = a + 1; b < r.instructions.size(); ++b)
          if (is_loop(r.instructions[b], LoopKind::parallel) && try_keep(r, a, b)) break;
      } else {
        for (Region& inner : i.regions) visit(inner);
      }
    }
  }

  static bool flat(const Instruction& i) {
    return std::none_of(i.regions[0].instructions.begin(), i.regions[0].instructions.end(),
                        [](const Instruction& inner) { return inner.op == Op::loop || inner.op == Op::store; });
  }
  Id& twin(Id id) { return twins_[static_cast<size_t>(id)]; }
  /// Both compute the same, the loop's values having twins in the reduction.
  bool same(const Instruction& a, const Instruction& b) {
    if (a.op != b.op || a.primitive != b.primitive || a.exact != b.exact || a.buffer != b.buffer ||
        a.operands.size() != b.operands.size() || a.results.size() != b.results.size() ||
        a.regions.size() != b.regions.size() || a.op == Op::store || a.op == Op::loop ||
        std::memcmp(a.literal.bytes, b.literal.bytes, sizeof a.literal.bytes) != 0)
      return false;
    for (size_t n = 0; n < a.operands.size(); ++n)
      if (a.operands[n] != b.operands[n] && twin(a.operands[n]) != b.operands[n]) return false;
    for (size_t n = 0; n < a.results.size(); ++n)
      if (k_.values[static_cast<size_t>(a.results[n])] != k_.values[static_cast<size_t>(b.results[n])]) return false;
    for (size_t n = 0; n < a.regions.size(); ++n)
      if (!same(a.regions[n], b.regions[n])) return false;
    return true;
  }
  bool same(const Region& a, const Region& b) {
    if (a.parameters.size() != b.parameters.size() || a.instructions.size() != b.instructions.size()) return false;
    for (size_t n = 0; n < a.parameters.size(); ++n) twin(a.parameters[n]) = b.parameters[n];
    for (size_t n = 0; n < a.instructions.size(); ++n) {
      if (!same(a.instructions[n], b.instructions[n])) return false;
      pair(a.instructions[n], b.instructions[n]);
    }
    return true;
  }
  void pair(const Instruction& a, const Instruction& b) {
    for (size_t n = 0; n < a.results.size(); ++n) twin(a.results[n]) = b.results[n];
  }

  bool try_keep(Region& around, size_t first, size_t second) {
    Instruction &sum = around.instructions[first], &map = around.instructions[second];
    if (sum.extent != map.extent || sum.regions[0].parameters.empty() || !flat_but_one_store(map)) return false;
    twins_.assign(k_.values.size(), kNone);
    twin(map.regions[0].parameters[0]) = sum.regions[0].parameters[0];
    std::vector<bool> shared;
    for (const Instruction& i : map.regions[0].instructions) {
      shared.push_back(false);
      for (const Instruction& j : sum.regions[0].instructions)
        if (same(i, j)) {
          pair(i, j);
          shared.back() = true;
          break;
        }
    }
    const Instruction& store = map.regions[0].instructions.back();
    const Id term = shared_term(map.regions[0], shared);
    if (term == kNone || store.operands.size() != 2 || twin(store.operands[0]) == kNone ||
        k_.values[static_cast<size_t>(term)] != k_.buffers[static_cast<size_t>(store.buffer)].dtype ||
        uses_of(k_.body, store.buffer) != 1)
      return false;
    Region changed = map.regions[0];
    read(changed, term, store);
    remove_dead(changed);
    if (count(changed, Op::load) != 1 || disturbed(around, first, second)) return false;
    Instruction write;
    write.op = Op::store;
    write.buffer = store.buffer;
    write.operands = Ids{twin(store.operands[0]), twin(term)};
    auto& terms = sum.regions[0].instructions;
    terms.insert(terms.end() - 1, std::move(write));
    map.regions[0] = std::move(changed);
    return true;
  }

  /// Straight but for rare cases, and one store at the end.
  static bool flat_but_one_store(const Instruction& map) {
    const auto& body = map.regions[0].instructions;
    if (body.empty() || body.back().op != Op::store) return false;
    return std::all_of(body.begin(), body.end() - 1,
                       [](const Instruction& i) { return i.op != Op::loop && i.op != Op::store; });
  }

  /// The one shared floating-point value that instructions which are not shared use, if it is expensive.
  Id shared_term(const Region& map, const std::vector<bool>& shared) const {
    Id term = kNone;
    int operations = 0;
    std::vector<bool> is_shared(k_.values.size());
    for (size_t n = 0; n < shared.size(); ++n) {
      const Instruction& i = map.instructions[n];
      if (shared[n]) {
        for (const Id r : i.results) is_shared[static_cast<size_t>(r)] = true;
        if (i.op == Op::scalar && is_floating(k_.values[static_cast<size_t>(i.results[0])]))
          operations += cost_of(k_, i).operations;
        continue;
      }
      if (!i.regions.empty()) return kNone;
      for (const Id o : i.operands) {
        if (!is_shared[static_cast<size_t>(o)] || !is_floating(k_.values[static_cast<size_t>(o)])) continue;
        if (term != kNone && term != o) return kNone;
        term = o;
      }
    }
    return operations >= kDear ? term : kNone;
  }

  /// `term` is read from where `store` stores.
  void read(Region& map, Id term, const Instruction& store) {
    Instruction load;
    load.op = Op::load;
    load.buffer = store.buffer;
    load.operands = Ids{store.operands[0]};
    load.results = Ids{k_.add_value(k_.values[static_cast<size_t>(term)])};
    const auto makes = [&](Id id) {
      return std::find_if(map.instructions.begin(), map.instructions.end(), [&](const Instruction& i) {
        return std::find(i.results.begin(), i.results.end(), id) != i.results.end();
      });
    };
    auto at = makes(term);
    for (auto i = at + 1; i != map.instructions.end(); ++i)
      for (Id& o : i->operands)
        if (o == term) o = load.results[0];
    const auto index = makes(store.operands[0]);
    if (index != map.instructions.end()) at = std::max(at, index);
    map.instructions.insert(at + 1, std::move(load));
  }

  static void remove_dead(Region& map) {
    std::vector<Id> used;
    const std::function<void(const Instruction&)> use = [&](const Instruction& i) {
      used.insert(used.end(), i.operands.begin(), i.operands.end());
      for (const Region& r : i.regions)
        for (const Instruction& inner : r.instructions) use(inner);
    };
    std::vector<Instruction> kept;
    for (auto i = map.instructions.rbegin(); i != map.instructions.rend(); ++i) {
      const auto is_used = [&](Id id) { return std::find(used.begin(), used.end(), id) != used.end(); };
      if (i->op != Op::store && std::none_of(i->results.begin(), i->results.end(), is_used)) continue;
      use(*i);
      kept.push_back(std::move(*i));
    }
    std::reverse(kept.begin(), kept.end());
    map.instructions = std::move(kept);
  }

  static int count(const Region& r, Op op) {
    int n = 0;
    for (const Instruction& i : r.instructions) {
      n += i.op == op;
      for (const Region& inner : i.regions) n += count(inner, op);
    }
    return n;
  }
  /// Whether anything but the map reads memory after the sum, or writes any before the map.
  static bool disturbed(const Region& around, size_t first, size_t second) {
    const auto has = [](const Instruction& i, Op op) {
      return i.op == op ||
             std::any_of(i.regions.begin(), i.regions.end(), [&](const Region& inner) { return count(inner, op) > 0; });
    };
    for (size_t n = first + 1; n < around.instructions.size(); ++n) {
      if (n == second) continue;
      const Instruction& i = around.instructions[n];
      if (has(i, Op::load) || (n < second && has(i, Op::store))) return true;
    }
    return false;
  }
  static int uses_of(const Region& r, int32_t buffer) {
    int n = 0;
    for (const Instruction& i : r.instructions) {
      n += (i.op == Op::load || i.op == Op::store) && i.buffer == buffer;
      for (const Region& inner : i.regions) n += uses_of(inner, buffer);
    }
    return n;
  }

  Kernel& k_;
  std::vector<Id> twins_;
};

}  // namespace

void keep_terms(Kernel& kernel) { Keeper(kernel).run(); }

}  // namespace calque::kernel
