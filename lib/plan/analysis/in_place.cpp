#include "plan/analysis/in_place.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "plan/analysis/equations.h"
#include "plan/analysis/update_reads.h"
#include "plan/plan.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

namespace {

/// Chains of at most as many updates may be computed at each element of the array instead.
constexpr int64_t kFewUpdates = 3, kManyUpdates = 16;
/// An update in place is a kernel: arrays with fewer elements for each of them are computed in one pass.
constexpr int64_t kElementsPerUpdate = 64;
/// Arrays with fewer elements are computed in less time than communication and one more kernel take.
constexpr int64_t kElementsBesideCommunication = 1 << 14;
/// What reads an array before it is overwritten, with what is computed of that where it is used.
constexpr size_t kMostReaders = 64;

int64_t size_of_value(const Graph& g, Value v) { return g.shape(v).num_elements(); }

bool has_effects(const Equation& e) {
  if (e.results().empty() || fusion_kind_of(e) == FusionKind::effect) return true;
  return std::any_of(e.subgraphs().begin(), e.subgraphs().end(), [](const Graph& g) {
    return std::any_of(g.equations().begin(), g.equations().end(), [](const Equation& i) { return has_effects(i); });
  });
}

bool is_collective(const Equation& e) {
  return
      []<class... P>(PrimitiveId id, TypeList<P...>) { return ((id == id_of<P>) || ...); }(e.id(), CollectivesList{});
}

size_t first_carry(const Equation& e) {
  const Attributes& a = e.attributes();
  return static_cast<size_t>(e.id() == id_of<Scan> ? a.integer("consts")
                                                   : a.integer("cond_consts") + a.integer("body_consts"));
}
size_t num_carries(const Equation& e) {
  return e.id() == id_of<Scan> ? static_cast<size_t>(e.attributes().integer("carry")) : e.results().size();
}

Value overwritten_operand(const Equation& e, size_t j);

/// The input of a sub-graph whose memory an output would have if every update, loop and branch wrote into its operand.
/// Invalid if there is none.
Value possible_source(const Graph& g, Value v) {
  constexpr int kFar = 1000;
  for (int n = 0; n < kFar && v.valid() && g.kind(v) == ValueKind::result; ++n) {
    const Equation& e = *g.definition(v);
    v = overwritten_operand(e, static_cast<size_t>(std::ranges::find(e.results(), v) - e.results().begin()));
  }
  return v.valid() && g.kind(v) == ValueKind::input ? v : Value();
}

/// The operand that result j may overwrite, if every branch either makes it of that, or does not need it. Only this
/// result is looked at, in each branch once: what nested branches do would otherwise be found out again and again.
Value overwritten_by_branches(const Equation& e, size_t j) {
  std::vector<Value> sources;
  for (const Graph& g : e.subgraphs()) sources.push_back(possible_source(g, g.outputs()[j]));
  const auto first = std::ranges::find_if(sources, [](Value v) { return v.valid(); });
  if (first == sources.end()) return {};
  const size_t k = e.subgraphs()[static_cast<size_t>(first - sources.begin())].input_index(*first);
  for (size_t i = 0; i < sources.size(); ++i) {
    const Graph& g = e.subgraphs()[i];
    if (sources[i] != g.inputs()[k] && is_used(g, g.inputs()[k])) return {};
  }
  return e.operand(k + 1);
}

/// The operand that result j may overwrite. Invalid if there is none.
Value overwritten_operand(const Equation& e, size_t j) {
  if (rules(e.id()).update_operand >= 0) return e.operand(0);
  switch (e.id()) {
    case id_of<While>:
    case id_of<Scan>:
      return j < num_carries(e) ? e.operand(first_carry(e) + j) : Value();
    case id_of<Cond>:
    case id_of<Switch>:
      return overwritten_by_branches(e, j);
    default:
      return {};
  }
}

class Choice {
 public:
  Choice(const Graph& graph, const InputMemory& memory) : g_(graph), memory_(memory) {
    for (const Equation& e : g_.equations()) {
      all_.push_back(&e);
      kinds_.push_back(is_elementwise_loop(g_, e) ? FusionKind::elementwise : fusion_kind_of(e));
    }
  }

  /// Whether any equation could overwrite an operand; only then is there anything to choose.
  bool has_candidates() const {
    for (uint32_t i = 0; i < all_.size(); ++i)
      if (is_update(i) || (!all_[i]->subgraphs().empty() && is_step(i))) return true;
    return false;
  }

