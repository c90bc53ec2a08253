#pragma once
// Access to the internals of a graph for the algorithms of the ir layer and the verifier's tests. Passes use the public
// interface.
#include "calque/ir/graph.h"

namespace calque::detail {

struct GraphAccess {
  static const Type& value_type(const Graph& g, size_t id) { return g.values_[id].type; }
  static bool erased(const Equation& e) { return e.erased_; }
  /// Index of the equation in its graph's pool: dense, fixed, in order of creation.
  static uint32_t index(const Equation& e) { return e.index_; }
  static size_t num_stored(const Graph& g) { return g.pool_.size(); }
  static const Equation& stored(const Graph& g, size_t index) { return g.pool_[index]; }
  /// Index of an input, result, literal or constant in the graph's table of its kind.
  static uint32_t table_index(const Graph& g, Value v) { return g.info(v).index; }
  /// Puts the equations into the given order and erases those that it omits, which must be unused.
  static void reorder(Graph& g, std::span<const uint32_t> order);

  // ---- for rearrange.cpp, and for tests that break a graph on purpose
  static Type& mutable_type(Graph& g, Value v) { return g.values_[v.id()].type; }
  static ValueKind& mutable_kind(Graph& g, Value v) { return g.values_[v.id()].kind; }
  static uint32_t& mutable_table_index(Graph& g, Value v) { return g.values_[v.id()].index; }
  static ValueList& mutable_operands(Equation& e) { return e.operands_; }
  static ValueList& mutable_results(Equation& e) { return e.results_; }
  static Attributes& mutable_attributes(Equation& e) { return e.attributes_; }
  static std::vector<Graph>& mutable_subgraphs(Equation& e) { return e.subgraphs_.edit(); }
  static std::vector<Value>& mutable_inputs(Graph& g) { return g.inputs_; }
  static Literal& mutable_literal(Graph& g, Value v) { return g.literals_[g.info(v).index]; }
};

}  // namespace calque::detail
