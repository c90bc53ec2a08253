#pragma once
// The family of linear algebra.
#include "primitives/linalg/batched_cholesky.h"
#include "primitives/linalg/cholesky.h"
#include "primitives/linalg/determinant.h"
#include "primitives/linalg/eig.h"
#include "primitives/linalg/eigh.h"
#include "primitives/linalg/lu.h"
#include "primitives/linalg/lu_solve.h"
#include "primitives/linalg/pinv.h"
#include "primitives/linalg/qr.h"
#include "primitives/linalg/svd.h"
#include "primitives/linalg/triangular_solve.h"

namespace calque::primitives {

using LinalgList =
    TypeList<Cholesky, TriangularSolve, Lu, LuSolve, Det, SlogDet, Qr, BatchedCholesky, Eigh, Svd, Pinv, Eig>;

}  // namespace calque::primitives