  void choose() {
    index();
    for (uint32_t i = 0; i < all_.size(); ++i) candidates(i);
    std::unordered_set<uint32_t> decided;
    for (const uint32_t i : updates_) drop_chain_unless_better(i, decided);
    emit_all();
  }

  std::vector<KeptValue> kept() const { return kept_; }
  std::vector<const Equation*> sequence() {
    std::vector<const Equation*> out;
    if (order_.empty()) return all_;
    for (const uint32_t i : order_) out.push_back(all_[i]);
    return out;
  }
  std::vector<Overwriting> overwritings() const {
    std::vector<Overwriting> out;
    for (const uint32_t i : order_)
      if (const auto at = chosen_.find(i); at != chosen_.end())
        for (const Candidate& c : at->second) out.push_back(c.pair);
    return out;
  }

 private:
  struct Candidate {
    Overwriting pair;
    std::vector<uint32_t> before;  ///< equations that come before
  };

  bool is_step(uint32_t i) const { return runs_as_step(g_, *all_[i], kinds_[i]); }
  /// Computed where it is used, unless a later pass gives it memory.
  bool is_deferred(uint32_t i) const { return kinds_[i] != FusionKind::anchor && !is_step(i); }

  void index() {
    defined_at_.assign(g_.num_values(), 0);
    readers_.assign(g_.num_values(), {});
    is_output_.assign(g_.num_values(), false);
    writer_.assign(g_.num_values(), kNone);
    for (const Value v : g_.outputs()) is_output_[v.id()] = true;
    previous_effect_.assign(all_.size(), kNone);
    uint32_t effect = kNone;
    for (uint32_t i = 0; i < all_.size(); ++i) {
      if (has_effects(*all_[i])) {
        previous_effect_[i] = effect;
        effect = i;
      }
      for (const Value v : all_[i]->results()) defined_at_[v.id()] = i;
      for (const Value v : all_[i]->operands()) {
        std::vector<uint32_t>& list = readers_[v.id()];
        if (list.empty() || list.back() != i) list.push_back(i);
      }
    }
    budget_ = 20'000 + 50 * all_.size();
  }

  bool is_update(uint32_t i) const { return rules(all_[i]->id()).update_operand >= 0; }
  Value updated_with(uint32_t i) const {
    return all_[i]->operand(static_cast<size_t>(rules(all_[i]->id()).update_operand));
  }
  bool is_owned(Value x) const {
    if (g_.kind(x) == ValueKind::result) return true;
    return g_.kind(x) == ValueKind::input && g_.input_index(x) < memory_.owned.size() &&
           memory_.owned[g_.input_index(x)];
  }

  /// Adds what equation i may overwrite.
  void candidates(uint32_t i) {
    const Equation& e = *all_[i];
    if (!is_update(i) && (e.subgraphs().empty() || !is_step(i))) return;
    for (const Overwriting& pair : overwritings_of(e)) {
      const Value x = pair.operand;
      const ValueKind kind = g_.kind(x);
      if (kind != ValueKind::result && kind != ValueKind::input) continue;
      if (size_of_value(g_, x) == 0) continue;
      if (is_update(i)) {
        const int64_t written = size_of_value(g_, updated_with(i));
        if (written == 0 || (written > size_of_value(g_, x) / 2 && !reads_in_step(i))) continue;
      }
      if (const std::string reason = reason_to_keep(i, x); !reason.empty() || (!is_update(i) && !is_owned(x))) {
        kept_.push_back({pair.result, reason});
        continue;
      }
      late_reader_ = nullptr;
      std::optional<std::vector<uint32_t>> before = others_before(i, x);
      if (!before) {
        kept_.push_back({pair.result, reason_against(pair, late_reader_)});
        continue;
      }
      writer_[x.id()] = i;
      for (const uint32_t r : *before)
        if (r > i) first_forward_ = std::min(first_forward_, i);
      chosen_[i].push_back({pair, std::move(*before)});
      if (is_update(i)) updates_.push_back(i);
    }
  }

  /// Whether what is computed while equation i writes reads no elements but those that it replaces.
  bool reads_in_step(uint32_t i) const { return reads_of(i).all_in_step(); }
  UpdateReads reads_of(uint32_t i) const {
    return UpdateReads(g_, *all_[i], [this](Value v) { return has_memory(defined_at_[v.id()]); });
  }

  /// Why equation i may not overwrite x, whatever reads it. Empty if it may, or if x belongs to the caller.
  std::string reason_to_keep(uint32_t i, Value x) const {
    const Equation& e = *all_[i];
    if (writer_[x.id()] != kNone) return reason_against({&e, x, {}}, all_[writer_[x.id()]]);
    if (is_output_[x.id()]) return name_in_source(e) + " overwrites a value that is a result, too";
    if (std::count(e.operands().begin(), e.operands().end(), x) != 1)
      return name_in_source(e) + " has the array as two operands";
    if (is_owned(x) || is_update(i) || !memory_.is_sub_graph) return {};
    return name_in_source(e) + " overwrites what the next iteration reads";
  }

