// A merged trace as a graph. An unexplored side costs no branch: its exit is a number among the results, and what
// follows is computed nevertheless, unless that could have an effect or not end.
#include <optional>

#include "calque/detail/control/control.h"

#include "primitives/list.h"
#include "trace/branches/merged_trace.h"
#include "trace/builder.h"

namespace calque::detail::merged {
namespace {

using primitives::get;

const Type kTruth{DType::bool_, {}}, kExit{DType::i32, {}}, kWord{DType::i64, {}};

Handle number(int64_t n, const Type& type) { return detail::literal(make_literal(type.dtype, n), type, {}); }

template <class P>
Handle apply(std::initializer_list<Handle> operands) {
  return emit(get<P>(), operands, {}, Location{});
}

class Recorder {
 public:
  Recorder(const MergedTrace& trace, const StatusLayout& layout, std::span<const Handle> inputs)
      : trace_(trace), layout_(layout), values_(trace.num_values()) {
    std::ranges::copy(inputs, values_.begin());
  }

  /// The outputs of the function, and its status.
  std::vector<Handle> run() {
    Results r = block(trace_.root(), 0);
    append(r, layout_, r.yields);
    return std::move(r.yields);
  }

 private:
  /// Without a handle: 0.
  struct Results {
    std::vector<Handle> yields;
    std::optional<Handle> exit, history, value;
  };
  /// A question that may be left, behind which nothing counts then.
  struct Leave {
    Handle leaves;  ///< bool
    Handle exit;
    std::optional<Handle> value;
  };

  Handle value(V v) {
    if (v < trace_.num_inputs()) return values_[v];
    const ValueInfo& info = trace_.value(v);
    if (info.graph == nullptr) return values_[v];
    if (info.graph->is_literal(info.leaf)) return detail::literal(info.graph->literal(info.leaf), info.type, {});
    return detail::constant(info.graph->constant(info.leaf), {});
  }

  /// Which parts of the status the steps from `first` on may set.
  static StatusLayout status_of(const Block& b, size_t first) {
    StatusLayout s;
    for (size_t i = first; i < b.steps.size(); ++i) {
      const Step& step = b.steps[i];
      s.exit |= step.exit != 0;
      s.value |= step.exit != 0 && step.question == QuestionKind::number;
      s.history |= step.kind == Step::Kind::fork;
      for (const auto& [answer, side] : step.sides) {
        const StatusLayout inner = status_of(side, 0);
        s.exit |= inner.exit;
        s.value |= inner.value;
      }
    }
    return s;
  }
  StatusLayout wanted(const Block& b, size_t first) const {
    const StatusLayout s = status_of(b, first);
    return {s.exit && layout_.exit, s.history && layout_.history, s.value && layout_.value};
  }

  static void append(const Results& r, const StatusLayout& layout, std::vector<Handle>& out) {
    if (layout.exit) out.push_back(r.exit ? *r.exit : number(0, kExit));
    if (layout.history) out.push_back(r.history ? *r.history : number(0, kWord));
    if (layout.value) out.push_back(r.value ? *r.value : number(0, kWord));
  }
  static Results split(std::vector<Handle> all, size_t yields, const StatusLayout& layout) {
    Results r;
    size_t next = yields;
    if (layout.exit) r.exit = all[next++];
    if (layout.history) r.history = all[next++];
    if (layout.value) r.value = all[next++];
    all.resize(yields);
    r.yields = std::move(all);
    return r;
  }

  /// The steps of the block from `first` on.
  Results block(const Block& b, size_t first) {
    std::vector<Leave> leaves;
    Results out;
    for (size_t i = first; i < b.steps.size(); ++i) {
      const Step& step = b.steps[i];
      if (step.kind == Step::Kind::equation) {
        equation(step);
        continue;
      }
      std::optional<Handle> history;
      if (std::optional<Leave> leave = question(step, history)) {
        if (history) add(out.history, *history);
        if (is_unsafe_from(b, i + 1)) {
          Results rest = protected_rest(b, i + 1, *leave);
          out.yields = std::move(rest.yields);
          if (rest.history) add(out.history, *rest.history);
          out.exit = rest.exit;
          out.value = rest.value;
          finish(out, leaves);
          return out;
        }
        leaves.push_back(*leave);
      } else if (history) {
        add(out.history, *history);
      }
    }
    for (const V v : b.yields) out.yields.push_back(value(v));
    finish(out, leaves);
    return out;
  }

