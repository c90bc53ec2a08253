#include "npbench/programs.h"

namespace cq = calque;

namespace calque::test {
namespace {

void run(Case& c) {
  auto steps = c.i("TSTEPS");
  auto A = c.in("A"), B = c.in("B");
  auto f = cq::jit([steps](auto A, auto B) {
    return cq::fori_loop(
        1, steps,
        [](auto, auto AB) {
          auto [A, B] = AB;
          auto in = cq::range(1, -1);
          auto three = [](auto X) {
            return 0.33333 * (X[cq::range(cq::none, -2)] + X[cq::range(1, -1)] + X[cq::range(2, cq::none)]);
          };
          B = B.set(in, three(A));
          A = A.set(in, three(B));
          return std::tuple{A, B};
        },
        std::tuple{A, B});
  });
  decltype(f(A, B)) r;
  c.time([&] { r = f(A, B); });
  c.out(0, std::get<0>(r));
  c.out(1, std::get<1>(r));
}

TEST(Npbench, Jacobi1d) {
  Case c("jacobi_1d");
  run(c);
}

}  // namespace
}  // namespace calque::test
