// cost_function beside ceres::AutoDiffCostFunction: residuals, Jacobians, blocks that are not asked for, threads,
// errors.
#include <array>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <ceres/autodiff_cost_function.h>
#include <gtest/gtest.h>

#include "calque/ceres.h"

#include "jit/messages.h"
#include "models.h"

namespace calque::test {
namespace {

/// Results of one evaluation of a cost function with R residuals.
template <int R, int... N>
struct Evaluated {
  bool valid;
  std::array<double, R> residuals{};
  std::array<std::vector<double>, sizeof...(N)> jacobians{std::vector<double>(static_cast<size_t>(R * N))...};

  Evaluated(const ::ceres::CostFunction& cost, const std::array<const double*, sizeof...(N)>& parameters) {
    std::array<double*, sizeof...(N)> to;
    for (size_t k = 0; k < to.size(); ++k) to[k] = jacobians[k].data();
    valid = cost.Evaluate(parameters.data(), residuals.data(), to.data());
  }
};

template <int R, int... N, class F>
void compare(const F& f, const std::array<const double*, sizeof...(N)>& parameters) {
  const std::unique_ptr<::ceres::CostFunction> ours(ceres::cost_function<R, N...>(f));
  const ::ceres::AutoDiffCostFunction<F, R, N...> theirs(new F(f));
  ASSERT_EQ(ours->parameter_block_sizes(), theirs.parameter_block_sizes());
  ASSERT_EQ(ours->num_residuals(), R);
  const Evaluated<R, N...> a(*ours, parameters), b(theirs, parameters);
  EXPECT_TRUE(a.valid);
  for (size_t r = 0; r < R; ++r) EXPECT_NEAR(a.residuals[r], b.residuals[r], 1e-14 * (1 + std::abs(b.residuals[r])));
  for (size_t k = 0; k < sizeof...(N); ++k) {
    double scale = 1;
    for (const double e : b.jacobians[k]) scale = std::max(scale, std::abs(e));
    for (size_t i = 0; i < b.jacobians[k].size(); ++i) {
      EXPECT_NEAR(a.jacobians[k][i], b.jacobians[k][i], 1e-14 * scale) << "entry " << i << " of block " << k;
    }
  }
}

constexpr double kCamera[9] = {0.1, -0.2, 0.3, 0.4, 0.1, -5, 500, 0.01, -0.002}, kPoint[3] = {0.3, -0.7, 0.2};

TEST(CostFunction, AsAutomaticDerivativesOfCeres) {
  const double m = 0.3, c = 0.1, still[3] = {0, 0, 0}, line[2] = {2, -1};
  compare<1, 1, 1>(Curve<double>{2, 3}, {&m, &c});
  compare<1, 2>(Line<double>{2, 3}, {line});
  compare<2, 9, 3>(Projection<double>{100, -20}, {kCamera, kPoint});
  compare<3, 3, 3>(Rotated<double>{1, 2, 3}, {kCamera, kPoint});
  compare<3, 3, 3>(Rotated<double>{1, 2, 3}, {still, kPoint});
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

TEST(CostFunction, WritesOnlyWhatIsAskedFor) {
  const std::unique_ptr<::ceres::CostFunction> cost(ceres::cost_function<2, 9, 3>(Projection<double>{1, 2}));
  const double* parameters[] = {kCamera, kPoint};
  double residuals[2], of_point[6];
  double* jacobians[] = {nullptr, of_point};
  EXPECT_TRUE(cost->Evaluate(parameters, residuals, nullptr));
  EXPECT_TRUE(cost->Evaluate(parameters, residuals, jacobians));
  const Evaluated<2, 9, 3> all(*cost, {kCamera, kPoint});
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(of_point[i], all.jacobians[1][i]);
}

TEST(CostFunction, OfSeveralThreads) {
  const std::unique_ptr<::ceres::CostFunction> cost(ceres::cost_function<2, 9, 3>(Projection<double>{1, 2}));
  const Evaluated<2, 9, 3> expected(*cost, {kCamera, kPoint});
  std::vector<std::thread> threads;
  std::array<bool, 4> same{};
  for (size_t t = 0; t < same.size(); ++t) {
    threads.emplace_back([&, t] {
      same[t] = true;
      for (int i = 0; i < 200; ++i) {
        const Evaluated<2, 9, 3> one(*cost, {kCamera, kPoint});
        same[t] = same[t] && one.residuals == expected.residuals && one.jacobians == expected.jacobians;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const bool s : same) EXPECT_TRUE(s);
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
  EXPECT_EQ(message_of<Error>([&] { (void)ceres::cost_function<2, 1>(forgetful); }),
            "functor: residual 1 of 2 was never assigned" + line);
}

}  // namespace
}  // namespace calque::test
