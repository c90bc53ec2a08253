// Reads the section of a plan that print.cpp writes. The text is untrusted: what it names must be there.
#include <charconv>
#include <string>
#include <unordered_map>
#include <utility>

#include "calque/ir/errors.h"

#include "ir/text/print.h"
#include "ir/text/token_stream.h"
#include "plan/planned_state.h"

namespace calque::plan {

namespace {

constexpr std::string_view kSection = "\nplan {\n";

}  // namespace

bool has_section(std::string_view text) { return text.find(kSection) != text.npos; }

size_t plan_section(std::string_view text) {
  const size_t at = text.find(kSection);
  if (at == text.npos) throw ParseError("parse: expected the section `plan` after the graph");
  return at + 1;
}

class PlanParser : text::TokenStream {
 public:
  explicit PlanParser(std::string_view text) : TokenStream(text) {
    const size_t begin = plan_section(text);
    while (peek().offset < begin) next();
  }

  PlannedGraph parse(const Graph& graph, const MachineLimits& limits) {
    expect("plan", "after the graph");
    expect("{", "before a plan");
    std::vector<bool> owned(graph.inputs().size(), false);
    if (accept("owned")) {
      const Names names(graph);
      const text::Token at = peek();
      for_each(names, [&](Value v) {
        if (graph.kind(v) != ValueKind::input) fail(at, "inputs are owned, not results");
        owned[graph.input_index(v)] = true;
      });
    }
    PlannedGraph planned(graph, limits, std::move(owned));
    section(planned);
    if (!at_end()) expected("the end of the text");
    return planned;
  }

 private:
  using State = PlannedGraph::State;

  /// What the section of one graph may name.
  struct Names {
    explicit Names(const Graph& graph) {
      const text::ValueNumbers numbers(graph);
      for (uint32_t i = 0; i < graph.num_values(); ++i) {
        const ValueKind kind = graph.kind(Value(i));
        if (kind == ValueKind::result || kind == ValueKind::input) values.emplace(numbers.text(Value(i)), Value(i));
      }
    }
    std::unordered_map<std::string, Value> values;
  };

  void section(PlannedGraph& planned) {
    State& s = *planned.state_;
    const Names names(planned.graph());
    s.plan.values = MaterializedValues(planned.graph());
    while (!accept("}")) {
      if (accept("memory")) {
        for_each(names, [&](Value v) { s.plan.values.set_materialized(v); });
      } else if (accept("required")) {
        for_each(names, [&](Value v) { s.plan.values.set_required(v); });
      } else if (accept("shared")) {
        expect(":", "after `shared`");
        const Value v = value(names);
        expect("in", "between a value and what it shares the memory of");
        s.plan.values.set_shared_buffer(v, value(names));
      } else if (accept("reused")) {
        expect(":", "after `reused`");
        const Value operand = value(names);
        expect("by", "between an operand and the result that has its memory");
        s.plan.values.set_reused(value(names), operand);
      } else if (accept("kept")) {
        for (const char* word : {":", "the", "operand", "of"}) expect(word, "after `kept`");
        const text::Token at = peek();
        const Value v = value(names);
        if (planned.graph().kind(v) != ValueKind::result) fail(at, "only results take over memory");
        s.plan.kept.push_back({v, lexer_.unquoted(expect_kind(text::TokenKind::string, "a reason in quotes"))});
      } else if (accept("costs")) {
        s.costs.operations.assign(planned.graph().num_values(), 0.0);
        for_each(names, [&](Value v) { s.costs.operations[v.id()] = number(); });
      } else if (accept("split")) {
        expect("at", "after `split`");
        const auto position = static_cast<size_t>(bounded(s.analysis.order.size() + 1, "a position of an equation"));
        expect("over", "before the extents of a space");
        s.split_points.push_back({position, extents()});
      } else if (accept("product")) {
        const FusionGroup group = this->group(s, names);
        for (const Value v : group.roots) s.products.group_of_root[v.id()] = s.products.groups.size();
        s.products.groups.push_back(group);
      } else if (accept("group")) {
        if (bounded(SIZE_MAX, "the number of a group") != s.plan.groups.size()) fail(peek(), "groups are in order");
        s.plan.groups.push_back(group(s, names));
      } else if (accept("step")) {
        step(s);
      } else if (accept("not")) {
        for (const char* word : {"fused", ":"}) expect(word, "in a remark");
        s.plan.remarks.add(lexer_.unquoted(expect_kind(text::TokenKind::string, "a remark in quotes")));
      } else if (accept("plan")) {
        subgraph(planned);
      } else {
        expected("memory, required, shared, reused, kept, costs, split, product, group, step, a remark, a plan or '}'");
      }
    }
    if (s.costs.operations.empty()) s.costs.operations.assign(planned.graph().num_values(), 0.0);
  }

