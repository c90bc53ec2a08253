#pragma once
// A graph is a function: typed inputs, equations in an order that defines before it uses, outputs. Values are SSA.
// Sub-graphs of equations are closed: what they take from around them comes through the equation's operands.
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iosfwd>
#include <iterator>
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

/// A value of one graph: an input, the result of an equation, a literal or a constant. A name, not data;
/// ask the graph for its type. Ids are dense, and copies of a graph keep them.
class Value {
 public:
  constexpr Value() = default;
  constexpr explicit Value(uint32_t id) : id_(id) {}
  constexpr uint32_t id() const { return id_; }
  constexpr bool valid() const { return id_ != UINT32_MAX; }
  friend constexpr auto operator<=>(const Value&, const Value&) = default;

 private:
  uint32_t id_ = UINT32_MAX;
};

/// `%7`, by its id. (The text form numbers values anew, in order.)
std::ostream& operator<<(std::ostream& out, Value value);

using ValueList = detail::InlineVector<Value, 4>;

enum class ValueKind : uint8_t { input, result, literal, constant };

/// One element of any dtype, by its bits (little-endian in `bytes`).
struct Literal {
  alignas(16) unsigned char bytes[16] = {};
  template <Elem T>
  static Literal of(T value) {
    Literal l;
    std::memcpy(l.bytes, &value, sizeof(T));
    return l;
  }
  template <Elem T>
  T as() const {
    T value;
    std::memcpy(static_cast<void*>(&value), bytes, sizeof(T));
    return value;
  }
  friend bool operator==(const Literal& a, const Literal& b) { return std::memcmp(a.bytes, b.bytes, 16) == 0; }
};
/// `value` converted to `dtype` (as C++ converts; saturating from float to integer).
Literal make_literal(DType dtype, double value);
Literal make_literal(DType dtype, int64_t value);

namespace detail {
struct GraphAccess;
}

/// One step: results = primitive[attributes](operands) with its sub-graphs.
class Equation {
 public:
  /// The primitive's name.
  const std::string& primitive() const { return primitive_->name; }
  const Primitive& definition() const { return *primitive_; }
  PrimitiveId id() const { return primitive_->id; }
  const ValueList& operands() const { return operands_; }
  const ValueList& results() const { return results_; }
  Value operand(size_t i) const { return operands_[i]; }
  Value result(size_t i = 0) const { return results_[i]; }
  const Attributes& attributes() const { return attributes_; }
  const std::vector<Graph>& subgraphs() const { return subgraphs_; }
  /// To edit them. Their signatures must stay those that the operands and results need, which `verify` checks.
  std::vector<Graph>& subgraphs() { return subgraphs_; }
  /// The line of the user's program that recorded it.
  const Location& location() const { return location_; }

 private:
  friend class Graph;
  friend struct detail::GraphAccess;
  const Primitive* primitive_ = nullptr;
  ValueList operands_;
  ValueList results_;
  Attributes attributes_;
  std::vector<Graph> subgraphs_;
  Location location_;
  uint32_t previous_ = UINT32_MAX, next_ = UINT32_MAX, index_ = 0;
  uint64_t place_ = 0;  // grows along the list
  bool erased_ = false;
};

