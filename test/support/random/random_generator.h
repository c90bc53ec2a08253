#pragma once
// The generator behind random_graph: it builds one graph (nested generators build sub-graphs) from a pool of values
// from which operands are drawn.
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "primitives/core/typing.h"
#include "primitives/list.h"
#include "support/random/random_graph.h"

namespace calque::test {

class Generator {
 public:
  Generator(Rng& rng, const RandomGraphOptions& options, int depth) : rng_(rng), options_(options), depth_(depth) {}

  /// A whole graph with random inputs and outputs.
  Graph top();
  /// A closed graph with that signature and about `size` equations.
  Graph closed(const std::vector<Type>& inputs, const std::vector<Type>& outputs, int size);

 private:
  using List = std::vector<int64_t>;

  // ---- random_graph.cpp: values and the choice of the next operation
  void step();
  DType dtype();
  bool enabled(std::string_view primitive) const;
  Type type();
  Shape shape(int max_rank, int64_t max_elements);
  Value emit(const Primitive& primitive, ValueList operands, Attributes attributes = {},
             std::vector<Graph> subgraphs = {});
  template <class P>
  Value emit(ValueList operands, Attributes attributes = {}, std::vector<Graph> subgraphs = {}) {
    return emit(primitives::get<P>(), std::move(operands), std::move(attributes), std::move(subgraphs));
  }
  /// A value of the pool whose dtype is in the set and whose rank is at least `min_rank`.
  std::optional<Value> draw(primitives::DTypeSet set, int min_rank = 0);
  Value any();
  /// A value of exactly this type: from the pool, a literal, a constant, or made from another value.
  Value like(const Type& type);
  Value literal(const Type& type);
  std::optional<Value> derive(const Type& type);
  bool convertible(DType from, DType to) const;
  /// Whether the options allow an operation that is discontinuous (reassociated) on floats.
  bool jumps(DType d) const { return options_.discontinuous || !is_inexact(d); }
  bool may_reassociate(DType d) const { return options_.reassociated || !is_inexact(d); }
  bool fits(const List& dims) const;
  void set_outputs();

  // ---- random_elementwise.cpp
  void elementwise();
  void convert();
  void select();

  // ---- random_structural.cpp
  void view();
  void broadcast(Value x);
  void reshape(Value x);
  void slice(Value x);
  void diagonal(Value x);
  void pad(Value x);
  void concatenate(Value x);
  void iota();
  void reduction();
  void cumulative();
  void arg_extremum();
  void dot_general();
  List subset(size_t n, int percent);
  List factors(int64_t n);

  // ---- random_indexing.cpp
  void indexing();
  void dynamic_slice();
  void dynamic_update_slice();
  void gather();
  void scatter();
  Value indices(const List& batch, const List& extents);

  // ---- random_control.cpp
  void control();
  std::vector<Value> some_values(size_t min, size_t max);
  std::vector<Type> types_of(const std::vector<Value>& values) const;
  std::vector<Type> result_types(const std::vector<Type>& from);
  Graph child(const std::vector<Type>& inputs, const std::vector<Type>& outputs);
  void branches();
  void counted_while();
  void lanes_while();
  void scan();
  void call();
  void debug_print();

  Rng& rng_;
  const RandomGraphOptions& options_;
  int depth_;
  Graph graph_;
  std::vector<Value> pool_;
};

}  // namespace calque::test
