#pragma once
// One walk over a graph that copies it, rewriting each equation as it comes. Operands are already rewritten when an
// equation is reached, and what a rule emits goes through the rules again, so one walk does nearly all there is to do.
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

/// What a walk does to the equations that it copies. Sub-graphs are walked too.
struct SweepOptions {
  /// `call` equations become their bodies.
  bool inline_calls = false;
  /// So do checkpoint, custom_jvp and custom_vjp, and stop_gradient goes: nothing will be differentiated any more.
  bool inline_rules = false;
  /// fold_constants.
  bool fold = false;
  /// Functions of lib/math fold too: generated code will compute them in these forms.
  std::optional<math::MathForms> forms = {};
  /// simplify_algebra.
  bool algebra = false;
  /// eliminate_common_subexpressions.
  bool merge = false;
};

/// A pure equation with one result that is about to be appended.
struct Draft {
  const Primitive& primitive;
  std::span<const Value> operands;  // of the graph being built
  const Attributes& attributes;
  const Type& type;  // of the result; outside the graph being built
};

class Sweep {
 public:
  explicit Sweep(const SweepOptions& options) : options_(options) {}

  Graph run(const Graph& from);
  /// How many equations rules have replaced, in sub-graphs too. Merging does not count.
  size_t rewrites() const { return rewrites_; }
  size_t merges() const { return merges_; }
  /// Whether rules emitted equations deeper than they may: another walk goes on from there.
  bool reached_bound() const { return reached_bound_; }

  // ---- for rules
  const SweepOptions& options() const { return options_; }
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
  const Graph* inlined(const Equation& e, ValueList& operands) const;
  void copy(const Graph& from, const Equation& e, ValueList operands, std::vector<Graph> subgraphs, bool pure,
            Map& map);
  std::optional<Value> rewrite(const Draft& draft);

  static constexpr int kMaxDepth = 16;
  SweepOptions options_;
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
