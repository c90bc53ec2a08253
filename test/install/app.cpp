// A program that uses only the installed Calque package. Its exit status tells whether the results were correct.
#include <cmath>
#include <cstdlib>
#include <iostream>

#include <calque/calque.h>
#include <calque/eigen.h>

namespace cq = calque;

template <class A>
struct Layer {
  A w, b;
};

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  if (!holds) {
    std::cout << "wrong: " << what << '\n';
    ++failures;
  }
}

}  // namespace

int main() {
  auto f = cq::jit([](auto x, auto w) { return tanh(matmul(x, w)); });
  cq::Array<float> a = {{1, 2, 3}, {4, 5, 6}};
  auto b = cq::Array<float>{0.1f, -0.2f, 0.3f}.reshape({3, 1});
  cq::Array<float> y = f(a, b);
  expect(y.shape() == cq::Shape{2, 1}, "shape of tanh(matmul(a, b))");
  expect(std::abs(y(0, 0) - std::tanh(0.6f)) < 1e-6f, "tanh(matmul(a, b))");

  double p = cq::jit([](auto x) { return x * x + 2.0 * x + 1.0; })(3.0);
  expect(p == 16.0, "a polynomial of a scalar");

  Eigen::MatrixXf A(2, 3), B(3, 1);
  A << 1, 2, 3, 4, 5, 6;
  B << 0.1f, -0.2f, 0.3f;
  Eigen::MatrixXf C = f(A, B);
  expect((C - (A * B).array().tanh().matrix()).norm() < 1e-6f, "Eigen matrices in and out");

  auto predict = cq::jit([](const auto& layer, auto x) { return matmul(x, layer.w) + layer.b; });
  cq::Array<float> z = predict(Layer<cq::Array<float>>{b, cq::Array<float>{1.0f}}, a);
  expect(std::abs(z(1, 0) - 2.2f) < 1e-6f, "an aggregate as argument");

  std::cout << f.trace(a, b) << (failures == 0 ? "ok" : "failed") << '\n';
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