  /// The equations that read x, or values computed of x where they are used, and must come before equation i. Nothing
  /// if something that depends on i, or a copy of more than half of x, would read it later.
  std::optional<std::vector<uint32_t>> others_before(uint32_t i, Value x) {
    std::vector<uint32_t> found, kept;
    std::unordered_set<uint32_t> seen{i};
    for (const uint32_t r : readers_[x.id()])
      if (seen.insert(r).second) found.push_back(r);
    const size_t direct = found.size();
    for (size_t n = 0; n < found.size(); ++n) {
      const uint32_t f = found[n];
      if (found.size() > kMostReaders || budget_ == 0) return std::nullopt;
      if (depends(f, i)) {
        if (n < direct) {
          late_reader_ = all_[f];
          return std::nullopt;
        }
        continue;  // what it reads of x is stored before
      }
      kept.push_back(f);
      if (!is_deferred(f)) continue;
      for (const Value v : all_[f]->results()) {
        if (is_output_[v.id()]) continue;
        for (const uint32_t r : readers_[v.id()])
          if (seen.insert(r).second) found.push_back(r);
      }
    }
    // What is stored before because it is read later must be a part of x. What is computed while it is written is not
    // stored.
    UpdateReads reads = reads_of(i);
    const bool in_step = is_update(i) && reads.all_in_step();
    const std::unordered_set<uint32_t> is_before(kept.begin(), kept.end());
    for (const uint32_t f : kept) {
      if (!is_deferred(f) || kinds_[f] == FusionKind::reduction) continue;
      for (const Value v : all_[f]->results()) {
        if (is_output_[v.id()] || size_of_value(g_, v) <= size_of_value(g_, x) / 2) continue;
        for (const uint32_t r : readers_[v.id()])
          if (!is_before.contains(r) && (r != i || is_update(i)) && !(r == i && in_step && reads.is_in_step(v))) {
            late_reader_ = all_[f];
            return std::nullopt;
          }
      }
    }
    return kept;
  }

  /// Calls `visit` with what must come before an equation: the definitions of its operands, the effect before it, and
  /// what reads the array that it overwrites.
  template <class Visit>
  void for_each_before(uint32_t at, const Visit& visit) const {
    for (const Value v : all_[at]->operands())
      if (g_.kind(v) == ValueKind::result) visit(defined_at_[v.id()]);
    if (previous_effect_[at] != kNone) visit(previous_effect_[at]);
    const auto chosen = chosen_.find(at);
    if (chosen == chosen_.end()) return;
    for (const Candidate& c : chosen->second)
      for (const uint32_t r : c.before) visit(r);
  }

  /// Whether equation f must come after equation i.
  bool depends(uint32_t f, uint32_t i) {
    // Only what an overwriting puts before itself comes later in the graph than its user.
    const auto may_lead_there = [&](uint32_t d) { return d > i || d >= first_forward_; };
    if (!may_lead_there(f)) return false;
    std::vector<uint32_t> stack{f};
    std::unordered_set<uint32_t> seen{f};
    bool found = false;
    while (!stack.empty() && !found) {
      const uint32_t at = stack.back();
      stack.pop_back();
      if (budget_ == 0) return true;
      --budget_;
      for_each_before(at, [&](uint32_t d) {
        found = found || d == i;
        if (may_lead_there(d) && seen.insert(d).second) stack.push_back(d);
      });
    }
    return found;
  }

  /// Whether the value has memory whatever is fused.
  bool is_wanted(Value v) const {
    if (is_output_[v.id()]) return true;
    const auto& readers = readers_[v.id()];
    return std::any_of(readers.begin(), readers.end(), [&](uint32_t r) {
      return is_step(r) || (kinds_[r] == FusionKind::anchor && all_[r]->operand(0) == v);
    });
  }

