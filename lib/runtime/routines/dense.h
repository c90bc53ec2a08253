#pragma once
// Dense linear algebra on one thread, compiled from Eigen's templates once for each level of instruction sets. The
// namespaces of the levels and of Eigen within them are distinct, so that the linker cannot give code of one level to
// another, or to a user's program.
#include <cstdint>

namespace calque::runtime {

/// Row-major matrices; strides are elements from row to row.
template <class T>
struct DenseRoutines {
  /// Replaces the lower triangle of a by its Cholesky factor. False if a is not positive definite.
  bool (*cholesky)(T* a, int64_t n, int64_t stride);
  /// Replaces b by the solution x of op(a) x = b, where a is n x n, b is n x columns, and op transposes if `transpose`.
  /// Only the triangle `lower` or upper is read, without its diagonal if `unit_diagonal`.
  void (*solve)(const T* a, int64_t n, int64_t stride, T* b, int64_t columns, int64_t b_stride, bool lower,
                bool transpose, bool unit_diagonal);
  /// Replaces b, rows x n, by the solution x of x lᵀ = b, where l is lower triangular, n x n.
  void (*solve_right)(const T* l, int64_t n, int64_t stride, T* b, int64_t rows, int64_t b_stride);
  /// c -= a bᵀ, where c is rows x columns, a is rows x k and b is columns x k. If `triangle`, rows == columns, a == b,
  /// and only the lower triangle of c is written.
  void (*subtract_product)(T* c, int64_t c_stride, const T* a, int64_t a_stride, const T* b, int64_t b_stride,
                           int64_t rows, int64_t columns, int64_t k, bool triangle);
  /// c -= a b, where c is rows x columns, a is rows x k and b is k x columns.
  void (*subtract_plain_product)(T* c, int64_t c_stride, const T* a, int64_t a_stride, const T* b, int64_t b_stride,
                                 int64_t rows, int64_t columns, int64_t k);

  // Of column-major matrices; strides are elements from column to column.

  /// Replaces p, rows x columns, by its packed factors with partial pivoting. Step k exchanges row k with row
  /// pivots[k]; there are min(rows, columns) steps.
  void (*lu_panel)(T* p, int64_t rows, int64_t columns, int64_t stride, int32_t* pivots);
  /// The same of a complex panel: of each column the real parts, then the imaginary ones, without gaps. The pivot is
  /// the first of the greatest |re| + |im|.
  void (*complex_lu_panel)(T* p, int64_t rows, int64_t columns, int32_t* pivots);
  /// Replaces p, rows x columns and not wider than high, by r and, in v, of the same shape and dense, the vectors of
  /// the reflections whose product is I - v t vᵀ; t is upper triangular, columns x columns.
  void (*qr_panel)(T* p, int64_t rows, int64_t columns, int64_t stride, T* v, T* t);
  /// c = (I - v t vᵀ) c, or (I - v tᵀ vᵀ) c if `transpose`, where v is rows x k and c is rows x columns. `space` has
  /// room for 2 k columns elements.
  void (*reflect)(const T* v, const T* t, int64_t rows, int64_t k, T* c, int64_t columns, int64_t stride,
                  bool transpose, T* space);

  /// The transpose, columns x rows, of a row-major matrix.
  void (*transpose)(const T* from, int64_t rows, int64_t columns, int64_t from_stride, T* to, int64_t to_stride);
};

/// Those for the processor on which programs run (CALQUE_CPU included).
template <class T>
const DenseRoutines<T>& dense_routines();
template <>
const DenseRoutines<float>& dense_routines<float>();
template <>
const DenseRoutines<double>& dense_routines<double>();

}  // namespace calque::runtime