/// The computation that a lambda recorded. A value type: copies are deep (constants are shared).
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

  /// The function's name, for messages and kernels; no part of its identity.
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  // ---- reading
  const std::vector<Value>& inputs() const { return inputs_; }
  const std::vector<Value>& outputs() const { return outputs_; }
  /// In order; inserting and erasing other equations does not disturb an iteration.
  EquationRange<false> equations();
  EquationRange<true> equations() const;
  size_t num_equations() const { return live_; }
  /// One past the largest value id: the size for tables indexed by Value::id().
  size_t num_values() const { return values_.size(); }

  const Type& type(Value v) const { return info(v).type; }
  DType dtype(Value v) const { return info(v).type.dtype; }
  const Shape& shape(Value v) const { return info(v).type.shape; }
  ValueKind kind(Value v) const { return info(v).kind; }
  bool is_literal(Value v) const { return info(v).kind == ValueKind::literal; }
  /// The element of a literal; a literal of any shape has all elements equal.
  const Literal& literal(Value v) const { return literals_[info(v).index]; }
  const AnyArray& constant(Value v) const { return constants_[info(v).index]; }
  /// The equation that defines a result; null for other kinds.
  const Equation* definition(Value v) const;
  Equation* definition(Value v);
  /// Position among the inputs, for an input.
  size_t input_index(Value v) const { return info(v).index; }
  std::vector<Type> input_types() const;
  std::vector<Type> output_types() const;

  // ---- building
  Value add_input(Type type);
  /// All elements equal to `element`.
  Value add_literal(const Literal& element, Type type);
  Value add_constant(AnyArray array);
  /// Appends an equation; infers and checks its result types. Throws the typing rule's error with `location` appended.
  Equation& append(const Primitive& primitive, ValueList operands, Attributes attributes = {},
                   std::vector<Graph> subgraphs = {}, Location location = {});
  /// Appends a copy of an equation of `from` (which may be another graph) on operands that have the types of its own:
  /// nothing is inferred again. What passes use for the equations that they leave alone.
  Equation& append_copy(const Graph& from, const Equation& e, ValueList operands);
  /// The same, with other sub-graphs of the same signatures.
  Equation& append_copy(const Graph& from, const Equation& e, ValueList operands, std::vector<Graph> subgraphs);
  /// A literal or constant of `from`, made a value of this graph too.
  Value add_copy(const Graph& from, Value v);
  void set_outputs(std::vector<Value> outputs) { outputs_ = std::move(outputs); }

  // ---- editing
  /// Inserts an equation of the named primitive before `e`, with its line, and returns its first result. Throws
  /// CompileError for an unknown primitive, the typing rule's error for operands that do not fit, and CompileError for
  /// an operand that is not of this graph or is not defined there yet. A Value is a number: one of another graph is
  /// found out by these rules alone.
  Value insert_before(const Equation& e, std::string_view primitive, std::vector<Value> operands,
                      Attributes attributes = {}, std::vector<Graph> subgraphs = {}, Loc loc = Loc::current());
  Value insert_after(const Equation& e, std::string_view primitive, std::vector<Value> operands,
                     Attributes attributes = {}, std::vector<Graph> subgraphs = {}, Loc loc = Loc::current());
  /// Every use of `from`, outputs included, becomes a use of `to`. Throws CompileError when their types differ, or when
  /// `to` is not defined before each of these uses.
  void replace_all_uses(Value from, Value to, Loc loc = Loc::current());
  /// Removes an equation. Throws CompileError when a result is still used.
  void erase(const Equation& e, Loc loc = Loc::current());

  /// Checks every rule of the IR (definition before use, types as the rules infer, arities, sub-graph signatures,
  /// attributes). Throws CompileError that names `pass` when given, the equation and the rule.
  void verify(std::string_view pass = {}) const;
  /// A table, one equation a line: results, primitive, operands, attributes, location.
  void print_tabular(std::ostream& out) const;
  /// Graphviz.
  void to_dot(std::ostream& out) const;

  /// Equal up to the numbering of values: same equations in the same order, attributes, literals (bits), constants
  /// (type and contents), inputs and outputs. Names and locations are no part of it.
  friend bool operator==(const Graph& a, const Graph& b);
  /// The text form, see `print`.
  friend std::ostream& operator<<(std::ostream& out, const Graph& graph);

 private:
  friend struct detail::GraphAccess;
  struct ValueInfo {
    Type type;
    ValueKind kind = ValueKind::input;
    uint32_t index = 0;  // input position, equation index, literal or constant index
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
  const Equation& own(const Equation& e, std::string_view operation, const Location& location) const;
  void check_live(Value v, const std::string& what, const Location& location) const;
  bool defined_before(Value v, uint64_t place) const;
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
  reference operator*() const { return (*pool_)[at_]; }
  auto* operator->() const { return &(*pool_)[at_]; }
  EquationIterator& operator++() {
    // An equation that the loop's body has erased still knows its successor.
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

/// The equations of a graph in order: iterable, sized, indexable (linear time when the graph was edited).
template <bool Const>
class Graph::EquationRange {
  using G = std::conditional_t<Const, const Graph, Graph>;
  using Ref = std::conditional_t<Const, const Equation&, Equation&>;

 public:
  explicit EquationRange(G& g) : g_(&g) {}
  EquationIterator<Const> begin() const { return {&g_->pool_, g_->first_}; }
  EquationIterator<Const> end() const { return {&g_->pool_, UINT32_MAX}; }
  size_t size() const { return g_->live_; }
  bool empty() const { return g_->live_ == 0; }
  Ref front() const { return *begin(); }
  Ref back() const { return g_->pool_[g_->last_]; }
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

/// The text form: a version header, the function with its inputs, one equation a line with typed attributes and
/// trailing `loc("file":line:col)`, sub-graphs indented inside braces, floats that round-trip, constants as named
/// sections at the end. `parse(print(g)) == g`.
std::string print(const Graph& graph);
/// The graph of a text. Throws ParseError with line and column, and what was expected there.
Graph parse(std::string_view text);

/// The same graph with equations in canonical order: effects in recorded order, then depth first from the outputs,
/// operands left to right; equations that nothing needs are gone; values renumbered. Sub-graphs likewise.
Graph canonicalize(const Graph& graph);
/// Puts the equations of a graph and its sub-graphs into canonical order and drops those that nothing needs, in place:
/// much faster than `canonicalize`, but values keep their numbers.
void order_canonically(Graph& graph);

/// 128 bits that identify a canonical graph up to names and locations.
struct GraphHash {
  uint64_t low = 0, high = 0;
  friend auto operator<=>(const GraphHash&, const GraphHash&) = default;
};
/// Constants up to 64 bytes enter by their contents, larger ones by type only (they are parameters of compiled code).
GraphHash canonical_hash(const Graph& graph);

}  // namespace calque
