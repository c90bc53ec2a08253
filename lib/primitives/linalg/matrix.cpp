#include "primitives/linalg/matrix.h"

#include <algorithm>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include "primitives/list.h"

namespace calque::primitives {

std::vector<int64_t> batch_of(const Shape& shape) { return {shape.begin(), shape.end() - 2}; }

int64_t num_matrices(const Shape& shape) { return Shape(batch_of(shape)).num_elements(); }

void check_matrices(const Typing& t, size_t i) {
  const Type& a = t.operand(i);
  t.accept(i, kMatrix);
  if (a.shape.rank() < 2) t.shape_error(fmt::format("expects matrices [..., m, n], got {}", to_string(a)));
}

void check_square(const Typing& t, size_t i) {
  const Type& a = t.operand(i);
  t.accept(i, kMatrix);
  if (a.shape.rank() < 2) t.shape_error(fmt::format("expects matrices [..., n, n], got {}", to_string(a)));
  if (num_rows(a.shape) != num_columns(a.shape)) {
    t.shape_error(fmt::format("expects square matrices, got {}", to_string(a)));
  }
}

void check_sides(const Typing& t, const Type& a, const Type& b) {
  if (b.shape.rank() < 2) t.shape_error(fmt::format("expects right-hand sides [..., n, k], got {}", to_string(b)));
  if (batch_of(a.shape) != batch_of(b.shape)) {
    t.shape_error(fmt::format("batch dimensions differ, got {} and {}", to_string(a), to_string(b)));
  }
  if (num_rows(a.shape) != num_rows(b.shape)) {
    t.shape_error(fmt::format("matrices and right-hand sides differ in their number of rows, got {} and {}",
                              to_string(a), to_string(b)));
  }
}

namespace {

/// The attributes by which windows are whole rows of matrices, at positions [..., n, 1] along the dimension before the
/// last.
struct RowWindows {
  std::vector<int64_t> batch, row, last;
  Value positions;

