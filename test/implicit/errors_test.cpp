// What users of the solvers are told, with their line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;
using testing::HasSubstr;

template <class A>
struct Point {
  A x, y;
};

template <class E, class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "no such error";
}

std::string line(unsigned n) { return "(errors_test.cpp:" + std::to_string(n) + ")"; }

TEST(RootErrors, NameTheLeafAndTheLine) {
  const auto shape = [] {
    (void)root([](auto p) { return Point{p.x, sum(p.y) + p.x}; }, Point<D>{D::ones({2}), D::ones({3})});
  };
  EXPECT_EQ(message_of<ShapeError>(shape),
            "root: f's result.y must be f64[3], as x0, got f64[2] " + line(__LINE__ - 3));
  const auto integer = [] { (void)root([](auto x) { return x * x - 4; }, 1); };
  EXPECT_EQ(message_of<DTypeError>(integer),
            "root: x0 is i32[], but must be of floats, such as 1.0 " + line(__LINE__ - 2));
  const auto complex = [] { (void)root([](auto x) { return x * x; }, std::complex<double>(1, 1)); };
  EXPECT_THAT(message_of<DTypeError>(complex), HasSubstr("x0 is c128[], but must be real; solve for its real and its"));
  const auto length = [] { (void)root([](auto v) { return std::vector{v[0]}; }, std::vector<D>{D(1.0), D(2.0)}); };
  EXPECT_THAT(message_of<ShapeError>(length), HasSubstr("root: x0 and f's result"));
  const auto fixed = [] { (void)fixed_point([](auto x) { return sum(x) * ones<double>({2}); }, D::ones({3})); };
  EXPECT_THAT(message_of<ShapeError>(fixed), HasSubstr("fixed_point: f's result must be f64[3], as x0, got f64[2]"));
}

TEST(RootErrors, NameOptionsOutOfRange) {
  const auto steps = [] { (void)root([](auto x) { return x; }, 1.0, {.max_iterations = 0}); };
  EXPECT_EQ(message_of<ShapeError>(steps), "root: max_iterations must be positive, got 0 " + line(__LINE__ - 1));
  const auto tolerance = [] { (void)fixed_point([](auto x) { return x; }, 1.0, {.tolerance = -1.0}); };
  EXPECT_THAT(message_of<ShapeError>(tolerance), HasSubstr("fixed_point: the tolerance must not be negative, got -1"));
  const auto nan = [] { (void)minimize_newton([](auto x) { return x; }, 1.0, {.tolerance = NAN}); };
  EXPECT_THAT(message_of<ShapeError>(nan), HasSubstr("minimize_newton: the tolerance must not be negative, got nan"));
}

TEST(MinimizeErrors, NameTheValue) {
  const auto vector = [] { (void)minimize_newton([](auto x) { return x * x; }, D{1, 2}); };
  EXPECT_EQ(message_of<ShapeError>(vector),
            "minimize_newton: f must return a real floating scalar, got f64[2]; reduce it, for example with sum " +
                line(__LINE__ - 3));
}

TEST(CustomRootErrors, NameWhoReturnsWhat) {
  const auto equation = [](auto x) { return x * x - 2.0; };
  const auto same = [](auto, auto x) { return x; };
  const auto of_solve = [&] {
    (void)custom_root(equation, D{1, 2}, [](auto, auto x) { return x.at(0) * ones<double>({3}); }, same);
  };
  EXPECT_THAT(message_of<ShapeError>(of_solve),
              HasSubstr("custom_root: solve's result must be f64[2], as the initial guess, got f64[3]"));
  const auto of_tangents = [&] { (void)custom_root(equation, D{1, 2}, same, [](auto, auto b) { return sum(b); }); };
  EXPECT_THAT(message_of<ShapeError>(of_tangents),
              HasSubstr("custom_root: tangent_solve's result must be f64[2], as the initial guess, got f64[]"));
}

TEST(CustomRootErrors, NameIntegers) {
  const auto same = [](auto, auto x) { return x; };
  const auto integers = [&] { (void)custom_root([](auto x) { return x; }, 1, same, same); };
  EXPECT_EQ(
      message_of<DTypeError>(integers),
      "custom_root: the initial guess is i32[], but must be floating or complex, such as 1.0 " + line(__LINE__ - 3));
}

TEST(LinearSolveErrors, NameWhoReturnsWhat) {
  const auto solve = [](auto, auto b) { return b; };
  const auto of_matvec = [&] { (void)custom_linear_solve([](auto x) { return x.at(0); }, D{1, 2}, solve); };
  EXPECT_THAT(message_of<ShapeError>(of_matvec),
              HasSubstr("custom_linear_solve: matvec's result must be f64[2], as b, got f64[]"));
  const auto reverse = [&](auto a) {
    return sum(custom_linear_solve([a](auto x) { return a * x; }, zeros<double>({2}), solve));
  };
  EXPECT_THAT(message_of<GradError>([&] { (void)grad(reverse)(1.0); }), HasSubstr("was given no transpose_solve"));
  const auto integers = [&] { (void)linalg::cg([](auto x) { return x; }, Array<int32_t>{1, 2}); };
  EXPECT_THAT(message_of<DTypeError>(integers), HasSubstr("linalg::cg: b is i32[2], but must be of floats"));
}

TEST(Captures, OfTracersByFunctionsOfDataAreErrors) {
  const auto f = [](auto a) { return root([a](auto x) { return x * x - a; }, 1.0) + a; };
  EXPECT_THAT(message_of<ConcretizationError>([&] { (void)jit(f)(2.0); }), HasSubstr("pass"));
}

}  // namespace
}  // namespace calque::test
