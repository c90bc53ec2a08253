#pragma once
// Eigen's decompositions of matrices of tracers. Those of Eigen choose pivots and stop by comparing values, which
// tracers do not have. LLT, LDLT, PartialPivLU and HouseholderQR are given by the functions of linalg.h, so that
// `a.llt().solve(b)`, `a.inverse()` of any size and the classes themselves work. The others do not compile, and say
// what to use instead.
#include <utility>

#include "calque/detail/eigen_linalg.h"

namespace calque::detail {

template <class M>
concept OfTracers = EigenDense<M> && TracerLike<typename M::Scalar>;

template <class M>
inline constexpr bool owns_its_elements = std::is_base_of_v<Eigen::PlainObjectBase<M>, M>;

/// The self-adjoint matrix with this triangle of `a`, of which nothing else is read, as one tracer.
template <int Triangle, class M>
typename M::Scalar self_adjoint(const M& a, Loc at) {
  using S = typename M::Scalar;
  Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic> all(a.rows(), a.cols());
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    for (Eigen::Index j = 0; j < a.cols(); ++j) {
      const bool given = (Triangle & Eigen::Lower) != 0 ? i >= j : i <= j;
      // What is outside of a square matrix has no counterpart; the factorization refuses the shape.
      if (given || i >= a.cols() || j >= a.rows()) {
        all(i, j) = a(i, j);
      } else if constexpr (ComplexElem<elem_t<S>>) {
        all(i, j) = conj(a(j, i));
      } else {
        all(i, j) = a(j, i);
      }
    }
  }
  return elements_of(all, at);
}

/// b becomes the x with t x = b, or with x t = b on the right, where only the triangle `Mode` of t is read.
template <int Side, int Mode, class T, class B>
void solve_triangle(const T& t, B& b) {
  using S = typename T::Scalar;
  using All = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;
  constexpr bool lower = (Mode & Eigen::Lower) != 0, unit = (Mode & Eigen::UnitDiag) != 0;
  const Eigen::internal::evaluator<T> element(t);
  All triangle = All::Constant(t.rows(), t.cols(), S(0));
  for (Eigen::Index i = 0; i < t.rows(); ++i) {
    for (Eigen::Index j = 0; j < t.cols(); ++j) {
      if (i == j ? !unit : (i > j) == lower) triangle(i, j) = element.coeff(i, j);
    }
  }
  const auto solution = [&](const All& sides) {
    const linalg::TriangularOptions options{lower, Side == Eigen::OnTheRight, unit};
    return eigen_of<All>(linalg::triangular_solve(elements_of(triangle, {}), elements_of(sides, {}), options), {});
  };
  // Copied and not moved: evaluators of Eigen have the address of b's elements by now.
  const All x = Side == Eigen::OnTheRight ? solution(b.transpose()) : solution(b);
  if constexpr (Side == Eigen::OnTheRight) {
    b = x.transpose();
  } else {
    b = x;
  }
}

}  // namespace calque::detail

namespace Eigen {

/// The Cholesky factor of the self-adjoint matrix with the triangle `UpLo` of a: `cq::linalg::cholesky` and
/// `cho_solve`. `info()` is always Success: of a matrix that is not positive definite the factor is NaN.
template <class M, int UpLo>
  requires calque::detail::OfTracers<M>
class LLT<M, UpLo> {
  static_assert(calque::detail::owns_its_elements<M>,
                "calque: a decomposition of tracers does not replace its matrix: write Eigen::LLT of the matrix type "
                "itself, not of a Ref");

 public:
  using MatrixType = M;
  using Scalar = typename M::Scalar;
  using Traits = internal::LLT_Traits<M, UpLo>;

