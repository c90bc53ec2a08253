#include "transform/linalg/small_matrices.h"

#include "primitives/linalg/matrix.h"
#include "primitives/list.h"

namespace calque::transform {

using namespace primitives;
using Ints = std::vector<int64_t>;

Shape with_dims(const Shape& batch, int64_t rows, int64_t columns) {
  Ints dims(batch.begin(), batch.end());
  dims.push_back(rows);
  dims.push_back(columns);
  return Shape(dims);
}

bool by_elements(const Writer& w, Value sides, const Known& known) {
  constexpr int64_t kMostMultiplications = 600;
  const Shape& shape = w.shape(sides);
  const int64_t n = num_rows(shape);
  return n * n * num_columns(shape) <= kMostMultiplications && !known.rows.contains(sides.id());
}

Elements::Elements(const Writer& w, Value matrices, Known& known)
    : w_(w), known_(known), matrices_(matrices), shape_(w.shape(matrices)) {
  if (const auto found = known.rows.find(matrices.id()); found != known.rows.end()) rows_ = &found->second;
}

Shape Elements::batch() const { return Shape(batch_of(shape_)); }

Term Elements::at(int64_t i, int64_t j) const {
  constexpr int kDeepest = 8;
  return {&w_, element(matrices_, i, j, kDeepest)};
}

Term Elements::row(int64_t i) const {
  if (rows_) return {&w_, (*rows_)[static_cast<size_t>(i)]};
  return {&w_, w_.reshape(slice(matrices_, i, 0, num_columns(shape_)), shape_.without(shape_.size() - 2))};
}

TermMatrix Elements::all() const {
  TermMatrix out(num_rows(shape_), num_columns(shape_));
  for (int64_t i = 0; i < out.rows(); ++i)
    for (int64_t j = 0; j < out.columns(); ++j) out(i, j) = at(i, j);
  return out;
}

Value Elements::slice(Value matrices, int64_t i, int64_t j, int64_t columns) const {
  const Shape shape = w_.shape(matrices);
  const size_t rank = shape.size();
  Ints start(rank, 0), limit(shape.begin(), shape.end()), stride(rank, 1);
  start[rank - 2] = i;
  limit[rank - 2] = i + 1;
  start[rank - 1] = j;
  limit[rank - 1] = j + columns;
  return w_.emit(id_of<Slice>, {matrices},
                 {{"limit", std::move(limit)}, {"start", std::move(start)}, {"stride", std::move(stride)}});
}

Value Elements::element(Value of, int64_t i, int64_t j, int depth) const {
  const Graph& g = w_.graph();
  const Shape shape = g.shape(of);
  if (g.is_literal(of)) return w_.graph().add_literal(g.literal(of), {g.dtype(of), batch()});
  const auto known = known_.elements.try_emplace(of.id(), num_rows(shape), num_columns(shape)).first;
  if (const Value v = known->second(i, j); v.valid()) return v;
  Value out;
  if (const Equation* e = g.definition(of); e != nullptr && depth > 0) out = computed(*e, i, j, depth - 1);
  if (!out.valid()) out = w_.reshape(slice(of, i, j, 1), Shape(batch_of(shape)));
  known_.elements.at(of.id())(i, j) = out;
  return out;
}

Value Elements::computed(const Equation& e, int64_t i, int64_t j, int depth) const {
  const Shape shape = w_.shape(e.result());
  const int64_t rank = shape.rank();
  switch (e.id()) {
    case id_of<Add>:
    case id_of<Sub>:
    case id_of<Mul>:
    case id_of<Neg>:
    case id_of<Convert>:
    case id_of<Eq>:
    case id_of<Ne>:
    case id_of<Lt>:
    case id_of<Le>:
    case id_of<Gt>:
    case id_of<Ge>:
    case id_of<And>:
    case id_of<Or>:
    case id_of<Not>:
    case id_of<Select>: {
      const PrimitiveId id = e.id();
      const Attributes attributes = e.attributes();
      const ValueList all = e.operands();
      ValueList operands;
      for (const Value v : all) operands.push_back(element(v, i, j, depth));
      return w_.emit(id, std::move(operands), attributes);
    }
    case id_of<Iota>: {
      const int64_t axis = e.attributes().integer("axis");
      const DType dtype = w_.dtype(e.result());
      if (axis < rank - 2) return w_.iota(dtype, batch(), axis);
      return w_.splat(static_cast<double>(axis == rank - 2 ? i : j), {dtype, batch()});
    }
    case id_of<Transpose>: {
      const Ints perm = e.attributes().ints("perm");
      for (int64_t d = 0; d < rank - 2; ++d)
        if (perm[static_cast<size_t>(d)] != d) return {};
      return perm.back() == rank - 1 ? element(e.operand(0), i, j, depth) : element(e.operand(0), j, i, depth);
    }
    case id_of<Broadcast>:
      return broadcast(e, i, j, depth);
    default:
      return {};
  }
}

Value Elements::broadcast(const Equation& e, int64_t i, int64_t j, int depth) const {
  const Value from = e.operand(0);
  Ints axes = e.attributes().ints("axes");
  const Shape of = w_.shape(from), shape = w_.shape(e.result());
  const int64_t rank = shape.rank();
  // Of matrices the last two dimensions, if both are; else those of the operand that become rows or columns.
  Value out = from;
  if (of.rank() >= 2 && axes.back() == rank - 1 && axes[axes.size() - 2] == rank - 2 &&
      num_rows(of) == num_rows(shape) && num_columns(of) == num_columns(shape)) {
    axes.resize(axes.size() - 2);
    if (axes.empty() && depth > 0) {
      const Elements inner(w_, from, known_);
      out = inner.element(from, i, j, depth);
    } else {
      out = w_.reshape(slice(from, i, j, 1), Shape(batch_of(of)));
    }
  } else {
    for (size_t d = axes.size(); d-- > 0;) {
      if (axes[d] < rank - 2) continue;
      const Shape now = w_.shape(out);
      const int64_t at = now[d] == 1 ? 0 : axes[d] == rank - 2 ? i : j;
      out = w_.reshape(w_.slice(out, d, at, at + 1), now.without(d));
      axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(d));
    }
  }
  return w_.broadcast(out, batch(), std::move(axes));
}

Value assemble(const Writer& w, const TermMatrix& elements, const Shape& batch, Known& known) {
  const int64_t axis = batch.rank() + 1;
  ValueList rows;
  Grid<Value> values(elements.rows(), elements.columns());
  for (int64_t i = 0; i < elements.rows(); ++i) {
    ValueList row;
    for (int64_t j = 0; j < elements.columns(); ++j) {
      values(i, j) = elements(i, j).value;
      row.push_back(w.reshape(values(i, j), with_dims(batch, 1, 1)));
    }
    rows.push_back(w.concatenate(std::move(row), axis));
  }
  const Value whole = w.concatenate(std::move(rows), axis - 1);
  known.elements.insert_or_assign(whole.id(), std::move(values));
  return whole;
}

Value assemble_rows(const Writer& w, const std::vector<Term>& rows, Known& known) {
  ValueList parts;
  std::vector<Value> values;
  int64_t axis = 0;
  for (const Term& row : rows) {
    values.push_back(row.value);
    const Shape shape = w.shape(row.value);
    axis = shape.rank() - 1;
    parts.push_back(w.reshape(row.value, shape.with_inserted(static_cast<size_t>(axis), 1)));
  }
  const Value whole = w.concatenate(std::move(parts), axis);
  known.rows.insert_or_assign(whole.id(), std::move(values));
  return whole;
}

}  // namespace calque::transform
