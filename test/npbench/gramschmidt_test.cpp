#include "npbench/programs.h"

namespace cq = calque;

namespace calque::test {
namespace {

void run(Case& c) {
  auto A = c.in("A");
  auto f = cq::jit([](auto A) {
    using cq::all;
    auto n = A.shape()[1];
    auto Q = cq::zeros_like(A);
    auto R = cq::zeros<double>({n, n});
    return cq::fori_loop(
        0, n,
        [=](auto k, auto c) {
          auto [Q, R, A] = c;
          auto nrm = dot(A.at(all, k), A.at(all, k));
          R = R.set(k, k, sqrt(nrm));
          Q = Q.set(all, k, A.at(all, k) / R.at(k, k));
          return cq::fori_loop(
              k + 1, n,
              [=](auto j, auto c) {
                auto [Q, R, A] = c;
                R = R.set(k, j, dot(Q.at(all, k), A.at(all, j)));
                A = A.add(all, j, -Q.at(all, k) * R.at(k, j));
                return std::tuple{Q, R, A};
              },
              std::tuple{Q, R, A});
        },
        std::tuple{Q, R, A});
  });
  decltype(f(A)) r;
  c.time([&] { r = f(A); });
  c.out(0, std::get<0>(r));
  c.out(1, std::get<1>(r));
  c.out(2, std::get<2>(r));
}

TEST(Npbench, Gramschmidt) {
  Case c("gramschmidt");
  run(c);
}

}  // namespace
}  // namespace calque::test