  LLT() = default;
  explicit LLT(Index size) : m_matrix(size, size) {}
  template <class E>
  explicit LLT(const EigenBase<E>& a) {
    compute(a);
  }
  template <class E>
  LLT& compute(const EigenBase<E>& a) {
    m_lower = calque::linalg::cholesky(calque::detail::self_adjoint<UpLo>(M(a.derived()), {}));
    m_matrix = calque::detail::eigen_of<M>(m_lower, {});
    if constexpr (UpLo == Upper) {
      m_matrix = M(m_matrix.transpose());
      if constexpr (calque::ComplexElem<calque::elem_t<Scalar>>) {
        m_matrix = M(m_matrix.unaryExpr([](const Scalar& x) { return conj(x); }));
      }
    }
    return *this;
  }

  template <class B>
  auto solve(const MatrixBase<B>& b) const {
    return calque::detail::solved(m_lower, b.derived(),
                                  [](const auto& l, const auto& y) { return calque::linalg::cho_solve(l, y); }, {});
  }
  template <class B>
  void solveInPlace(const MatrixBase<B>& b) const {
    const auto x = solve(b);
    b.const_cast_derived() = x;
  }
  typename Traits::MatrixL matrixL() const { return Traits::getL(m_matrix); }
  typename Traits::MatrixU matrixU() const { return Traits::getU(m_matrix); }
  const M& matrixLLT() const { return m_matrix; }
  M reconstructedMatrix() const { return matrixL() * matrixL().adjoint().toDenseMatrix(); }
  ComputationInfo info() const { return Success; }
  const LLT& adjoint() const { return *this; }
  Index rows() const { return m_matrix.rows(); }
  Index cols() const { return m_matrix.cols(); }

 private:
  Scalar m_lower;
  M m_matrix;
};

/// Solves with the self-adjoint matrix with the triangle `UpLo` of a, definite or not: `cq::linalg::solve`.
template <class M, int UpLo>
  requires calque::detail::OfTracers<M>
class LDLT<M, UpLo> {
  static_assert(calque::detail::owns_its_elements<M>,
                "calque: a decomposition of tracers does not replace its matrix: write Eigen::LDLT of the matrix type "
                "itself, not of a Ref");

 public:
  using MatrixType = M;
  using Scalar = typename M::Scalar;

  LDLT() = default;
  explicit LDLT(Index size) : m_rows(size) {}
  template <class E>
  explicit LDLT(const EigenBase<E>& a) {
    compute(a);
  }
  template <class E>
  LDLT& compute(const EigenBase<E>& a) {
    m_rows = a.rows();
    m_matrix = calque::detail::self_adjoint<UpLo>(M(a.derived()), {});
    return *this;
  }

  template <class B>
  auto solve(const MatrixBase<B>& b) const {
    return calque::detail::solved(m_matrix, b.derived(),
                                  [](const auto& a, const auto& y) { return calque::linalg::solve(a, y); }, {});
  }
  template <class B>
  void solveInPlace(const MatrixBase<B>& b) const {
    const auto x = solve(b);
    b.const_cast_derived() = x;
  }
  template <class S = Scalar>
  M matrixL() const {
    static_assert(sizeof(S) == 0, "calque: ldlt() of tracers solves, and has no factors: use cq::linalg::cholesky(a)");
  }
  template <class S = Scalar>
  M vectorD() const {
    static_assert(sizeof(S) == 0, "calque: ldlt() of tracers solves, and has no factors: use cq::linalg::cholesky(a)");
  }
  ComputationInfo info() const { return Success; }
  const LDLT& adjoint() const { return *this; }
  Index rows() const { return m_rows; }
  Index cols() const { return m_rows; }

 private:
  Scalar m_matrix;
  Index m_rows = 0;
};

/// `cq::linalg::solve`, `inv`, `det` and `lu_factor`. The inverse and the determinant of matrices of more than 4 rows
/// or dynamic size, `a.inverse()` and `a.determinant()`, are computed by this class.
template <class M>
  requires calque::detail::OfTracers<M>
class PartialPivLU<M> {
  static_assert(calque::detail::owns_its_elements<M>,
                "calque: a decomposition of tracers does not replace its matrix: write Eigen::PartialPivLU of the "
                "matrix type itself, not of a Ref");

