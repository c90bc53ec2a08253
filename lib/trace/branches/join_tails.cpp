#include "trace/branches/join_tails.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace calque::detail::merged {
namespace {

using Pair = std::pair<V, V>;

/// Values of the two blocks that correspond, as far as the walk has come: those that are used behind it and defined
/// before it.
class OpenPairs {
 public:
  explicit OpenPairs(const MergedTrace& trace) : trace_(&trace) {}
  bool add(V a, V b) {
    if (a == b) return true;  // from before the question
    if (trace_->value(a).type != trace_->value(b).type) return false;
    if (!pairs_.insert({a, b}).second) return true;
    by_second_[b].insert(a);
    return true;
  }
  /// Whether all pairs with one of these are this pair, which is settled then.
  bool settle(V a, V b) {
    const std::vector<V> partners = seconds(a);
    if (partners.size() > 1 || (partners.size() == 1 && partners.front() != b)) return false;
    const auto others = by_second_.find(b);
    if (others != by_second_.end() && (others->second.size() > 1 || *others->second.begin() != a)) return false;
    if (!partners.empty()) erase({a, b});
    return true;
  }
  std::vector<V> seconds(V a) const {
    std::vector<V> out;
    for (auto it = pairs_.lower_bound({a, 0}); it != pairs_.end() && it->first == a; ++it) out.push_back(it->second);
    return out;
  }
  std::vector<V> firsts(V b) const {
    const auto it = by_second_.find(b);
    return it == by_second_.end() ? std::vector<V>() : std::vector<V>(it->second.begin(), it->second.end());
  }
  void erase(Pair p) {
    pairs_.erase(p);
    const auto it = by_second_.find(p.second);
    it->second.erase(p.first);
    if (it->second.empty()) by_second_.erase(it);
  }
  const std::set<Pair>& all() const { return pairs_; }

 private:
  const MergedTrace* trace_;
  std::set<Pair> pairs_;
  std::map<V, std::set<V>> by_second_;
};

using Steps = std::vector<Step>;

/// Steps of both blocks that are one step of the tail.
struct Unit {
  const Step *a = nullptr, *b = nullptr;
  bool is_fork = false;
  std::vector<Pair> results;  ///< pairs that a fork yields
  struct Side {
    int64_t answer = 0;
    bool in_a = false, in_b = false;
    std::vector<Unit> units;                      ///< of a side that both have; backwards
    const Step *begin = nullptr, *end = nullptr;  ///< of a side that one has
    std::vector<V> yields_a, yields_b;            ///< in the order of `results`
  };
  std::vector<Side> sides;
};

V yield_of(const Step& fork, size_t side, V result) {
  const size_t k = static_cast<size_t>(std::ranges::find(fork.results, result) - fork.results.begin());
  return fork.sides[side].block.yields[k];
}
bool has_result(const Step& fork, V v) { return std::ranges::find(fork.results, v) != fork.results.end(); }

class Matcher {
 public:
  explicit Matcher(const MergedTrace& trace) : open(trace), trace_(trace) {}

  /// Extends the match backwards from a[i) and b[j), at most `limit` units.
  void extend(const Steps& a, size_t& i, const Steps& b, size_t& j, std::vector<Unit>& units, size_t limit) {
    while (i > 0 && j > 0 && units.size() < limit) {
      if (!unit(a, i, b, j, units)) return;
    }
  }
  OpenPairs open;

 private:
  /// Matches all steps of both.
  bool whole(const Steps& a, const Steps& b, std::vector<Unit>& units) {
    size_t i = a.size(), j = b.size();
    extend(a, i, b, j, units, SIZE_MAX);
    return i == 0 && j == 0;
  }

