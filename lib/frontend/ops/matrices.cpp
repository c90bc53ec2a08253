// Triangles, and matrices made of vectors and of other matrices. What is not in a triangle or on a diagonal is selected
// away and not multiplied by 0: infinities and NaN there have no influence.
#include <algorithm>

#include "frontend/ops/common.h"

namespace calque::detail::ops {
namespace {

/// The dtype that holds row + column of every element.
DType index_dtype(int64_t rows, int64_t columns) { return rows > INT32_MAX - columns ? DType::i64 : DType::i32; }

/// Compares the column of each element with row + k: whether P(row + k, column) holds.
template <class P>
Handle beside_diagonal(int64_t rows, int64_t columns, int64_t k, const Site& s) {
  const Shape shape{rows, columns};
  const DType d = index_dtype(rows, columns);
  // A diagonal outside the matrix is outside wherever it is: clamping avoids overflow.
  const auto offset = static_cast<double>(std::clamp(k, -rows, columns));
  const Handle row = emit<prim::Add>(s, {counted(d, shape, 0, s), splat(offset, {d, shape}, s)});
  return emit<P>(s, {row, counted(d, shape, 1, s)});
}

template <class P>
Handle triangle(const Operand& x, int64_t k, const Site& s) {
  const Handle v = value(x, s);
  const Type t = type(v);
  const size_t rank = t.shape.size();
  if (rank < 2) s.shape_error("needs matrices [..., m, n], got " + to_string(t));
  const Handle kept = beside_diagonal<P>(t.shape[rank - 2], t.shape[rank - 1], k, s);
  return select(broadcast(kept, t.shape, s), v, splat(0, t, s), s);
}

Handle padded(Handle x, const Ints& low, const Ints& high, const Site& s) {
  const bool nothing = std::ranges::count(low, 0) + std::ranges::count(high, 0) == std::ssize(low) + std::ssize(high);
  if (nothing) return x;
  return emit<prim::Pad>(s, {x, splat(0, {dtype(x), {}}, s)},
                         {{"high", high}, {"interior", Ints(low.size(), 0)}, {"low", low}});
}

/// A vector, of which the name says what it is.
Handle vector(Handle x, std::string_view name, const Site& s) {
  const Type t = type(x);
  if (t.shape.rank() != 1) s.shape_error("needs a vector as " + std::string(name) + ", got " + to_string(t));
  return x;
}

/// The Toeplitz matrix of vectors of one dtype.
Handle toeplitz_of(Handle column, Handle row, const Site& s) {
  const int64_t m = shape(column)[0], n = shape(row)[0];
  const Shape result{m, n};
  if (m == 0 || n == 0) return splat(0, {dtype(column), result}, s);
  // Element (i, j) is number i - j + n - 1 of the diagonals, from the upper right corner to the lower left one.
  const Handle above = emit<prim::Reverse>(s, {slice_axis(row, 0, 1, n, 1, s)}, {{"axes", Ints{0}}});
  const Handle parts[] = {above, column};
  const DType d = index_dtype(m, n);
  const Handle difference = emit<prim::Sub>(s, {counted(d, result, 0, s), counted(d, result, 1, s)});
  const Handle index = emit<prim::Add>(s, {difference, splat(static_cast<double>(n - 1), {d, result}, s)});
  return take(concatenated(parts, 0, s), index, 0, mode::clip, s.at);
}

}  // namespace

Handle diag(const Operand& x, int64_t k, Location at) {
  const Site s{"diag", at};
  const Handle v = value(x, s);
  const Type t = type(v);
  if (t.shape.rank() == 2) return diagonal(v, k, 0, 1, s);
  if (t.shape.rank() != 1) s.shape_error("needs a vector or a matrix, got " + to_string(t));
  int64_t n = 0, total = 0;
  if (k == INT64_MIN || __builtin_add_overflow(t.shape[0], std::abs(k), &n) || __builtin_mul_overflow(n, n, &total)) {
    s.shape_error("the result is too large for offset " + std::to_string(k));
  }
  const Shape result{n, n};
  // Element i is in row i of an upper diagonal, in column i of a lower one.
  const Handle repeated = broadcast_in(padded(v, {0}, {std::abs(k)}, s), result, {k < 0 ? 1 : 0}, s);
  return select(beside_diagonal<prim::Eq>(n, n, k, s), repeated, splat(0, {t.dtype, result}, s), s);
}

Handle tril(const Operand& x, int64_t k, Location at) { return triangle<prim::Ge>(x, k, {"tril", at}); }
Handle triu(const Operand& x, int64_t k, Location at) { return triangle<prim::Le>(x, k, {"triu", at}); }

Handle vander(const Operand& x, std::optional<int64_t> columns, bool increasing, Location at) {
  const Site s{"vander", at};
  const DType result = sum_result(operand_dtype(x, s)), d = wide(result);
  const Handle v = vector(value(x, d, s), "x", s);
  const int64_t m = shape(v)[0], n = columns.value_or(m);
  if (n < 0) s.shape_error("the number of columns must not be negative, got " + std::to_string(n));
  int64_t total = 0;
  if (__builtin_mul_overflow(m, n, &total)) s.shape_error("the result is too large");
  if (n == 0) return splat(0, {result, Shape{m, 0}}, s);
  // The columns x^0 to x^(w - 1) times x^w are the next w: products alone, so that derivatives at 0 are exact. Columns
  // that are not wanted are not computed: they might be infinite.
  Handle powers = splat(1, {d, Shape{m, 1}}, s), next = reshape(v, Shape{m, 1}, s);
  for (int64_t w = 1; w < n;) {
    const int64_t more = std::min(w, n - w);
    const Handle factor = broadcast(next, Shape{m, more}, s);
    const Handle parts[] = {powers, emit<prim::Mul>(s, {slice_axis(powers, 1, 0, more, 1, s), factor})};
    powers = concatenated(parts, 1, s);
    w += more;
    if (w < n) next = emit<prim::Mul>(s, {next, next});
  }
  if (!increasing) powers = emit<prim::Reverse>(s, {powers}, {{"axes", Ints{1}}});
  return convert(powers, result, s);
}

Handle toeplitz(const Operand& column, Location at) {
  const Site s{"toeplitz", at};
  const Handle c = vector(value(column, s), "the first column", s);
  return toeplitz_of(c, is_complex(dtype(c)) ? emit<prim::Conj>(s, {c}) : c, s);
}

Handle toeplitz(const Operand& column, const Operand& row, Location at) {
  const Site s{"toeplitz", at};
  const DType d = promoted_dtype(column, row, s);
  const Handle c = vector(value(column, d, s), "the first column", s);
  return toeplitz_of(c, vector(value(row, d, s), "the first row", s), s);
}

Handle block_diag(std::span<const Operand> xs, Location at) {
  const Site s{"block_diag", at};
  std::vector<Handle> blocks = promoted(xs, s);
  int64_t columns = 0;
  for (Handle& x : blocks) {
    const Type t = type(x);
    const int rank = t.shape.rank();
    if (rank > 2) s.shape_error("needs scalars, vectors and matrices, got " + to_string(t));
    if (rank < 2) x = reshape(x, Shape{1, rank == 0 ? 1 : t.shape[0]}, s);
    if (__builtin_add_overflow(columns, shape(x)[1], &columns)) s.shape_error("the result is too large");
  }
  int64_t before = 0;
  for (Handle& x : blocks) {
    const int64_t own = shape(x)[1];
    x = padded(x, {0, before}, {0, columns - before - own}, s);
    before += own;
  }
  return concatenated(blocks, 0, s);
}

}  // namespace calque::detail::ops
