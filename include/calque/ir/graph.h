#pragma once
// A graph is a function: typed inputs, equations in an order in which definitions precede uses, and outputs. Values
// are in SSA form. Sub-graphs of equations are closed: values of the enclosing graph enter as operands.
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iosfwd>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "calque/ir/any_array.h"
#include "calque/ir/attribute.h"
#include "calque/ir/errors.h"
#include "calque/ir/location.h"
#include "calque/ir/primitive.h"
#include "calque/ir/stable_pool.h"

namespace calque {

/// A handle to a value of one graph: an input, the result of an equation, a literal or a constant. The graph knows its
/// type. Ids are dense, and copies of a graph keep them.
class Value {
 public:
  constexpr Value() = default;
  constexpr explicit Value(uint32_t id) : id_(id) {}
  /// Its number in the graph.
  constexpr uint32_t id() const { return id_; }
  /// False for a default-constructed Value.
  constexpr bool valid() const { return id_ != UINT32_MAX; }
  friend constexpr auto operator<=>(const Value&, const Value&) = default;

 private:
  uint32_t id_ = UINT32_MAX;
};

/// Prints the id, `%7`. (The text form renumbers values in order.)
std::ostream& operator<<(std::ostream& out, Value value);

/// Operands or results; up to four are stored inline.
using ValueList = detail::InlineVector<Value, 4>;

/// How a value is defined.
enum class ValueKind : uint8_t { input, result, literal, constant };

/// The bits of one element of any dtype (little-endian in `bytes`, the rest zero).
struct Literal {
  alignas(16) unsigned char bytes[16] = {};
  /// The literal of an element.
  template <Elem T>
  static Literal of(T value) {
    Literal l;
    std::memcpy(l.bytes, &value, sizeof(T));
    return l;
  }
  /// The element, which must have been stored as T.
  template <Elem T>
  T as() const {
    T value;
    std::memcpy(static_cast<void*>(&value), bytes, sizeof(T));
    return value;
  }
  friend bool operator==(const Literal& a, const Literal& b) { return std::memcmp(a.bytes, b.bytes, 16) == 0; }
};
/// `value` converted to `dtype`: rounded once, saturated from float to integer.
Literal make_literal(DType dtype, double value);
Literal make_literal(DType dtype, int64_t value);

namespace detail {
struct GraphAccess;
}

/// The sub-graphs of an equation, which copies of it share until one of them is edited. Once a reference for editing
/// was handed out, it may be used at any time: copies are then deep.
class SharedSubgraphs {
 public:
  SharedSubgraphs() = default;
  explicit SharedSubgraphs(std::vector<Graph> subgraphs);
  SharedSubgraphs(const SharedSubgraphs& other);
  SharedSubgraphs(SharedSubgraphs&&) noexcept = default;
  SharedSubgraphs& operator=(const SharedSubgraphs& other);
  SharedSubgraphs& operator=(SharedSubgraphs&&) noexcept = default;
  ~SharedSubgraphs() = default;

  /// The sub-graphs, to be read. Valid until they are edited.
  const std::vector<Graph>& read() const { return graphs_ ? *graphs_ : none(); }
  /// For an edit that ends before the equation is copied.
  std::vector<Graph>& edit();
  /// For edits at any time.
  std::vector<Graph>& expose() {
    is_exposed_ = true;
    return edit();
  }

 private:
  static const std::vector<Graph>& none();

  std::shared_ptr<std::vector<Graph>> graphs_;  // null: none
  bool is_exposed_ = false;
};

/// One operation of a graph: results = primitive[attributes](operands), possibly with sub-graphs.
class Equation {
 public:
  /// The primitive's name.
  const std::string& primitive() const { return primitive_->name; }
  /// The primitive's descriptor.
  const Primitive& definition() const { return *primitive_; }
  /// The primitive's id, for `switch`.
  PrimitiveId id() const { return primitive_->id; }
  /// What the equation reads, in the order of the primitive.
  const ValueList& operands() const { return operands_; }
  /// The values that it defines.
  const ValueList& results() const { return results_; }
  /// Operand i, which must exist.
  Value operand(size_t i) const { return operands_[i]; }
  /// Result i, which must exist.
  Value result(size_t i = 0) const { return results_[i]; }
  /// The parameters of the primitive.
  const Attributes& attributes() const { return attributes_; }
  /// The bodies of loops, branches and called functions, in the order of the primitive.
  const std::vector<Graph>& subgraphs() const { return subgraphs_.read(); }
  /// Editable sub-graphs. Their signatures must keep matching the operands and results, which `verify` checks.
  std::vector<Graph>& subgraphs() { return subgraphs_.expose(); }
  /// The line of the user's program that recorded the equation.
  const Location& location() const { return location_; }

