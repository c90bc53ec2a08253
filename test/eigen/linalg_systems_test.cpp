// linalg::lu, lu_factor, lu_solve and lstsq of Eigen matrices of tracers: the types of what they give, and what it
// satisfies.
#include "eigen/numbers.h"
#include "eigen/traced_matrices.h"

namespace calque::test {
namespace {

namespace la = linalg;
using Eigen::Dynamic;
using Any = TMatrix<Dynamic>;

template <class T, class U>
constexpr bool same = std::same_as<std::remove_cvref_t<T>, U>;

/// Checks that f of a matrix of tracers is the matrix itself.
template <class M, class F>
void expect_same(const F& f, const Eigen::MatrixXd& m) {
  expect_close(result_of([&](TD x) { return TD(Any(f(M(x)))); }, any_of(m)), any_of(m));
}

TEST(EigenSystems, LuPermutesAndMultiplies) {
  const auto fixed = [](const TMatrix<3, 4>& m) {
    const auto [p, l, u] = la::lu(m);
    static_assert(same<decltype(p), TMatrix<3>> && same<decltype(l), TMatrix<3>> && same<decltype(u), TMatrix<3, 4>>);
    return (p * l * u).eval();
  };
  Eigen::MatrixXd m = sample(3, 4);
  m(0, 0) = 0;
  expect_same<TMatrix<3, 4>>(fixed, m);
  const auto any = [](const Any& a) {
    const auto [p, l, u] = la::lu(a);
    return (p * l * u).eval();
  };
  expect_same<Any>(any, sample(5, 3));
}

TEST(EigenSystems, LuSolveTakesWhatLuFactorGives) {
  const auto f = [](const TMatrix<3>& m) {
    const auto [packed, perm] = la::lu_factor(m);
    static_assert(same<decltype(packed), TMatrix<3>> && same<decltype(perm), Vector<int32_t, 3>>);
    const TMatrix<3> twice = la::lu_solve(packed, perm, m * 2.0);
    return (m * twice * 0.5 + m * (la::lu_solve(packed, Tracer<int32_t>(perm), m) - TMatrix<3>::Identity())).eval();
  };
  Eigen::MatrixXd m = sample(3, 3);
  m.row(0).swap(m.row(2));
  expect_same<TMatrix<3>>(f, m);
}

TEST(EigenSystems, LstsqHasTheSizesOfTheSolution) {
  const Eigen::MatrixXd a = sample(5, 3), b = sample(5, 2);
  const Eigen::MatrixXd x = numbers::least_squares(a, b);
  const Eigen::MatrixXd residuals = (b - numbers::product(a, x)).colwise().squaredNorm();
  const auto f = [&](TD t) {
    const TMatrix<5, 3> m(t);
    const auto [y, squares, rank, values] = la::lstsq(m, Eigen::Matrix<double, 5, 2>(b));
    static_assert(same<decltype(y), TMatrix<3, 2>> && same<decltype(squares), TVector<2>>);
    static_assert(same<decltype(rank), Tracer<int32_t>> && same<decltype(values), TVector<3>>);
    const auto [z, one, rank_of_one, values_of_one] = la::lstsq(m, Eigen::Matrix<double, 5, 1>(b.col(0)));
    static_assert(same<decltype(z), TVector<3>> && same<decltype(one), TMatrix<1>>);
    const auto [w, two, rank_of_two, values_of_two] = la::lstsq(m, TD(TMatrix<5, 2>(b.cast<TD>())));
    static_assert(same<decltype(w), TD>);
    TMatrix<4, 6> all;
    all << y, z, z, TMatrix<3, 2>(w), squares.transpose(), one, one, TVector<2>(two).transpose();
    return TD(all);
  };
  Eigen::MatrixXd want(4, 6);
  want << x, x.col(0), x.col(0), x, residuals, residuals.col(0), residuals.col(0), residuals;
  expect_close(result_of(f, any_of(a)), any_of(want));
}

}  // namespace
}  // namespace calque::test