  /// Decides about the chain of updates that begins with equation i.
  void drop_chain_unless_better(uint32_t i, std::unordered_set<uint32_t>& decided) {
    if (decided.contains(i)) return;
    const Value x = chosen_.at(i).front().pair.operand;
    const int64_t size = size_of_value(g_, x);
    bool has_scatters = false;
    std::vector<uint32_t> chain;
    int64_t written = 0;
    Value last = x;
    for (uint32_t at = i; at != kNone && is_chosen_update(at); at = writer_[last.id()]) {
      chain.push_back(at);
      decided.insert(at);
      has_scatters = has_scatters || kinds_[at] == FusionKind::anchor;
      if (!is_of_product(updated_with(at))) written += size_of_value(g_, updated_with(at));
      last = all_[at]->result();
    }
    const auto length = static_cast<int64_t>(chain.size());
    const bool in_memory = g_.kind(x) == ValueKind::input ? is_owned(x) : has_memory(defined_at_[x.id()]);
    const bool is_carry = length == 1 && is_next_value(x, last);  // alias-carries decides about these
    // Scatters copy the array otherwise, products are stored twice.
    bool better = is_carry ? is_of_product(updated_with(i)) : has_scatters;
    better = better ||
             std::any_of(chain.begin(), chain.end(), [&](uint32_t at) { return is_received(updated_with(at), x); });
    if (better) return;
    if (length > kManyUpdates) {
      better = written <= std::max(size / 2, length / (2 * kManyUpdates) * size);
    } else if (in_memory && is_wanted(last)) {
      better = !is_carry && written <= size && (length == 1 || size >= length * kElementsPerUpdate);
    } else {
      better = length > kFewUpdates && written <= size / 2 && size >= length * kElementsPerUpdate;
    }
    if (better) return;
    for (const uint32_t at : chain) {
      writer_[chosen_.at(at).front().pair.operand.id()] = kNone;
      chosen_.erase(at);
    }
  }
  /// Whether the value, which an update writes, is computed of what other processes send, and the array x is not: its
  /// other elements are computed while that is on its way.
  bool is_received(Value update, Value x) {
    constexpr size_t kFar = 64;
    if (g_.kind(x) != ValueKind::result || has_memory(defined_at_[x.id()])) return false;
    if (size_of_value(g_, x) < kElementsBesideCommunication) return false;
    std::vector<Value> stack{update};
    std::unordered_set<uint32_t> seen{update.id()};
    while (!stack.empty() && seen.size() < kFar) {
      const Value at = stack.back();
      stack.pop_back();
      if (g_.kind(at) != ValueKind::result || at == x) continue;
      const uint32_t i = defined_at_[at.id()];
      if (is_collective(*all_[i]) && !depends(defined_at_[x.id()], i)) return true;
      if (!is_deferred(i)) continue;
      for (const Value o : all_[i]->operands())
        if (seen.insert(o.id()).second) stack.push_back(o);
    }
    return false;
  }

  /// Whether the value is that of a product, or computed of its elements: it is stored in any case, and as well there.
  bool is_of_product(Value v) const {
    constexpr size_t kFar = 64;
    const int64_t size = size_of_value(g_, v);
    std::vector<Value> stack{v};
    std::unordered_set<uint32_t> seen{v.id()};
    while (!stack.empty() && seen.size() < kFar) {
      const Value at = stack.back();
      stack.pop_back();
      if (g_.kind(at) != ValueKind::result || size_of_value(g_, at) != size) continue;
      const uint32_t i = defined_at_[at.id()];
      if (kinds_[i] == FusionKind::contraction) return true;
      if (kinds_[i] != FusionKind::elementwise && all_[i]->id() != id_of<Reshape>) continue;
      for (const Value o : all_[i]->operands())
        if (seen.insert(o.id()).second) stack.push_back(o);
    }
    return false;
  }

  /// Whether x is a carry of the loop whose body this is, and v its next value.
  bool is_next_value(Value x, Value v) const {
    if (!memory_.is_loop_body || g_.kind(x) != ValueKind::input || !is_owned(x)) return false;
    const auto first = std::find(memory_.owned.begin(), memory_.owned.end(), true) - memory_.owned.begin();
    return g_.outputs()[g_.input_index(x) - static_cast<size_t>(first)] == v;
  }
  bool has_memory(uint32_t i) const { return !is_deferred(i) || kinds_[i] == FusionKind::contraction; }
  bool is_chosen_update(uint32_t i) const { return is_update(i) && chosen_.contains(i); }

  /// Puts the readers of what is overwritten before.
  void emit_all() {
    if (chosen_.empty()) return;
    emitted_.assign(all_.size(), 0);
    for (uint32_t i = 0; i < all_.size(); ++i) emit(i);
  }