  bool unit(const Steps& a, size_t& i, const Steps& b, size_t& j, std::vector<Unit>& units) {
    const Step &x = a[i - 1], &y = b[j - 1];
    const bool forks_a = x.kind == Step::Kind::fork, forks_b = y.kind == Step::Kind::fork;
    if (forks_a && forks_b) return both_fork(x, i, y, j, units);
    if (forks_a) return fork_and_guard(x, i, b, j, units, false);
    if (forks_b) return fork_and_guard(y, j, a, i, units, true);
    if (x.kind == Step::Kind::equation && y.kind == Step::Kind::equation && equations(x, y, units)) {
      --i, --j;
      return true;
    }
    if (x.kind == Step::Kind::guard && y.kind == Step::Kind::guard && x.question == y.question &&
        x.answer == y.answer) {
      if (!open.add(x.asked, y.asked)) return false;
      units.push_back({&x, &y, false, {}, {}});
      --i, --j;
      return true;
    }
    return opposite_guards(a, i, b, j, units);
  }

  bool equations(const Step& x, const Step& y, std::vector<Unit>& units) {
    if (!same_operation(*x.equation, *y.equation)) return false;
    const OpenPairs before = open;
    bool matches = true;
    for (size_t k = 0; matches && k < x.results.size(); ++k) matches = open.settle(x.results[k], y.results[k]);
    for (size_t k = 0; matches && k < x.operands.size(); ++k) matches = open.add(x.operands[k], y.operands[k]);
    if (!matches) {
      open = before;
      return false;
    }
    units.push_back({&x, &y, false, {}, {}});
    return true;
  }

  bool both_fork(const Step& x, size_t& i, const Step& y, size_t& j, std::vector<Unit>& units) {
    if (x.question != y.question) return false;
    const OpenPairs before = open;
    Unit unit{&x, &y, true, {}, {}};
    bool matches =
        take_results(unit, [&](V v) { return has_result(x, v); }, [&](V v) { return has_result(y, v); }, true, true);
    bool any_common = false;
    for (size_t s = 0; matches && s < x.sides.size(); ++s) {
      Unit::Side side = side_of(x, s, unit, true);
      for (size_t t = 0; matches && t < y.sides.size(); ++t) {
        if (y.sides[t].answer != side.answer) continue;
        side.in_b = any_common = true;
        side.yields_b = side_of(y, t, unit, false).yields_b;
        matches = add_all(side) && whole(x.sides[s].block.steps, y.sides[t].block.steps, side.units);
      }
      unit.sides.push_back(std::move(side));
    }
    for (size_t t = 0; t < y.sides.size(); ++t) {
      const bool known = std::ranges::any_of(unit.sides, [&](const auto& s) { return s.answer == y.sides[t].answer; });
      if (!known) unit.sides.push_back(side_of(y, t, unit, false));
    }
    if (!matches || !any_common || !open.add(x.asked, y.asked)) {
      open = before;
      return false;
    }
    push(units, std::move(unit));
    --i, --j;
    return true;
  }

  /// One block forks where the other knows one side, whose steps follow the guard.
  bool fork_and_guard(const Step& fork, size_t& at_fork, const Steps& other, size_t& at_other, std::vector<Unit>& units,
                      bool swapped) {
    for (size_t s = 0; s < fork.sides.size(); ++s) {
      const OpenPairs before = open;
      Unit unit{&fork, nullptr, true, {}, {}};
      const auto is_result = [&](V v) { return has_result(fork, v); };
      const auto none = [](V) { return false; };
      if (swapped) {
        take_results(unit, none, is_result, false, true);
      } else {
        take_results(unit, is_result, none, true, false);
      }
      Unit::Side known = side_of(fork, s, unit, !swapped);
      (swapped ? known.in_a : known.in_b) = true;
      for (const Pair& p : unit.results)
        (swapped ? known.yields_a : known.yields_b).push_back(swapped ? p.first : p.second);
      size_t i = fork.sides[s].block.steps.size(), j = at_other;
      const Steps& inner = fork.sides[s].block.steps;
      bool matches = add_all(known);
      if (matches && swapped) extend(other, j, inner, i, known.units, SIZE_MAX);
      if (matches && !swapped) extend(inner, i, other, j, known.units, SIZE_MAX);
      const Step* const guard = matches && i == 0 && j > 0 ? &other[j - 1] : nullptr;
      if (guard != nullptr && guard->kind == Step::Kind::guard && guard->question == fork.question &&
          guard->answer == fork.sides[s].answer &&
          (swapped ? open.add(guard->asked, fork.asked) : open.add(fork.asked, guard->asked))) {
        unit.a = swapped ? guard : &fork;
        unit.b = swapped ? &fork : guard;
        unit.sides.push_back(std::move(known));
        for (size_t t = 0; t < fork.sides.size(); ++t) {
          if (t != s) unit.sides.push_back(side_of(fork, t, unit, !swapped));
        }
        push(units, std::move(unit));
        --at_fork;
        at_other = j - 1;
        return true;
      }
      open = before;
    }
    return false;
  }

