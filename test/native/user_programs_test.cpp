// Programs as users write them: a filter with typed parameters, a class of functions called from threads, a captured
// design matrix, a mesh of vectors, a table read from text.
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/eigen.h"

namespace calque {
namespace {

using D = Array<double>;

// ---- a Kalman filter of a position seen with noise

template <class S>
struct Belief {
  Eigen::Matrix<S, 2, 1> mean;
  Eigen::Matrix<S, 2, 2> covariance;
};

TEST(UserPrograms, AFilterWithTypedParameters) {
  using V2 = Vector<double, 2>;
  using M2 = Matrix<double, 2, 2>;
  const auto step = jit([](const Belief<Tracer<double>>& b, const M2& f, const Tracer<double>& z) {
    const V2 mean = f * b.mean;
    const M2 p = f * b.covariance * f.transpose() + M2(M2::Identity() * Tracer<double>(0.01));
    const Tracer<double> s = p(0, 0) + 0.25;
    const V2 gain = p.col(0) / s;
    M2 left = M2::Identity();
    left.col(0) -= gain;
    return Belief<Tracer<double>>{mean + gain * (z - mean(0)), left * p};
  });
  Eigen::Matrix2d f;
  f << 1, 0.1, 0, 1;
  Belief<double> belief{Eigen::Vector2d::Zero(), Eigen::Matrix2d::Identity()};
  Eigen::Vector2d mean = Eigen::Vector2d::Zero();
  Eigen::Matrix2d p = Eigen::Matrix2d::Identity();
  for (int t = 0; t < 20; ++t) {
    const double z = 0.3 * t;
    belief = step(belief, f, z);
    mean = f * mean;
    p = f * p * f.transpose() + 0.01 * Eigen::Matrix2d::Identity();
    const Eigen::Vector2d gain = p.col(0) / (p(0, 0) + 0.25);
    mean += gain * (z - mean(0));
    Eigen::Matrix2d left = Eigen::Matrix2d::Identity();
    left.col(0) -= gain;
    p = (left * p).eval();
  }
  EXPECT_TRUE(belief.mean.isApprox(mean, 1e-12));
  EXPECT_TRUE(belief.covariance.isApprox(p, 1e-12));
}

// ---- a class that holds five functions, called from threads

class Oscillator {
 public:
  explicit Oscillator(double stiffness)
      : energy_(jit([=](auto x, auto v) { return 0.5 * v * v + 0.5 * stiffness * x * x; })),
        force_(jit([=](auto x) { return -stiffness * x; })),
        slope_(grad([=](auto x) { return 0.5 * stiffness * x * x; })),
        step_([force = force_](const D& x, const D& v) {
          const D next = v + 0.01 * force(x);
          return std::pair{D(x + 0.01 * next), next};
        }),
        period_(compile<double(double)>([=](auto scale) { return scale * 6.283185307179586 / std::sqrt(stiffness); })) {
  }

  double run(double x0) const {
    D x = x0, v = 0.0;
    for (int i = 0; i < 100; ++i) std::tie(x, v) = step_(x, v);
    return energy_(x, v).item();
  }
  double slope(double x) const { return slope_(x).item(); }
  double period() const { return period_(1.0); }

 private:
  Function<D(D, D)> energy_;
  Function<D(D)> force_;
  Function<D(double)> slope_;
  Function<std::pair<D, D>(D, D)> step_;
  Function<double(double)> period_;
};

TEST(UserPrograms, AClassOfFunctionsInThreads) {
  const Oscillator oscillator(4.0);
  std::vector<double> energies(4);
  {
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < energies.size(); ++t)
      threads.emplace_back([&, t] { energies[t] = oscillator.run(1.0 + static_cast<double>(t)); });
  }
  for (size_t t = 0; t < energies.size(); ++t) {
    const double x0 = 1.0 + static_cast<double>(t);
    EXPECT_NEAR(energies[t], 2 * x0 * x0, 0.05 * x0 * x0);
  }
  EXPECT_EQ(oscillator.slope(3), 12);
  EXPECT_DOUBLE_EQ(oscillator.period(), 3.141592653589793);
}

// ---- least squares with a captured design matrix

TEST(UserPrograms, ACapturedDesignMatrix) {
  Eigen::MatrixXd design(5, 2);
  std::vector<double> observed(5);
  for (int i = 0; i < 5; ++i) {
    design.row(i) << 1.0, i;
    observed[static_cast<size_t>(i)] = 2.0 - 3.0 * i;
  }
  const auto loss = [design, observed](auto w) { return square(matmul(design, w) - observed).sum(); };
  const auto slope = grad(loss);
  Eigen::VectorXd w = Eigen::VectorXd::Zero(2);
  for (int i = 0; i < 2000; ++i) w -= 0.01 * slope(w);
  EXPECT_NEAR(w(0), 2, 1e-8);
  EXPECT_NEAR(w(1), -3, 1e-8);
  const Eigen::VectorXd residual =
      jit([design](auto v) { return matmul(design, v); })(w) - Eigen::VectorXd(design.col(1));
  EXPECT_NEAR(residual(1), -2, 1e-7);
}

// ---- the area of a mesh and its gradient by the vertices

TEST(UserPrograms, AMeshOfVectors) {
  using V3 = Vector<double, 3>;
  const std::vector<Eigen::Vector3d> vertices{{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}};
  const std::vector<std::array<size_t, 3>> faces{{0, 1, 2}, {0, 1, 3}, {0, 2, 3}};
  const auto area = [faces](const std::vector<V3>& p) {
    Tracer<double> total = 0.0;
    for (const auto& [a, b, c] : faces) {
      const V3 normal = (p[b] - p[a]).cross(p[c] - p[a]);
      total += 0.5 * normal.norm();
    }
    return total;
  };
  EXPECT_DOUBLE_EQ(jit(area)(vertices).item(), 1 + 1.5 + 3);
  const std::vector<Eigen::Vector3d> slope = like(vertices, grad(area)(vertices));
  // Of vertex 1: the face in the plane z = 0 has height 2, the one in y = 0 height 3.
  EXPECT_NEAR((slope[1] - Eigen::Vector3d(0.5 * 2 + 0.5 * 3, 0, 0)).norm(), 0, 1e-12);
}

// ---- a table of text

TEST(UserPrograms, ATableOfText) {
  std::istringstream text("1.5,2\n2.5,4\n3.5,8\n");
  std::vector<double> x, y;
  std::string line;
  while (std::getline(text, line)) {
    const size_t comma = line.find(',');
    x.push_back(std::stod(line.substr(0, comma)));
    y.push_back(std::stod(line.substr(comma + 1)));
  }
  const D table = stack({D::from(x), D::from(y)}, 1);
  EXPECT_EQ(table.shape(), (Shape{3, 2}));
  const auto center = jit([](auto t) { return t - mean(t, {0}); });
  const D centered = center(table);
  EXPECT_DOUBLE_EQ(centered(0, 0), -1);
  EXPECT_DOUBLE_EQ(centered(2, 1), 8 - 14.0 / 3);
  const auto slope = jit([](auto a, auto b) { return (a - mean(a)).dot(b - mean(b)) / (a - mean(a)).squaredNorm(); });
  EXPECT_DOUBLE_EQ(slope(x, y).item(), 3);
}

}  // namespace
}  // namespace calque
