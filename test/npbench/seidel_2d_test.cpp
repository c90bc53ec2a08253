#include "npbench/programs.h"

namespace cq = calque;

namespace calque::test {
namespace {

void run(Case& c) {
  auto steps = c.i("TSTEPS"), N = c.i("N");
  auto A = c.in("A");
  auto f = cq::jit([=](auto A) {
    auto in = cq::range(1, -1), lo = cq::range(0, -2), hi = cq::range(2, cq::none);
    return cq::fori_loop(
        0, steps - 1,
        [=](auto, auto A) {
          return cq::fori_loop(
              1, N - 1,
              [=](auto i, auto A) {
                A = A.add(i, in,
                          A.at(i - 1, lo) + A.at(i - 1, in) + A.at(i - 1, hi) + A.at(i, hi) + A.at(i + 1, lo) +
                              A.at(i + 1, in) + A.at(i + 1, hi));
                return cq::fori_loop(
                    1, N - 1, [=](auto j, auto A) { return A.set(i, j, (A.at(i, j) + A.at(i, j - 1)) / 9.0); }, A);
              },
              A);
        },
        A);
  });
  decltype(f(A)) r;
  c.time([&] { r = f(A); });
  c.out(0, r);
}

TEST(Npbench, Seidel2d) {
  Case c("seidel_2d");
  run(c);
}

}  // namespace
}  // namespace calque::test
