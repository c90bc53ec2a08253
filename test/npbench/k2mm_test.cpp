#include "npbench/programs.h"

namespace cq = calque;

namespace calque::test {
namespace {

void run(Case& c) {
  auto A = c.in("A"), B = c.in("B"), C = c.in("C"), D = c.in("D");
  double alpha = c.d("alpha"), beta = c.d("beta");
  auto f = cq::jit(
      [](auto alpha, auto beta, auto A, auto B, auto C, auto D) { return matmul(matmul(alpha * A, B), C) + beta * D; });
  decltype(f(alpha, beta, A, B, C, D)) r;
  c.time([&] { r = f(alpha, beta, A, B, C, D); });
  c.out(0, r);
}

TEST(Npbench, K2mm) {
  Case c("k2mm");
  run(c);
}

}  // namespace
}  // namespace calque::test
