#pragma once
// What the functions of linear algebra share: the dtypes of matrices, and systems of equations by NumPy's rules for
// shapes.
#include "frontend/ops/common.h"

namespace calque::detail::ops::linalg {

/// The dtype in which matrices of a promoted dtype are computed. Throws DTypeError for 16-bit floats.
DType matrix_dtype(DType promoted, const Type& got, const Site& s);
/// Throws ShapeError for what are no matrices [..., m, n], or no square ones.
void check_matrix(const Type& a, const Site& s);
void check_square(const Type& a, const Site& s);
/// The operand as matrices of `matrix_dtype`.
Handle matrices_of(const Operand& a, const Site& s);
Handle square_matrices_of(const Operand& a, const Site& s);

Handle conjugated(Handle x, const Site& s);
Handle transposed(Handle a, const Site& s);
Handle adjoint(Handle a, const Site& s);
Handle product(Handle a, Handle b, const Site& s);
Handle add(Handle a, Handle b, const Site& s);
Handle scaled(Handle a, double factor, const Site& s);
/// (a + adjoint(a)) / 2, as a sum of halves, since a sum may overflow.
Handle hermitian(Handle a, const Site& s);
/// The identity of these dimensions' last two.
Handle identity(const Type& type, const Site& s);
/// All results of a primitive.
template <class P>
std::vector<Handle> emit_all(const Site& s, std::initializer_list<Handle> operands, Attributes attributes = {}) {
  std::vector<Handle> results;
  detail::emit(prim::get<P>(), operands, std::move(attributes), {}, s.at, results);
  return results;
}

/// Matrices [..., m, n] and right-hand sides [..., m, k] of one dtype and of equal batch dimensions. One matrix with a
/// batch of sides is one system with all their columns.
struct System {
  Handle a, b;
  bool is_vector = false;  ///< b was one: k is 1
  Shape folded{};          ///< the batch dimensions and k of b, if they are columns

  /// x [..., n, k] in the form of b.
  Handle result(Handle x, const Site& s) const;
};

/// Throws ShapeError when the numbers of rows differ or the batch dimensions do not broadcast.
System system_of(const Operand& a, const Operand& b, const Site& s, bool is_square = true);

/// The x with a x = b for square matrices a, by factors that are constants of derivatives: those see the system alone.
Handle solve_system(Handle a, Handle b, const Site& s);
/// The inverse of square matrices.
Handle inverse(Handle a, const Site& s);
/// The singular values [..., min(m, n)] of matrices, descending.
Handle singular_values(Handle a, const Site& s);
Handle triangular_solve(Handle a, Handle b, bool lower, bool transpose, bool unit_diagonal, const Site& s);

}  // namespace calque::detail::ops::linalg