  /// One block knows one side of a question and the other the other: taken for one question, whose sides the steps are.
  bool opposite_guards(const Steps& a, size_t& i, const Steps& b, size_t& j, std::vector<Unit>& units) {
    const auto last_guard = [](const Steps& steps, size_t end) {
      while (end > 0 && steps[end - 1].kind == Step::Kind::equation) --end;
      return end > 0 && steps[end - 1].kind == Step::Kind::guard ? end : 0;
    };
    const size_t g = last_guard(a, i), h = last_guard(b, j);
    if (g == 0 || h == 0) return false;
    const Step &x = a[g - 1], &y = b[h - 1];
    if (x.question != QuestionKind::truth || y.question != QuestionKind::truth || x.answer == y.answer ||
        x.site != y.site) {
      return false;
    }
    std::unordered_set<V> of_a, of_b;
    for (size_t k = g; k < i; ++k) of_a.insert(a[k].results.begin(), a[k].results.end());
    for (size_t k = h; k < j; ++k) of_b.insert(b[k].results.begin(), b[k].results.end());
    const OpenPairs before = open;
    Unit unit{&x, &y, true, {}, {}};
    take_results(unit, [&](V v) { return of_a.contains(v); }, [&](V v) { return of_b.contains(v); }, false, false);
    if (!open.add(x.asked, y.asked)) {
      open = before;
      return false;
    }
    Unit::Side side_a, side_b;
    side_a.answer = x.answer, side_a.in_a = true, side_a.begin = a.data() + g, side_a.end = a.data() + i;
    side_b.answer = y.answer, side_b.in_b = true, side_b.begin = b.data() + h, side_b.end = b.data() + j;
    for (const Pair& p : unit.results) {
      side_a.yields_a.push_back(p.first);
      side_b.yields_b.push_back(p.second);
      // A guess: what the two are computed from, with one of the sides left out, is one variable of C++.
      const V from_a = origin(a, g, i, p.first), from_b = origin(b, h, j, p.second);
      if (from_a != kNone && from_b != kNone) (void)open.add(from_a, from_b);
    }
    unit.sides = {std::move(side_a), std::move(side_b)};
    push(units, std::move(unit));
    i = g - 1, j = h - 1;
    return true;
  }

  static constexpr V kNone = UINT32_MAX;
  /// The value from before steps [begin, end) of the same type that `v` is computed from, first operands first.
  V origin(const Steps& steps, size_t begin, size_t end, V v) const {
    for (size_t k = end; k-- > begin;) {
      if (std::ranges::find(steps[k].results, v) == steps[k].results.end()) continue;
      for (const V operand : steps[k].operands) {
        if (trace_.is_leaf(operand) && operand >= trace_.num_inputs()) continue;
        const V from = origin(steps, begin, k, operand);
        if (from != kNone && trace_.value(from).type == trace_.value(v).type) return from;
      }
      return kNone;
    }
    return v;
  }

  static void push(std::vector<Unit>& units, Unit unit) {
    std::ranges::sort(unit.sides, {}, &Unit::Side::answer);
    units.push_back(std::move(unit));
  }

