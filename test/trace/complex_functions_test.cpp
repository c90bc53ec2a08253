// Complex functions at infinities, NaN, zeros of both signs and the ends of the range, against those of the C library.
#include <cmath>
#include <complex>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "support/trace_eval.h"

namespace calque::test {
namespace {

namespace ops = detail::ops;

template <class T>
struct Case {
  const char* name;
  Handle (*ours)(const Operand&, Location);
  std::complex<T> (*theirs)(const std::complex<T>&);
};

template <class T>
std::vector<Case<T>> cases() {
  using C = std::complex<T>;
  return {{"exp", &ops::exp, [](const C& z) { return std::exp(z); }},
          {"log", &ops::log, [](const C& z) { return std::log(z); }},
          {"sqrt", &ops::sqrt, [](const C& z) { return std::sqrt(z); }},
          {"sin", &ops::sin, [](const C& z) { return std::sin(z); }},
          {"cos", &ops::cos, [](const C& z) { return std::cos(z); }},
          {"sinh", &ops::sinh, [](const C& z) { return std::sinh(z); }},
          {"cosh", &ops::cosh, [](const C& z) { return std::cosh(z); }},
          {"tanh", &ops::tanh, [](const C& z) { return std::tanh(z); }},
          {"tan", &ops::tan, [](const C& z) { return std::tan(z); }},
          {"asin", &ops::asin, [](const C& z) { return std::asin(z); }},
          {"acos", &ops::acos, [](const C& z) { return std::acos(z); }},
          {"atan", &ops::atan, [](const C& z) { return std::atan(z); }},
          {"asinh", &ops::asinh, [](const C& z) { return std::asinh(z); }},
          {"acosh", &ops::acosh, [](const C& z) { return std::acosh(z); }},
          {"atanh", &ops::atanh, [](const C& z) { return std::atanh(z); }}};
}

/// Annex G leaves the sign of an infinity or zero beside a NaN unspecified, and where both parts are infinite.
template <class T>
bool same(T got, T want, bool sign_is_specified) {
  if (std::isnan(want)) return std::isnan(got);
  const T a = sign_is_specified ? got : std::abs(got), b = sign_is_specified ? want : std::abs(want);
  if (std::isinf(b) || b == 0) return a == b && (b != 0 || std::signbit(a) == std::signbit(b));
  return std::abs(a - b) <=
         16 * std::numeric_limits<T>::epsilon() * std::abs(b) + 4 * std::numeric_limits<T>::denorm_min();
}

template <class T>
void check(const std::vector<T>& parts) {
  using C = std::complex<T>;
  std::vector<C> points;
  for (const T re : parts) {
    for (const T im : parts) points.emplace_back(re, im);
  }
  const AnyArray z = AnyArray::from(std::span<const C>(points), Shape{static_cast<int64_t>(points.size())});
  for (const Case<T>& c : cases<T>()) {
    const Graph g = trace({z.type()}, [&](std::span<const Handle> in) { return Handles{c.ours(in[0], kHere)}; }).graph;
    const std::vector<C> got = elements<C>(reference::evaluate(g, std::vector<AnyArray>{z})[0]);
    for (size_t i = 0; i < points.size(); ++i) {
      const C want = c.theirs(points[i]);
      const bool is_signed = !std::isnan(want.real()) && !std::isnan(want.imag()) &&
                             (std::isfinite(points[i].real()) || std::isfinite(points[i].imag()));
      EXPECT_TRUE(same(got[i].real(), want.real(), is_signed) && same(got[i].imag(), want.imag(), is_signed))
          << c.name << points[i] << " is " << got[i] << ", want " << want;
    }
  }
}

TEST(ComplexFunctions, HaveTheSpecialValuesOfAnnexG) {
  constexpr auto kInf = std::numeric_limits<double>::infinity();
  const double parts[] = {0.0, -0.0, 0.5,  -0.75, kInf, -kInf, std::numeric_limits<double>::quiet_NaN(),
                          30,  -800, 1e300};
  check<double>({std::begin(parts), std::end(parts)});
  check<float>({std::begin(parts), std::end(parts) - 1});
}

TEST(ComplexFunctions, AreRightWhereIntermediateValuesLeaveTheRange) {
  check<double>({710, -710, 709.5, 1e-300, 1e-310, -1e-320, 1e22, 1.7e308, -1.7e308, 1, -1.5});
  check<float>({89, -89, 88.5F, 1e-38F, -1e-42F, 1e22F, 3e38F, -3e38F, 1, -1.5});
}

}  // namespace
}  // namespace calque::test
