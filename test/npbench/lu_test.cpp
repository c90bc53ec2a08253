#include "npbench/programs.h"

namespace cq = calque;

namespace calque::test {
namespace {

void run(Case& c) {
  auto A = c.in("A");
  auto f = cq::jit([](auto A) {
    using cq::all;
    auto n = A.shape()[0];
    auto index = cq::iota(n);
    // A[i, :m] @ A[:m, j], m known only at run time
    auto partial = [=](auto A, auto i, auto j, auto m) { return sum(where(index < m, A[i] * A.at(all, j), 0.0)); };
    return cq::fori_loop(
        0, n,
        [=](auto i, auto A) {
          A = cq::fori_loop(
              0, i, [=](auto j, auto A) { return A.set(i, j, (A.at(i, j) - partial(A, i, j, j)) / A.at(j, j)); }, A);
          return cq::fori_loop(i, n, [=](auto j, auto A) { return A.add(i, j, -partial(A, i, j, i)); }, A);
        },
        A);
  });
  decltype(f(A)) r;
  c.time([&] { r = f(A); });
  c.out(0, r);
}

TEST(Npbench, Lu) {
  Case c("lu");
  run(c);
}

}  // namespace
}  // namespace calque::test
