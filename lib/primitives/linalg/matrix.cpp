#include "primitives/linalg/matrix.h"

#include <numeric>

#include <fmt/format.h>

#include "primitives/list.h"

namespace calque::primitives {

std::vector<int64_t> batch_of(const Shape& shape) { return {shape.begin(), shape.end() - 2}; }

int64_t num_matrices(const Shape& shape) { return Shape(batch_of(shape)).num_elements(); }

void check_square(const Typing& t, size_t i) {
  const Type& a = t.operand(i);
  t.accept(i, kMatrix);
  if (a.shape.rank() < 2) t.shape_error(fmt::format("expects matrices [..., n, n], got {}", to_string(a)));
  if (num_rows(a.shape) != num_columns(a.shape)) {
    t.shape_error(fmt::format("expects square matrices, got {}", to_string(a)));
  }
}

namespace {

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

}  // namespace calque::primitives
