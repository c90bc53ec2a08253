// Templates over a scalar type as they are: values before their first assignment, literals that outlive a trace, and
// the functions of <cmath> by the names and in the namespaces by which templates call them.
#include <cfloat>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

CALQUE_FUNCTIONS_INTO(geometry::functions)

namespace calque::test {
namespace {

using D = Array<double>;
using F = Array<float>;
using I = Array<int>;

const JitOptions kBranches{.branches = branches::all};
constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
const std::vector<double> kSpecial = {0.0,     -0.0,    1.0,      -1.5, 3.0,   1e-310, -1e-310,
                                      DBL_MIN, DBL_MAX, -DBL_MAX, kInf, -kInf, kNaN};

template <class T>
T sum_of_products(const T* x, const T* y, int n) {
  T sum;
  for (int i = 0; i < n; ++i) sum += x[i] * y[i];
  T difference = T();
  difference -= sum;
  return sum - difference;
}

TEST(Templates, ADefaultConstructedTracerIsZero) {
  const auto f = [](const auto* x, auto* r) { r[0] = sum_of_products(x, x, 3); };
  EXPECT_EQ(functor<1>(f)(D{1, 2, 3})(0), 28);
  EXPECT_TRUE(array_equal(jit([](auto x) {
                            Tracer<double> sum;
                            for (int i = 0; i < 2; ++i) sum += x;
                            return sum;
                          })(D{1, 2}),
                          D{2, 4}));
  const auto zeros =
      jit([](auto) { return std::tuple{Tracer<double>(), Tracer<int>(), Tracer<std::complex<double>>()}; });
  const auto [d, i, z] = zeros(1.0);
  EXPECT_EQ(d.shape(), Shape());
  EXPECT_EQ(d.item(), 0);
  EXPECT_EQ(i.item(), 0);
  EXPECT_EQ(z.item(), std::complex<double>(0));
  EXPECT_EQ(grad([](auto x) { return Tracer<double>() * x + x; })(2.0).item(), 1);
}

template <class T>
const T& scale() {
  static const T value = T(2.5);
  return value;
}
const Tracer<float> kGlobal = 3.0f;
const Tracer<std::complex<float>> kComplex = std::complex<float>(1, 2);

TEST(Templates, LiteralsOutliveTheirTrace) {
  EXPECT_EQ(jit([](auto x) { return scale<Tracer<double>>() * x; })(2.0).item(), 5);
  EXPECT_EQ(jit([](auto x) { return scale<Tracer<double>>() + x; })(2.0).item(), 4.5);
  EXPECT_TRUE(array_equal(jit([](auto x) { return where(x > kGlobal, x, kGlobal); })(F{2, 4}), F{3, 4}));
  EXPECT_EQ(jit([](auto x) { return kComplex * x; })(std::complex<float>(0, 1)).item(), std::complex<float>(-2, 1));
  // In loops, branches and derivatives, which are traces of their own.
  const auto loop = [](auto x) {
    const auto body = [](auto, auto s) { return s * scale<Tracer<double>>(); };
    return fori_loop(0, 3, body,
                     cond(x > 0.0, [](auto x) { return x + scale<Tracer<double>>(); }, [](auto x) { return x; }, x));
  };
  EXPECT_EQ(jit(loop)(1.5).item(), 4 * 15.625);
  EXPECT_EQ(grad(loop)(1.5).item(), 15.625);
  EXPECT_TRUE(
      array_equal(vmap([](auto x) { return std::pair{x, scale<Tracer<double>>()}; })(D{1, 2}).second, D{2.5, 2.5}));
  EXPECT_THROW((void)(kGlobal + 1.0f), LeakedTracerError);  // no trace computes it
}

TEST(Templates, LiteralsHaveValuesWhileTracing) {
  EXPECT_EQ(jit([](auto x) { return Tracer<bool>(true) ? x : -x; })(3.0).item(), 3);
  EXPECT_EQ(jit([](auto x) { return Tracer<bool>(false) ? x : -x; }, kBranches)(3.0).item(), -3);
}

TEST(Templates, ClassesOfNumbers) {
  const D x = D::from(kSpecial, {static_cast<int64_t>(kSpecial.size())});
  const auto [classes, normal, finite] =
      jit([](auto x) { return std::tuple{fpclassify(x), isnormal(x), isfinite(x)}; })(x);
  const Array<bool> direct = isnormal(x);
  for (size_t i = 0; i < kSpecial.size(); ++i) {
    const auto k = static_cast<int64_t>(i);
    EXPECT_EQ(classes(k), std::fpclassify(kSpecial[i])) << kSpecial[i];
    EXPECT_EQ(normal(k), std::isnormal(kSpecial[i])) << kSpecial[i];
    EXPECT_EQ(finite(k), std::isfinite(kSpecial[i])) << kSpecial[i];
    EXPECT_EQ(direct(k), std::isnormal(kSpecial[i])) << kSpecial[i];
  }
  EXPECT_TRUE(array_equal(fpclassify(F{1e-40f, 1, 0}), I{FP_SUBNORMAL, FP_NORMAL, FP_ZERO}));
  EXPECT_TRUE(array_equal(fpclassify(I{0, 7}), I{FP_ZERO, FP_NORMAL}));
  const auto half = cast<float16>(F{1e-6f, 1e-4f, 1});
  EXPECT_TRUE(array_equal(isnormal(half), Array<bool>{false, true, true}));
}

TEST(Templates, ComparisonsByName) {
  for (const double x : kSpecial) {
    for (const double y : kSpecial) {
      const auto f = jit([](auto x, auto y) {
        return std::tuple{isless(x, y),         islessequal(x, y),   isgreater(x, y),
                          isgreaterequal(x, y), islessgreater(x, y), isunordered(x, y)};
      });
      const auto [lt, le, gt, ge, lg, un] = f(x, y);
      EXPECT_EQ(lt.item(), std::isless(x, y));
      EXPECT_EQ(le.item(), std::islessequal(x, y));
      EXPECT_EQ(gt.item(), std::isgreater(x, y));
      EXPECT_EQ(ge.item(), std::isgreaterequal(x, y));
      EXPECT_EQ(lg.item(), std::islessgreater(x, y));
      EXPECT_EQ(un.item(), std::isunordered(x, y));
    }
  }
  EXPECT_TRUE(array_equal(isless(I{1, 2}, 2), Array<bool>{true, false}));
}

TEST(Templates, ExtremaIgnoreNaNAsInC) {
  for (const double x : kSpecial) {
    for (const double y : kSpecial) {
      const auto [low, high] = jit([](auto x, auto y) { return std::pair{fmin(x, y), fmax(x, y)}; })(x, y);
      EXPECT_EQ(std::isnan(low.item()), std::isnan(std::fmin(x, y)));
      EXPECT_EQ(std::isnan(high.item()), std::isnan(std::fmax(x, y)));
      if (!std::isnan(std::fmin(x, y))) {
        EXPECT_EQ(low.item(), std::fmin(x, y));
        EXPECT_EQ(high.item(), std::fmax(x, y));
      }
    }
  }
  EXPECT_EQ(grad([](auto x) { return fmax(x, 1.0); })(1.0).item(), 0.5);
  EXPECT_EQ(grad([](auto x) { return abs(x); })(0.0).item(), 0);
}

/// As C23 has it: infinite where any operand is. (That of libstdc++ depends on the order of NaN and infinity.)
double hypot_of(double x, double y, double z) {
  if (std::isinf(x) || std::isinf(y) || std::isinf(z)) return kInf;
  if (std::isnan(x) || std::isnan(y) || std::isnan(z)) return kNaN;
  return std::hypot(x, y, z);
}

TEST(Templates, HypotOfThree) {
  const std::vector<double> some = {0, 1, -2, 3e-200, 4e200, kInf, kNaN};
  for (const double x : some) {
    for (const double y : some) {
      for (const double z : some) {
        const double r = hypot(D(x), y, z).item(), expected = hypot_of(x, y, z);
        if (std::isnan(expected)) {
          EXPECT_TRUE(std::isnan(r));
        } else if (std::isinf(expected)) {
          EXPECT_EQ(r, expected);
        } else {
          EXPECT_NEAR(r, expected, 4e-16 * expected) << x << ' ' << y << ' ' << z;
        }
      }
    }
  }
  const auto of_three = [](auto v) { return hypot(v[0], v[1], v[2]); };
  EXPECT_TRUE(allclose(grad(of_three)(D{2, 3, 6}), D{2, 3, 6} / 7.0, 1e-15));
  EXPECT_TRUE(array_equal(grad(of_three)(D{0, 0, 0}), D{0, 0, 0}));
}

TEST(Templates, LerpAndMidpoint) {
  const std::vector<double> ends = {0, 1, -2, 1e-3, 1e308, -1.5e308}, ts = {0, 0.25, 0.5, 0.9, 1};
  for (const double a : ends) {
    for (const double b : ends) {
      for (const double t : ts) {
        const double expected = std::lerp(a, b, t);
        EXPECT_NEAR(lerp(D(a), b, t).item(), expected, 1e-15 * (std::abs(a) + std::abs(b)))
            << a << ' ' << b << ' ' << t;
      }
      EXPECT_EQ(lerp(D(a), b, 0).item(), a);
      EXPECT_EQ(lerp(D(a), b, 1).item(), b);
      EXPECT_EQ(midpoint(D(a), b).item(), std::midpoint(a, b));
    }
  }
  for (const double t : ts) {
    const auto slopes = grad([](auto a, auto b, auto t) { return lerp(a, b, t); }, argnums<0, 1, 2>)(2.0, 5.0, t);
    EXPECT_NEAR(std::get<0>(slopes).item(), 1 - t, 1e-15);
    EXPECT_NEAR(std::get<1>(slopes).item(), t, 1e-15);
    EXPECT_NEAR(std::get<2>(slopes).item(), 3, 1e-15);
  }
  const std::vector<int> whole = {0, 1, -1, 2, 7, -8, INT_MAX, INT_MIN, INT_MAX - 1};
  for (const int a : whole) {
    for (const int b : whole) EXPECT_EQ(midpoint(I(a), b).item(), std::midpoint(a, b)) << a << ' ' << b;
  }
  for (const unsigned a : {0u, 1u, 6u, 4294967295u}) {
    for (const unsigned b : {0u, 3u, 4294967294u}) {
      EXPECT_EQ(midpoint(Array<uint32_t>(a), b).item(), std::midpoint(a, b)) << a << ' ' << b;
    }
  }
}

/// As a library's templates call functions.
template <class T>
T by_namespace(const T& x, const T& y) {
  namespace g = geometry::functions;
  if (g::isnan(x) || g::fpclassify(y) == FP_ZERO) return T(-1.0);
  return g::cos(x) + g::max(x, y) + g::hypot(x, y, x) + g::pow(y, 2) + g::cos(1.0) + g::lerp(x, y, T(0.5));
}
template <class T>
T by_using(const T& x, const T& y) {
  using std::abs, std::cos, std::hypot, std::isless, std::lerp, std::max, std::midpoint, std::pow;
  if (isless(x, y)) return cos(x) + max(x, y) + hypot(x, y, x) + pow(y, 2);
  return lerp(x, y, T(0.25)) + midpoint(x, y) + abs(x) + cos(1.0);
}

TEST(Templates, CallFunctionsByNamespaceOrUsing) {
  const auto qualified = jit([](auto x, auto y) { return by_namespace(x, y); }, kBranches);
  const auto unqualified = jit([](auto x, auto y) { return by_using(x, y); }, kBranches);
  for (const double x : {0.5, 2.0, kNaN}) {
    for (const double y : {0.0, 1.5}) {
      if (std::isnan(x)) {
        EXPECT_EQ(qualified(x, y).item(), -1);
        continue;
      }
      EXPECT_NEAR(qualified(x, y).item(), by_namespace(x, y), 1e-14);
      EXPECT_NEAR(unqualified(x, y).item(), by_using(x, y), 1e-14);
    }
  }
}

}  // namespace
}  // namespace calque::test
