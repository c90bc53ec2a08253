#include "npbench/programs.h"

namespace cq = calque;

namespace calque::test {
namespace {

void run(Case& c) {
  auto in = [&](const char* n) { return c.in<float>(n); };
  auto input = in("input"), conv1 = in("conv1"), conv1bias = in("conv1bias"), conv2 = in("conv2"),
       conv2bias = in("conv2bias"), fc1w = in("fc1w"), fc1b = in("fc1b"), fc2w = in("fc2w"), fc2b = in("fc2b"),
       fc3w = in("fc3w"), fc3b = in("fc3b");
  auto N = c.i("N"), C_before_fc1 = c.i("C_before_fc1");
  auto maxpool2d = [](auto x) {
    auto s = x.shape();
    auto h = s[1] / 2, w = s[2] / 2;
    return amax(reshape(x.at(cq::all, cq::range(0, 2 * h), cq::range(0, 2 * w)), {s[0], h, 2, w, 2, s[3]}), {2, 4});
  };
  auto f = cq::jit([=](auto input, auto conv1, auto conv1bias, auto conv2, auto conv2bias, auto fc1w, auto fc1b,
                       auto fc2w, auto fc2b, auto fc3w, auto fc3b) {
    auto x = relu(conv(input, conv1) + conv1bias);
    x = maxpool2d(x);
    x = relu(conv(x, conv2) + conv2bias);
    x = maxpool2d(x);
    x = reshape(x, {N, C_before_fc1});
    x = relu(matmul(x, fc1w) + fc1b);
    x = relu(matmul(x, fc2w) + fc2b);
    return matmul(x, fc3w) + fc3b;
  });
  auto call = [&] { return f(input, conv1, conv1bias, conv2, conv2bias, fc1w, fc1b, fc2w, fc2b, fc3w, fc3b); };
  decltype(call()) r;
  c.time([&] { r = call(); });
  c.out(0, r);
}

TEST(Npbench, Lenet) {
  Case c("lenet");
  run(c);
}

}  // namespace
}  // namespace calque::test
