#include "npbench/programs.h"

namespace cq = calque;

namespace calque::test {
namespace {

void run(Case& c) {
  const int64_t nx = c.i("nx"), ny = c.i("ny"), nt = c.i("nt"), nit = c.i("nit");
  const double rho = c.d("rho"), nu = c.d("nu");
  auto u = c.in("u"), v = c.in("v"), p = c.in("p");
  auto f = cq::jit([=](auto u, auto v, auto p, auto dt, auto dx, auto dy) {
    auto in = cq::range(1, -1), lo = cq::range(0, -2), hi = cq::range(2, cq::none);
    auto build_up_b = [=](auto b, auto u, auto v) {
      return b.set(
          in, in,
          rho * (1 / dt * ((u.at(in, hi) - u.at(in, lo)) / (2 * dx) + (v.at(hi, in) - v.at(lo, in)) / (2 * dy)) -
                 pow((u.at(in, hi) - u.at(in, lo)) / (2 * dx), 2) -
                 2 * ((u.at(hi, in) - u.at(lo, in)) / (2 * dy) * (v.at(in, hi) - v.at(in, lo)) / (2 * dx)) -
                 pow((v.at(hi, in) - v.at(lo, in)) / (2 * dy), 2)));
    };
    auto pressure_poisson = [=](auto p, auto b) {
      return cq::fori_loop(
          0, nit,
          [=](auto, auto pn) {
            auto p =
                pn.set(in, in,
                       ((pn.at(in, hi) + pn.at(in, lo)) * pow(dy, 2) + (pn.at(hi, in) + pn.at(lo, in)) * pow(dx, 2)) /
                               (2 * (pow(dx, 2) + pow(dy, 2))) -
                           pow(dx, 2) * pow(dy, 2) / (2 * (pow(dx, 2) + pow(dy, 2))) * b.at(in, in));
            p = p.set(cq::all, -1, p.at(cq::all, -2));
            p = p.set(0, cq::all, p.at(1, cq::all));
            p = p.set(cq::all, 0, p.at(cq::all, 1));
            return p.set(-1, cq::all, 0);
          },
          p);
    };
    auto r = cq::fori_loop(
        0, nt,
        [=](auto, auto s) {
          auto [un, vn, p, b] = s;
          b = build_up_b(b, un, vn);
          p = pressure_poisson(p, b);
          auto step = [&](auto w, auto dp) {
            return w.at(in, in) - un.at(in, in) * dt / dx * (w.at(in, in) - w.at(in, lo)) -
                   vn.at(in, in) * dt / dy * (w.at(in, in) - w.at(lo, in)) - dp +
                   nu * (dt / pow(dx, 2) * (w.at(in, hi) - 2 * w.at(in, in) + w.at(in, lo)) +
                         dt / pow(dy, 2) * (w.at(hi, in) - 2 * w.at(in, in) + w.at(lo, in)));
          };
          auto u = un.set(in, in, step(un, dt / (2 * rho * dx) * (p.at(in, hi) - p.at(in, lo))));
          auto v = vn.set(in, in, step(vn, dt / (2 * rho * dy) * (p.at(hi, in) - p.at(lo, in))));
          u = u.set(0, cq::all, 0);
          u = u.set(cq::all, 0, 0);
          u = u.set(cq::all, -1, 0);
          u = u.set(-1, cq::all, 1);
          v = v.set(0, cq::all, 0);
          v = v.set(-1, cq::all, 0);
          v = v.set(cq::all, 0, 0);
          v = v.set(cq::all, -1, 0);
          return std::tuple{u, v, p, b};
        },
        std::tuple{u, v, p, cq::zeros<double>({ny, nx})});
    return std::tuple{std::get<0>(r), std::get<1>(r), std::get<2>(r)};
  });
  std::tuple<cq::Array<double>, cq::Array<double>, cq::Array<double>> r;
  const double dt = c.d("dt"), dx = c.d("dx"), dy = c.d("dy");
  c.time([&] { r = f(u, v, p, dt, dx, dy); });
  c.out(0, std::get<0>(r));
  c.out(1, std::get<1>(r));
  c.out(2, std::get<2>(r));
}

TEST(Npbench, CavityFlow) {
  Case c("cavity_flow");
  run(c);
}

}  // namespace
}  // namespace calque::test
