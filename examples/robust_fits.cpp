// A line and a circle through points of which every fifth is wrong: least squares follow the wrong ones, Tukey's and
// Cauchy's losses do not. Residuals and Jacobians of all points, corrected for the loss, are one compiled call, and a
// fit is Gauss-Newton in a few lines. Writes robust_line.svg and robust_circle.svg.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>

#include <calque/calque.h>
#include <calque/eigen.h>

#include "pictures/plot.h"

namespace cq = calque;

using Array = cq::Array<double>;

template <class S>
struct OnLine {
  S x, y;
  template <class T>
  void operator()(const T* line, T* residual) const {
    residual[0] = line[0] * x + line[1] - y;
  }
};
/// The distance from a circle of centre (c[0], c[1]) and radius c[2].
template <class S>
struct OnCircle {
  S x, y;
  template <class T>
  void operator()(const T* c, T* residual) const {
    using std::sqrt;
    const auto dx = x - c[0], dy = y - c[1];
    residual[0] = sqrt(dx * dx + dy * dy) - c[2];
  }
};

/// Gauss-Newton from p. Data: one functor for each point.
template <class Data, class Loss>
Eigen::VectorXd fit(const Data& data, Eigen::VectorXd p, const Loss& loss) {
  const auto both = cq::jit(cq::vmap(
      [loss](const auto& seen, const auto& parameters) {
        const auto [r, j] = cq::residuals_and_jacobians(cq::functor<1>())(seen, parameters);
        return cq::corrected(loss, r, j);
      },
      {.in_axes = {0, cq::none}}));
  for (int i = 0; i < 60; ++i) {
    const auto [r, j] = both(data, p);
    const Eigen::MatrixXd jacobian = std::get<0>(j).reshape({-1, p.size()});
    p -= jacobian.colPivHouseholderQr().solve(Eigen::VectorXd(r.reshape({-1})));
  }
  return p;
}

pictures::Numbers numbers(const Array& a) { return {a.host().begin(), a.host().end()}; }

bool right = true;
void require(bool condition, const std::string& what) {
  if (!condition) std::cout << "wrong: " << what << '\n';
  right = right && condition;
}

int main() {
  const auto squares = [](auto s) { return s; };
  constexpr int64_t kPoints = 60;
  const auto [of_noise, of_outliers, of_angles] = [] {
    const auto [a, rest] = cq::random::split(cq::random::key(1805));
    const auto [b, c] = cq::random::split(rest);
    return std::tuple{a, b, c};
  }();
  const Array noise = 0.1 * cq::random::normal<double>(of_noise, {kPoints});
  const Array wrong = where(cq::Array<int>::arange(kPoints) % 5 == 2, 1.0, 0.0);
  const Array away = wrong * cq::random::uniform<double>(of_outliers, {kPoints}, 2.0, 6.0);

  const Array x = Array::linspace(0, 5, kPoints), y = 0.8 * x + 0.5 + noise + away;
  const Eigen::VectorXd start{{0.0, 0.0}}, line{{0.8, 0.5}};
  const Eigen::VectorXd plain = fit(OnLine<Array>{x, y}, start, squares);
  const Eigen::VectorXd cauchy = fit(OnLine<Array>{x, y}, plain, [](auto s) { return cq::cauchy(s, 0.2); });
  const Eigen::VectorXd tukey = fit(OnLine<Array>{x, y}, cauchy, [](auto s) { return cq::tukey(s, 0.5); });
  std::cout << "line: squares " << plain.transpose() << ", Cauchy " << cauchy.transpose() << ", Tukey "
            << tukey.transpose() << '\n';
  require((plain - line).norm() > 0.3, "squares follow the wrong points");
  require((tukey - line).norm() < 0.1, "Tukey's loss does not");
  pictures::Plot of_line("A line through points, a fifth of which are wrong", "x", "y");
  of_line.points(numbers(x), numbers(y), "#808080");
  const auto draw = [&](const Eigen::VectorXd& p, const char* name, const char* color) {
    of_line.curve({0, 5}, {p[1], 5 * p[0] + p[1]}, color, 2);
    of_line.label(name, color);
  };
  draw(plain, "least squares", "#e07b39");
  draw(tukey, "Tukey's loss", "#4c8dd6");
  of_line.write("robust_line.svg");

  const Array angle = cq::random::uniform<double>(of_angles, {kPoints}, -0.5, 3.5);
  const Array radius = 2.0 + noise + 0.5 * away;
  const OnCircle<Array> round{1.0 + radius * cos(angle), 0.5 + radius * sin(angle)};
  const Eigen::VectorXd circle{{1, 0.5, 2}}, guess{{mean(round.x).item(), mean(round.y).item(), 2.0}};
  const Eigen::VectorXd of_squares = fit(round, guess, squares);
  const Eigen::VectorXd robust = fit(round, of_squares, [](auto s) { return cq::cauchy(s, 0.1); });
  std::cout << "circle: squares " << of_squares.transpose() << ", Cauchy " << robust.transpose() << '\n';
  require((of_squares - circle).norm() > 0.3, "squares follow the wrong points of the circle");
  require((robust - circle).norm() < 0.1, "Cauchy's loss does not");
  pictures::Plot of_circle("A circle through points on an arc", "x", "y");
  of_circle.equal_scales();
  of_circle.points(numbers(round.x), numbers(round.y), "#808080");
  const Array around = Array::linspace(0, 2 * M_PI, 200);
  const auto draw_circle = [&](const Eigen::VectorXd& c, const char* name, const char* color) {
    of_circle.curve(numbers(c[0] + c[2] * cos(around)), numbers(c[1] + c[2] * sin(around)), color, 2);
    of_circle.label(name, color);
  };
  draw_circle(of_squares, "least squares", "#e07b39");
  draw_circle(robust, "Cauchy's loss", "#4c8dd6");
  of_circle.write("robust_circle.svg");
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