  /// Without recursion: chains may be long.
  void emit(uint32_t root) {
    std::vector<uint32_t> stack{root};
    constexpr uint8_t kBegun = 1, kDone = 2;
    while (!stack.empty()) {
      const uint32_t i = stack.back();
      if (emitted_[i] == kDone) {
        stack.pop_back();
        continue;
      }
      const bool begun = emitted_[i] == kBegun;
      emitted_[i] = kBegun;
      const size_t before = stack.size();
      if (!begun)
        for_each_before(i, [&](uint32_t d) {
          if (emitted_[d] == 0) stack.push_back(d);
        });
      if (stack.size() != before) continue;
      emitted_[i] = kDone;
      order_.push_back(i);
      stack.pop_back();
    }
  }

  static constexpr uint32_t kNone = UINT32_MAX;
  const Graph& g_;
  const InputMemory& memory_;
  std::vector<const Equation*> all_;
  std::vector<FusionKind> kinds_;
  std::vector<uint32_t> previous_effect_;
  std::vector<uint32_t> defined_at_;                             // by value id
  std::vector<std::vector<uint32_t>> readers_;                   // by value id
  std::vector<bool> is_output_;                                  // by value id
  std::vector<uint32_t> writer_;                                 // by value id: the equation that overwrites it
  std::unordered_map<uint32_t, std::vector<Candidate>> chosen_;  // by equation
  std::vector<uint32_t> updates_;
  std::vector<uint8_t> emitted_;
  std::vector<uint32_t> order_;
  std::vector<KeptValue> kept_;
  const Equation* late_reader_ = nullptr;  // why others_before found nothing
  uint32_t first_forward_ = kNone;         // the first equation that overwrites what later ones in the graph read
  size_t budget_ = 0;
};

}  // namespace

InputMemory memory_of_inputs(const Graph& graph, const Equation& e, size_t subgraph) {
  const Graph& inner = e.subgraphs()[subgraph];
  InputMemory memory{std::vector<bool>(inner.inputs().size(), false)};
  memory.is_sub_graph = true;
  switch (e.id()) {
    case id_of<While>:
    case id_of<Scan>: {
      if (subgraph + 1 != e.subgraphs().size()) return memory;  // the condition
      memory.is_loop_body = true;
      const size_t first =
          static_cast<size_t>(e.attributes().integer(e.id() == id_of<Scan> ? "consts" : "body_consts"));
      std::fill_n(memory.owned.begin() + static_cast<std::ptrdiff_t>(first), num_carries(e), true);
      return memory;
    }
    default:
      for (size_t i = 1; i < e.operands().size() && i - 1 < memory.owned.size(); ++i) {
        const ValueKind kind = graph.kind(e.operand(i));
        memory.owned[i - 1] = kind == ValueKind::result || kind == ValueKind::input;
      }
      return memory;
  }
}

std::vector<Overwriting> overwritings_of(const Equation& e) {
  std::vector<Overwriting> out;
  for (size_t j = 0; j < e.results().size(); ++j) {
    if (const Value operand = overwritten_operand(e, j); operand.valid()) out.push_back({&e, operand, e.result(j)});
  }
  return out;
}

std::string name_in_source(const Equation& e) {
  std::string name(e.primitive());
  if (e.id() == id_of<DynamicUpdateSlice> || e.id() == id_of<Scatter>) name = "set";
  if (e.id() == id_of<While> || e.id() == id_of<Scan>) name = "the loop";
  for (const std::string_view prefix : {"scatter_", "reduce_"})
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  return name + where_text(e.location());
}

std::string reason_against(const Overwriting& o, const Equation* reader) {
  if (reader == o.equation) return name_in_source(*reader) + " reads other elements than the one that it writes";
  return name_in_source(*o.equation) + " overwrites what " +
         (reader == nullptr ? "others read" : name_in_source(*reader) + " reads") + " after it";
}

bool is_used(const Graph& graph, Value v) {
  const auto& outputs = graph.outputs();
  return std::find(outputs.begin(), outputs.end(), v) != outputs.end() ||
         std::any_of(graph.equations().begin(), graph.equations().end(), [&](const Equation& e) {
           return std::find(e.operands().begin(), e.operands().end(), v) != e.operands().end();
         });
}

InPlaceUpdates::InPlaceUpdates(const Graph& graph, const InputMemory& memory) : updates_(graph.num_values(), false) {
  Choice choice(graph, memory);
  if (choice.has_candidates()) choice.choose();
  sequence = choice.sequence();
  overwritings = choice.overwritings();
  kept = choice.kept();
  for (const Overwriting& o : overwritings)
    if (rules(o.equation->id()).update_operand >= 0) updates_[o.result.id()] = true;
}

bool InPlaceUpdates::is_update(const Equation& e) const { return e.results().size() == 1 && updates_[e.result().id()]; }

}  // namespace calque::plan
