// Derivatives of functions of complex numbers against differences along both axes, to the third order.
#include <complex>

#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using W = std::complex<double>;
using Z = Tracer<W>;
using Function = std::function<Z(const Z&)>;

Function derivative_of(const Function& f) {
  return [f](const Z& z) {
    return jvp([f](const Z& x) { return f(x); }, std::tuple{z}, std::tuple{ones<W>(z.shape())}).second;
  };
}

void compare(const std::string& name, const Function& f, const Function& derivative, double tolerance) {
  const Array<W> z = {W(0.3, 0.4), W(-1.7, 0.6), W(2.5, -1.25), W(0.1, -2.0)};
  const auto value = jit([f](const Z& x) { return f(x); });
  const Array<W> got = jit([derivative](const Z& x) { return derivative(x); })(z);
  for (const W step : {W(1e-5, 0), W(0, 1e-5)}) {
    const Array<W> difference = (value(z + step) - value(z - step)) / (2.0 * step);
    EXPECT_TRUE(allclose(got, difference, tolerance, tolerance))
        << name << ": " << got << ", by differences " << difference;
  }
}

void check(const std::string& name, const Function& f) {
  const Function first = derivative_of(f), second = derivative_of(first), third = derivative_of(second);
  compare(name, f, first, 1e-7);
  compare(name + "'", first, second, 1e-7);
  compare(name + "''", second, third, 1e-6);
}

TEST(ComplexDerivatives, AreHolomorphic) {
  check("asin", [](const Z& z) { return asin(z); });
  check("acos", [](const Z& z) { return acos(z); });
  check("atan", [](const Z& z) { return atan(z); });
  check("asinh", [](const Z& z) { return asinh(z); });
  check("acosh", [](const Z& z) { return acosh(z); });
  check("atanh", [](const Z& z) { return atanh(z); });
  check("tan", [](const Z& z) { return tan(z); });
  check("log1p", [](const Z& z) { return log1p(z); });
  check("expm1", [](const Z& z) { return expm1(z); });
  check("log2", [](const Z& z) { return log2(z); });
  check("rsqrt", [](const Z& z) { return rsqrt(z); });
  check("power", [](const Z& z) { return pow(z, W(1.5, 0.5)); });
  check("exponential", [](const Z& z) { return pow(W(1.5, 0.5), z); });
  check("cube", [](const Z& z) { return pow(z, 3); });
}

// At branch points and zeros derivatives are those of the textbook, not NaN.
TEST(ComplexDerivatives, AtZero) {
  const auto at_zero = [](const Function& f) {
    return jit([d = derivative_of(f)](const Z& x) { return d(x); })(Array<W>{W(0)})(0);
  };
  EXPECT_EQ(at_zero([](const Z& z) { return asin(z); }), W(1));
  EXPECT_EQ(at_zero([](const Z& z) { return acos(z); }), W(-1));
  EXPECT_EQ(at_zero([](const Z& z) { return atan(z); }), W(1));
  EXPECT_EQ(at_zero([](const Z& z) { return atanh(z); }), W(1));
  EXPECT_EQ(at_zero([](const Z& z) { return asinh(z); }), W(1));
  EXPECT_EQ(at_zero([](const Z& z) { return tan(z); }), W(1));
  EXPECT_EQ(at_zero([](const Z& z) { return log1p(z); }), W(1));
  EXPECT_EQ(at_zero([](const Z& z) { return expm1(z); }), W(1));
  EXPECT_EQ(at_zero([](const Z& z) { return pow(z, 2.5); }), W(0));
  EXPECT_EQ(at_zero([](const Z& z) { return pow(z, 1); }), W(1));
}

TEST(ComplexDerivatives, HolomorphicGradients) {
  const auto f = [](auto z, auto w) { return sum(exp(z) * asin(z) / w); };
  const Array<W> z = {W(0.3, 0.4), W(-1.7, 0.6)};
  const W w(2, -1);
  const Array<W> got = grad(f, holomorphic)(z, w);
  for (int64_t i = 0; i < 2; ++i) {
    const W at = z(i), want = std::exp(at) * (std::asin(at) + 1.0 / std::sqrt(1.0 - at * at)) / w;
    EXPECT_LT(std::abs(got(i) - want), 1e-13);
  }
  const auto second = [](auto x) { return sum(grad([](auto y) { return sum(pow(y, 3)); }, holomorphic)(x)); };
  EXPECT_TRUE(allclose(jit(grad(second, holomorphic))(z), 6.0 * z, 1e-13, 1e-13));
}

// Gradients of real functions are df/dx - i df/dy.
TEST(ComplexDerivatives, GradientsOfRealFunctions) {
  const auto f = [](auto z) { return sum(square(abs(asin(z) * pow(z, W(0.5, 1))))) + sum(angle(z)); };
  const auto value = jit(f);
  const Array<W> z = {W(0.3, 0.4), W(-1.7, 0.6), W(0.2, -0.9)};
  const Array<W> gradient = jit(grad(f))(z);
  for (int64_t i = 0; i < 3; ++i) {
    const auto by = [&](W step) {
      const Array<W> moved = Array<W>::zeros({3}).set(i, step);
      return (value(z + moved).item() - value(z - moved).item()) / (2 * std::abs(step));
    };
    const W want(by(W(1e-6, 0)), -by(W(0, 1e-6)));
    EXPECT_LT(std::abs(gradient(i) - want), 1e-7 * (1 + std::abs(want)));
  }
}

}  // namespace
}  // namespace calque::test
