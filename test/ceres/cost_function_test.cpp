// cost_function beside ceres::AutoDiffCostFunction: residuals, Jacobians, blocks that are not asked for, threads,
// errors.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "calque/ceres.h"

#include "evaluated.h"
#include "jit/messages.h"
#include "models.h"

namespace calque::test {
namespace {

TEST(CostFunction, AsAutomaticDerivativesOfCeres) {
  const double m = 0.3, c = 0.1, line[2] = {2, -1};
  compare<1, 1, 1>(Curve<double>{2, 3}, {&m, &c});
  compare<1, 2>(Line<double>{2, 3}, {line});
}

/// With a constructor, so that the members are constants.
class Power {
 public:
  explicit Power(int exponent) : exponent_(exponent) {}
  template <class T>
  bool operator()(const T* x, T* r) const {
    r[0] = x[0];
    r[1] = T(1.0);
    for (int i = 0; i < exponent_; ++i) r[1] *= x[0];
    return true;
  }

 private:
  int exponent_;
};

TEST(CostFunction, OfFunctorsWithConstructors) {
  const double x = 1.5;
  for (int exponent = 0; exponent < 4; ++exponent) compare<2, 1>(Power(exponent), {&x});
}

template <class S>
struct Root {
  S y;
  template <class T>
  bool operator()(const T* x, T* r) const {
    using std::sqrt;
    if (x[0] < T(0.0)) return false;
    r[0] = sqrt(x[0]) - y;
    return true;
  }
};

TEST(CostFunction, IsInvalidWhereTheFunctorReturnsFalse) {
  const std::unique_ptr<::ceres::CostFunction> cost(ceres::cost_function<1, 1>(Root<double>{1}));
  const double good = 4, bad = -4;
  EXPECT_TRUE((Evaluated<1, 1>(*cost, {&good}).valid));
  EXPECT_FALSE((Evaluated<1, 1>(*cost, {&bad}).valid));
}

TEST(CostFunction, Errors) {
  const auto forgetful = [](const auto* x, auto* r) { r[0] = x[0]; };
  const std::string line = line_below();
  const std::string m = message_of<Error>([&] { (void)ceres::cost_function<2, 1>(forgetful); });
  EXPECT_EQ(m, "functor: residual 1 of 2 was never assigned" + line);
}

}  // namespace
}  // namespace calque::test
