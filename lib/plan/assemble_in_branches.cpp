#include "plan/assemble_in_branches.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "primitives/core/emit.h"
#include "primitives/registry.h"
#include "transform/autodiff/equation_copier.h"
#include "transform/simplify/eliminate_dead_code.h"

namespace calque::plan {

using namespace primitives;

namespace {

constexpr int64_t kSmallPart = 16, kSmallResult = 4096;

bool is_branch(const Equation& e) { return e.id() == id_of<Cond> || e.id() == id_of<Switch>; }

bool has_assembly(const Graph& g) {
  bool branches = false, concatenations = false;
  for (const Equation& e : g.equations()) {
    branches = branches || (is_branch(e) && e.results().size() > 1);
    concatenations = concatenations || e.id() == id_of<Concatenate>;
  }
  if (branches && concatenations) return true;
  return std::any_of(g.equations().begin(), g.equations().end(), [](const Equation& e) {
    return std::any_of(e.subgraphs().begin(), e.subgraphs().end(), has_assembly);
  });
}

class Assembler {
 public:
  explicit Assembler(const Graph& from) : from_(from), copier_(from, out_), users_(from.num_values()) {
    out_.set_name(from.name());
    for (const Equation& e : from.equations()) {
      equations_.push_back(&e);
      for (const Value v : e.operands()) users_[v.id()].push_back(equations_.size() - 1);
    }
    is_output_.resize(from.num_values());
    for (const Value v : from.outputs()) is_output_[v.id()] = true;
  }

  Graph run() {
    for (const Value v : from_.inputs()) copier_.bind(v, out_.add_input(from_.type(v)));
    for (const Equation* e : equations_) {
      if (e->results().size() == 1 && copier_.bound(e->result())) continue;  // moved
      e->subgraphs().empty() ? copier_.copy(*e) : with_subgraphs(*e);
    }
    std::vector<Value> outputs;
    for (const Value v : from_.outputs()) outputs.push_back(copier_.value(v));
    out_.set_outputs(std::move(outputs));
    return std::move(out_);
  }

 private:
  /// What is computed of the results of one equation by concatenations and reshapes alone.
  struct Assembly {
    std::vector<const Equation*> equations;
    std::vector<Value> roots;  ///< concatenations that something else uses
  };

  Assembly find(const Equation& e) const {
    Assembly assembly;
    std::unordered_map<uint32_t, bool> parts;  // by value id: whether concatenated
    std::set<size_t> next;
    const auto reach = [&](Value v, bool concatenated) {
      parts[v.id()] = concatenated;
      next.insert(users_[v.id()].begin(), users_[v.id()].end());
    };
    for (const Value v : e.results()) {
      if (from_.shape(v).num_elements() <= kSmallPart) reach(v, false);
    }
    while (!next.empty()) {
      const Equation& user = *equations_[*next.begin()];
      next.erase(next.begin());
      const bool concatenates = user.id() == id_of<Concatenate>;
      if (!concatenates && user.id() != id_of<Reshape>) continue;
      if (from_.shape(user.result()).num_elements() > kSmallResult) continue;
      bool all = true, concatenated = concatenates;
      for (const Value v : user.operands()) {
        const auto part = parts.find(v.id());
        all = all && (part != parts.end() || from_.is_literal(v));
        concatenated = concatenated || (part != parts.end() && part->second);
      }
      if (!all) continue;
      assembly.equations.push_back(&user);
      reach(user.result(), concatenated);
    }
    for (const Equation* part : assembly.equations) {
      const Value v = part->result();
      const bool inside = std::all_of(users_[v.id()].begin(), users_[v.id()].end(), [&](size_t user) {
        return parts.contains(equations_[user]->results().empty() ? UINT32_MAX : equations_[user]->result().id());
      });
      if (parts[v.id()] && (!inside || is_output_[v.id()])) assembly.roots.push_back(v);
    }
    return assembly;
  }

  void with_subgraphs(const Equation& e) {
    const Assembly assembly = is_branch(e) && e.results().size() > 1 ? find(e) : Assembly();
    ValueList operands;
    for (const Value v : e.operands()) operands.push_back(copier_.value(v));
    std::vector<Graph> graphs;
    for (const Graph& g : e.subgraphs()) {
      const Graph whole = assembly.roots.empty() ? g : with_assembly(e, g, assembly);
      graphs.push_back(has_assembly(whole) ? Assembler(whole).run() : whole);
    }
    const Equation& copy =
        out_.append(e.definition(), std::move(operands), Attributes(e.attributes()), std::move(graphs), e.location());
    const size_t count = e.results().size();
    for (size_t i = 0; i < count; ++i) copier_.bind(e.result(i), copy.result(i));
    for (size_t i = 0; i < assembly.roots.size(); ++i) copier_.bind(assembly.roots[i], copy.result(count + i));
  }

  Graph with_assembly(const Equation& e, const Graph& branch, const Assembly& assembly) const {
    Graph g;
    g.set_name(branch.name());
    std::vector<Value> inputs;
    for (const Value v : branch.inputs()) inputs.push_back(g.add_input(branch.type(v)));
    std::vector<Value> outputs = Writer(g, e.location()).inline_graph(branch, inputs);
    transform::EquationCopier copier(from_, g);
    for (size_t i = 0; i < outputs.size(); ++i) copier.bind(e.result(i), outputs[i]);
    for (const Equation* part : assembly.equations) copier.copy(*part);
    for (const Value v : assembly.roots) outputs.push_back(copier.value(v));
    g.set_outputs(std::move(outputs));
    return g;
  }

  const Graph& from_;
  Graph out_;
  transform::EquationCopier copier_;
  std::vector<const Equation*> equations_;
  std::vector<std::vector<size_t>> users_;  // by value id: positions
  std::vector<bool> is_output_;
};

}  // namespace

Graph assemble_in_branches(const Graph& graph) {
  if (!has_assembly(graph)) return graph;
  return transform::eliminate_dead_code(Assembler(graph).run());
}

}  // namespace calque::plan