  static void add(std::optional<Handle>& sum, Handle term) { sum = sum ? apply<primitives::Add>({*sum, term}) : term; }

  /// The first question that was left decides.
  void finish(Results& out, const std::vector<Leave>& leaves) const {
    for (size_t k = leaves.size(); k-- > 0;) {
      const Leave& l = leaves[k];
      if (layout_.exit) {
        out.exit = apply<primitives::Select>({l.leaves, l.exit, out.exit ? *out.exit : number(0, kExit)});
      }
      if (layout_.value && (l.value || out.value)) {
        const Handle zero = number(0, kWord);
        out.value = apply<primitives::Select>({l.leaves, l.value.value_or(zero), out.value.value_or(zero)});
      }
    }
  }

  void equation(const Step& step) {
    std::vector<Handle> operands, results;
    for (const V v : step.operands) operands.push_back(value(v));
    const Equation& e = *step.equation;
    emit(e.definition(), operands, e.attributes(), e.subgraphs(), e.location(), results);
    for (size_t k = 0; k < results.size(); ++k) values_[step.results[k]] = results[k];
  }

  static bool is_unsafe_from(const Block& b, size_t first) {
    for (size_t i = first; i < b.steps.size(); ++i) {
      if (b.steps[i].needs_protection) return true;
    }
    return false;
  }

  /// What follows a question that may be left, where it is not.
  Results protected_rest(const Block& b, size_t first, const Leave& leave) {
    const StatusLayout layout = [&] {
      StatusLayout l = wanted(b, first);
      l.exit = layout_.exit;
      l.value |= leave.value.has_value() && layout_.value;
      return l;
    }();
    TraceResult left = sub([&](std::vector<Handle>& out) {
      for (const V v : b.yields) out.push_back(number(0, trace_.value(v).type));
      append({{}, leave.exit, {}, leave.value}, layout, out);
    });
    TraceResult stays = sub([&](std::vector<Handle>& out) {
      Results rest = block(b, first);
      append(rest, layout, rest.yields);
      out = std::move(rest.yields);
    });
    return split(branch(leave.leaves, left, stays, {}), b.yields.size(), layout);
  }

  template <class Body>
  TraceResult sub(const Body& body) {
    const std::vector<Handle> outside = values_;
    TraceResult result =
        trace_once("branch", {}, [&](std::span<const Handle>, std::vector<Handle>& out) { body(out); }, {});
    values_ = outside;
    return result;
  }

  static std::vector<Handle> branch(Handle predicate, TraceResult& on_true, TraceResult& on_false, Location location) {
    TraceResult* both[] = {&on_true, &on_false};
    return emit_branches(get<primitives::Cond>(), predicate, both, location);
  }
  static std::vector<Handle> emit_branches(const Primitive& primitive, Handle selector, std::span<TraceResult*> sides,
                                           Location location) {
    std::vector<Handle> operands{selector}, results;
    const std::vector<Handle> captures = unify_captures(sides);
    operands.insert(operands.end(), captures.begin(), captures.end());
    std::vector<Graph> subgraphs;
    for (TraceResult* side : sides) subgraphs.push_back(std::move(side->graph));
    emit(primitive, operands, {}, std::move(subgraphs), location, results);
    return results;
  }

