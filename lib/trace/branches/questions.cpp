#include "trace/branches/questions.h"

#include <map>
#include <unordered_set>

#include "primitives/control/collectives.h"
#include "primitives/list.h"
#include "trace/builder.h"

namespace calque::detail {
namespace {

/// Operations that are compared to find out whether two predicates are one.
constexpr int kMaxCompared = 64;

thread_local branches followed = branches::refuse;

/// Whether two values of a graph are computed alike from the same values.
bool same_value(const Graph& g, Value a, Value b, int& budget) {
  if (a == b) return true;
  if (--budget < 0) return false;
  const Equation* x = g.definition(a);
  const Equation* y = g.definition(b);
  if (x == nullptr || y == nullptr || &x->definition() != &y->definition() || x->results().size() != 1 ||
      !x->subgraphs().empty() || !y->subgraphs().empty() || x->definition().has_effect ||
      x->attributes() != y->attributes() || x->operands().size() != y->operands().size()) {
    return false;
  }
  for (size_t i = 0; i < x->operands().size(); ++i) {
    const Value v = x->operands()[i], w = y->operands()[i];
    if (g.is_literal(v) && g.is_literal(w)) {
      if (g.type(v) != g.type(w) || g.literal(v) != g.literal(w)) return false;
    } else if (!same_value(g, v, w, budget)) {
      return false;
    }
  }
  return true;
}

/// The operand of a `not`, or an invalid value.
Value negated(const Graph& g, Value v) {
  const Equation* e = g.definition(v);
  return e != nullptr && e->id() == primitives::id_of<primitives::Not> ? e->operand(0) : Value();
}

/// The answer that an earlier question of the path settles.
std::optional<int64_t> settled(const Graph& g, const Path& path, const Question& question) {
  int budget = kMaxCompared;
  const Value opposite = question.kind == QuestionKind::truth ? negated(g, question.value) : Value();
  for (size_t i = 0; i < path.asked.size() && budget > 0; ++i) {
    const Question& earlier = path.asked[i];
    if (earlier.kind != question.kind) continue;
    if (same_value(g, earlier.value, question.value, budget)) return path.answers[i];
    if (question.kind == QuestionKind::number) continue;
    const Value not_earlier = negated(g, earlier.value);
    const bool opposed = (opposite.valid() && same_value(g, earlier.value, opposite, budget)) ||
                         (not_earlier.valid() && same_value(g, not_earlier, question.value, budget));
    if (opposed) return path.answers[i] == 0;
  }
  return std::nullopt;
}

/// The unknown equations that a value is computed from, operands first. False if one has an effect; to combine the
/// examples of a mapped axis again changes nothing.
template <class Known, class Visit>
bool visit_slice(const Graph& g, Value v, const Known& known, const Visit& visit) {
  std::vector<std::pair<const Equation*, bool>> stack;
  const auto push = [&](Value w) {
    const Equation* e = g.definition(w);
    if (e != nullptr && !known(w)) stack.emplace_back(e, false);
  };
  push(v);
  while (!stack.empty()) {
    auto& [e, operands_done] = stack.back();
    if (known(e->result())) {
      stack.pop_back();
      continue;
    }
    if (primitives::has_effect_of_examples(*e)) return false;
    if (operands_done) {
      const Equation* const ready = e;
      stack.pop_back();
      visit(*ready);
      continue;
    }
    operands_done = true;
    const Equation* const at = e;
    for (const Value w : at->operands()) push(w);
  }
  return true;
}

}  // namespace

FollowBranches::FollowBranches(branches which) : outer_(followed) { followed = which; }
FollowBranches::~FollowBranches() { followed = outer_; }
branches followed_branches() { return followed; }

std::string lines_of(const Path& path) {
  std::map<std::string, size_t> questions;
  std::vector<std::string> order;
  for (const Question& q : path.asked) {
    const std::string line = to_string(q.location);
    if (questions[line]++ == 0) order.push_back(line);
  }
  std::string text;
  for (size_t i = 0; i < order.size() && i < 4; ++i) {
    const size_t n = questions[order[i]];
    text += (i == 0 ? "" : ", ") + order[i] + (n == 1 ? "" : " (" + std::to_string(n) + " times)");
  }
  return order.size() > 4 ? text + " ..." : text;
}

std::optional<int64_t> ask(Builder& trace, Question question) {
  const Graph& g = trace.graph();
  if (g.is_literal(question.value)) {
    const Literal& literal = g.literal(question.value);
    return question.kind == QuestionKind::truth ? int64_t{literal.as<bool>()} : literal.as<int64_t>();
  }
  Path* const path = trace.path();
  if (path == nullptr) return trace.hoist() == nullptr ? std::nullopt : trace.hoist()->ask(trace, question);
  if (const std::optional<int64_t> answer = settled(g, *path, question)) return answer;
  if (trace.oracle() == nullptr && question.kind == QuestionKind::number) return std::nullopt;
  question.num_equations = g.num_equations();
  const size_t n = path->asked.size();
  path->asked.push_back(question);
  if (n == path->most_questions) {
    throw CompileError("jit: a path through the function asks more than " + std::to_string(n) + " questions, at " +
                       lines_of(*path) + "; use while_loop for a loop that data ends, or where and cond");
  }
  if (n == path->answers.size()) {
    path->answers.push_back(trace.oracle() == nullptr ? 0 : trace.oracle()->answer(trace, question));
  }
  return path->answers[n];
}

std::optional<int64_t> ask(Handle value, QuestionKind kind, const void* site) {
  Builder* const trace = innermost();
  if (trace == nullptr) return std::nullopt;
  return ask(*trace, {trace->resolve(value, {}), kind, 0, user_location({}), site});
}

Value OperandHoist::outer(Builder& inner, Value v) {
  if (const auto known = known_.find(v.id()); known != known_.end()) return known->second;
  Builder& parent = *inner.parent();
  const Graph& g = inner.graph();
  Value& out = known_[v.id()];
  switch (g.kind(v)) {
    case ValueKind::literal:
      return out = parent.literal(g.literal(v), g.type(v));
    case ValueKind::constant:
      return out = parent.constant(g.constant(v));
    default: {
      const size_t i = g.input_index(v);
      return out = parent.resolve(i < inner.num_inputs() ? operands_[i] : inner.captures()[i - inner.num_inputs()], {});
    }
  }
}

std::optional<int64_t> OperandHoist::ask(Builder& inner, const Question& question) {
  Builder& parent = *inner.parent();
  const Graph& g = inner.graph();
  const auto is_known = [&](Value v) { return known_.contains(v.id()); };
  const auto is_outside = [&](Value v) {
    return g.kind(v) != ValueKind::input || g.input_index(v) >= inner.num_inputs() ||
           g.input_index(v) < operands_.size();
  };
  bool outside_alone = is_outside(question.value);
  std::unordered_set<uint32_t> seen;
  const bool is_pure = visit_slice(
      g, question.value, [&](Value v) { return is_known(v) || seen.contains(v.id()); },
      [&](const Equation& e) {
        for (const Value r : e.results()) seen.insert(r.id());
        for (const Value v : e.operands()) outside_alone &= is_outside(v);
      });
  if (!is_pure || !outside_alone) return std::nullopt;
  visit_slice(g, question.value, is_known, [&](const Equation& e) {
    ValueList operands;
    operands.reserve(e.operands().size());
    for (const Value v : e.operands()) operands.push_back(outer(inner, v));
    const Equation& copy =
        parent.record(e.definition(), std::move(operands), e.attributes(), e.subgraphs(), e.location());
    for (size_t i = 0; i < e.results().size(); ++i) known_[e.result(i).id()] = copy.result(i);
  });
  Question outside = question;
  outside.value = outer(inner, question.value);
  return detail::ask(parent, outside);
}

std::optional<Graph> slice_of(Builder& trace, Value v) {
  const Graph& g = trace.graph();
  Graph slice;
  slice.set_name(g.name());
  std::vector<Value> copies(g.num_values());
  for (const Value input : g.inputs()) copies[input.id()] = slice.add_input(g.type(input));
  const auto copy_of = [&](Value w) {
    Value& to = copies[w.id()];
    if (!to.valid()) to = slice.add_copy(g, w);
    return to;
  };
  const bool pure = visit_slice(
      g, v, [&](Value w) { return copies[w.id()].valid(); },
      [&](const Equation& e) {
        ValueList operands;
        operands.reserve(e.operands().size());
        for (const Value w : e.operands()) operands.push_back(copy_of(w));
        const Equation& copy = slice.append_copy(g, e, std::move(operands));
        for (size_t i = 0; i < e.results().size(); ++i) copies[e.result(i).id()] = copy.result(i);
      });
  if (!pure) return std::nullopt;
  slice.set_outputs({copy_of(v)});
  return slice;
}

}  // namespace calque::detail
