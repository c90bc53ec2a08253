#pragma once
// What the ir layer's own algorithms (and the verifier's tests) may touch of a graph's insides. Passes use the public
// interface.
#include "calque/ir/graph.h"

namespace calque::detail {

struct GraphAccess {
  static const Type& value_type(const Graph& g, size_t id) { return g.values_[id].type; }
  static bool erased(const Equation& e) { return e.erased_; }
  /// Position of the equation in its graph's storage: dense, fixed, in order of creation.
  static uint32_t index(const Equation& e) { return e.index_; }
  static size_t num_stored(const Graph& g) { return g.pool_.size(); }
  static const Equation& stored(const Graph& g, size_t index) { return g.pool_[index]; }
  /// For an input, result, literal or constant, its position in the graph's table of those.
  static uint32_t table_index(const Graph& g, Value v) { return g.info(v).index; }
  /// Makes the equations' order the given one; those that it leaves out, and nothing in it needs, are erased.
  static void reorder(Graph& g, std::span<const uint32_t> order);

  // ---- what rearrange.cpp does, and tests, which break a graph
  static Type& mutable_type(Graph& g, Value v) { return g.values_[v.id()].type; }
  static ValueKind& mutable_kind(Graph& g, Value v) { return g.values_[v.id()].kind; }
  static uint32_t& mutable_table_index(Graph& g, Value v) { return g.values_[v.id()].index; }
  static ValueList& mutable_operands(Equation& e) { return e.operands_; }
  static ValueList& mutable_results(Equation& e) { return e.results_; }
  static Attributes& mutable_attributes(Equation& e) { return e.attributes_; }
  static std::vector<Graph>& mutable_subgraphs(Equation& e) { return e.subgraphs_; }
  static std::vector<Value>& mutable_inputs(Graph& g) { return g.inputs_; }
  static Literal& mutable_literal(Graph& g, Value v) { return g.literals_[g.info(v).index]; }
};

}  // namespace calque::detail
