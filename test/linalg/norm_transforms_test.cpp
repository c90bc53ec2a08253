// linalg::norm under grad and vmap.
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;
namespace la = linalg;
using la::ord;

bool close(const D& x, const D& y, double tolerance = 1e-14) { return allclose(x, y, tolerance, tolerance); }

/// The derivative of a scalar function by differences.
template <class Function>
D differences(const Function& f, const D& x) {
  D out = D::zeros(x.shape());
  const D flat = reshape(x, {-1});
  D result = D::zeros(flat.shape());
  for (int64_t i = 0; i < flat.size(); ++i) {
    const double h = 1e-6, at = flat.at(i).item();
    const auto with = [&](double value) { return reshape(flat.set(i, value), x.shape()); };
    result = result.set(i, (f(with(at + h)).item() - f(with(at - h)).item()) / (2 * h));
  }
  return reshape(result, x.shape());
}

TEST(NormTransforms, GradientsEqualDifferences) {
  const D v = {0.7, -1.9, 2.4}, m = {{1, -2.5, 3.2}, {-4, 5.7, 0.3}};
  for (ord o : {ord::one, ord::two, ord::inf, ord::minus_one, ord::minus_two, ord::minus_inf}) {
    const auto f = [=](auto x) { return la::norm(x, o); };
    EXPECT_TRUE(close(grad(f)(v), differences(f, v), 1e-8)) << static_cast<int>(o);
  }
  for (ord o : {ord::fro, ord::one, ord::inf, ord::minus_one, ord::minus_inf}) {
    const auto f = [=](auto x) { return la::norm(x, o); };
    EXPECT_TRUE(close(grad(f)(m), differences(f, m), 1e-8)) << static_cast<int>(o);
  }
  const auto cubic = [](auto x) { return la::norm(x, 3); };
  EXPECT_TRUE(close(grad(cubic)(v), differences(cubic, v), 1e-8));
}

TEST(NormTransforms, DerivativesAtZeroAreZero) {
  const D zero = {0, 0};
  EXPECT_TRUE(array_equal(grad([](auto x) { return la::norm(x); })(zero), zero));
  EXPECT_TRUE(array_equal(grad([](auto x) { return la::norm(x, ord::one); })(zero), zero));
  EXPECT_TRUE(array_equal(grad([](auto x) { return la::norm(x, 3); })(zero), zero));
  EXPECT_TRUE(array_equal(grad([](auto x) { return la::norm(x, ord::fro); })(D{{0, 0}}), D{{0, 0}}));
  // Not at the other elements: of (0, 2) the derivative is (0, 1).
  EXPECT_TRUE(close(grad([](auto x) { return la::norm(x, 3); })(D{0, 2}), D{0, 1}));
  // The square is smooth, and its second derivative at 0 is that of x * x.
  EXPECT_TRUE(array_equal(hessian([](auto x) { return la::norm(x) * la::norm(x); })(zero), D{{2, 0}, {0, 2}}));
  // A maximum divides the derivative between ties.
  EXPECT_TRUE(array_equal(grad([](auto x) { return la::norm(x, ord::inf); })(D{1, -1}), D{0.5, -0.5}));
}

TEST(NormTransforms, BatchesEqualLoops) {
  const D x = {{{1, -2}, {3, 4}}, {{0, 5}, {-6, 7}}, {{8, 0}, {1, -1}}};
  for (ord o : {ord::fro, ord::one, ord::inf, ord::minus_one, ord::minus_inf}) {
    const auto f = [=](auto m) { return la::norm(m, o); };
    const D middle = vmap(f, {.in_axes = {1}})(x);
    for (int64_t i = 0; i < 2; ++i) {
      EXPECT_TRUE(close(middle.at(i), f(D(x.at(all, i))))) << static_cast<int>(o);
    }
    EXPECT_TRUE(close(vmap(f)(x), f(x)));
  }
}

}  // namespace
}  // namespace calque::test
