// functor: the forms of cost functors, their results, errors.
#include "functors.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"
#include "calque/eigen.h"

#include "differences.h"
#include "jit/messages.h"

namespace calque::test {
namespace {

using D = Array<double>;
using F = Array<float>;

TEST(Functor, OfTheFormsOfCostFunctors) {
  EXPECT_NEAR(functor<1>(Curve(2, 3))(0.5, 0.25)(0), 3 - std::exp(1.25), 1e-15);
  EXPECT_NEAR(functor<1>(Curve(2, 3))(D{0.5}, D{0.25})(0), 3 - std::exp(1.25), 1e-15);
  EXPECT_TRUE(allclose(functor<4>(Powell())(3.0, -1.0, 0.0, 1.0), D{-7, -std::sqrt(5), 1, 4 * std::sqrt(10)}, 1e-15));
  EXPECT_TRUE(array_equal(functor<2>(Listed())(D{1, 2, 4}, D{5, 6}), D{6, 2.5}));
  EXPECT_TRUE(array_equal(functor<3>(Mapped())(D{1, 0, 0}, D{0, 1, 0}), D{2, 0, 1}));
  const auto lambda = [](const auto* x, auto* r) { r[0] = x[1] - x[0]; };
  EXPECT_EQ(functor<1>(lambda)(D{1, 3})(0), 2);
}

TEST(Functor, TakesNumbersAndVectorsOfEigen) {
  const Eigen::Vector3d a(1, 2, 3), b(0, -1, 2);
  const D expected = functor<3>(Mapped())(D{1, 2, 3}, D{0, -1, 2});
  EXPECT_TRUE(array_equal(functor<3>(Mapped())(a, b), expected));
  EXPECT_TRUE(array_equal(functor<3>(Mapped())(std::vector<double>{1, 2, 3}, b), expected));
  const auto typed =
      jit([](const Vector<double, 3>& u, const Vector<double, 3>& v) { return functor<3>(Mapped())(u, v); });
  EXPECT_TRUE(array_equal(typed(a, b), expected));
}

TEST(Functor, HasTheTypeOfItsBlocks) {
  const F f = functor<2>(Listed())(F{1, 2, 4}, F{5, 6});
  EXPECT_TRUE(array_equal(f, F{6, 2.5}));
  const D promoted = functor<2>(Listed())(F{1, 2, 4}, D{5, 6});
  EXPECT_TRUE(array_equal(promoted, D{6, 2.5}));
}

TEST(Functor, WithANumberOfResidualsKnownAtRunTime) {
  for (int n = 1; n < 5; ++n) {
    const auto powers = [n](const auto* x, auto* r) {
      r[0] = x[0];
      for (int i = 1; i < n; ++i) r[i] = r[i - 1] * x[0];
    };
    const D r = functor(powers, n)(D{3});
    ASSERT_EQ(r.size(), n);
    EXPECT_EQ(r(n - 1), std::pow(3, n));
    check_jacobians(functor(powers, n), std::tuple{D{3}});
  }
}

/// The functor has no residuals for negative numbers.
struct Root {
  template <class T>
  bool operator()(const T* x, T* r) const {
    if (x[0] < T(0)) return false;
    r[0] = sqrt(x[0]);
    return true;
  }
};

TEST(Functor, ResidualsAreNaNWhereItReturnsFalse) {
  const auto g = functor<1>(Root());
  EXPECT_EQ(g(D{4})(0), 2);
  EXPECT_TRUE(std::isnan(g(D{-4})(0)));
  EXPECT_EQ(std::get<0>(residuals_and_jacobians(g)(D{4}).second)(0, 0), 0.25);
  const D batch = jit(vmap(g), {.branches = branches::all})(D{{1}, {-1}, {9}});
  EXPECT_EQ(batch(0, 0), 1);
  EXPECT_TRUE(std::isnan(batch(1, 0)));
  EXPECT_EQ(batch(2, 0), 3);
  const auto chosen = [](const auto* x, auto* r) {
    r[0] = x[0];
    return x[0] > 0.0;
  };
  EXPECT_EQ(functor<1>(chosen)(D{4})(0), 4);
  EXPECT_TRUE(std::isnan(functor<1>(chosen)(D{-4})(0)));
}

TEST(Functor, Errors) {
  const auto wrong = [](const auto* x, auto* r) {
    r[0] = x[0];
    return false;
  };
  std::string line = line_below();
  std::string m = message_of<Error>([&] { (void)functor<1>(wrong)(D{1}); });
  EXPECT_EQ(m, "functor: the functor returned false whatever the data, so that it has no residuals" + line);
  line = line_below();
  m = message_of<Error>([&] { (void)functor<3>(Listed())(D{1, 2, 3}, D{1, 2}); });
  EXPECT_EQ(m, "functor: residual 2 of 3 was never assigned" + line);
  line = line_below();
  m = message_of<ShapeError>([&] { (void)functor<2>(Listed())(D{{1, 2, 3}}, D{1, 2}); });
  EXPECT_EQ(m,
            "functor: block 0 must be a vector, whose elements the functor's pointer goes along, got f64[1,3]; reshape "
            "it to {-1}" +
                line);
  const auto whole = [](const auto* x, auto* r) { r[0] = x[0] + D{1, 2}; };
  line = line_below();
  m = message_of<ShapeError>([&] { (void)functor<1>(whole)(D{1}); });
  EXPECT_EQ(m, "functor: residual 0 must be a scalar, got f64[2]" + line);
  line = line_below();
  m = message_of<Error>([&] { (void)functor<1>(Listed())(D{1, 2, 3}, D{1, 2}); });
  EXPECT_EQ(m, "functor: the functor writes residual 1, and it is to have 1" + line);
  const auto second = [](const auto* x, auto* r) { r[0] = x[0] * x[1]; };
  m = message_of<Error>([&] { (void)functor<1>(second)(D{1}); });
  EXPECT_EQ(m.find("functor: the functor reads element 1 of a block of size 1 ("), 0) << m;
  EXPECT_NE(m.find("functors_test.cpp"), std::string::npos) << m;
  const auto copied = [](const auto* x, auto* r) { r[0] = x[2]; };
  m = message_of<Error>([&] { (void)residuals_and_jacobians(functor<1>(copied))(D{1, 2}); });
  EXPECT_EQ(m.find("functor: the functor reads element 2 of a block of size 2 ("), 0) << m;
  m = message_of<Error>([&] { (void)functor<2>(Listed())(D{1, 2, 3}); });
  EXPECT_EQ(m.find("functor: the functor reads a block that is not given ("), 0) << m;
  line = line_below();
  m = message_of<Error>([&] { (void)functor(Listed(), 0); });
  EXPECT_EQ(m, "functor: a functor has at least one residual, got 0" + line);
}

}  // namespace
}  // namespace calque::test
