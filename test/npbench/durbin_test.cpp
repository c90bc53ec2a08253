#include "npbench/programs.h"

namespace cq = calque;

namespace calque::test {
namespace {

void run(Case& c) {
  auto r_in = c.in("r");
  auto f = cq::jit([](auto r) {
    int64_t N = r.shape()[0];
    auto index = cq::iota(N);
    auto y0 = cq::zeros<double>({N}).set(0, -r[0]);
    auto out = cq::fori_loop(
        1, N,
        [=](auto k, auto c) {
          auto [alpha, beta, y] = c;
          auto mask = index < k;
          beta *= 1.0 - alpha * alpha;
          alpha = -(r[k] + sum(where(mask, y * take(r, k - 1 - index, 0), 0.0))) / beta;
          y += where(mask, alpha * take(y, k - 1 - index, 0), 0.0);
          y = y.set(k, alpha);
          return std::tuple{alpha, beta, y};
        },
        std::tuple{-r[0], 1.0, y0});
    return std::get<2>(out);
  });
  decltype(f(r_in)) r;
  c.time([&] { r = f(r_in); });
  c.out(0, r);
}

TEST(Npbench, Durbin) {
  Case c("durbin");
  c.tolerance = 1e-6;  // ill-conditioned
  run(c);
}

}  // namespace
}  // namespace calque::test
