// Complex numbers in compiled functions: what surrounds arithmetic, and the code.
#include <complex>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"
#include "calque/eigen.h"

#include "codegen/codegen.h"
#include "support/stages.h"
#include "transform/simplify/simplify.h"

namespace calque::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using Z = std::complex<float>;
using W = std::complex<double>;
using C = Array<Z>;

C numbers(int64_t n) {
  std::vector<Z> z;
  for (int64_t i = 0; i < n; ++i) z.emplace_back(static_cast<float>(i % 7) - 3, static_cast<float>(i % 5) * 0.5f);
  return C::from(std::span<const Z>(z), {n});
}

template <class F>
C by_elements(const C& x, F f) {
  std::vector<Z> z;
  for (const Z v : x.host()) z.push_back(f(v));
  return C::from(std::span<const Z>(z), x.shape());
}

int64_t count(const std::string& text, const std::string& what) {
  int64_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

std::string code_of(const Graph& g) {
  codegen::CodegenOptions options;
  options.target.cpu = "x86-64-v4";
  return test::stages::llvm_ir(test::stages::build_program(transform::simplify(g)), options);
}

// Two vectors of real and imaginary parts become two stores of interleaved numbers.
TEST(ComplexCode, InterleavedResultsAreWholeVectors) {
  const auto f = jit([](auto x, auto y, auto z) { return x * y + z; });
  const std::string text = code_of(f.trace(numbers(4096), numbers(4096), numbers(4096)));
  EXPECT_EQ(count(text, "store <16 x float>"), 2) << text;
  EXPECT_EQ(count(text, "load <16 x float>"), 6) << text;
  EXPECT_THAT(text, Not(HasSubstr("masked")));
}

TEST(ComplexCode, OneOperationIsOneKernel) {
  const auto f = jit([](auto x, auto y) { return exp(x) / y + conj(x) * log1p(y); });
  const Graph g = f.trace(numbers(1000), numbers(1000));
  EXPECT_EQ(test::stages::build_program(transform::simplify(g)).kernels.size(), 1);
}

TEST(ComplexCode, ProductsOfMatricesAreRealProducts) {
  const auto f = jit([](auto a, auto b) { return matmul(a, b); });
  const Graph g = f.trace(reshape(numbers(600), {20, 30}), reshape(numbers(1200), {30, 40}));
  std::ostringstream text;
  text << test::stages::build_program(transform::simplify(g));
  EXPECT_THAT(text.str(), HasSubstr("contraction 20 x 80 over 60"));
}

TEST(ComplexFunctions, EigenMatricesAreReadWithTheirStrides) {
  Eigen::MatrixXcf m = Eigen::MatrixXcf::Random(6, 5);
  const auto twice = jit([](const auto& a) { return a * Z(0, 2) + conj(a); });
  const Eigen::MatrixXcf whole = twice(m);
  EXPECT_LT((whole - (m * Z(0, 2) + m.conjugate())).norm(), 1e-6f);
  const auto block = m.block(1, 1, 3, 4);
  const Eigen::MatrixXcf part = twice(block);
  EXPECT_LT((part - (block * Z(0, 2) + block.conjugate())).norm(), 1e-6f);
  const Eigen::MatrixXcf transposed = twice(m.transpose());
  EXPECT_LT((transposed - (m.transpose() * Z(0, 2) + m.adjoint())).norm(), 1e-6f);
}

TEST(ComplexFunctions, DonatedMemoryIsReused) {
  const auto step = jit([](auto w, auto g) { return w - g * Z(0, 0.5f); }, {.donate = {0}});
  C w = numbers(1000) * Z(1, 1);
  const void* const memory = w.host().data();
  const C g = numbers(1000);
  const C expected = w - g * Z(0, 0.5f);
  const C next = step(std::move(w), g);
  EXPECT_EQ(static_cast<const void*>(next.host().data()), memory);
  EXPECT_TRUE(allclose(next, expected, 1e-6, 1e-6));
}

TEST(ComplexFunctions, HostFunctionsSeeComplexArrays) {
  const auto f = jit([](auto x) {
    const auto y =
        host_call([](const C& v) { return by_elements(v, [](Z z) { return z * z; }); }, spec<Z>({5}), x * 2.0f);
    return y + 1.0f;
  });
  const C x = numbers(5);
  EXPECT_TRUE(allclose(f(x), 4.0f * x * x + 1.0f, 1e-6, 1e-6));
  const auto wrong = jit([](auto v) { return host_call([](const C& z) { return abs(z); }, spec<Z>({5}), v); });
  EXPECT_THAT([&] { wrong(x); }, testing::ThrowsMessage<DTypeError>(HasSubstr("is promised as c64[5], got f32[5]")));
}

TEST(ComplexFunctions, DebugPrintShowsComplexNumbers) {
  const auto f = jit([](auto x) {
    debug_print("at {} and {}", x * Z(0, 1), real(x));
    return x;
  });
  testing::internal::CaptureStdout();
  f(C{Z(1, 2)});
  std::ostringstream want;
  want << "at " << C{Z(-2, 1)} << " and " << Array<float>{1} << "\n";
  EXPECT_EQ(testing::internal::GetCapturedStdout(), want.str());
}

TEST(ComplexFunctions, LoopsAndBranchesCarryComplexNumbers) {
  const auto f = jit([](auto x, auto n) {
    auto powers = fori_loop(0, n, [x](auto, auto s) { return s * x; }, ones<Z>(x.shape()));
    auto [last, all_of] = scan([](auto s, auto v) { return std::pair{s + v, s * v}; }, Tracer<Z>(Z(1, 0)), x);
    auto chosen = cond(abs(last) > 3.0f, [](auto v) { return conj(v); }, [](auto v) { return -v; }, powers);
    return std::tuple{chosen, all_of, last};
  });
  const C x = numbers(6);
  const auto [chosen, all_of, last] = f(x, 3);
  Z sum(1, 0);
  std::vector<Z> products;
  for (const Z v : x.host()) {
    products.push_back(sum * v);
    sum += v;
  }
  EXPECT_LT(std::abs(last.item() - sum), 1e-5f);
  EXPECT_TRUE(allclose(all_of, C::from(std::span<const Z>(products), {6}), 1e-5, 1e-5));
  const C cubes = by_elements(x, [&](Z z) { return std::abs(sum) > 3 ? std::conj(z * z * z) : -z * z * z; });
  EXPECT_TRUE(allclose(chosen, cubes, 1e-5, 1e-4));
}

TEST(ComplexFunctions, ConstantsAndEmptyArrays) {
  const C big = numbers(500);
  const auto f = jit([big](auto x) { return x + Tracer<Z>(big) * Z(0, 1); });
  EXPECT_TRUE(allclose(f(big), big + big * Z(0, 1), 1e-6, 1e-6));
  const auto g = jit([](auto x) { return std::tuple{sum(x), prod(x), cumprod(x, 0), x * x}; });
  const auto [s, p, c, q] = g(C::zeros({0}));
  EXPECT_EQ(s.item(), Z(0));
  EXPECT_EQ(p.item(), Z(1));
  EXPECT_EQ(c.size() + q.size(), 0);
}

// Annex G: by zero, of infinite numbers, by infinite ones; and where intermediate values leave the range.
TEST(ComplexFunctions, QuotientsRecoverInfinities) {
  const auto divide = jit([](auto x, auto y) { return x / y; });
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
  const double parts[] = {0.0, -0.0, 1.5, -2.0, kInf, -kInf, kNaN, 1e300, -1e-310, 1.7e308, 5e-324};
  std::vector<W> x, y;
  for (const double a : parts)
    for (const double b : parts)
      for (const double c : parts)
        for (const double d : parts) x.emplace_back(a, b), y.emplace_back(c, d);
  const Shape shape{static_cast<int64_t>(x.size())};
  const auto got = divide(Array<W>::from(std::span<const W>(x), shape), Array<W>::from(std::span<const W>(y), shape));
  const auto is_infinite = [](const W& z) { return std::isinf(z.real()) || std::isinf(z.imag()); };
  const auto is_nan = [](const W& z) { return std::isnan(z.real()) || std::isnan(z.imag()); };
  const auto is_finite = [&](const W& z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); };
  for (size_t i = 0; i < x.size(); ++i) {
    const W q = got.host()[i];
    const bool by_zero = y[i] == W(0);
    std::ostringstream what;
    what << x[i] << " / " << y[i] << " = " << q;
    EXPECT_TRUE(!(is_infinite(x[i]) && is_finite(y[i])) || is_infinite(q)) << what.str();
    EXPECT_TRUE(!(is_finite(x[i]) && x[i] != W(0) && by_zero) || is_infinite(q)) << what.str();
    EXPECT_TRUE(!(is_finite(x[i]) && is_infinite(y[i])) || q == W(0)) << what.str();
    EXPECT_TRUE(!(x[i] == W(0) && by_zero) || is_nan(q)) << what.str();
    if (!is_finite(x[i]) || !is_finite(y[i]) || by_zero) continue;
    using L = std::complex<long double>;
    const L want = L(x[i].real(), x[i].imag()) / L(y[i].real(), y[i].imag());
    const long double size = std::abs(want);
    if (size > 8e307L || size < 1e-290L) continue;
    EXPECT_LE(std::abs(L(q.real(), q.imag()) - want), 1e-15L * size) << x[i] << " / " << y[i] << " = " << q;
  }
}

