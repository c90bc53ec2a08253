// One walk copies every equation; if an operand has a tangent, the equation's rule appends the tangents of the results.
// An invalid tangent is zero.
#include "transform/autodiff/jvp.h"

#include "primitives/registry.h"
#include "transform/autodiff/dependence.h"
#include "transform/autodiff/subgraphs.h"
#include "transform/simplify/eliminate_dead_code.h"
#include "transform/simplify/inline_calls.h"

namespace calque::transform {
namespace {

using namespace primitives;

class Forward {
 public:
  Forward(const Graph& from, Graph& out)
      : from_(from), out_(out), primals_(from.num_values()), tangents_(from.num_values()) {}

  void set_primal(Value v, Value to) { primals_[v.id()] = to; }
  void set_tangent(Value v, Value to) { tangents_[v.id()] = to; }

  void run() {
    for (const Equation& e : from_.equations()) equation(e);
  }

  Value primal(Value v) {
    Value& to = primals_[v.id()];
    if (!to.valid()) to = out_.add_copy(from_, v);
    return to;
  }
  Value tangent(Value v) const { return tangents_[v.id()]; }

 private:
  void equation(const Equation& e) {
    ValueList operands, tangents;
    bool active = false;
    for (const Value v : e.operands()) {
      operands.push_back(primal(v));
      tangents.push_back(tangent(v));
      active = active || tangents.back().valid();
    }
    if (!active) {
      copy(e, operands);
      return;
    }
    const Rules& rule = rules(e.id());
    Jvp j{{from_, e, Writer(out_, e.location()), subgraph_transforms()},
          {operands.begin(), operands.size()},
          {tangents.begin(), tangents.size()},
          {},
          std::vector<Value>(e.results().size())};
    if (!rule.jvp_computes_results) j.results = copy(e, operands);
    if (rule.jvp != nullptr) {
      rule.jvp(j);
    } else if (!rule.no_jvp.empty() && gives_floats(e)) {
      refuse(e, rule.no_jvp);
    }
    for (size_t i = 0; i < j.results.size(); ++i) {
      primals_[e.result(i).id()] = j.results[i];
      if (differentiable(from_.dtype(e.result(i)))) tangents_[e.result(i).id()] = j.result_tangents[i];
    }
  }

  bool gives_floats(const Equation& e) const {
    for (const Value v : e.results()) {
      if (differentiable(from_.dtype(v))) return true;
    }
    return false;
  }

  std::vector<Value> copy(const Equation& e, const ValueList& operands) {
    const Equation& same = out_.append_copy(from_, e, ValueList(operands));
    for (size_t i = 0; i < e.results().size(); ++i) primals_[e.result(i).id()] = same.result(i);
    return {same.results().begin(), same.results().end()};
  }

  const Graph& from_;
  Graph& out_;
  std::vector<Value> primals_, tangents_;
};

/// Refuses equations that only reverse mode can transform.
void check_forward(const Graph& graph) {
  for (const Equation& e : graph.equations()) {
    if (e.id() == id_of<CustomLinear>) {
      std::string line = to_string(e.location());
      throw GradError("custom_vjp: " + std::string(CustomLinear::reason) + (line.empty() ? "" : " (" + line + ")"));
    }
    for (const Graph& g : e.subgraphs()) check_forward(g);
  }
}

}  // namespace

Graph jvp_wanted(const Graph& graph, const std::vector<bool>& active, const std::vector<bool>& wanted) {
  Graph out;
  out.set_name(graph.name());
  Forward forward(graph, out);
  for (const Value v : graph.inputs()) forward.set_primal(v, out.add_input(graph.type(v)));
  for (size_t i = 0; i < active.size(); ++i) {
    if (!active[i]) continue;
    const Value v = graph.inputs()[i];
    const Value tangent = out.add_input(graph.type(v));
    if (differentiable(graph.dtype(v))) forward.set_tangent(v, tangent);
  }
  forward.run();
  std::vector<Value> outputs;
  for (const Value v : graph.outputs()) outputs.push_back(forward.primal(v));
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i]) continue;
    const Value v = graph.outputs()[i];
    const Value tangent = forward.tangent(v);
    outputs.push_back(tangent.valid() ? tangent : Writer(out, {}).zeros(graph.type(v)));
  }
  out.set_outputs(std::move(outputs));
  return out;
}

Graph jvp(const Graph& graph, const std::vector<bool>& active) {
  Graph out = eliminate_dead_code(
      jvp_wanted(inline_calls(graph, InlineScope::calls), active, std::vector<bool>(graph.outputs().size(), true)));
  check_forward(out);
  return out;
}

}  // namespace calque::transform
