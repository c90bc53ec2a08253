// A loop is moved up to an earlier one, together with the instructions between them that it depends on. This is safe
// when no moved instruction writes memory that an instruction it passes accesses, or the other way round. Every element
// is still computed by the same instructions, and every reduction still combines its elements in the same order.
#include "kernel/schedule/fuse_loops.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "kernel/ir/walk.h"
#include "kernel/schedule/column_limits.h"

namespace calque::kernel {

namespace {

/// Each result has four accumulators: more results would exceed the registers.
constexpr size_t kMostResults = 8;
constexpr size_t kMaxFusedInstructions = 2000;
constexpr size_t kMostStores = 16;

bool reduces(const Instruction& i) { return is_or_contains(i, is_reduction); }

bool is_candidate(const Instruction& i) {
  return i.op == Op::loop && i.loop != LoopKind::sequential && i.extent > 0 && !i.regions[0].parameters.empty();
}

using ValueMap = std::unordered_map<Id, Id>;

void replace_operands(Instruction& outer, const ValueMap& values) {
  walk(outer, [&](Instruction& i) {
    for (Id& o : i.operands)
      if (const auto at = values.find(o); at != values.end()) o = at->second;
  });
}

class Fuser {
 public:
  Fuser(Kernel& kernel, const std::vector<View>& views) : k_(kernel), views_(views) {}
  void run() { region(k_.body, 1); }

 private:
  /// `outer_extent`: extent of the innermost enclosing parallel loop.
  void region(Region& r, int64_t outer_extent) {
    merge_equal(r);
    for (size_t a = 0; a < r.instructions.size(); ++a) {
      if (!is_candidate(r.instructions[a])) continue;
      for (size_t b = a + 1; b < r.instructions.size();) {
        if (is_profitable(r.instructions[a], r.instructions[b], outer_extent) && is_movable(r, a, b)) {
          a = fuse(r, a, b);
          b = a + 1;
        } else {
          ++b;
        }
      }
    }
    for (Instruction& i : r.instructions) {
      if (i.op != Op::loop) continue;
      region(i.regions[0], i.loop == LoopKind::parallel ? i.extent : outer_extent);
    }
  }

  static bool is_profitable(const Instruction& a, const Instruction& b, int64_t outer_extent) {
    if (!is_candidate(b) || a.extent != b.extent || !(reduces(a) || reduces(b))) return false;
    if (!a.results.empty() && a.results.size() + b.results.size() > kMostResults) return false;
    const size_t of_a = num_instructions(a.regions[0]), of_b = num_instructions(b.regions[0]), both = of_a + of_b;
    if (both > kMaxFusedInstructions || count_if(a, is_store) + count_if(b, is_store) > kMostStores) return false;
    constexpr auto kMost = static_cast<size_t>(kColumnBody);
    return outer_extent < kWideRow || both <= kMost || of_a > kMost || of_b > kMost;
  }

  // ---- memory

  bool overlap(int32_t a, int32_t b) const {
    const View &x = views_[static_cast<size_t>(a)], &y = views_[static_cast<size_t>(b)];
    const auto holds = [](const View& v, int32_t buffer) {
      return v.buffer == buffer ||
             std::any_of(v.choices.begin(), v.choices.end(), [&](const View::Choice& c) { return c.buffer == buffer; });
    };
    return holds(x, y.buffer) ||
           std::any_of(y.choices.begin(), y.choices.end(), [&](const View::Choice& c) { return holds(x, c.buffer); });
  }
  struct Accesses {
    std::vector<int32_t> loads, stores;
  };
  static Accesses accesses_of(const Instruction& outer) {
    Accesses accesses;
    const auto add = [](std::vector<int32_t>& list, int32_t buffer) {
      if (std::find(list.begin(), list.end(), buffer) == list.end()) list.push_back(buffer);
    };
    walk(outer, [&](const Instruction& i) {
      if (is_load(i)) add(accesses.loads, i.buffer);
      if (is_store(i)) add(accesses.stores, i.buffer);
    });
    return accesses;
  }
  bool conflict(const Instruction& i, const Instruction& j) const {
    const Accesses a = accesses_of(i), b = accesses_of(j);
    const auto any = [&](const std::vector<int32_t>& x, const std::vector<int32_t>& y) {
      return std::any_of(x.begin(), x.end(), [&](int32_t p) {
        return std::any_of(y.begin(), y.end(), [&](int32_t q) { return overlap(p, q); });
      });
    };
    return any(a.stores, b.loads) || any(a.stores, b.stores) || any(a.loads, b.stores);
  }

