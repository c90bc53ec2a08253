// Bad input of problems, and residuals that are not finite, in words.
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "calque/ceres.h"

#include "jit/messages.h"
#include "options.h"
#include "scene.h"

namespace calque::test {
namespace {

using D = Array<double>;

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

TEST(Problem, SaysWhichResidualIsNotFinite) {
  std::vector<std::array<double, 1>> x = {{1}, {4}, {-1}, {9}};
  ceres::Problem problem;
  const std::string line = line_below();
  problem.add(functor<1>(), Root<D>{D{1, 1, 1, 1}}, {x});
  const auto summary = problem.solve(options());
  EXPECT_EQ(summary.termination_type, ::ceres::FAILURE);
  EXPECT_EQ(problem.failure(),
            "residual 0 of observation 2 of 4 is NaN: the functor returned false or computed it" + line);
  EXPECT_NE(summary.message.find(problem.failure()), std::string::npos) << summary.message;
  x[2][0] = 2;
  EXPECT_EQ(problem.solve(options()).termination_type, ::ceres::CONVERGENCE);
  EXPECT_EQ(problem.failure(), "");
}

TEST(Problem, Errors) {
  Scene s(4, 5, 2, 0.5);
  const ceres::Blocks cameras(s.cameras), points(s.points);
  const Projection<D> seen{D::from(s.u), D::from(s.v)};
  ceres::Problem problem;
  std::vector<int32_t> wrong = s.camera;
  wrong[3] = 4;
  std::string line = line_below();
  std::string m = message_of<ShapeError>([&] { problem.add(functor<2>(), seen, {cameras[wrong], points[s.point]}); });
  EXPECT_EQ(m, "Problem::add: observation 3 has index 4 for block 0, of which there are 4" + line);
  wrong.pop_back();
  line = line_below();
  m = message_of<ShapeError>([&] { problem.add(functor<2>(), seen, {cameras[wrong], points[s.point]}); });
  EXPECT_EQ(m, "Problem::add: leaf 0 of the data has 10 observations, the list of indices of block 0 9" + line);
  line = line_below();
  m = message_of<ShapeError>([&] { problem.add(functor<2>(), seen, {cameras[s.camera], points}); });
  EXPECT_EQ(m, "Problem::add: leaf 0 of the data has 10 observations, block 1, which has no indices, 5" + line);
  const auto difference = [](auto a, auto b) { return a - b; };
  line = line_below();
  m = message_of<Error>([&] { problem.add(difference, none, {points[s.point], points[s.point]}); });
  EXPECT_EQ(m, "Problem::add: observation 0 has the same block twice, as block 0 and block 1" + line);
  line = line_below();
  m = message_of<ShapeError>([&] { problem.add(functor<2>(), Projection<D>{D(1.0), D(2.0)}, {cameras, points}); });
  EXPECT_EQ(m, "Problem::add: leaf 0 of the data must have a row for each observation, got a number" + line);
  line = line_below();
  m = message_of<ShapeError>([&] { (void)cameras.block(4); });
  EXPECT_EQ(m, "Blocks: block 4 of 4" + line);
  line = line_below();
  m = message_of<Error>([&] { (void)problem.first_column(ceres::Blocks(s.camera.size() ? s.cameras : s.cameras)); });
  EXPECT_EQ(m, "first_column: no observation has these blocks" + line);
  ::ceres::Problem::Options with_callback;
  struct : ::ceres::EvaluationCallback {
    void PrepareForEvaluation(bool, bool) override {}
  } own;
  with_callback.evaluation_callback = &own;
  line = line_below();
  m = message_of<Error>([&] { ceres::Problem other(with_callback); });
  EXPECT_EQ(m, "Problem: its evaluation callback is its own, and the options have another" + line);
  EXPECT_EQ(problem->NumResidualBlocks(), 0);
  problem.add(functor<2>(), Projection<D>{D::zeros({0}), D::zeros({0})},
              {cameras[std::vector<int32_t>()], points[std::vector<int32_t>()]});
  EXPECT_EQ(problem->NumResidualBlocks(), 0);
}

}  // namespace
}  // namespace calque::test