 private:
  friend class Graph;
  friend struct detail::GraphAccess;
  const Primitive* primitive_ = nullptr;
  ValueList operands_;
  ValueList results_;
  Attributes attributes_;
  SharedSubgraphs subgraphs_;
  Location location_;
  uint32_t previous_ = UINT32_MAX, next_ = UINT32_MAX, index_ = 0;
  uint64_t order_ = 0;  // increases along the list; not dense
  bool erased_ = false;
};

/// A computation, as recorded from a lambda. A value type: editing a copy does not change the original
/// (constant arrays, and sub-graphs until they are edited, are shared).
class Graph {
 public:
  template <bool Const>
  class EquationIterator;
  template <bool Const>
  class EquationRange;

  Graph();
  ~Graph();
  Graph(const Graph&);
  Graph(Graph&&) noexcept;
  Graph& operator=(const Graph&);
  Graph& operator=(Graph&&) noexcept;

  /// The function's name, used in messages and kernel names; not part of equality and hash.
  const std::string& name() const { return name_; }
  /// Changes the function's name.
  void set_name(std::string name) { name_ = std::move(name); }

  // ---- reading
  /// The parameters of the function.
  const std::vector<Value>& inputs() const { return inputs_; }
  /// The results of the function.
  const std::vector<Value>& outputs() const { return outputs_; }
  /// The equations in order. Inserting or erasing equations does not invalidate iterators.
  EquationRange<false> equations();
  EquationRange<true> equations() const;
  /// Number of equations, without those in sub-graphs.
  size_t num_equations() const { return live_; }
  /// One past the largest value id: the size of a table indexed by Value::id().
  size_t num_values() const { return values_.size(); }

  /// Element type and shape of a value of this graph.
  const Type& type(Value v) const { return info(v).type; }
  /// The element type of a value of this graph.
  DType dtype(Value v) const { return info(v).type.dtype; }
  /// The extents of a value of this graph.
  const Shape& shape(Value v) const { return info(v).type.shape; }
  /// How a value of this graph is defined.
  ValueKind kind(Value v) const { return info(v).kind; }
  /// True for a literal.
  bool is_literal(Value v) const { return info(v).kind == ValueKind::literal; }
  /// The element of a literal: a literal of any shape is a splat.
  const Literal& literal(Value v) const { return literals_[info(v).index]; }
  /// The array of a constant.
  const AnyArray& constant(Value v) const { return constants_[info(v).index]; }
  /// The equation that defines a result; null for other kinds of values.
  const Equation* definition(Value v) const;
  Equation* definition(Value v);
  /// The position of an input among the inputs.
  size_t input_index(Value v) const { return info(v).index; }
  /// The types of the inputs, in order.
  std::vector<Type> input_types() const;
  /// The types of the outputs, in order.
  std::vector<Type> output_types() const;

  /// The graph as a function of its inputs, in order; arguments that are trees are flattened. Of data it is compiled
  /// and gives a std::vector<AnyArray> (`jit(graph)` keeps the compiled code for further calls); with a Tracer among
  /// the arguments it becomes part of the running trace and gives a std::vector<AnyTracer>. Throws ShapeError when the
  /// number or the shapes of the leaves differ from those of the inputs, DTypeError when their element types do.
  template <class... A>
  auto operator()(const A&... arguments) const;