  void subgraph(PlannedGraph& planned) {
    State& s = *planned.state_;
    expect("of", "after `plan`");
    const Equation& e = equation(s);
    expect(",", "between an equation and the number of its sub-graph");
    const auto found = s.subgraphs.find(&e);
    const size_t count = found == s.subgraphs.end() ? 0 : found->second.size();
    PlannedGraph& inner = found->second.at(bounded(count, "the number of a sub-graph that has a plan"));
    expect("{", "before a plan");
    section(inner);
  }

  void step(State& s) {
    expect(":", "after `step`");
    if (accept("group")) {
      s.plan.steps.push_back({static_cast<int32_t>(bounded(s.plan.groups.size(), "the number of a group")), nullptr});
      return;
    }
    name("the primitive of a step");
    expect("at", "between a primitive and the position of its equation");
    s.plan.steps.push_back({-1, &equation(s)});
  }

  FusionGroup group(State& s, const Names& names) {
    FusionGroup group;
    expect("over", "before a space");
    const Extents space = extents();
    group.space = Shape(std::span<const int64_t>(space.begin(), space.size()));
    expect(":", "before the roots of a group");
    do {
      if (accept("anchor")) {
        name("the primitive of an anchor");
        expect("at", "between a primitive and the position of its equation");
        group.anchor = &equation(s);
      } else if (accept("loops")) {
        group.loops = extents();
      } else if (accept("reduced")) {
        group.reduced = extents();
      } else {
        group.roots.push_back(value(names));
      }
    } while (accept(","));
    return group;
  }

  template <class Do>
  void for_each(const Names& names, const Do& apply) {
    expect(":", "before a list of values");
    do {
      apply(value(names));
    } while (accept(","));
  }

  Value value(const Names& names) {
    const text::Token token = expect_kind(text::TokenKind::value, "a value");
    const auto found = names.values.find(std::string(spelling(token)));
    if (found == names.values.end()) fail(token, "the graph has no value " + std::string(spelling(token)));
    return found->second;
  }

  const Equation& equation(const State& s) {
    return s.analysis.order[bounded(s.analysis.order.size(), "the position of an equation")];
  }

  size_t bounded(size_t end, const char* what) {
    const text::Token token = peek();
    const int64_t n = integer(what);
    if (n < 0 || static_cast<uint64_t>(n) >= end) fail(token, "expected " + std::string(what));
    return static_cast<size_t>(n);
  }

  double number() {
    const text::Token token = expect_kind(text::TokenKind::number, "a number of operations");
    const std::string_view digits = spelling(token);
    double n = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    if (error != std::errc() || end != digits.data() + digits.size()) fail(token, "expected a number of operations");
    return n;
  }

  Extents extents() {
    Extents list;
    expect("[", "before extents");
    if (accept("]")) return list;
    do {
      const text::Token token = peek();
      list.push_back(integer("an extent"));
      if (list.back() < 0) fail(token, "an extent is negative");
    } while (accept(","));
    expect("]", "after extents");
    return list;
  }
};

PlannedGraph parse_plan(std::string_view text, const Graph& graph, const MachineLimits& limits) {
  return PlanParser(text).parse(graph, limits);
}

}  // namespace calque::plan
