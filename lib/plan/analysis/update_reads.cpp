#include "plan/analysis/update_reads.h"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "plan/plan.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

std::optional<int64_t> number_of(const Graph& g, Value v) {
  if (g.kind(v) != ValueKind::literal || !is_integer(g.dtype(v))) return std::nullopt;
  return visit_dtype(g.dtype(v), [&]<class T>() -> std::optional<int64_t> {
    if constexpr (std::is_same_v<T, uint64_t>) {
      return static_cast<int64_t>(std::min<uint64_t>(g.literal(v).as<T>(), INT64_MAX));
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<int64_t>(g.literal(v).as<T>());
    } else {
      return std::nullopt;
    }
  });
}

UpdateReads::UpdateReads(const Graph& graph, const Equation& update, std::function<bool(Value)> in_memory)
    : g_(graph),
      update_(update),
      array_(update.id() == id_of<DynamicUpdateSlice> ? update.operand(0) : Value()),
      window_(update.id() == id_of<DynamicUpdateSlice> ? graph.shape(update.operand(1)) : Shape()),
      in_memory_(std::move(in_memory)) {}

bool UpdateReads::all_in_step() {
  if (update_.id() != id_of<DynamicUpdateSlice>) return false;
  if (relation(update_.operand(1)) == Relation::other) return false;
  const auto& operands = update_.operands();
  return std::all_of(operands.begin() + 2, operands.end(),
                     [&](Value start) { return relation(start) == Relation::independent; });
}

UpdateReads::Relation UpdateReads::relation(Value v) {
  // Without recursion: chains of elementwise operations may be long.
  std::vector<Value> stack{v};
  while (!stack.empty()) {
    const Value at = stack.back();
    if (known_.contains(at.id())) {
      stack.pop_back();
      continue;
    }
    if (at == array_) {
      known_[at.id()] = g_.shape(array_) == window_ ? Relation::in_step : Relation::other;
    } else if (g_.kind(at) != ValueKind::result || in_memory_(at)) {
      known_[at.id()] = Relation::independent;
    } else {
      const Equation& e = *g_.definition(at);
      const size_t before = stack.size();
      for (const Value o : e.operands())
        if (!known_.contains(o.id())) stack.push_back(o);
      if (stack.size() != before) continue;
      known_[at.id()] = compute(e);
    }
    stack.pop_back();
  }
  return known_.at(v.id());
}

UpdateReads::Relation UpdateReads::compute(const Equation& e) {
  const auto is = [&](Value o, Relation r) { return known_.at(o.id()) == r; };
  const auto& operands = e.operands();
  if (std::all_of(operands.begin(), operands.end(), [&](Value o) { return is(o, Relation::independent); }))
    return Relation::independent;
  if (reads_window(e)) return Relation::in_step;
  const bool keeps_order = e.id() == id_of<Reshape> || (fusion_kind_of(e) == FusionKind::elementwise &&
                                                        e.subgraphs().empty() && e.results().size() == 1);
  const bool in_step =
      keeps_order && std::all_of(operands.begin(), operands.end(), [&](Value o) {
        return is(o, Relation::independent) ||
               (is(o, Relation::in_step) && g_.shape(o).num_elements() == g_.shape(e.result()).num_elements());
      });
  return in_step ? Relation::in_step : Relation::other;
}

bool UpdateReads::reads_window(const Equation& e) const {
  if (e.operands().empty() || e.operand(0) != array_ || g_.shape(e.result()) != window_) return false;
  const Shape& whole = g_.shape(array_);
  for (size_t d = 0; d < window_.size(); ++d) {
    const Value start = update_.operand(2 + d);
    const std::optional<int64_t> number = number_of(g_, start);
    if (e.id() == id_of<DynamicSlice>) {
      const Value own = e.operand(1 + d);
      if (known_.at(own.id()) != Relation::independent) return false;
      if (own != start && window_[d] != whole[d] && !(number && number == number_of(g_, own))) return false;
    } else if (e.id() == id_of<Slice>) {
      if (e.attributes().ints("stride")[d] != 1) return false;
      if (window_[d] == whole[d]) continue;
      if (!number || std::clamp<int64_t>(*number, 0, whole[d] - window_[d]) != e.attributes().ints("start")[d])
        return false;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace calque::plan
