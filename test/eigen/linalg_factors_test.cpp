// linalg::qr of Eigen matrices of tracers: the types of the factors, and their products.
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

TEST(EigenFactors, QrHasTheSizesOfItsFactors) {
  const auto product = [](const auto& m) {
    const auto [q, r] = la::qr(m);
    return (q * r).eval();
  };
  const auto tall = [&](const TMatrix<5, 3>& m) {
    const auto [q, r] = la::qr(m);
    static_assert(same<decltype(q), TMatrix<5, 3>> && same<decltype(r), TMatrix<3>>);
    return (q * (q.transpose() * q) * r).eval();
  };
  expect_same<TMatrix<5, 3>>(tall, sample(5, 3));
  const auto wide = [&](const Eigen::Matrix<TD, 2, 4, Eigen::RowMajor>& m) {
    const auto [q, r] = la::qr(m);
    static_assert(same<decltype(q), Eigen::Matrix<TD, 2, 2, Eigen::RowMajor>>);
    static_assert(same<decltype(r), Eigen::Matrix<TD, 2, 4, Eigen::RowMajor>>);
    return product(m);
  };
  expect_same<Eigen::Matrix<TD, 2, 4, Eigen::RowMajor>>(wide, sample(2, 4));
  const auto column = [&](const TVector<3>& v) {
    const auto [q, r] = la::qr(v);
    static_assert(same<decltype(q), TVector<3>> && same<decltype(r), TMatrix<1>>);
    return product(v);
  };
  expect_close(result_of([&](TD x) { return TD(column(TVector<3>(x))); }, Array<double>{1, 2, 3}.any()),
               Array<double>{1, 2, 3}.any());
  const auto some = [&](const TMatrix<Dynamic, 3>& m) {
    const auto [q, r] = la::qr(m);
    static_assert(same<decltype(q), Eigen::Matrix<TD, Dynamic, Dynamic, 0, Dynamic, 3>>);
    static_assert(same<decltype(r), Eigen::Matrix<TD, Dynamic, 3, 0, 3, 3>>);
    return product(m);
  };
  expect_same<TMatrix<Dynamic, 3>>(some, sample(2, 3));
  const auto bounded = [&](const Eigen::Matrix<TD, Dynamic, Dynamic, 0, 4, 3>& m) {
    const auto [q, r] = la::qr(m);
    static_assert(same<decltype(q), Eigen::Matrix<TD, Dynamic, Dynamic, 0, 4, 3>>);
    static_assert(same<decltype(r), Eigen::Matrix<TD, Dynamic, Dynamic, 0, 3, 3>>);
    return product(m);
  };
  expect_same<Eigen::Matrix<TD, Dynamic, Dynamic, 0, 4, 3>>(bounded, sample(4, 2));
}

}  // namespace
}  // namespace calque::test
