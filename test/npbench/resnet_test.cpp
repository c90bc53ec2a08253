#include "npbench/programs.h"

namespace cq = calque;

namespace calque::test {
namespace {

template <class X>
auto batchnorm2d(const X& x, double eps = 1e-5) {
  return (x - mean(x, {0}, cq::keepdims)) / sqrt(stddev(x, {0}, cq::keepdims) + eps);
}
void run(Case& c) {
  auto in = c.in<float>("input"), c1 = c.in<float>("conv1"), c2 = c.in<float>("conv2"), c3 = c.in<float>("conv3");
  auto f = cq::jit([](auto in, auto conv1, auto conv2, auto conv3) {
    auto padded = pad(conv(in, conv1), 0, {0, 1, 1, 0}, {0, 1, 1, 0});
    auto x = relu(batchnorm2d(padded));
    x = relu(batchnorm2d(conv(x, conv2)));
    x = batchnorm2d(conv(x, conv3));
    return relu(x + in);
  });
  decltype(f(in, c1, c2, c3)) r;
  c.time([&] { r = f(in, c1, c2, c3); });
  c.out(0, r);
}

TEST(Npbench, Resnet) {
  Case c("resnet");
  run(c);
}

}  // namespace
}  // namespace calque::test