TEST(ComplexFunctions, PowersOfLiteralsMultiply) {
  const auto f = jit([](auto z) { return std::tuple{pow(z, 2), pow(z, -1), pow(z, 0), pow(z, 7)}; });
  const C z = C{Z(1, 2), Z(-0.5f, 0.25f), Z(0, -1)};
  const auto [square, inverse, one, seventh] = f(z);
  EXPECT_TRUE(array_equal(square, jit([](auto x) { return x * x; })(z)));
  EXPECT_TRUE(allclose(inverse * z, C::full({3}, Z(1)), 1e-6, 1e-6));
  EXPECT_TRUE(array_equal(one, C::full({3}, Z(1))));
  EXPECT_TRUE(allclose(seventh, by_elements(z, [](Z x) { return std::pow(x, 7); }), 1e-5, 1e-5));
  const auto general = jit([](auto x, auto y) { return pow(x, y); });
  EXPECT_TRUE(allclose(general(z, 2.5f), by_elements(z, [](Z x) { return std::pow(x, 2.5f); }), 1e-5, 1e-5));
  EXPECT_EQ(general(C{Z(0)}, C{Z(2, 1)})(0), Z(0));
  EXPECT_EQ(general(C{Z(0)}, C{Z(0)})(0), Z(1));
}

}  // namespace
}  // namespace calque::test
