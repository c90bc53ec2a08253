#include "npbench/programs.h"

namespace cq = calque;

namespace calque::test {
namespace {

void run(Case& c) {
  auto A = c.in("A"), x = c.in("x");
  auto f = cq::jit([](auto A, auto x) { return matmul(matmul(A, x), A); });
  cq::Array<double> r;
  c.time([&] { r = f(A, x); });
  c.out(0, r);
}

TEST(Npbench, Atax) {
  Case c("atax");
  run(c);
}

}  // namespace
}  // namespace calque::test
