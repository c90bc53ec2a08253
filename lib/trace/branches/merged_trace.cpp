#include "trace/branches/merged_trace.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>

#include "ir/graph/effects.h"
#include "primitives/list.h"
#include "trace/branches/join_tails.h"
#include "trace/builder.h"

namespace calque::detail::merged {
namespace {

constexpr unsigned kHistoryBits = 62;
constexpr int kMaxForks = 100;
static_assert(kMaxForks < kMaxDepth);

}  // namespace

bool is_unsafe(const Equation& e) {
  if (e.definition().has_effect || e.id() == primitives::id_of<primitives::While>) return true;
  return std::ranges::any_of(e.subgraphs(), [](const Graph& g) {
    return std::ranges::any_of(g.equations(), [](const Equation& inner) { return is_unsafe(inner); });
  });
}

/// Makes the blocks of the paths: the tree of their common beginnings, with joined tails.
class Merger {
 public:
  Merger(MergedTrace& out, bool joins) : out_(out), joins_(joins) {}

  bool run() {
    const Graph& g = out_.paths_.front()->graph;
    for (const Value v : g.inputs()) out_.add(g.type(v));
    out_.num_inputs_ = g.inputs().size();
    out_.root_ = block(0, out_.paths_.size(), 0, 0, {});
    if (deepest_ > kMaxForks) return false;
    const unsigned bits = number(out_.root_, 0);
    if (bits > kHistoryBits) return false;
    out_.num_bits_ = bits;
    out_.num_histories_ = histories(out_.root_);
    return true;
  }

 private:
  using Values = std::vector<V>;
  static constexpr V kNone = UINT32_MAX;

  const RecordedPath& path(size_t i) const { return *out_.paths_[i]; }

  V value(const Graph& g, Value v, Values& values) {
    if (values.size() < g.num_values()) values.resize(g.num_values(), kNone);
    V& known = values[v.id()];
    if (known != kNone) return known;
    if (g.kind(v) == ValueKind::input) return known = static_cast<V>(g.input_index(v));
    // Equal literals and constants of all paths are one value.
    const auto [first, last] = leaves_.equal_range(hash_of_leaf(g, v));
    for (auto it = first; it != last; ++it) {
      const ValueInfo& info = out_.values_[it->second];
      if (same_leaf(*info.graph, info.leaf, g, v)) return known = it->second;
    }
    known = out_.add(g.type(v));
    out_.values_.back().graph = &g;
    out_.values_.back().leaf = v;
    leaves_.emplace(hash_of_leaf(g, v), known);
    return known;
  }
  static uint64_t hash_of_leaf(const Graph& g, Value v) {
    uint64_t hash = static_cast<uint64_t>(g.kind(v)) * 31 + static_cast<uint64_t>(g.dtype(v));
    if (g.is_literal(v)) {
      uint64_t bits = 0;
      std::memcpy(&bits, g.literal(v).bytes, sizeof bits);
      hash ^= bits * 0x9e3779b97f4a7c15u;
    }
    return hash;
  }

  /// The paths [first, last), which agree in their first `depth` answers, from equation `from` on.
  Block block(size_t first, size_t last, size_t depth, size_t from, Values values) {
    Block out;
    auto equation = path(first).graph.equations().begin();
    std::advance(equation, from);
    while (true) {
      const RecordedPath& p = path(first);
      const bool ends = p.path.asked.size() == depth;
      const size_t to = ends ? p.graph.num_equations() : p.path.asked[depth].num_equations;
      for (; from < to; ++from, ++equation) append(out, p.graph, *equation, values);
      if (ends) {
        for (const Value v : p.graph.outputs()) out.yields.push_back(value(p.graph, v, values));
        return out;
      }
      const Question& question = p.path.asked[depth];
      Step step;
      step.question = question.kind;
      step.asked = value(p.graph, question.value, values);
      step.location = question.location;
      step.site = question.site;
      if (p.path.answers[depth] == path(last - 1).path.answers[depth]) {
        step.kind = Step::Kind::guard;
        step.answer = p.path.answers[depth];
        out.steps.push_back(std::move(step));
        ++depth;
        continue;
      }
      step.kind = Step::Kind::fork;
      deepest_ = std::max(deepest_, ++forks_);
      for (size_t begin = first; begin < last;) {
        const int64_t answer = path(begin).path.answers[depth];
        size_t end = begin;
        while (end < last && path(end).path.answers[depth] == answer) ++end;
        step.sides.push_back({answer, block(begin, end, depth + 1, from, values)});
        begin = end;
      }
      --forks_;
      finish(out, std::move(step));
      return out;
    }
  }

  void append(Block& out, const Graph& g, const Equation& e, Values& values) {
    Step step;
    step.graph = &g;
    step.equation = &e;
    step.needs_protection = is_unsafe(e);
    for (const Value v : e.operands()) step.operands.push_back(value(g, v, values));
    if (values.size() < g.num_values()) values.resize(g.num_values(), kNone);
    for (const Value v : e.results()) {
      step.results.push_back(out_.add(g.type(v)));
      values[v.id()] = step.results.back();
    }
    out.steps.push_back(std::move(step));
  }