 public:
  using MatrixType = M;
  using Scalar = typename M::Scalar;

  PartialPivLU() = default;
  explicit PartialPivLU(Index size) : m_rows(size) {}
  template <class E>
  explicit PartialPivLU(const EigenBase<E>& a) {
    compute(a);
  }
  template <class E>
  PartialPivLU& compute(const EigenBase<E>& a) {
    m_rows = a.rows();
    m_matrix = calque::detail::matrix_of(M(a.derived()), {});
    return *this;
  }

  template <class B>
  auto solve(const MatrixBase<B>& b) const {
    return calque::detail::solved(m_matrix, b.derived(),
                                  [](const auto& a, const auto& y) { return calque::linalg::solve(a, y); }, {});
  }
  M inverse() const { return calque::detail::eigen_of<M>(calque::linalg::inv(m_matrix), {}); }
  Scalar determinant() const { return calque::linalg::det(m_matrix); }
  M matrixLU() const { return calque::detail::eigen_of<M>(std::get<0>(calque::linalg::lu_factor(m_matrix)), {}); }
  template <class S = Scalar>
  M permutationP() const {
    static_assert(sizeof(S) == 0,
                  "calque: permutationP() of tracers would be values, which they do not have: use "
                  "auto [p, l, u] = cq::linalg::lu(a)");
  }
  Index rows() const { return m_rows; }
  Index cols() const { return m_rows; }

 private:
  Scalar m_matrix;
  Index m_rows = 0;
};

/// Least squares by QR. With fewer rows than columns the solution is Eigen's, which is 0 in the last
/// rows.
template <class M>
  requires calque::detail::OfTracers<M>
class HouseholderQR<M> {
  static_assert(calque::detail::owns_its_elements<M>,
                "calque: a decomposition of tracers does not replace its matrix: write Eigen::HouseholderQR of the "
                "matrix type itself, not of a Ref");

 public:
  using MatrixType = M;
  using Scalar = typename M::Scalar;

  HouseholderQR() = default;
  HouseholderQR(Index rows, Index columns) : m_matrix(rows, columns) {}
  template <class E>
  explicit HouseholderQR(const EigenBase<E>& a) {
    compute(a);
  }
  template <class E>
  HouseholderQR& compute(const EigenBase<E>& a) {
    m_matrix = M(a.derived());
    return *this;
  }

  template <class B>
  auto solve(const MatrixBase<B>& b) const {
    if constexpr (M::RowsAtCompileTime != Dynamic && M::ColsAtCompileTime != Dynamic &&
                  int{M::RowsAtCompileTime} >= int{M::ColsAtCompileTime}) {
      return least_squares(b.derived());
    } else {
      using X = std::remove_cvref_t<decltype(least_squares(b.derived()))>;
      const Index rows = m_matrix.rows(), columns = m_matrix.cols();
      if (rows >= columns) return least_squares(b.derived());
      X x = X::Constant(columns, b.cols(), typename X::Scalar(0));
      const Matrix<Scalar, Dynamic, Dynamic> first = m_matrix.leftCols(rows);
      const auto sides = calque::detail::matrix_of(b.derived(), {});
      using All = Matrix<typename X::Scalar, Dynamic, Dynamic>;
      x.topRows(rows) =
          calque::detail::eigen_of<All>(calque::linalg::solve(calque::detail::matrix_of(first, {}), sides), {});
      return x;
    }
  }
  template <class S = Scalar>
  M householderQ() const {
    static_assert(sizeof(S) == 0,
                  "calque: householderQr() of tracers solves, and has no factors: use auto [q, r] = cq::linalg::qr(a)");
  }
  template <class S = Scalar>
  M matrixQR() const {
    static_assert(sizeof(S) == 0,
                  "calque: householderQr() of tracers solves, and has no factors: use auto [q, r] = cq::linalg::qr(a)");
  }
  Index rows() const { return m_matrix.rows(); }
  Index cols() const { return m_matrix.cols(); }