  // ---- moving

  /// The instructions between `a` and `b` that `b` depends on: they are moved before `a` with it.
  static std::vector<size_t> dependences(const Region& r, size_t a, size_t b) {
    std::unordered_set<Id> wanted;
    const auto want = [&](const Instruction& i) { wanted.insert(i.operands.begin(), i.operands.end()); };
    walk(r.instructions[b], want);
    std::vector<size_t> moved;
    for (size_t j = b; --j > a;) {
      const Instruction& i = r.instructions[j];
      if (std::none_of(i.results.begin(), i.results.end(), [&](Id id) { return wanted.count(id) != 0; })) continue;
      moved.push_back(j);
      walk(i, want);
    }
    std::reverse(moved.begin(), moved.end());
    return moved;
  }

  bool is_movable(const Region& r, size_t a, size_t b) const {
    std::vector<size_t> moved = dependences(r, a, b);
    moved.push_back(b);
    std::unordered_set<Id> results(r.instructions[a].results.begin(), r.instructions[a].results.end());
    for (const size_t m : moved) {
      const Instruction& i = r.instructions[m];
      const auto reads_result = [&](const Instruction& inner) {
        return std::any_of(inner.operands.begin(), inner.operands.end(), [&](Id o) { return results.count(o) != 0; });
      };
      if (is_or_contains(i, reads_result)) return false;
      for (size_t j = a; j < m; ++j)
        if (std::find(moved.begin(), moved.end(), j) == moved.end() && conflict(i, r.instructions[j])) return false;
    }
    return true;
  }

  /// Returns the position of the fused loop.
  size_t fuse(Region& r, size_t a, size_t b) {
    const std::vector<size_t> moved = dependences(r, a, b);
    std::vector<Instruction> out;
    const auto is_moved = [&](size_t j) { return std::find(moved.begin(), moved.end(), j) != moved.end(); };
    for (size_t j = 0; j < a; ++j) out.push_back(std::move(r.instructions[j]));
    for (const size_t j : moved) out.push_back(std::move(r.instructions[j]));
    const size_t at = out.size();
    out.push_back(fused(std::move(r.instructions[a]), std::move(r.instructions[b])));
    for (size_t j = a + 1; j < r.instructions.size(); ++j)
      if (j != b && !is_moved(j)) out.push_back(std::move(r.instructions[j]));
    r.instructions = std::move(out);
    return at;
  }

  Instruction fused(Instruction a, Instruction b) {
    const ValueMap values{{b.regions[0].parameters[0], a.regions[0].parameters[0]}};
    if (b.loop == LoopKind::reduction) a.loop = LoopKind::reduction;
    for (const Id o : b.operands) a.operands.push_back(o);
    for (const Id o : b.results) a.results.push_back(o);
    for (const Combiner c : b.combiners) a.combiners.push_back(c);
    auto& body = a.regions[0].instructions;
    Instruction yield;
    yield.op = Op::yield;
    const auto take_yield = [&](std::vector<Instruction>& from) {
      if (from.empty() || from.back().op != Op::yield) return;
      for (const Id o : from.back().operands) yield.operands.push_back(o);
      from.pop_back();
    };
    for (Instruction& i : b.regions[0].instructions) replace_operands(i, values);
    take_yield(body);
    take_yield(b.regions[0].instructions);
    for (Instruction& i : b.regions[0].instructions) body.push_back(std::move(i));
    if (!yield.operands.empty()) body.push_back(std::move(yield));
    return a;
  }

  // ---- equal instructions