  /// Moves the open pairs of which one value is defined by the unit to its results. False if `need_*` is set, the value
  /// of that block is one and its partner in the other block is none.
  template <class OfA, class OfB>
  bool take_results(Unit& unit, const OfA& of_a, const OfB& of_b, bool strict_a, bool strict_b) {
    bool matches = true;
    for (const Pair& p : open.all()) {
      const bool a = of_a(p.first), b = of_b(p.second);
      if (!a && !b) continue;
      if (strict_a && strict_b && a != b) matches = false;
      unit.results.push_back(p);
    }
    for (const Pair& p : unit.results) open.erase(p);
    return matches;
  }

  /// A side that one of the blocks has.
  static Unit::Side side_of(const Step& fork, size_t s, const Unit& unit, bool of_a) {
    Unit::Side side;
    side.answer = fork.sides[s].answer;
    (of_a ? side.in_a : side.in_b) = true;
    const Steps& steps = fork.sides[s].block.steps;
    side.begin = steps.data();
    side.end = steps.data() + steps.size();
    for (const Pair& p : unit.results) {
      const V result = of_a ? p.first : p.second;
      (of_a ? side.yields_a : side.yields_b).push_back(has_result(fork, result) ? yield_of(fork, s, result) : result);
    }
    return side;
  }
  bool add_all(const Unit::Side& side) {
    for (size_t k = 0; k < side.yields_a.size(); ++k) {
      if (!open.add(side.yields_a[k], side.yields_b[k])) return false;
    }
    return true;
  }

  const MergedTrace& trace_;
};

void add_definitions(const Step* begin, const Step* end, std::unordered_set<V>& defined) {
  for (const Step* s = begin; s != end; ++s) {
    defined.insert(s->results.begin(), s->results.end());
    for (const auto& [answer, side] : s->sides) {
      add_definitions(side.steps.data(), side.steps.data() + side.steps.size(), defined);
    }
  }
}

/// Makes the steps of the tail from units.
class TailBuilder {
 public:
  TailBuilder(MergedTrace& trace, const Block& a, const Block& b) : trace_(trace) {
    add_definitions(a.steps.data(), a.steps.data() + a.steps.size(), defined_a_);
    add_definitions(b.steps.data(), b.steps.data() + b.steps.size(), defined_b_);
  }

  V add(Pair p) {
    const V r = trace_.add(Type(trace_.value(p.first).type));
    merged_[p] = partner_a_[p.first] = partner_b_[p.second] = r;
    return r;
  }
  V value(V a, V b) const {
    if (a == b) return a;
    const auto known = merged_.find({a, b});
    if (known == merged_.end()) throw Failed{0};
    return known->second;
  }
  /// The unit that cannot be made: it borrows a side with a value whose partner is unknown.
  struct Failed {
    size_t unit;
  };

  /// `units` are backwards.
  Steps steps(const std::vector<Unit>& units) {
    Steps out;
    for (size_t k = units.size(); k-- > 0;) {
      try {
        out.push_back(step(units[k]));
      } catch (const Failed&) {
        throw Failed{k};
      }
    }
    return out;
  }

 private:
  Step step(const Unit& unit) {
    Step out;
    const Step& x = *unit.a;
    if (x.kind == Step::Kind::equation) {
      out.needs_protection = x.needs_protection;
      out.graph = x.graph;
      out.equation = x.equation;
      for (size_t k = 0; k < x.operands.size(); ++k) out.operands.push_back(value(x.operands[k], unit.b->operands[k]));
      for (size_t k = 0; k < x.results.size(); ++k) out.results.push_back(add({x.results[k], unit.b->results[k]}));
      return out;
    }
    out.kind = unit.is_fork ? Step::Kind::fork : Step::Kind::guard;
    out.question = x.question;
    out.asked = value(x.asked, unit.b->asked);
    out.location = x.location;
    out.site = x.site;
    out.answer = x.answer;
    for (const Unit::Side& side : unit.sides) {
      Block block;
      if (side.in_a && side.in_b) {
        // Values of the side are not seen outside, where those that it yields have other partners.
        const auto outside_a = partner_a_, outside_b = partner_b_;
        block.steps = steps(side.units);
        for (size_t k = 0; k < side.yields_a.size(); ++k) {
          block.yields.push_back(value(side.yields_a[k], side.yields_b[k]));
        }
        partner_a_ = outside_a;
        partner_b_ = outside_b;
      } else {
        Copies copies;
        block.steps = copy(side.begin, side.end, side.in_a, copies);
        for (const V v : side.in_a ? side.yields_a : side.yields_b) {
          block.yields.push_back(translated(v, side.in_a, copies));
        }
      }
      out.sides.push_back({side.answer, std::move(block)});
    }
    for (const Pair& p : unit.results) out.results.push_back(add(p));
    return out;
  }

