#pragma once
// Copies a graph in one walk, rewriting each equation on the way. Operands are already rewritten when an equation is
// reached, and equations emitted by a rule go through the rules again, so one walk reaches the fixpoint in nearly all
// cases.
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "calque/ir/graph.h"

#include "math/forms.h"
#include "primitives/list.h"
#include "transform/simplify/equation_table.h"

namespace calque::transform {

/// The rewrites that a walk applies. Sub-graphs are walked too.
struct RewriterOptions {
  /// Inlines `call` equations.
  bool inline_calls = false;
  /// Inlines checkpoint, custom rules and implicit solutions, removes stop_gradient and captured. The graph must not be
  /// differentiated later.
  bool inline_rules = false;
  /// fold_constants.
  bool fold = false;
  /// Folds functions of lib/math too; generated code will compute them in these forms.
  std::optional<math::MathForms> forms = {};
  /// simplify_algebra.
  bool algebra = false;
  /// eliminate_common_subexpressions.
  bool merge = false;
};

/// A pure equation with one result that is about to be appended.
struct PendingEquation {
  const Primitive& primitive;
  std::span<const Value> operands;  // of the graph being built
  const Attributes& attributes;
  const Type& type;  // of the result; outside the graph being built
};

class Rewriter {
 public:
  explicit Rewriter(const RewriterOptions& options) : options_(options) {}

  Graph run(const Graph& from);
  /// Number of equations replaced by rules, including sub-graphs, excluding merges.
  size_t rewrites() const { return rewrites_; }
  size_t merges() const { return merges_; }
  /// Whether nested rewrites reached the depth limit, so that another walk may rewrite more.
  bool reached_bound() const { return reached_bound_; }

  // ---- for rules
  const RewriterOptions& options() const { return options_; }
  /// The graph being built.
  const Graph& graph() const { return out_; }
  DType dtype(Value v) const { return out_.dtype(v); }
  const Shape& shape(Value v) const { return out_.shape(v); }
  /// The equation of primitive P that defines v, or null.
  template <class P>
  const Equation* definition(Value v) const {
    const Equation* e = out_.definition(v);
    return e != nullptr && e->id() == primitives::id_of<P> ? e : nullptr;
  }
  Value literal(const Literal& element, const Type& type);
  Value constant(AnyArray array) { return out_.add_constant(std::move(array)); }
  template <class P>
  Value emit(ValueList operands, Attributes attributes = {}) {
    return emit(primitives::get<P>(), std::move(operands), std::move(attributes));
  }
  Value emit(const Primitive& primitive, ValueList operands, Attributes attributes);

 private:
  using Map = std::vector<Value>;

  std::vector<Value> body(const Graph& from, std::span<const Value> inputs);
  Value value(const Graph& from, Value v, Map& map);
  void equation(const Graph& from, const Equation& e, Map& map);
  void with_subgraphs(const Graph& from, const Equation& e, ValueList operands, Map& map);
  /// A branch whose operands are values of the graph that `outer` builds: computes those that are constant itself.
  Graph run_branch(const Graph& from, const Rewriter& outer, std::span<const Value> operands);
  bool is_constant(Value v, int steps = 6) const;
  Value copy_of_constant(const Rewriter& outer, Value v);
  const Graph* inlined(const Equation& e, ValueList& operands) const;
  void copy(const Graph& from, const Equation& e, ValueList operands, std::vector<Graph> subgraphs, bool pure,
            Map& map);
  std::optional<Value> rewrite(const PendingEquation& pending);

  static constexpr int kMaxDepth = 16;
  RewriterOptions options_;
  Graph out_;
  EquationTable known_;
  FlatTable<Value> literals_;
  std::unordered_multimap<const void*, Value> constants_;
  Location location_;
  int depth_ = 0;
  size_t rewrites_ = 0, merges_ = 0;
  bool reached_bound_ = false;
};

}  // namespace calque::transform
