#pragma once
// The expansions of the primitives of linear algebra: straight-line operations on the elements of small matrices, and
// of any matrices what other primitives express.
#include "primitives/linalg/triangular_solve.h"
#include "transform/linalg/small_matrices.h"

namespace calque::transform {

/// Cholesky factors: the sums of the textbook in the order of the columns; multiplies by the reciprocal of its pivot.
Value small_cholesky(const Writer& w, Value a, Known& known);
/// Triangular solves by substitution, with divisions.
Value small_triangular_solve(const Writer& w, Value a, Value b, const primitives::TriangularForm& form, Known& known);
/// Factors with partial pivoting, by selects. Multiplies by the reciprocal of the pivot.
primitives::LuFactors small_lu(const Writer& w, Value a, Known& known);
struct QrFactors {
  Value q, r;
};
/// Reflections, each column scaled by a power of two where its squares leave the range of the type.
QrFactors small_qr(const Writer& w, Value a, Known& known);

/// The rows of b in the order of the factors, or back in theirs if `back`.
Value reordered(const Writer& w, Value b, Value perm, bool back, Known& known);

/// The products of the pivots' signs or magnitudes, from factors.
struct Determinant {
  Value sign, log;
};
Value determinant_of(const Writer& w, const primitives::LuFactors& factors, Known& known);
Determinant sign_and_log_of(const Writer& w, const primitives::LuFactors& factors, Known& known);

}  // namespace calque::transform
