// One walk copies every equation; if an operand has a tangent, the equation's rule appends the tangents of the results,
// once for each direction. An invalid tangent is zero.
#include "transform/autodiff/jvp.h"

#include <algorithm>

#include "primitives/control/collectives.h"
#include "primitives/registry.h"
#include "transform/autodiff/dependence.h"
#include "transform/autodiff/subgraphs.h"
#include "transform/simplify/eliminate_dead_code.h"
#include "transform/simplify/inline_calls.h"

namespace calque::transform {
namespace {

using namespace primitives;

using Mask = std::vector<bool>;

class Forward {
 public:
  Forward(const Graph& from, Graph& out, size_t directions)
      : from_(from),
        out_(out),
        directions_(directions),
        primals_(from.num_values()),
        tangents_(from.num_values() * directions) {}

  /// Adds the inputs of the graph, then a tangent for each that is active in the first direction, and so on.
  void add_inputs(std::span<const Mask> active) {
    const std::vector<Value>& inputs = from_.inputs();
    for (const Value v : inputs) primals_[v.id()] = out_.add_input(from_.type(v));
    for (size_t d = 0; d < directions_; ++d) {
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (!active[d][i]) continue;
        const Value tangent = out_.add_input(from_.type(inputs[i]));
        if (differentiable(from_.dtype(inputs[i]))) set_tangent(inputs[i], d, tangent);
      }
    }
  }

  void run() {
    for (const Equation& e : from_.equations()) equation(e);
  }

  /// The outputs of the graph, then the tangents of those that are wanted in each direction.
  void set_outputs(std::span<const Mask> wanted) {
    std::vector<Value> outputs;
    for (const Value v : from_.outputs()) outputs.push_back(primal(v));
    for (size_t d = 0; d < directions_; ++d) {
      for (size_t i = 0; i < wanted[d].size(); ++i) {
        if (!wanted[d][i]) continue;
        const Value v = from_.outputs()[i], t = tangent(v, d);
        outputs.push_back(t.valid() ? t : Writer(out_, {}).zeros(from_.type(v)));
      }
    }
    out_.set_outputs(std::move(outputs));
  }

 private:
  Value primal(Value v) {
    Value& to = primals_[v.id()];
    if (!to.valid()) to = out_.add_copy(from_, v);
    return to;
  }
  Value tangent(Value v, size_t direction) const { return tangents_[v.id() * directions_ + direction]; }
  void set_tangent(Value v, size_t direction, Value to) { tangents_[v.id() * directions_ + direction] = to; }

  bool active(const Equation& e, size_t direction) const {
    return std::any_of(e.operands().begin(), e.operands().end(),
                       [&](Value v) { return tangent(v, direction).valid(); });
  }

  void equation(const Equation& e) {
    ValueList operands;
    for (const Value v : e.operands()) operands.push_back(primal(v));
    bool any = false;
    for (size_t d = 0; d < directions_ && !any; ++d) any = active(e, d);
    if (!any) {
      if (e.id() == id_of<Receive> && gives_floats(e)) refuse(e, rules(e.id()).no_jvp);
      copy(e, operands);
      return;
    }
    const bool branches = e.id() == id_of<Cond> || e.id() == id_of<Switch>;
    if (branches && directions_ > 1 && !communicate_along_axes(e.subgraphs()))
      return run_branches(e, std::move(operands));
    const Rules& rule = rules(e.id());
    std::vector<Value> results;
    if (!rule.jvp_computes_results) results = copy(e, operands);
    for (size_t d = 0; d < directions_; ++d) {
      if (!active(e, d)) continue;
      ValueList tangents;
      for (const Value v : e.operands()) tangents.push_back(tangent(v, d));
      Jvp j{{from_, e, Writer(out_, e.location()), subgraph_transforms()},
            {operands.begin(), operands.size()},
            {tangents.begin(), tangents.size()},
            results,
            std::vector<Value>(e.results().size())};
      if (rule.jvp != nullptr) {
        rule.jvp(j);
      } else if (!rule.no_jvp.empty() && gives_floats(e)) {
        refuse(e, rule.no_jvp);
      }
      for (size_t i = 0; i < j.results.size(); ++i) {
        primals_[e.result(i).id()] = j.results[i];
        if (differentiable(from_.dtype(e.result(i)))) set_tangent(e.result(i), d, j.result_tangents[i]);
      }
    }
  }

  /// The tangents of all directions come from one branch, which computes what they share once.
  void run_branches(const Equation& e, ValueList operands) {
    std::vector<Mask> active(directions_), wanted(directions_, Mask(e.results().size()));
    for (size_t d = 0; d < directions_; ++d) {
      for (size_t i = 1; i < e.operands().size(); ++i) {
        const Value t = tangent(e.operand(i), d);
        active[d].push_back(t.valid());
        if (t.valid()) operands.push_back(t);
      }
    }
    std::vector<Graph> graphs(e.subgraphs().size());
    std::vector<Forward> branches;
    for (size_t b = 0; b < graphs.size(); ++b) {
      const Graph& g = e.subgraphs()[b];
      graphs[b].set_name(g.name());
      Forward& branch = branches.emplace_back(g, graphs[b], directions_);
      branch.add_inputs(active);
      branch.run();
      for (size_t d = 0; d < directions_; ++d) {
        for (size_t r = 0; r < g.outputs().size(); ++r) {
          if (branch.tangent(g.outputs()[r], d).valid()) wanted[d][r] = true;
        }
      }
    }
    for (Forward& branch : branches) branch.set_outputs(wanted);
    const Writer w(out_, e.location());
    const Equation& all = w.append(e.id(), std::move(operands), Attributes(e.attributes()), std::move(graphs));
    size_t next = 0;
    for (const Value v : e.results()) primals_[v.id()] = all.result(next++);
    for (size_t d = 0; d < directions_; ++d) {
      for (size_t r = 0; r < e.results().size(); ++r) {
        if (wanted[d][r]) set_tangent(e.result(r), d, all.result(next++));
      }
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
  size_t directions_;
  std::vector<Value> primals_;
  std::vector<Value> tangents_;  ///< of each value, in each direction
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

Graph forward(const Graph& graph, std::span<const Mask> active, std::span<const Mask> wanted) {
  Graph out;
  out.set_name(graph.name());
  Forward walk(graph, out, active.size());
  walk.add_inputs(active);
  walk.run();
  walk.set_outputs(wanted);
  return out;
}

}  // namespace

Graph jvp_wanted(const Graph& graph, const std::vector<bool>& active, const std::vector<bool>& wanted) {
  return forward(graph, {&active, 1}, {&wanted, 1});
}

Graph jvp(const Graph& graph, const std::vector<bool>& active) { return jvp(graph, std::span(&active, 1)); }

Graph jvp(const Graph& graph, std::span<const std::vector<bool>> active) {
  const std::vector<Mask> wanted(active.size(), Mask(graph.outputs().size(), true));
  Graph out = eliminate_dead_code(forward(inline_calls(graph, InlineScope::calls), active, wanted));
  check_forward(out);
  return out;
}

}  // namespace calque::transform
