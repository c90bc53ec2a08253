#include "npbench/programs.h"

namespace cq = calque;

namespace calque::test {
namespace {

void run(Case& c) {
  double alpha = c.d("alpha"), beta = c.d("beta");
  auto C = c.in("C"), A = c.in("A"), B = c.in("B");
  auto f = cq::jit([](auto alpha, auto beta, auto C, auto A, auto B) {
    auto M = C.shape()[0];
    return cq::fori_loop(
        0, M,
        [=](auto i, auto C) {
          auto a = where(cq::iota(M) < i, A[i], 0.0);  // A[i, :i]
          C = C + outer(a, alpha * B[i]);
          return C.add(i, cq::all, alpha * B[i] * A.at(i, i) + alpha * matmul(a, B));
        },
        C * beta);
  });
  decltype(f(alpha, beta, C, A, B)) r;
  c.time([&] { r = f(alpha, beta, C, A, B); });
  c.out(0, r);
}

TEST(Npbench, Symm) {
  Case c("symm");
  run(c);
}

}  // namespace
}  // namespace calque::test