  using Copies = std::unordered_map<V, V>;
  V translated(V v, bool of_a, const Copies& copies) const {
    if (const auto copy = copies.find(v); copy != copies.end()) return copy->second;
    const auto& partner = of_a ? partner_a_ : partner_b_;
    if (const auto known = partner.find(v); known != partner.end()) return known->second;
    if ((of_a ? defined_a_ : defined_b_).contains(v)) throw Failed{0};
    return v;
  }
  Steps copy(const Step* begin, const Step* end, bool of_a, Copies& copies) {
    Steps out;
    for (const Step* s = begin; s != end; ++s) {
      Step step;
      step.kind = s->kind;
      step.needs_protection = s->needs_protection;
      step.graph = s->graph;
      step.equation = s->equation;
      step.question = s->question;
      step.location = s->location;
      step.site = s->site;
      step.answer = s->answer;
      for (const V v : s->operands) step.operands.push_back(translated(v, of_a, copies));
      if (s->kind != Step::Kind::equation) step.asked = translated(s->asked, of_a, copies);
      for (const auto& [answer, side] : s->sides) {
        Block block;
        block.steps = copy(side.steps.data(), side.steps.data() + side.steps.size(), of_a, copies);
        for (const V v : side.yields) block.yields.push_back(translated(v, of_a, copies));
        step.sides.push_back({answer, std::move(block)});
      }
      for (const V v : s->results) {
        step.results.push_back(trace_.add(Type(trace_.value(v).type)));
        copies[v] = step.results.back();
      }
      out.push_back(std::move(step));
    }
    return out;
  }

  MergedTrace& trace_;
  std::map<Pair, V> merged_;
  std::unordered_map<V, V> partner_a_, partner_b_;
  std::unordered_set<V> defined_a_, defined_b_;
};

}  // namespace

bool join_tails(MergedTrace& trace, Block& first, Block& second, Block& tail, std::vector<V>& results) {
  size_t limit = SIZE_MAX;
  while (true) {
    Matcher matcher(trace);
    for (size_t k = 0; k < first.yields.size(); ++k) {
      if (!matcher.open.add(first.yields[k], second.yields[k])) return false;
    }
    std::vector<Unit> units;
    size_t i = first.steps.size(), j = second.steps.size();
    matcher.extend(first.steps, i, second.steps, j, units, limit);
    if (units.empty()) return false;
    TailBuilder builder(trace, first, second);
    std::vector<V> crossing, yields_first, yields_second;
    for (const Pair& p : matcher.open.all()) {
      crossing.push_back(builder.add(p));
      yields_first.push_back(p.first);
      yields_second.push_back(p.second);
    }
    Steps steps;
    try {
      steps = builder.steps(units);
    } catch (const TailBuilder::Failed& failed) {
      limit = failed.unit;
      if (limit == 0) return false;
      continue;
    }
    for (size_t k = 0; k < first.yields.size(); ++k) {
      tail.yields.push_back(builder.value(first.yields[k], second.yields[k]));
    }
    tail.steps = std::move(steps);
    results = std::move(crossing);
    first.steps.resize(i);
    second.steps.resize(j);
    first.yields = std::move(yields_first);
    second.yields = std::move(yields_second);
    return true;
  }
}

}  // namespace calque::detail::merged
