#pragma once
// The family of linear algebra.
#include "primitives/linalg/cholesky.h"
#include "primitives/linalg/triangular_solve.h"

namespace calque::primitives {

using LinalgList = TypeList<Cholesky, TriangularSolve>;

}  // namespace calque::primitives
