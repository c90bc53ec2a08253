#include "npbench/programs.h"

namespace cq = calque;

namespace calque::test {
namespace {

void run(Case& c) {
  auto x = c.in<float>("x");
  auto f = cq::jit([](auto x) {
    auto m = amax(x, {-1}, cq::keepdims);
    auto e = exp(x - m);
    return e / sum(e, {-1}, cq::keepdims);
  });
  decltype(f(x)) r;
  c.time([&] { r = f(x); });
  c.out(0, r);
}

TEST(Npbench, Softmax) {
  Case c("softmax");
  run(c);
}

}  // namespace
}  // namespace calque::test
