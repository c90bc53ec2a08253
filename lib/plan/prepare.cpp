#include "plan/prepare.h"

#include <numeric>

#include "plan/assemble_in_branches.h"
#include "plan/plan.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

namespace {

using Ints = std::vector<int64_t>;

bool is_16_bit(DType d) { return d == DType::f16 || d == DType::bf16; }

bool is_uneven_loop(const Graph& g, const Equation& e) {
  if (e.id() != id_of<While>) return false;
  const Graph& cond = e.subgraphs()[0];
  return cond.shape(cond.outputs()[0]).rank() != 0 && !runs_per_element(g, e);
}
bool is_16_bit_scatter(const Graph& g, const Equation& e) {
  return (e.id() == id_of<ScatterAdd> || e.id() == id_of<ScatterMul>) && is_16_bit(g.dtype(e.result()));
}

bool needs_work(const Graph& g) {
  for (const Equation& e : g.equations()) {
    if (is_uneven_loop(g, e) || is_16_bit_scatter(g, e) || e.id() == id_of<OptimizationBarrier>) return true;
    if (e.id() == id_of<CustomLinear>) throw CompileError("custom_linear: " + std::string(CustomLinear::reason));
    for (const Graph& s : e.subgraphs())
      if (needs_work(s)) return true;
  }
  return false;
}

Graph prepared(const Graph& graph);

class Preparer {
 public:
  explicit Preparer(Graph& to) : to_(to) {}

  /// Appends the equations of `from`; `inputs` are values of the target. Returns the outputs.
  std::vector<Value> append(const Graph& from, std::span<const Value> inputs) {
    std::vector<Value> map(from.num_values());
    for (size_t i = 0; i < inputs.size(); ++i) map[from.inputs()[i].id()] = inputs[i];
    const auto value = [&](Value v) {
      Value& m = map[v.id()];
      if (!m.valid())
        m = from.kind(v) == ValueKind::literal ? to_.add_literal(from.literal(v), from.type(v))
                                               : to_.add_constant(from.constant(v));
      return m;
    };
    for (const Equation& e : from.equations()) {
      ValueList operands;
      for (Value v : e.operands()) operands.push_back(value(v));
      std::vector<Value> results;
      if (is_uneven_loop(from, e)) {
        results = uneven_loop(e, operands);
      } else if (is_16_bit_scatter(from, e)) {
        results = {wide_scatter(from, e, operands)};
      } else if (e.id() == id_of<OptimizationBarrier>) {
        results = {operands[0]};  // it kept passes from merging recomputed values; no such pass follows
      } else {
        std::vector<Graph> subgraphs;
        for (const Graph& s : e.subgraphs()) subgraphs.push_back(prepared(s));
        const Equation& copy = to_.append(e.definition(), operands, e.attributes(), std::move(subgraphs), e.location());
        results.assign(copy.results().begin(), copy.results().end());
      }
      for (size_t i = 0; i < results.size(); ++i) map[e.result(i).id()] = results[i];
    }
    std::vector<Value> outputs;
    for (Value v : from.outputs()) outputs.push_back(value(v));
    return outputs;
  }

 private:
  template <class P>
  Value emit(ValueList operands, Attributes attributes, const Location& location) {
    return to_.append(get<P>(), std::move(operands), std::move(attributes), {}, location).result();
  }

  Value wide_scatter(const Graph& from, const Equation& e, const ValueList& operands) {
    const DType narrow = from.dtype(e.result());
    const Value x = emit<Convert>({operands[0]}, {{"dtype", DType::f32}}, e.location());
    const Value updates = emit<Convert>({operands[2]}, {{"dtype", DType::f32}}, e.location());
    const Value wide = to_.append(e.definition(), {x, operands[1], updates}, e.attributes(), {}, e.location()).result();
    return emit<Convert>({wide}, {{"dtype", narrow}}, e.location());
  }