  // ---- building
  /// Appends an input.
  Value add_input(Type type);
  /// Adds a literal of the given type whose elements all equal `element`.
  Value add_literal(const Literal& element, Type type);
  /// Adds a constant.
  Value add_constant(AnyArray array);
  /// Appends an equation and infers its result types. Throws the typing rule's error with `location` appended.
  Equation& append(const Primitive& primitive, ValueList operands, Attributes attributes = {},
                   std::vector<Graph> subgraphs = {}, Location location = {});
  /// Appends a copy of an equation of `from` (this or another graph) with other operands of the same types. Result
  /// types are copied, not inferred. Passes use it for equations that they do not change.
  Equation& append_copy(const Graph& from, const Equation& e, ValueList operands);
  /// As above, also with other sub-graphs of the same signatures.
  Equation& append_copy(const Graph& from, const Equation& e, ValueList operands, std::vector<Graph> subgraphs);
  /// Adds a copy of a literal or constant of `from`. Throws CompileError for other kinds.
  Value add_copy(const Graph& from, Value v);
  /// Replaces the outputs.
  void set_outputs(std::vector<Value> outputs) { outputs_ = std::move(outputs); }

  // ---- editing
  /// Inserts an equation of the named primitive before `e`, with the location of `e`, and returns its first result.
  /// Throws CompileError for an unknown primitive, the typing rule's error for operands that do not fit, and
  /// CompileError for an operand that is not of this graph or is not defined before the insertion point. A Value is a
  /// number: a value of another graph is detected by these checks only.
  Value insert_before(const Equation& e, std::string_view primitive, std::vector<Value> operands,
                      Attributes attributes = {}, std::vector<Graph> subgraphs = {}, Loc loc = Loc::current());
  /// Inserts after `e`; as insert_before otherwise.
  Value insert_after(const Equation& e, std::string_view primitive, std::vector<Value> operands,
                     Attributes attributes = {}, std::vector<Graph> subgraphs = {}, Loc loc = Loc::current());
  /// Replaces every use of `from`, outputs included, by `to`. Throws CompileError when their types differ or `to` is
  /// not defined before each use.
  void replace_all_uses(Value from, Value to, Loc loc = Loc::current());
  /// Removes an equation. Throws CompileError when one of its results is used.
  void erase(const Equation& e, Loc loc = Loc::current());

  /// Checks every rule of the IR: definition before use, inferred types, arities, sub-graph signatures, attributes.
  /// Throws CompileError that names the equation, the rule and, if given, `pass`.
  void verify(std::string_view pass = {}) const;
  /// Prints a table with one equation per line: results, types, primitive, operands, attributes, location.
  void print_tabular(std::ostream& out) const;
  /// Prints the graph in Graphviz's DOT format.
  void to_dot(std::ostream& out) const;

  /// Equality up to the numbering of values: the same equations in the same order, attributes, literals (by bits),
  /// constants (by type and contents), inputs and outputs. Names and locations are ignored.
  friend bool operator==(const Graph& a, const Graph& b);
  /// Prints the text form, see `print`.
  friend std::ostream& operator<<(std::ostream& out, const Graph& graph);

 private:
  friend struct detail::GraphAccess;
  struct ValueInfo {
    Type type;
    ValueKind kind = ValueKind::input;
    uint32_t index = 0;  // of the input, equation, literal or constant
  };
  const ValueInfo& info(Value v) const { return values_[v.id()]; }
  Equation& make(const Primitive& primitive, ValueList operands, Attributes attributes, std::vector<Graph> subgraphs,
                 Location location);
  Equation& add(const Primitive& primitive, ValueList operands, Attributes attributes, std::vector<Graph> subgraphs,
                Location location, const Type* const* results, size_t num_results);
  Value insert(const Equation& e, uint32_t before, std::string_view operation, std::string_view primitive,
               std::vector<Value> operands, Attributes attributes, std::vector<Graph> subgraphs,
               const Location& location);
  void link(Equation& e, uint32_t before);
  const Equation& check_owned(const Equation& e, std::string_view operation, const Location& location) const;
  void check_live(Value v, const std::string& what, const Location& location) const;
  bool defined_before(Value v, uint64_t order) const;
  void swap(Graph& other) noexcept;

