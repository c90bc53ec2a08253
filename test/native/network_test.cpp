// A network of two layers, trained with Adam, compared with plain Eigen.
#include <cmath>

#include <gtest/gtest.h>

#include "native/states.h"

namespace calque {
namespace {

using namespace test;
using D = Array<double>;

template <class A>
struct Net {
  Layer<A> hidden, output;
};

TEST(NativePrograms, NetworkTrainedWithAdam) {
  using namespace tree_operators;
  const auto loss = [](const auto& net, auto x, auto y) {
    auto h = tanh(matmul(x, net.hidden.w) + net.hidden.b);
    auto e = matmul(h, net.output.w) + net.output.b - y;
    return mean(e * e);
  };
  const auto step = jit([loss](const auto& net, const auto& m, const auto& v, auto t, auto x, auto y) {
    auto g = grad(loss)(net, x, y);
    auto m1 = 0.9 * m + 0.1 * g;
    auto v1 = 0.999 * v + 0.001 * (g * g);
    auto next = tree_map(
        [&](auto w, auto a, auto b) {
          return w - 0.01 * (a / (1.0 - pow(0.9, t))) / (sqrt(b / (1.0 - pow(0.999, t))) + 1e-8);
        },
        net, m1, v1);
    return std::tuple{next, m1, v1};
  });
  std::srand(3);
  const Eigen::MatrixXd x = Eigen::MatrixXd::Random(16, 2), y = x.col(0).cwiseProduct(x.col(1));
  Eigen::MatrixXd p[4] = {Eigen::MatrixXd::Random(2, 8), Eigen::MatrixXd::Zero(1, 8), Eigen::MatrixXd::Random(8, 1),
                          Eigen::MatrixXd::Zero(1, 1)};
  Net<D> net{{D::from(p[0]), D::from(p[1])}, {D::from(p[2]), D::from(p[3])}};
  Net<D> m = zeros_like(net), v = zeros_like(net);
  Eigen::MatrixXd mean_of[4], square_of[4], g[4];
  for (int i = 0; i < 4; ++i) mean_of[i] = square_of[i] = 0 * p[i];
  for (int t = 1; t <= 40; ++t) {
    std::tie(net, m, v) = step(net, m, v, static_cast<double>(t), x, y);
    const Eigen::MatrixXd h = ((x * p[0]).rowwise() + Eigen::RowVectorXd(p[1])).array().tanh();
    const Eigen::MatrixXd e = (2.0 / 16) * (((h * p[2]).rowwise() + Eigen::RowVectorXd(p[3])) - y);
    const Eigen::MatrixXd dh = (e * p[2].transpose()).array() * (1 - h.array().square());
    g[0] = x.transpose() * dh, g[1] = dh.colwise().sum(), g[2] = h.transpose() * e, g[3] = e.colwise().sum();
    for (int i = 0; i < 4; ++i) {
      mean_of[i] = 0.9 * mean_of[i] + 0.1 * g[i];
      square_of[i] = 0.999 * square_of[i] + 0.001 * g[i].cwiseProduct(g[i]);
      p[i].array() -= 0.01 * (mean_of[i].array() / (1 - std::pow(0.9, t))) /
                      ((square_of[i].array() / (1 - std::pow(0.999, t))).sqrt() + 1e-8);
    }
  }
  EXPECT_TRUE(Eigen::MatrixXd(net.hidden.w).isApprox(p[0], 1e-9));
  EXPECT_TRUE(Eigen::MatrixXd(net.hidden.b).isApprox(p[1], 1e-9));
  EXPECT_TRUE(Eigen::MatrixXd(net.output.w).isApprox(p[2], 1e-9));
  EXPECT_LE(step.cache_info().misses, 2u);  // on a device, the first step reads from the host
}

}  // namespace
}  // namespace calque