 private:
  template <class B>
  auto least_squares(const B& b) const {
    return calque::detail::least_squares(m_matrix, b, {});
  }

  M m_matrix;
};

// The decompositions that find out ranks, eigenvalues or singular values.

template <class M>
  requires calque::detail::OfTracers<M>
class FullPivLU<M> {
  static_assert(sizeof(M) == 0,
                "calque: fullPivLu() branches on values, which tracers do not have: use cq::linalg::solve(a, b), "
                "cq::linalg::inv(a), cq::linalg::det(a) or cq::linalg::lu(a)");
};
template <class M>
  requires calque::detail::OfTracers<M>
class ColPivHouseholderQR<M> {
  static_assert(sizeof(M) == 0,
                "calque: colPivHouseholderQr() branches on values, which tracers do not have: use "
                "cq::linalg::lstsq(a, b) or cq::linalg::qr(a), which do not pivot");
};
template <class M>
  requires calque::detail::OfTracers<M>
class FullPivHouseholderQR<M> {
  static_assert(sizeof(M) == 0,
                "calque: fullPivHouseholderQr() branches on values, which tracers do not have: use "
                "cq::linalg::lstsq(a, b) or cq::linalg::qr(a), which do not pivot");
};
template <class M>
  requires calque::detail::OfTracers<M>
class CompleteOrthogonalDecomposition<M> {
  static_assert(sizeof(M) == 0,
                "calque: completeOrthogonalDecomposition() branches on values, which tracers do not have: use "
                "cq::linalg::lstsq(a, b) or cq::linalg::pinv(a)");
};
template <class M, int Preconditioner>
  requires calque::detail::OfTracers<M>
class JacobiSVD<M, Preconditioner> {
  static_assert(sizeof(M) == 0,
                "calque: jacobiSvd() branches on values, which tracers do not have: use auto [u, s, vh] = "
                "cq::linalg::svd(a), or cq::linalg::lstsq(a, b) for least squares");
};
template <class M>
  requires calque::detail::OfTracers<M>
class BDCSVD<M> {
  static_assert(sizeof(M) == 0,
                "calque: bdcSvd() branches on values, which tracers do not have: use auto [u, s, vh] = "
                "cq::linalg::svd(a), or cq::linalg::lstsq(a, b) for least squares");
};
template <class M>
  requires calque::detail::OfTracers<M>
class SelfAdjointEigenSolver<M> {
  static_assert(sizeof(M) == 0,
                "calque: SelfAdjointEigenSolver branches on values, which tracers do not have: use auto [w, v] = "
                "cq::linalg::eigh(a)");
};
template <class M>
  requires calque::detail::OfTracers<M>
class EigenSolver<M> {
  static_assert(sizeof(M) == 0,
                "calque: EigenSolver branches on values, which tracers do not have: use auto [w, v] = "
                "cq::linalg::eig(a)");
};

namespace internal {

// Eigen's loops over dynamic sizes skip right-hand sides that are 0. Those over fixed sizes up to 8 do not.
template <class T, class B, int Side, int Mode>
  requires calque::detail::OfTracers<B>
struct triangular_solver_selector<T, B, Side, Mode, NoUnrolling, 1> {
  static void run(const T& t, B& b) { calque::detail::solve_triangle<Side, Mode>(t, b); }
};
template <class T, class B, int Side, int Mode>
  requires calque::detail::OfTracers<B>
struct triangular_solver_selector<T, B, Side, Mode, NoUnrolling, Dynamic> {
  static void run(const T& t, B& b) { calque::detail::solve_triangle<Side, Mode>(t, b); }
};

}  // namespace internal
}  // namespace Eigen