  /// Whether the instruction has no stores and loads no buffer that the kernel writes.
  bool is_pure(const Instruction& i) const {
    if (i.op == Op::store || i.op == Op::contraction || i.op == Op::yield) return false;
    if (i.op == Op::load) {
      for (size_t b = 0; b < k_.buffers.size(); ++b)
        if (k_.buffers[b].written && overlap(i.buffer, static_cast<int32_t>(b))) return false;
    }
    return std::all_of(i.regions.begin(), i.regions.end(), [&](const Region& r) {
      return std::all_of(r.instructions.begin(), r.instructions.end(),
                         [&](const Instruction& inner) { return inner.op == Op::yield || is_pure(inner); });
    });
  }

  bool same(const Instruction& a, const Instruction& b, ValueMap& values) const {
    if (a.op != b.op || a.primitive != b.primitive || a.loop != b.loop || a.exact != b.exact || a.buffer != b.buffer ||
        a.extent != b.extent || a.operands.size() != b.operands.size() || a.results.size() != b.results.size() ||
        a.regions.size() != b.regions.size() || !(a.combiners == b.combiners) ||
        std::memcmp(a.literal.bytes, b.literal.bytes, sizeof a.literal.bytes) != 0)
      return false;
    for (size_t n = 0; n < a.operands.size(); ++n) {
      const auto at = values.find(b.operands[n]);
      if ((at == values.end() ? b.operands[n] : at->second) != a.operands[n]) return false;
    }
    for (size_t n = 0; n < a.regions.size(); ++n)
      if (!same(a.regions[n], b.regions[n], values)) return false;
    return map(a.results, b.results, values);
  }
  bool same(const Region& a, const Region& b, ValueMap& values) const {
    if (a.instructions.size() != b.instructions.size() || !map(a.parameters, b.parameters, values)) return false;
    for (size_t n = 0; n < a.instructions.size(); ++n)
      if (!same(a.instructions[n], b.instructions[n], values)) return false;
    return true;
  }
  /// Maps the values of `b` to those of `a`. False where the dtypes differ.
  bool map(const Ids& a, const Ids& b, ValueMap& values) const {
    if (a.size() != b.size()) return false;
    for (size_t n = 0; n < a.size(); ++n) {
      if (k_.values[static_cast<size_t>(a[n])] != k_.values[static_cast<size_t>(b[n])]) return false;
      values[b[n]] = a[n];
    }
    return true;
  }

  static size_t hash(const Instruction& i) {
    size_t h = static_cast<size_t>(i.op) * 31 + i.primitive;
    const auto mix = [&](size_t v) { h = (h ^ v) * 0x9e3779b97f4a7c15ULL; };
    mix(static_cast<size_t>(i.buffer));
    mix(static_cast<size_t>(i.extent));
    for (const Id o : i.operands) mix(static_cast<size_t>(o));
    for (const unsigned char b : i.literal.bytes) mix(b);
    return h;
  }

  void merge_equal(Region& r) {
    ValueMap values;
    std::unordered_multimap<size_t, size_t> seen;  // by hash: positions in `kept`
    std::vector<Instruction> kept;
    for (Instruction& i : r.instructions) {
      if (!values.empty()) replace_operands(i, values);
      const bool pure = is_pure(i);
      const size_t h = pure ? hash(i) : 0;
      bool found = false;
      if (pure) {
        const auto [from, to] = seen.equal_range(h);
        for (auto at = from; at != to && !found; ++at) {
          ValueMap inner;
          found = same(kept[at->second], i, inner);
          if (!found) continue;
          for (size_t n = 0; n < i.results.size(); ++n) values[i.results[n]] = kept[at->second].results[n];
        }
      }
      if (found) continue;
      if (pure) seen.emplace(h, kept.size());
      kept.push_back(std::move(i));
    }
    r.instructions = std::move(kept);
  }

  Kernel& k_;
  const std::vector<View>& views_;
};

}  // namespace

void fuse_loops(Kernel& kernel, const std::vector<View>& views) {
  const auto& all = kernel.body.instructions;
  if (std::any_of(all.begin(), all.end(), reduces)) Fuser(kernel, views).run();
}

}  // namespace calque::kernel
