#include "npbench/programs.h"

namespace cq = calque;

namespace calque::test {
namespace {

void run(Case& k) {
  auto x = k.in<int64_t>("array_1"), y = k.in<int64_t>("array_2");
  const int64_t a = k.i("a"), b = k.i("b"), c = k.i("c");
  auto f = cq::jit(
      [](auto array_1, auto array_2, auto a, auto b, auto c) { return clip(array_1, 2, 10) * a + array_2 * b + c; });
  cq::Array<int64_t> r;
  k.time([&] { r = f(x, y, a, b, c); });
  k.out(0, r);
}

TEST(Npbench, Compute) {
  Case c("compute");
  run(c);
}

}  // namespace
}  // namespace calque::test
