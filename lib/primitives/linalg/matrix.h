#pragma once
// What the primitives of linear algebra share. Matrices are the last two dimensions of an array, those before them are
// batch dimensions. The reference computes in a wider type and rounds once.
#include <complex>
#include <cstdint>
#include <functional>
#include <vector>

#include "primitives/core/rule.h"
#include "primitives/elementwise/numbers.h"

namespace calque::primitives {

/// The dtypes of matrices that are factored and solved.
inline constexpr DTypeSet kMatrix = set_of(DType::f32) | set_of(DType::f64) | kComplex;

/// The type in which the reference computes with matrices of T.
template <class T>
struct WideOf {
  using type = Wider<T>;
};
template <class R>
struct WideOf<std::complex<R>> {
  using type = std::complex<Wider<R>>;
};
template <class T>
using Wide = typename WideOf<T>::type;

template <class W>
inline constexpr bool is_wide_complex = false;
template <class R>
inline constexpr bool is_wide_complex<std::complex<R>> = true;

template <class W>
W conjugate(const W& x) {
  if constexpr (is_wide_complex<W>) {
    return std::conj(x);
  } else {
    return x;
  }
}
template <class W>
auto real_part(const W& x) {
  if constexpr (is_wide_complex<W>) {
    return x.real();
  } else {
    return x;
  }
}
/// |x|^2.
template <class W>
auto square_of(const W& x) {
  if constexpr (is_wide_complex<W>) {
    return x.real() * x.real() + x.imag() * x.imag();
  } else {
    return x * x;
  }
}

/// Number of rows of a matrix type.
inline int64_t num_rows(const Shape& shape) { return shape[shape.size() - 2]; }
inline int64_t num_columns(const Shape& shape) { return shape[shape.size() - 1]; }
/// The extents of the batch dimensions.
std::vector<int64_t> batch_of(const Shape& shape);
/// The number of matrices: the product of the batch dimensions.
int64_t num_matrices(const Shape& shape);

/// Checks that operand i is an array of matrices of a dtype in kMatrix.
void check_matrices(const Typing& t, size_t i);
/// The same, of square ones.
void check_square(const Typing& t, size_t i);
/// Checks that b has right-hand sides [..., n, k] for the square matrices a.
void check_sides(const Typing& t, const Type& a, const Type& b);

/// The part of a matrix on one side of its diagonal.
struct Triangle {
  bool lower = true;
  bool diagonal = true;  ///< whether it contains the diagonal
};
/// The triangle of each matrix, zeros elsewhere.
Value triangle_of(const Writer& w, Value matrices, Triangle triangle);
/// What is below the diagonal of each matrix, ones on the diagonal, zeros above it.
Value unit_lower_of(const Writer& w, Value matrices);
/// The Hermitian matrices with the lower triangles of these and the real parts of their diagonals.
Value hermitian_of(const Writer& w, Value matrices);
/// Bool, of that shape: true on the diagonals.
Value on_diagonal(const Writer& w, const Shape& shape);
/// The transpose of each matrix.
Value transposed(const Writer& w, Value matrices);
/// The complex conjugate; of real numbers the same value.
Value conjugated(const Writer& w, Value x);
/// The product of each pair of matrices; the batch dimensions are equal.
Value product_of(const Writer& w, Value a, Value b);
/// The elements [..., n] of the main diagonals of square matrices.
Value diagonal_of(const Writer& w, Value matrices);
/// The first `count` rows or columns of each matrix.
Value rows_of(const Writer& w, Value matrices, int64_t count);
Value columns_of(const Writer& w, Value matrices, int64_t count);
/// The matrices within matrices rows x columns: those rows and columns that are added are those of the identity.
Value with_identity(const Writer& w, Value matrices, int64_t rows, int64_t columns);
/// Row i of the result is row perm[i], for each matrix and each vector of row numbers (i32), which are in bounds.
Value rows_in_order(const Writer& w, Value matrices, Value perm);
/// The reverse: row perm[i] of the result is row i. The rows perm[i] are all rows.
Value rows_back(const Writer& w, Value matrices, Value perm);

/// Of an equation of which only operand i, right-hand sides [..., n, k], is batched: the result of `f` on
/// [..., n, examples * k], with the examples in front again. The matrices stay one per batch.
Value with_examples_as_columns(const Batching& b, size_t i, const std::function<Value(Value)>& f);

}  // namespace calque::primitives