  /// Appends a fork, and what follows both of its sides.
  void finish(Block& out, Step fork) {
    Block tail;
    if (!joins_ || fork.sides.size() != 2 ||
        !join_tails(out_, fork.sides[0].block, fork.sides[1].block, tail, fork.results)) {
      for (const V v : fork.sides.front().block.yields) {
        fork.results.push_back(out_.add(Type(out_.values_[v].type)));
      }
      tail.yields = fork.results;
    }
    out.steps.push_back(std::move(fork));
    std::ranges::move(tail.steps, std::back_inserter(out.steps));
    out.yields = std::move(tail.yields);
  }

  /// Gives forks their bits of the history, and exits their numbers. Returns one past the last bit.
  unsigned number(Block& block, unsigned bit) {
    for (Step& step : block.steps) {
      if (step.kind == Step::Kind::equation) continue;
      if (step.is_open()) {
        out_.exits_.push_back(&step);
        step.exit = ++out_.num_exits_;
      }
      if (step.kind != Step::Kind::fork) continue;
      step.first_bit = bit;
      step.num_bits = static_cast<unsigned>(std::bit_width(step.sides.size() - 1));
      bit += step.num_bits;
      unsigned end = bit;
      for (auto& [answer, side] : step.sides) {
        end = std::max(end, number(side, bit));
        for (const Step& inner : side.steps) step.needs_protection |= inner.needs_protection;
      }
      bit = end;
    }
    return bit;
  }

  static uint64_t histories(const Block& block) {
    constexpr uint64_t kMost = uint64_t{1} << 63;
    uint64_t product = 1;
    for (const Step& step : block.steps) {
      if (step.kind != Step::Kind::fork) continue;
      uint64_t sum = 0;
      for (const auto& [answer, side] : step.sides) sum = std::min(kMost, sum + histories(side));
      product = product > kMost / sum ? kMost : product * sum;
    }
    return product;
  }

  MergedTrace& out_;
  bool joins_;
  int forks_ = 0, deepest_ = 0;
  std::unordered_multimap<uint64_t, V> leaves_;
};

std::optional<MergedTrace> MergedTrace::merge(std::vector<std::shared_ptr<const RecordedPath>> paths, bool joins) {
  MergedTrace out;
  out.paths_ = std::move(paths);
  if (!Merger(out, joins).run()) return std::nullopt;
  // What was recorded is what the program does: joining changes nothing of it.
  for (const auto& p : out.paths_) {
    const std::optional<uint64_t> history = out.history_of(p->path.answers);
    if (history) {
      const Line line = out.line(*history);
      if (line.answers() == p->path.answers && LineChecker(out, line).agrees_to_the_end(p->graph, p->path)) continue;
    }
    if (!joins) throw Error("branches: the merged program differs from a path of it");
    return merge(std::move(out.paths_), false);
  }
  return out;
}

std::vector<int64_t> Line::answers() const {
  std::vector<int64_t> all;
  for (const LineStep& s : steps) {
    if (s.step->kind != Step::Kind::equation) all.push_back(s.answer);
  }
  if (ends_at_exit) all.pop_back();
  return all;
}

namespace {

/// Follows a program with `choose(step)`, which gives the side of a fork; none ends the line.
template <class Choose>
class Walk {
 public:
  Walk(size_t num_values, const Choose& choose) : alias_(num_values), choose_(choose) {
    for (V v = 0; v < alias_.size(); ++v) alias_[v] = v;
  }
  bool block(const Block& b) {
    for (const Step& step : b.steps) {
      LineStep out{&step, {}, 0};
      if (step.kind == Step::Kind::equation) {
        for (const V v : step.operands) out.operands.push_back(alias_[v]);
        line.steps.push_back(std::move(out));
        continue;
      }
      out.operands = {alias_[step.asked]};
      const std::optional<size_t> side = choose_(step);
      if (!side) {
        line.steps.push_back(std::move(out));
        line.ends_at_exit = true;
        return false;
      }
      out.answer = step.kind == Step::Kind::guard ? step.answer : step.sides[*side].answer;
      line.steps.push_back(std::move(out));
      if (step.kind == Step::Kind::guard) continue;
      const Block& taken = step.sides[*side].block;
      if (!block(taken)) return false;
      for (size_t i = 0; i < step.results.size(); ++i) alias_[step.results[i]] = alias_[taken.yields[i]];
    }
    return true;
  }
  void run(const Block& root) {
    if (!block(root)) return;
    for (const V v : root.yields) line.outputs.push_back(alias_[v]);
    complete = true;
  }
  Line line;
  bool complete = false;

