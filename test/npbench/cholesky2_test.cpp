#include "npbench/programs.h"

namespace cq = calque;

namespace calque::test {
namespace {

void run(Case& c) {
  auto A = c.in("A");
  // No linalg.cholesky, triu, tril: a right-looking blocked factorization by hand.
  auto cholesky = [](auto A) {
    const int64_t n = A.shape()[0], nb = 64;
    for (int64_t k = 0; k < n; k += nb) {
      const int64_t w = std::min(nb, n - k);
      auto rows = cq::range(k, n), cols = cq::range(k, k + w);
      auto P = cq::fori_loop(
          0, w,
          [=](auto j, auto P) {
            auto col = where(cq::iota(n - k) >= j, P.at(cq::all, j) / sqrt(P.at(j, j)), 0.0);
            auto head = where(cq::iota(w) > j, col.at(cq::range(0, w)), 0.0);
            P = P - outer(col, head);
            return P.set(cq::all, j, col);
          },
          A.at(rows, cols));
      A = A.set(rows, cols, P);
      if (k + w < n) {
        auto L = P.at(cq::range(w, n - k), cq::all);
        auto rest = cq::range(k + w, n);
        A = A.set(rest, rest, A.at(rest, rest) - matmul(L, L.T()));
      }
    }
    auto i = cq::iota(n);
    return where(i.at(cq::all, cq::newaxis) >= i, A, 0.0);
  };
  auto f = cq::jit([=](auto A) {
    auto i = cq::iota(A.shape()[0]);
    auto triu = where(i.at(cq::all, cq::newaxis) < i, A, 0.0);
    return cholesky(A) + triu;
  });
  cq::Array<double> r;
  c.time([&] { r = f(A); });
  c.out(0, r);
}

TEST(Npbench, Cholesky2) {
  Case c("cholesky2");
  run(c);
}

}  // namespace
}  // namespace calque::test