  RowWindows(const Writer& w, Value perm) {
    const Shape shape = w.shape(perm);
    const int64_t rank = shape.rank();
    for (int64_t d = 0; d + 1 < rank; ++d) batch.push_back(d);
    row = {rank - 1};
    last = {rank};
    positions = w.reshape(perm, shape.with_inserted(shape.size(), 1));
  }
};

/// Row and column of each element.
std::pair<Value, Value> positions(const Writer& w, const Shape& shape) {
  const int64_t rank = shape.rank();
  return {w.iota(DType::i64, shape, rank - 2), w.iota(DType::i64, shape, rank - 1)};
}

}  // namespace

Value triangle_of(const Writer& w, Value matrices, Triangle triangle) {
  const Type type = w.type(matrices);
  auto [row, column] = positions(w, type.shape);
  if (!triangle.lower) std::swap(row, column);
  const Value inside = w.emit(triangle.diagonal ? id_of<Ge> : id_of<Gt>, {row, column});
  return w.select(inside, matrices, w.zeros(type));
}

Value unit_lower_of(const Writer& w, Value matrices) {
  const Type type = w.type(matrices);
  const Value below = triangle_of(w, matrices, {.lower = true, .diagonal = false});
  return w.select(on_diagonal(w, type.shape), w.splat(1, type), below);
}

Value hermitian_of(const Writer& w, Value matrices) {
  const Type type = w.type(matrices);
  const Value below = triangle_of(w, matrices, {.lower = true, .diagonal = false});
  Value on = matrices;
  if (is_complex(type.dtype)) {
    const Term real_part = real({&w, matrices});
    on = complex(real_part, constant(real_part, 0)).value;
  }
  const Value diagonal = w.select(on_diagonal(w, type.shape), on, w.zeros(type));
  return w.add(w.add(below, conjugated(w, transposed(w, below))), diagonal);
}

Value on_diagonal(const Writer& w, const Shape& shape) {
  const auto [row, column] = positions(w, shape);
  return w.emit(id_of<Eq>, {row, column});
}

Value transposed(const Writer& w, Value matrices) {
  std::vector<int64_t> perm(w.shape(matrices).size());
  std::iota(perm.begin(), perm.end(), int64_t{0});
  std::swap(perm[perm.size() - 2], perm[perm.size() - 1]);
  return w.transpose(matrices, std::move(perm));
}

Value conjugated(const Writer& w, Value x) { return is_complex(w.dtype(x)) ? w.emit(id_of<Conj>, {x}) : x; }

Value product_of(const Writer& w, Value a, Value b) {
  std::vector<int64_t> batch(w.shape(a).size() - 2);
  std::iota(batch.begin(), batch.end(), int64_t{0});
  const auto row = static_cast<int64_t>(batch.size()), column = row + 1;
  return w.emit(id_of<DotGeneral>, {a, b},
                {{"lhs_batch", batch},
                 {"lhs_contract", std::vector{column}},
                 {"rhs_batch", batch},
                 {"rhs_contract", std::vector{row}}});
}

Value diagonal_of(const Writer& w, Value matrices) {
  const auto rank = w.shape(matrices).rank();
  return w.emit(id_of<Diagonal>, {matrices},
                {{"axis1", int64_t{rank - 2}}, {"axis2", int64_t{rank - 1}}, {"offset", int64_t{0}}});
}

Value rows_of(const Writer& w, Value matrices, int64_t count) {
  const Shape& shape = w.shape(matrices);
  return count == num_rows(shape) ? matrices : w.slice(matrices, shape.size() - 2, 0, count);
}

Value columns_of(const Writer& w, Value matrices, int64_t count) {
  const Shape& shape = w.shape(matrices);
  return count == num_columns(shape) ? matrices : w.slice(matrices, shape.size() - 1, 0, count);
}

Value with_identity(const Writer& w, Value matrices, int64_t rows, int64_t columns) {
  const Type type = w.type(matrices);
  const int64_t rank = type.shape.rank(), more_rows = rows - num_rows(type.shape),
                more_columns = columns - num_columns(type.shape);
  const auto zeros = [&](size_t axis, int64_t extent, const Shape& of) {
    return w.zeros({type.dtype, of.with(axis, extent)});
  };
  Value out = matrices;
  const auto row_axis = static_cast<size_t>(rank - 2), column_axis = static_cast<size_t>(rank - 1);
  if (more_rows > 0) out = w.concatenate({out, zeros(row_axis, more_rows, w.shape(out))}, rank - 2);
  if (more_columns > 0) out = w.concatenate({out, zeros(column_axis, more_columns, w.shape(out))}, rank - 1);
  if (out == matrices) return out;
  const Type all = w.type(out);
  const Value first =
      w.splat(static_cast<double>(std::min(num_rows(type.shape), num_columns(type.shape))), {DType::i64, all.shape});
  const Value added = w.emit(id_of<Ge>, {w.iota(DType::i64, all.shape, rank - 2), first});
  const Value one = w.emit(id_of<And>, {added, on_diagonal(w, all.shape)});
  return w.select(one, w.splat(1, all), out);
}

Value rows_in_order(const Writer& w, Value matrices, Value perm) {
  if (w.shape(matrices).num_elements() == 0) return matrices;
  const RowWindows windows(w, perm);
  std::vector<int64_t> sizes(w.shape(matrices).size(), 1);
  sizes.back() = num_columns(w.shape(matrices));
  return w.emit(id_of<Gather>, {matrices, windows.positions},
                {{"collapsed_slice_dims", windows.row},
                 {"indices_batching_dims", windows.batch},
                 {"mode", std::string("clip")},
                 {"offset_dims", windows.last},
                 {"operand_batching_dims", windows.batch},
                 {"slice_sizes", std::move(sizes)},
                 {"start_index_map", windows.row}});
}

Value rows_back(const Writer& w, Value matrices, Value perm) {
  if (w.shape(matrices).num_elements() == 0) return matrices;
  const RowWindows windows(w, perm);
  return w.emit(id_of<Scatter>, {w.zeros(w.type(matrices)), windows.positions, matrices},
                {{"indices_batching_dims", windows.batch},
                 {"inserted_window_dims", windows.row},
                 {"operand_batching_dims", windows.batch},
                 {"scatter_dims_to_operand_dims", windows.row},
                 {"update_window_dims", windows.last}});
}

Value with_examples_as_columns(const Batching& b, size_t i, const std::function<Value(Value)>& f) {
  const Writer& w = b.writer;
  // [examples, ..., n, k] -> [..., n, examples, k] -> [..., n, examples * k].
  const Shape& shape = b.operand_type(i).shape;
  const size_t last = shape.size() - 1;
  const Value moved = w.move_axis(b.operands[i], 0, last);
  const Shape apart = w.shape(moved);
  const Value x = f(w.reshape(moved, shape.with(last, b.size * shape[last])));
  return w.move_axis(w.reshape(x, apart), last, 0);
}

}  // namespace calque::primitives
