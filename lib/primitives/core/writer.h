#pragma once
// Utilities for transformation rules: Writer appends equations, and Term is an expression type in which derivatives of
// elementwise functions read like mathematics.
#include <cstdint>
#include <span>
#include <vector>

#include "calque/ir/graph.h"

namespace calque::primitives {

/// Appends equations to a graph, all with the same source location.
class Writer {
 public:
  Writer(Graph& graph, const Location& location) : graph_(&graph), location_(location) {}

  Graph& graph() const { return *graph_; }
  const Location& location() const { return location_; }
  const Type& type(Value v) const { return graph_->type(v); }
  DType dtype(Value v) const { return graph_->dtype(v); }
  const Shape& shape(Value v) const { return graph_->shape(v); }

  /// Appends an equation of the primitive with that id.
  Equation& append(PrimitiveId id, ValueList operands, Attributes attributes = {},
                   std::vector<Graph> subgraphs = {}) const;
  /// As above, for a primitive with one result.
  Value emit(PrimitiveId id, ValueList operands, Attributes attributes = {}) const;
  /// All elements equal to `value`.
  Value splat(double value, const Type& type) const;
  Value zeros(const Type& type) const { return splat(0, type); }

  // ---- common equations
  Value add(Value a, Value b) const;
  Value mul(Value a, Value b) const;
  Value neg(Value x) const;
  Value select(Value predicate, Value on_true, Value on_false) const;
  Value convert(Value x, DType dtype) const;
  Value reshape(Value x, const Shape& shape) const;
  Value transpose(Value x, std::vector<int64_t> perm) const;
  /// Operand dimension i becomes result dimension axes[i].
  Value broadcast(Value x, const Shape& shape, std::vector<int64_t> axes) const;
  Value reduce_sum(Value x, std::vector<int64_t> axes) const;
  /// Elements start, start + stride, ... below limit along one dimension.
  Value slice(Value x, size_t axis, int64_t start, int64_t limit, int64_t stride = 1) const;
  Value concatenate(ValueList operands, int64_t axis) const;
  Value iota(DType dtype, const Shape& shape, int64_t axis) const;
  /// Dimension `from` moves to position `to`, the others keep their order.
  Value move_axis(Value x, size_t from, size_t to) const;

  /// Appends the equations of a graph applied to these inputs. Returns its outputs.
  std::vector<Value> inline_graph(const Graph& body, std::span<const Value> inputs) const;

 private:
  Graph* graph_;
  Location location_;
};

/// A value in an expression.
struct Term {
  const Writer* writer;
  Value value;
};

/// A literal of the type of x.
Term constant(Term x, double number);

Term operator-(Term x);
Term operator+(Term x, Term y);
Term operator-(Term x, Term y);
Term operator*(Term x, Term y);
Term operator/(Term x, Term y);
Term operator+(Term x, double y);
Term operator-(Term x, double y);
Term operator+(double x, Term y);
Term operator-(double x, Term y);
Term operator*(double x, Term y);
Term operator/(double x, Term y);
Term operator/(Term x, double y);

Term operator==(Term x, Term y);
Term operator==(Term x, double y);
Term operator<(Term x, Term y);
Term operator>(Term x, Term y);
Term operator<=(Term x, Term y);
Term operator>=(Term x, Term y);
Term operator&(Term x, Term y);
Term operator|(Term x, Term y);
Term select(Term predicate, Term on_true, Term on_false);
/// x where the predicate holds, else zero.
Term where(Term predicate, Term x);
/// x, or one where x is zero.
Term nonzero(Term x);
/// The derivative of max(x, y) with respect to x: 1 where `greater`, 1/2 where `equal`, else 0. `greater` is x > y (x <
/// y for a minimum).
Term share(Term greater, Term equal, Term like);

Term abs(Term x);
Term sign(Term x);
Term trunc(Term x);
Term round(Term x);
Term copysign(Term x, Term y);
Term sqrt(Term x);
Term rsqrt(Term x);
Term pow(Term x, Term y);
/// x * y, and x where x is 0, whatever y is.
Term strong_mul(Term x, Term y);
Term exp(Term x);
Term log(Term x);
Term sin(Term x);
Term cos(Term x);
Term sinh(Term x);
Term cosh(Term x);
Term digamma(Term x);
Term trigamma(Term x);
Term zeta(Term s, Term q);
Term erfcx(Term x);
Term ndtr(Term x);
Term i0(Term x);
Term i0e(Term x);
Term i1(Term x);
Term i1e(Term x);
Term conj(Term x);
Term real(Term x);
Term imag(Term x);
/// re + im i.
Term complex(Term re, Term im);
/// x converted to `dtype`.
Term convert(Term x, DType dtype);
DType element_dtype(Term x);

}  // namespace calque::primitives