  std::string name_;
  std::vector<ValueInfo> values_;
  std::vector<Value> inputs_, outputs_;
  std::vector<Literal> literals_;
  std::vector<AnyArray> constants_;
  detail::StablePool<Equation> pool_;
  uint32_t first_ = UINT32_MAX, last_ = UINT32_MAX;
  size_t live_ = 0;
};

/// A forward iterator over the equations of a graph.
template <bool Const>
class Graph::EquationIterator {
  using Pool = std::conditional_t<Const, const detail::StablePool<Equation>, detail::StablePool<Equation>>;

 public:
  using value_type = Equation;
  using difference_type = std::ptrdiff_t;
  using reference = std::conditional_t<Const, const Equation&, Equation&>;
  using iterator_category = std::forward_iterator_tag;
  EquationIterator() = default;
  EquationIterator(Pool* pool, uint32_t at) : pool_(pool), at_(at) {}
  /// The equation.
  reference operator*() const { return (*pool_)[at_]; }
  /// A pointer to the equation.
  auto* operator->() const { return &(*pool_)[at_]; }
  /// Goes on to the next equation that was not erased.
  EquationIterator& operator++() {
    // An equation erased by the loop body keeps its link to the successor.
    do at_ = (*pool_)[at_].next_;
    while (at_ != UINT32_MAX && (*pool_)[at_].erased_);
    return *this;
  }
  EquationIterator operator++(int) {
    EquationIterator copy = *this;
    ++*this;
    return copy;
  }
  friend bool operator==(const EquationIterator& a, const EquationIterator& b) { return a.at_ == b.at_; }

 private:
  Pool* pool_ = nullptr;
  uint32_t at_ = UINT32_MAX;
};

/// The equations of a graph in order. Indexing takes linear time.
template <bool Const>
class Graph::EquationRange {
  using G = std::conditional_t<Const, const Graph, Graph>;
  using Ref = std::conditional_t<Const, const Equation&, Equation&>;

 public:
  explicit EquationRange(G& g) : g_(&g) {}
  EquationIterator<Const> begin() const { return {&g_->pool_, g_->first_}; }
  EquationIterator<Const> end() const { return {&g_->pool_, UINT32_MAX}; }
  /// Number of equations.
  size_t size() const { return g_->live_; }
  /// True without equations.
  bool empty() const { return g_->live_ == 0; }
  /// The first equation; there must be one.
  Ref front() const { return *begin(); }
  /// The last equation; there must be one.
  Ref back() const { return g_->pool_[g_->last_]; }
  /// Equation i, which must exist. Takes time proportional to i.
  Ref operator[](size_t i) const {
    auto it = begin();
    while (i-- > 0) ++it;
    return *it;
  }

 private:
  G* g_;
};
inline Graph::EquationRange<false> Graph::equations() { return EquationRange<false>(*this); }
inline Graph::EquationRange<true> Graph::equations() const { return EquationRange<true>(*this); }

/// The text form (docs/graph_text.md): a version header, the function with its inputs, one equation per line with typed
/// attributes and trailing `loc("file":line:col)`, sub-graphs indented inside braces, round-trip floats, and constants
/// as named sections at the end. `parse(print(g)) == g`.
std::string print(const Graph& graph);
/// Parses the text form. Throws ParseError with line, column and what was expected there.
Graph parse(std::string_view text);

/// The graph with its equations in canonical order: effects in recorded order, then depth first from the outputs,
/// operands left to right. Dead equations are dropped and values renumbered, in sub-graphs as well.
Graph canonicalize(const Graph& graph);
/// Reorders the equations of a graph and its sub-graphs canonically and drops dead ones, in place: much faster than
/// `canonicalize`, but values keep their ids.
void order_canonically(Graph& graph);

/// A 128-bit hash of a canonical graph; names and locations are not hashed.
struct GraphHash {
  uint64_t low = 0, high = 0;
  friend auto operator<=>(const GraphHash&, const GraphHash&) = default;
};
/// The hash of the graph in canonical order. Constants up to 64 bytes are hashed by contents, larger ones by type only
/// (they are parameters of compiled code).
GraphHash canonical_hash(const Graph& graph);

}  // namespace calque