  /// State of the new loop: the old one. Its condition is any(old condition), its body selects by the old condition.
  std::vector<Value> uneven_loop(const Equation& e, const ValueList& operands) {
    const auto cond_consts = static_cast<size_t>(e.attributes().integer("cond_consts"));
    const auto body_consts = static_cast<size_t>(e.attributes().integer("body_consts"));
    // The body needs the condition's constants too.
    ValueList with_cond;
    for (size_t i = 0; i < cond_consts; ++i) with_cond.push_back(operands[i]);
    for (size_t i = 0; i < cond_consts; ++i) with_cond.push_back(operands[i]);
    for (size_t i = cond_consts; i < operands.size(); ++i) with_cond.push_back(operands[i]);
    std::vector<Graph> graphs;
    graphs.push_back(any_condition(e));
    graphs.push_back(selecting_body(e, cond_consts, body_consts));
    const Equation& loop = to_.append(get<While>(), with_cond,
                                      {{"cond_consts", static_cast<int64_t>(cond_consts)},
                                       {"body_consts", static_cast<int64_t>(cond_consts + body_consts)}},
                                      std::move(graphs), e.location());
    return {loop.results().begin(), loop.results().end()};
  }

  static Ints all_axes(const Shape& shape) {
    Ints axes(shape.size());
    std::iota(axes.begin(), axes.end(), int64_t{0});
    return axes;
  }

  static Graph any_condition(const Equation& e) {
    const Graph& old_cond = e.subgraphs()[0];
    Graph cond;
    std::vector<Value> in;
    for (Value v : old_cond.inputs()) in.push_back(cond.add_input(old_cond.type(v)));
    Preparer p(cond);
    const Value each = p.append(old_cond, in)[0];
    const Ints axes = all_axes(cond.shape(each));
    cond.set_outputs({p.emit<ReduceOr>({each}, {{"axes", axes}}, e.location())});
    return cond;
  }

  static Graph selecting_body(const Equation& e, size_t cond_consts, size_t body_consts) {
    const Graph &old_cond = e.subgraphs()[0], &old_body = e.subgraphs()[1];
    Graph body;
    std::vector<Value> for_cond, for_body, state;
    for (size_t i = 0; i < cond_consts; ++i) for_cond.push_back(body.add_input(old_cond.type(old_cond.inputs()[i])));
    for (size_t i = 0; i < body_consts; ++i) for_body.push_back(body.add_input(old_body.type(old_body.inputs()[i])));
    for (size_t i = body_consts; i < old_body.inputs().size(); ++i)
      state.push_back(body.add_input(old_body.type(old_body.inputs()[i])));
    for_cond.insert(for_cond.end(), state.begin(), state.end());
    for_body.insert(for_body.end(), state.begin(), state.end());
    Preparer p(body);
    const Value each = p.append(old_cond, for_cond)[0];
    std::vector<Value> next = p.append(old_body, for_body);
    const Shape lanes = body.shape(each);
    for (size_t i = 0; i < next.size(); ++i) {
      const Shape shape = body.shape(next[i]);
      Value mask = each;
      if (shape != lanes)
        mask = p.emit<Broadcast>({each}, {{"axes", all_axes(lanes)}, {"shape", Ints(shape.begin(), shape.end())}},
                                 e.location());
      next[i] = p.emit<Select>({mask, next[i], state[i]}, {}, e.location());
    }
    body.set_outputs(next);
    return body;
  }

  Graph& to_;
};

Graph prepared(const Graph& graph) {
  if (!needs_work(graph)) return graph;
  Graph to;
  to.set_name(graph.name());
  std::vector<Value> inputs;
  for (Value v : graph.inputs()) inputs.push_back(to.add_input(graph.type(v)));
  to.set_outputs(Preparer(to).append(graph, inputs));
  return to;
}

}  // namespace

Graph prepare(const Graph& graph) { return prepared(assemble_in_branches(graph)); }

}  // namespace calque::plan
