// Loops and branches inside kernels: the state of one element is kept in SSA values, never in memory.
#include <array>

#include "kernel/lower/lower_elements.h"
#include "primitives/registry.h"

namespace calque::kernel {

using namespace primitives;

namespace {

/// The values of a sub-graph: its inputs are expressions of the enclosing frame, or the state of one element.
class BodyFrame final : public Frame {
 public:
  struct Source {
    Id scalar = kNone;  ///< the state, or else:
    Value outer;        ///< a value of the enclosing frame
    Id step = kNone;    ///< for slices of a scan: the leading index into `outer`
  };
  BodyFrame(const Graph& graph, Frame& outer, std::vector<Source> sources)
      : Frame(graph), outer_(outer), sources_(std::move(sources)) {}

  std::optional<Id> element(Elements& elements, Value v, const Index& index) override {
    const Graph& g = graph();
    if (g.kind(v) == ValueKind::constant) return elements.load(outer_.constant(g.constant(v)), g.shape(v), index);
    if (g.kind(v) != ValueKind::input) return std::nullopt;
    const Source& s = sources_[g.input_index(v)];
    if (s.scalar != kNone) return s.scalar;
    if (s.step == kNone) return elements.element(outer_, s.outer, index);
    Ids parts{s.step};
    for (Id i : elements.with_parts(index, g.shape(v)).parts) parts.push_back(i);
    return elements.element(outer_, s.outer, Index::of_parts(parts));
  }
  bool reads_flat(Value v) const override {
    return graph().kind(v) == ValueKind::input && sources_[graph().input_index(v)].scalar != kNone;
  }
  bool computes(Value v) const override { return graph().kind(v) == ValueKind::result; }
  Operand constant(const AnyArray& array) override { return outer_.constant(array); }

 private:
  Frame& outer_;
  std::vector<Source> sources_;
};

/// Outputs of a sub-graph for one element of the index space.
Ids outputs(Elements& elements, Frame& frame, const Index& index) {
  const Graph& g = frame.graph();
  elements.prepare(frame, g.outputs(), index);
  Ids ids;
  for (Value v : g.outputs()) ids.push_back(elements.element(frame, v, index));
  return ids;
}

/// Whether a while's body runs at most once, if a flag is set: the cold path of a function.
bool runs_once(const Equation& eq) {
  const Graph &condition = eq.subgraphs()[0], &body = eq.subgraphs()[1];
  const Value flag = condition.outputs()[0];
  const auto cond_consts = static_cast<size_t>(eq.attributes().integer("cond_consts"));
  if (condition.kind(flag) != ValueKind::input || condition.input_index(flag) < cond_consts) return false;
  const Value next = body.outputs()[condition.input_index(flag) - cond_consts];
  return body.kind(next) == ValueKind::literal && body.literal(next).bytes[0] == 0;
}

}  // namespace

Ids Elements::control(Frame& frame, const Equation& eq, const Index& index) {
  switch (eq.id()) {
    case id_of<While>:
      return while_loop(frame, eq, index);
    case id_of<Scan>:
      return scan(frame, eq, index, {});
    default:
      return branch(frame, eq, index);
  }
}

Ids Elements::while_loop(Frame& frame, const Equation& eq, const Index& index) {
  const auto cond_consts = static_cast<size_t>(eq.attributes().integer("cond_consts"));
  const auto body_consts = static_cast<size_t>(eq.attributes().integer("body_consts"));
  const size_t first = cond_consts + body_consts;
  Ids initial;
  prepare(frame, std::span(eq.operands().begin() + first, eq.operands().end()), index);
  for (size_t i = first; i < eq.operands().size(); ++i) initial.push_back(element(frame, eq.operand(i), index));
  const auto run = [&](const Graph& g, size_t from, size_t consts, std::span<const Id> state) {
    std::vector<BodyFrame::Source> sources;
    for (size_t i = 0; i < consts; ++i) sources.push_back({kNone, eq.operand(from + i), kNone});
    for (Id id : state) sources.push_back({id, {}, kNone});
    BodyFrame body(g, frame, std::move(sources));
    return outputs(*this, body, index);
  };
  return e_.while_loop(
      initial, e_.depth(), [&](std::span<const Id> s) { return run(eq.subgraphs()[0], 0, cond_consts, s); },
      [&](std::span<const Id> s) { return run(eq.subgraphs()[1], cond_consts, body_consts, s); }, runs_once(eq));
}

Ids Elements::scan(Frame& frame, const Equation& eq, const Index& index,
                   const std::function<void(Id step, std::span<const Id> ys)>& store_ys) {
  const auto consts = static_cast<size_t>(eq.attributes().integer("consts"));
  const auto carry = static_cast<size_t>(eq.attributes().integer("carry"));
  const int64_t length = eq.attributes().integer("length");
  const bool reverse = eq.attributes().get<bool>("reverse");
  const Graph& g = eq.subgraphs()[0];
  Ids initial;
  for (size_t i = consts; i < consts + carry; ++i) initial.push_back(element(frame, eq.operand(i), index));
  return e_.loop(LoopKind::sequential, length, initial, {}, e_.depth(), [&](Id counter, std::span<const Id> state) {
    const Id step = reverse ? e_.sub(e_.index(length - 1), counter) : counter;
    std::vector<BodyFrame::Source> sources;
    for (size_t i = 0; i < consts; ++i) sources.push_back({kNone, eq.operand(i), kNone});
    for (Id id : state) sources.push_back({id, {}, kNone});
    for (size_t i = consts + carry; i < eq.operands().size(); ++i) sources.push_back({kNone, eq.operand(i), step});
    BodyFrame body(g, frame, std::move(sources));
    const Ids all = outputs(*this, body, index);
    if (store_ys) store_ys(step, std::span(all.begin() + carry, all.end()));
    return Ids(std::span<const Id>(all.begin(), carry));
  });
}

Ids Elements::branch(Frame& frame, const Equation& eq, const Index& index) {
  const Graph& g = frame.graph();
  std::vector<DType> types;
  for (Value v : eq.results()) types.push_back(g.dtype(v));
  std::vector<BodyFrame::Source> sources;
  for (size_t i = 1; i < eq.operands().size(); ++i) sources.push_back({kNone, eq.operand(i), kNone});
  const auto run = [&](size_t which) {
    return [&, which](std::span<const Id>) {
      BodyFrame body(eq.subgraphs()[which], frame, sources);
      return outputs(*this, body, index);
    };
  };
  const Id selector = element(frame, eq.operand(0), index);
  if (eq.id() == id_of<Cond>) return e_.if_else(selector, types, e_.depth(), run(0), run(1));
  // Selectors are clamped: those above the range take the last branch, those below it the first.
  std::function<Ids(size_t)> choose = [&](size_t from) -> Ids {
    if (from + 1 == eq.subgraphs().size()) return run(from)({});
    const Id here = e_.scalar(id_of<Le>, DType::bool_,
                              {selector, e_.constant(DType::i32, Literal::of<int32_t>(static_cast<int32_t>(from)))});
    return e_.if_else(here, types, e_.depth(), run(from), [&](std::span<const Id>) { return choose(from + 1); });
  };
  return choose(0);
}

}  // namespace calque::kernel
