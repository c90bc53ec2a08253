#include "npbench/programs.h"

namespace cq = calque;

namespace calque::test {
namespace {

void run(Case& c) {
  const int64_t steps = c.i("TSTEPS"), N = c.i("N");
  auto u = c.in("u");
  auto f = cq::jit([=](auto u) {
    const double DX = 1.0 / N, DY = 1.0 / N, DT = 1.0 / steps, B1 = 2.0, B2 = 1.0;
    const double mul1 = B1 * DT / (DX * DX), mul2 = B2 * DT / (DY * DY);
    const double a = -mul1 / 2.0, b = 1.0 + mul2, cc = a, d = -mul2 / 2.0, e = 1.0 + mul2, f = d;
    auto in = cq::range(1, -1), lo = cq::range(0, -2), hi = cq::range(2, cq::none);
    auto v = cq::zeros<double>(u.shape()), p = v, q = v;
    auto r = cq::fori_loop(
        1, steps + 1,
        [=](auto, auto s) {
          auto [u, v, p, q] = s;
          v = v.set(0, in, 1.0);
          p = p.set(in, 0, 0.0);
          q = q.set(in, 0, v.at(0, in));
          std::tie(p, q) = cq::fori_loop(
              1, N - 1,
              [=](auto j, auto pq) {
                auto [p, q] = pq;
                auto below = a * p.at(in, j - 1) + b;
                auto pj = -cc / below;
                auto qj =
                    (-d * u.at(j, lo) + (1.0 + 2.0 * d) * u.at(j, in) - f * u.at(j, hi) - a * q.at(in, j - 1)) / below;
                return std::tuple{p.set(in, j, pj), q.set(in, j, qj)};
              },
              std::tuple{p, q});
          v = v.set(N - 1, in, 1.0);
          v = cq::fori_loop(
              0, N - 2,
              [=](auto k, auto v) {
                auto j = N - 2 - k;
                return v.set(j, in, p.at(in, j) * v.at(j + 1, in) + q.at(in, j));
              },
              v);
          u = u.set(in, 0, 1.0);
          p = p.set(in, 0, 0.0);
          q = q.set(in, 0, u.at(in, 0));
          std::tie(p, q) = cq::fori_loop(
              1, N - 1,
              [=](auto j, auto pq) {
                auto [p, q] = pq;
                auto below = d * p.at(in, j - 1) + e;
                auto pj = -f / below;
                auto qj =
                    (-a * v.at(lo, j) + (1.0 + 2.0 * a) * v.at(in, j) - cc * v.at(hi, j) - d * q.at(in, j - 1)) / below;
                return std::tuple{p.set(in, j, pj), q.set(in, j, qj)};
              },
              std::tuple{p, q});
          u = u.set(in, N - 1, 1.0);
          u = cq::fori_loop(
              0, N - 2,
              [=](auto k, auto u) {
                auto j = N - 2 - k;
                return u.set(in, j, p.at(in, j) * u.at(in, j + 1) + q.at(in, j));
              },
              u);
          return std::tuple{u, v, p, q};
        },
        std::tuple{u, v, p, q});
    return std::get<0>(r);
  });
  cq::Array<double> r;
  c.time([&] { r = f(u); });
  c.out(0, r);  // the returned u
  c.out(1, r);  // and the output argument u
}

TEST(Npbench, Adi) {
  Case c("adi");
  run(c);
}

}  // namespace
}  // namespace calque::test
