#include "npbench/programs.h"

namespace cq = calque;

namespace calque::test {
namespace {

using Z = std::complex<double>;
void run(Case& c) {
  const int64_t NR = c.i("NR"), NM = c.i("NM"), slab = c.i("slab_per_bc");
  auto Ham = c.in<Z>("Ham"), int_pts = c.in<Z>("int_pts"), Y = c.in<Z>("Y");
  // No linalg.solve: Gauss-Jordan with partial pivoting by hand.
  auto solve = [](auto A, auto B) {
    const int64_t n = A.shape()[0];
    auto r = cq::fori_loop(
        0, n,
        [=](auto k, auto s) {
          auto [A, B] = s;
          auto p = argmax(where(cq::iota(n) >= k, abs(A.at(cq::all, k)), -1.0), 0);
          auto ak = A[k], ap = A[p], bk = B[k], bp = B[p];
          A = A.set(p, ak).set(k, ap);
          B = B.set(p, bk).set(k, bp);
          auto m = where(cq::iota(n) == k, Z(0), A.at(cq::all, k) / A.at(k, k));
          A = A - outer(m, A[k]);
          B = B - outer(m, B[k]);
          return std::tuple{A, B};
        },
        std::tuple{A, B});
    auto [D, X] = r;
    return X / diagonal(D).at(cq::all, cq::newaxis);
  };
  auto f = cq::jit([=](auto Ham, auto int_pts, auto Y) {
    auto zero = cq::zeros<Z>({NR, NM});
    return cq::fori_loop(
        0, int_pts.shape()[0],
        [=](auto i, auto P) {
          auto [P0, P1] = P;
          auto z = int_pts[i];
          auto Tz = cq::zeros<Z>({NR, NR});
          for (int64_t n = 0; n <= slab; ++n) Tz = Tz + exp((slab / 2.0 - n) * log(z)) * Ham[n];
          auto X = solve(Tz, Y);  // NR != NM in S, M, L and paper
          X = where(abs(z) < 1.0, -X, X);
          return std::tuple{P0 + X, P1 + z * X};
        },
        std::tuple{zero, zero});
  });
  std::tuple<cq::Array<Z>, cq::Array<Z>> r;
  c.time([&] { r = f(Ham, int_pts, Y); });
  c.out(0, std::get<0>(r));
  c.out(1, std::get<1>(r));
}

TEST(Npbench, ContourIntegral) {
  Case c("contour_integral");
  run(c);
}

}  // namespace
}  // namespace calque::test