  /// Records a question, with the sides of a fork. Returns how it is left, if it can be.
  std::optional<Leave> question(const Step& step, std::optional<Handle>& history) {
    const Handle asked = value(step.asked);
    const bool truth = step.question == QuestionKind::truth;
    const auto is = [&](int64_t answer) { return apply<primitives::Eq>({asked, number(answer, kWord)}); };
    if (step.kind == Step::Kind::guard) {
      const Handle leaves = truth && step.answer != 0 ? apply<primitives::Not>({asked})
                            : truth                   ? asked
                                                      : apply<primitives::Ne>({asked, number(step.answer, kWord)});
      return Leave{leaves, number(step.exit, kExit), truth ? std::optional<Handle>() : asked};
    }
    StatusLayout layout;
    for (const auto& [answer, side] : step.sides) {
      const StatusLayout s = wanted(side, 0);
      layout.exit |= s.exit;
      layout.value |= s.value;
    }
    layout.history = layout_.history;
    std::vector<TraceResult> sides;
    for (size_t i = 0; i < step.sides.size(); ++i) {
      const Block& side = step.sides[i].block;
      sides.push_back(sub([&](std::vector<Handle>& out) {
        Results r = block(side, 0);
        if (layout.history && i != 0)
          add(r.history, number(int64_t{1} * static_cast<int64_t>(i) << step.first_bit, kWord));
        append(r, layout, r.yields);
        out = std::move(r.yields);
      }));
    }
    // A value that no side is for takes the first one, unless that has effects or might not end.
    const bool has_none = !truth && step.needs_protection;
    if (has_none) {
      sides.push_back(sub([&](std::vector<Handle>& out) {
        for (const V v : step.results) out.push_back(number(0, trace_.value(v).type));
        append({}, layout, out);
      }));
    }
    std::vector<TraceResult*> pointers;
    for (TraceResult& side : sides) pointers.push_back(&side);
    Handle selector = asked;
    if (truth) {
      std::ranges::reverse(pointers);  // cond has the side of true first
    } else {
      selector = number(has_none ? static_cast<int64_t>(step.sides.size()) : 0, kExit);
      for (size_t i = step.sides.size(); i-- > (has_none ? 0u : 1u);) {
        selector =
            apply<primitives::Select>({is(step.sides[i].answer), number(static_cast<int64_t>(i), kExit), selector});
      }
    }
    const Primitive& primitive = truth ? get<primitives::Cond>() : get<primitives::Switch>();
    Results r = split(emit_branches(primitive, selector, pointers, step.location), step.results.size(), layout);
    for (size_t k = 0; k < step.results.size(); ++k) values_[step.results[k]] = r.yields[k];
    history = r.history;
    std::optional<Leave> leave;
    if (layout.exit) {
      leave = Leave{apply<primitives::Ne>({*r.exit, number(0, kExit)}), *r.exit, r.value};
    }
    if (truth) return leave;
    // A value that no side is for.
    Handle known = is(step.sides[0].answer);
    for (size_t i = 1; i < step.sides.size(); ++i) known = apply<primitives::Or>({known, is(step.sides[i].answer)});
    const Handle unknown = apply<primitives::Not>({known});
    if (!leave) return Leave{unknown, number(step.exit, kExit), asked};
    return Leave{apply<primitives::Or>({unknown, leave->leaves}),
                 apply<primitives::Select>({unknown, number(step.exit, kExit), leave->exit}),
                 apply<primitives::Select>({unknown, asked, leave->value.value_or(number(0, kWord))})};
  }

  const MergedTrace& trace_;
  const StatusLayout& layout_;
  std::vector<Handle> values_;
};

}  // namespace

TraceResult MergedTrace::record(std::string_view name, bool all_proven, StatusLayout& layout) const {
  layout = {};
  layout.exit = num_exits_ != 0;
  layout.history = num_bits_ != 0 && (!all_proven || layout.exit);
  for (const Step* step : exits_) layout.value |= step->question == QuestionKind::number;
  std::vector<Type> inputs;
  for (size_t i = 0; i < num_inputs_; ++i) inputs.push_back(values_[i].type);
  return trace_once(
      name, inputs,
      [&](std::span<const Handle> in, std::vector<Handle>& out) { out = Recorder(*this, layout, in).run(); }, {});
}

}  // namespace calque::detail::merged
