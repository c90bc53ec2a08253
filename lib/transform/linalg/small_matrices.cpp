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

Elements::Elements(const Writer& w, Value matrices, const Known& known)
    : w_(w), matrices_(matrices), shape_(w.shape(matrices)) {
  if (const auto found = known.elements.find(matrices.id()); found != known.elements.end()) elements_ = &found->second;
  if (const auto found = known.rows.find(matrices.id()); found != known.rows.end()) rows_ = &found->second;
}

Shape Elements::batch() const { return Shape(batch_of(shape_)); }

Term Elements::at(int64_t i, int64_t j) const {
  if (elements_) return {&w_, (*elements_)(i, j)};
  return {&w_, w_.reshape(slice(i, j, 1), batch())};
}

Term Elements::row(int64_t i) const {
  if (rows_) return {&w_, (*rows_)[static_cast<size_t>(i)]};
  return {&w_, w_.reshape(slice(i, 0, num_columns(shape_)), shape_.without(shape_.size() - 2))};
}

TermMatrix Elements::all() const {
  TermMatrix out(num_rows(shape_), num_columns(shape_));
  for (int64_t i = 0; i < out.rows(); ++i)
    for (int64_t j = 0; j < out.columns(); ++j) out(i, j) = at(i, j);
  return out;
}

Value Elements::slice(int64_t i, int64_t j, int64_t columns) const {
  const size_t rank = shape_.size();
  Ints start(rank, 0), limit(shape_.begin(), shape_.end()), stride(rank, 1);
  start[rank - 2] = i;
  limit[rank - 2] = i + 1;
  start[rank - 1] = j;
  limit[rank - 1] = j + columns;
  return w_.emit(id_of<Slice>, {matrices_},
                 {{"limit", std::move(limit)}, {"start", std::move(start)}, {"stride", std::move(stride)}});
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
