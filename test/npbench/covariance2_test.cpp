#include "npbench/programs.h"

namespace cq = calque;

namespace calque::test {
namespace {

void run(Case& c) {
  auto data = c.in("data");
  auto f = cq::jit([](auto data) {  // no cov
    auto X = data.T();
    X -= mean(X, 1, cq::keepdims);
    return matmul(X, X.T()) / (X.shape()[1] - 1);
  });
  cq::Array<double> r;
  c.time([&] { r = f(data); });
  c.out(0, r);
}

TEST(Npbench, Covariance2) {
  Case c("covariance2");
  run(c);
}

}  // namespace
}  // namespace calque::test
