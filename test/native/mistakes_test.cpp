// What a beginner gets wrong and what is said of it: the first line of each error names the cause, a remedy and the
// line. Mistakes that do not compile are under test/compile_fail.
#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/eigen.h"

namespace calque {
namespace {

using D = Array<double>;
using F = Array<float>;

/// Runs a mistake: an E with this message, then the line of the mistake in this file.
template <class E, class Mistake>
void expect_message(const std::string& text, int line, const Mistake& mistake) {
  try {
    mistake();
    ADD_FAILURE() << "nothing was thrown; expected: " << text;
  } catch (const E& error) {
    const std::string message = error.what(), where = " (mistakes_test.cpp:";
    const size_t at = message.rfind(where);
    if (at == std::string::npos) {
      ADD_FAILURE() << "without the line: " << message;
      return;
    }
    EXPECT_EQ(message.substr(0, at), text);
    EXPECT_LE(std::abs(std::atoi(message.c_str() + at + where.size()) - line), 4) << message;
  }
}
#define EXPECT_MESSAGE(E, text, ...) expect_message<E>(text, __LINE__, [&] { (void)(__VA_ARGS__); })

const D kThree{1.0, 2.0, 3.0};

TEST(Mistakes, Shapes) {
  EXPECT_MESSAGE(ShapeError, "matmul: inner dimensions differ, got f32[2,3] and f32[2,2]",
                 jit([](auto a, auto b) { return matmul(a, b); })(F::zeros({2, 3}), F::zeros({2, 2})));
  EXPECT_MESSAGE(ShapeError, "add: operands do not broadcast, got f64[3] and f64[2]", kThree + D{1.0, 2.0});
  EXPECT_MESSAGE(ShapeError, "from: shape [2,2] takes 4 elements, got 3",
                 D::from(std::vector<double>{1, 2, 3}, {2, 2}));
  EXPECT_MESSAGE(ShapeError, "reshape: needs 3 elements, got f64[3] for shape [2,2]", reshape(kThree, {2, 2}));
  EXPECT_MESSAGE(
      ShapeError,
      "array: the parts of a braced list differ, part 0 is a list of shape [2] and part 1 is a list of shape [1]",
      F{{1.0f, 2.0f}, {3.0f}});
  EXPECT_MESSAGE(ShapeError, "jit: argument 0 is an empty array", jit([](auto x) { return x; })(D()));
}

TEST(Mistakes, Indices) {
  EXPECT_MESSAGE(ShapeError, "array: index 3 is out of bounds for dimension 0 of f64[3]", kThree(3));
  EXPECT_MESSAGE(ShapeError, "array: f64[3] takes 1 index, got 2", kThree(1, 1));
  EXPECT_MESSAGE(ShapeError, "at: index 3 is out of bounds for dimension 0 of f64[3]",
                 jit([](auto x) { return x[3]; })(kThree));
  EXPECT_MESSAGE(ShapeError, "for: a scalar has no elements to run over", jit([](auto x) {
                   auto last = x;
                   for (auto element : x) last = element;
                   return last;
                 })(D(1.0)));
}

TEST(Mistakes, ValuesOfTracers) {
  EXPECT_MESSAGE(ConcretizationError,
                 "concretization: bool was wanted of a tracer, which has no value while tracing, got bool[] made by >; "
                 "use where, cond or while_loop, pass what decides it as static_arg, or let branches follow the data: "
                 "cq::jit(f, {.branches = cq::branches::trace})",
                 jit([](auto x) {
                   if (x[0] > 1.0) return x * 2.0;
                   return x;
                 })(kThree));
  EXPECT_MESSAGE(
      LeakedTracerError,
      "tracer: used after its trace ended, or on another thread; return it from the lambda instead of storing it", [] {
        Tracer<double> kept;
        (void)jit([&](auto x) { return kept = x * 2.0; })(kThree);
        return kept + 1.0;
      }());
  EXPECT_MESSAGE(LeakedTracerError, "fori_loop: needs a running trace; call it inside a function that cq::jit wraps",
                 fori_loop(0, 3, [](auto, auto x) { return x; }, kThree));
}

TEST(Mistakes, Derivatives) {
  EXPECT_MESSAGE(
      GradError,
      "grad: the function must return a scalar, got f64[3]; reduce it, for example with sum, or use cq::jacrev",
      grad([](auto x) { return x * x; })(kThree));
  const std::string integer = " is i32[], which has no derivative; cast it to a floating type before, or ";
  EXPECT_MESSAGE(GradError, "grad: argument 0" + integer + "differentiate by other arguments (cq::argnums)",
                 grad([](auto x) { return x * x; })(3));
  EXPECT_MESSAGE(GradError, "vjp: argument 0" + integer + "let the function capture it",
                 vjp([](auto x) { return x * x; }, Array<int>(3)));
  EXPECT_MESSAGE(GradError, "linearize: argument 1" + integer + "let the function capture it",
                 linearize([](auto x, auto k) { return x * k; }, kThree, Array<int>(3)));
  EXPECT_MESSAGE(GradError, "vjp: argument 0" + integer + "let the function capture it", jit([](auto k) {
                   auto [value, back] = vjp([](auto n) { return n * n; }, k);
                   return value;
                 })(Array<int>(3)));
  EXPECT_MESSAGE(
      GradError,
      "while: has no reverse-mode derivative, since the number of its steps is not known; use scan or fori_loop "
      "with static bounds, or give the function a custom_vjp",
      grad([](auto x) { return while_loop([](auto c) { return c < 10.0; }, [](auto c) { return c * 2.0; }, x); })(2.0));
}

TEST(Mistakes, ControlFlow) {
  EXPECT_MESSAGE(ShapeError, "fori_loop: carry changes shape, f64[3] in and f64[6] out", jit([](auto x) {
                   return fori_loop(0, 2, [](auto, auto c) { return concatenate({c, c}, 0); }, x);
                 })(kThree));
  EXPECT_MESSAGE(ShapeError, "cond: branches return different shapes, f64[] and f64[3]", jit([](auto x) {
                   return cond(x[0] > 0.0, [](auto y) { return sum(y); }, [](auto y) { return y; }, x);
                 })(kThree));
}

TEST(Mistakes, Batches) {
  const auto product = [](auto x, auto y) { return x * y; };
  EXPECT_MESSAGE(ShapeError, "vmap: argument 0 has 3 along axis 0 and argument 1 has 2 along axis 0",
                 vmap(product)(kThree, D{1.0, 2.0}));
  EXPECT_MESSAGE(ShapeError, "vmap: in_axes has 1 entry, but the function is called with 2 arguments",
                 vmap(product, {.in_axes = {0}})(kThree, kThree));
  EXPECT_MESSAGE(ShapeError, "vmap: argument 1 is f64[] and has no axis 0; give cq::none for it in in_axes",
                 vmap(product)(kThree, 2.0));
}

template <class A>
struct Layer {
  A w, b;
};

TEST(Mistakes, Trees) {
  const auto add = [](auto a, auto b) { return a + b; };
  EXPECT_MESSAGE(ShapeError, "add: operands do not broadcast, got f64[3] and f64[2]",
                 tree_map(add, Layer<D>{kThree, kThree}, Layer<D>{D{1.0, 2.0}, kThree}));
  EXPECT_MESSAGE(ShapeError,
                 "tree_map: the first tree and another differ in a size, a key or a value that is known while tracing, "
                 "1 element and 2 elements",
                 tree_map(add, std::vector<D>{kThree}, std::vector<D>{kThree, kThree}));
  EXPECT_MESSAGE(ShapeError, "a std::vector of numbers is made from an array of rank 1, got f64[2,2]",
                 to<std::vector<double>>(D::zeros({2, 2})));
  EXPECT_MESSAGE(ShapeError, "eigen: the matrix has 3 rows and 3 columns, got f64[2,2]",
                 to<Eigen::Matrix3d>(D::zeros({2, 2})));
  EXPECT_MESSAGE(ShapeError, "item: an array of one element was expected, got f64[3] with 3 elements",
                 to<double>(kThree));
}

// Conversion functions and operators that take a number have no parameter that could hold the line.
TEST(Mistakes, ConversionsNameTheShapes) {
  const auto message = [](const auto& mistake) {
    try {
      mistake();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message([] { return static_cast<double>(kThree); }),
            "item: an array of one element was expected, got f64[3] with 3 elements");
  EXPECT_EQ(message([] {
              const Eigen::Vector2d two = kThree;
              return two;
            }),
            "eigen: the matrix has 2 rows and 1 columns, got f64[3]");
  EXPECT_EQ(message([] { return D() + 1.0; }),
            "array: it is empty, having been default-constructed; give it elements before it is used");
  EXPECT_EQ(message([] {
              if (kThree == kThree) return true;
              return false;
            }),
            "item: an array of one element was expected, got bool[3] with 3 elements; use all(x) or any(x)");
}

// What looks like a mistake and is none.
TEST(Mistakes, ThatAreNone) {
  const auto squares = jit([](auto x) {
    auto total = zeros<double>({});
    for (auto element : x) total += element * element;
    for (auto element : x * 2.0) total += element;
    return total;
  });
  EXPECT_EQ(squares(kThree).item(), 26);
  EXPECT_EQ(squares(Eigen::Vector3d(1, 2, 3)).item(), 26);
  EXPECT_EQ(squares(D::zeros({0})).item(), 0);
  std::vector<std::vector<double>> rows;
  for (const auto& row : D::from(std::vector<double>{1, 2, 3, 4, 5, 6}, {2, 3})) rows.push_back(row);
  EXPECT_THAT(rows, testing::ElementsAre(testing::ElementsAre(1, 2, 3), testing::ElementsAre(4, 5, 6)));
  const auto doubled = jit([](const std::string& name, auto x) { return name == "double" ? x * 2.0 : x; });
  EXPECT_EQ(doubled(std::string("double"), D(2.0)).item(), 4);
}

}  // namespace
}  // namespace calque