 private:
  std::vector<V> alias_;
  const Choose& choose_;
};

}  // namespace

Line MergedTrace::line(uint64_t history, uint32_t exit) const {
  const auto choose = [&](const Step& step) -> std::optional<size_t> {
    if (exit != 0 && step.exit == exit) return std::nullopt;
    if (step.kind == Step::Kind::guard) return 0;
    return (history >> step.first_bit) & ((uint64_t{1} << step.num_bits) - 1);
  };
  Walk walk(values_.size(), choose);
  walk.run(root_);
  return std::move(walk.line);
}

namespace {
bool has_exit(const Block& block, uint32_t exit) {
  return std::ranges::any_of(block.steps, [exit](const Step& step) {
    return step.exit == exit ||
           std::ranges::any_of(step.sides, [exit](const Side& side) { return has_exit(side.block, exit); });
  });
}
}  // namespace

Line MergedTrace::line_to(uint32_t exit) const {
  const auto choose = [&](const Step& step) -> std::optional<size_t> {
    if (step.exit == exit) return std::nullopt;
    const auto side = std::ranges::find_if(step.sides, [&](const Side& s) { return has_exit(s.block, exit); });
    return side == step.sides.end() ? 0 : static_cast<size_t>(side - step.sides.begin());
  };
  Walk walk(values_.size(), choose);
  walk.run(root_);
  return std::move(walk.line);
}

std::optional<uint64_t> MergedTrace::history_of(std::span<const int64_t> answers) const {
  uint64_t history = 0;
  size_t next = 0;
  const auto choose = [&](const Step& step) -> std::optional<size_t> {
    if (next == answers.size()) return std::nullopt;
    const int64_t answer = answers[next++];
    if (step.kind == Step::Kind::guard) return answer == step.answer ? std::optional<size_t>(0) : std::nullopt;
    for (size_t i = 0; i < step.sides.size(); ++i) {
      if (step.sides[i].answer != answer) continue;
      history |= uint64_t{i} << step.first_bit;
      return i;
    }
    return std::nullopt;
  };
  Walk walk(values_.size(), choose);
  walk.run(root_);
  if (!walk.complete || next != answers.size()) return std::nullopt;
  return history;
}

namespace {
size_t equations_of(const Block& block) {
  size_t count = 0;
  for (const Step& step : block.steps) {
    count += step.kind == Step::Kind::equation;
    for (const auto& [answer, side] : step.sides) count += equations_of(side);
  }
  return count;
}
}  // namespace

size_t MergedTrace::num_equations() const { return equations_of(root_); }

bool LineChecker::same(const Graph& graph, V v, Value w) const {
  if (v < program_.num_inputs()) return graph.kind(w) == ValueKind::input && graph.input_index(w) == v;
  const ValueInfo& info = program_.value(v);
  if (info.graph != nullptr) return same_leaf(*info.graph, info.leaf, graph, w);
  return values_[v] == w;
}

/// Compares equations up to a question.
bool LineChecker::advance(const Graph& graph, size_t num_equations) {
  for (; equations_ < num_equations; ++equations_, ++next_) {
    if (at_) {
      ++*at_;
    } else {
      at_ = graph.equations().begin();
    }
    const Equation& e = **at_;
    difference_ = e.location();
    if (next_ == line_.steps.size() || line_.steps[next_].step->kind != Step::Kind::equation) return false;
    const LineStep& s = line_.steps[next_];
    const Equation& expected = *s.step->equation;
    if (!same_operation(expected, e)) return false;
    for (size_t i = 0; i < s.operands.size(); ++i) {
      if (!same(graph, s.operands[i], e.operand(i))) return false;
    }
    for (size_t i = 0; i < s.step->results.size(); ++i) {
      if (program_.value(s.step->results[i]).type != graph.type(e.result(i))) return false;
      values_[s.step->results[i]] = e.result(i);
    }
  }
  return true;
}

bool LineChecker::agrees(const Graph& graph, const Question& question) {
  if (!advance(graph, question.num_equations)) return false;
  difference_ = question.location;
  if (next_ == line_.steps.size()) return false;
  const LineStep& s = line_.steps[next_++];
  return s.step->kind != Step::Kind::equation && s.step->question == question.kind &&
         same(graph, s.operands.front(), question.value);
}

bool LineChecker::agrees_to_the_end(const Graph& graph, const Path& path) {
  for (size_t i = 0; i < path.asked.size(); ++i) {
    if (!agrees(graph, path.asked[i]) || line_.steps[next_ - 1].answer != path.answers[i]) return false;
  }
  if (!advance(graph, graph.num_equations()) || next_ != line_.steps.size()) return false;
  if (graph.outputs().size() != line_.outputs.size()) return false;
  for (size_t i = 0; i < line_.outputs.size(); ++i) {
    if (!same(graph, line_.outputs[i], graph.outputs()[i])) return false;
  }
  return true;
}

}  // namespace calque::detail::merged
