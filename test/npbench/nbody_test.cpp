#include "npbench/programs.h"

namespace cq = calque;

namespace calque::test {
namespace {

template <class P>
auto separations(const P& pos) {
  auto x = pos.at(cq::all, cq::range(0, 1)), y = pos.at(cq::all, cq::range(1, 2)), z = pos.at(cq::all, cq::range(2, 3));
  return std::tuple{x.T() - x, y.T() - y, z.T() - z};
}
template <class P, class M, class S>
auto acceleration(const P& pos, const M& mass, const S& G, const S& softening) {
  auto [dx, dy, dz] = separations(pos);
  auto r = dx * dx + dy * dy + dz * dz + softening * softening;
  auto inv_r3 = where(r > 0, pow(r, -1.5), r);
  return cq::concatenate(
      {matmul(G * (dx * inv_r3), mass), matmul(G * (dy * inv_r3), mass), matmul(G * (dz * inv_r3), mass)}, 1);
}
template <class P, class M, class S>
auto energy(const P& pos, const P& vel, const M& mass, const S& G) {
  auto KE = 0.5 * sum(mass * vel * vel);
  auto [dx, dy, dz] = separations(pos);
  auto r = sqrt(dx * dx + dy * dy + dz * dz);
  auto inv_r = where(r > 0, 1.0 / r, r);
  auto i = cq::iota(pos.shape()[0]);
  auto upper = i.at(cq::all, cq::newaxis) < i;  // no triu
  auto PE = G * sum(where(upper, -(mass * mass.T()) * inv_r, 0.0));
  return std::pair{KE, PE};
}
void run(Case& c) {
  auto mass = c.in("mass"), pos = c.in("pos"), vel = c.in("vel");
  auto Nt = c.i("Nt");
  double dt = c.d("dt"), G = c.d("G"), softening = c.d("softening");
  auto f = cq::jit([Nt](auto mass, auto pos, auto vel, auto dt, auto G, auto softening) {
    vel = vel - mean(mass * vel, {0}) / mean(mass);
    auto acc = acceleration(pos, mass, G, softening);
    auto [KE0, PE0] = energy(pos, vel, mass, G);
    auto [last, E] = cq::scan(
        [=](auto s, auto) {
          auto [pos, vel, acc] = s;
          vel += acc * dt / 2.0;
          pos += vel * dt;
          acc = acceleration(pos, mass, G, softening);
          vel += acc * dt / 2.0;
          return std::pair{std::tuple{pos, vel, acc}, energy(pos, vel, mass, G)};
        },
        std::tuple{pos, vel, acc}, std::tuple{}, {.length = Nt});
    return std::pair{cq::concatenate({KE0.reshape({1}), E.first}, 0), cq::concatenate({PE0.reshape({1}), E.second}, 0)};
  });
  decltype(f(mass, pos, vel, dt, G, softening)) r;
  c.time([&] { r = f(mass, pos, vel, dt, G, softening); });
  c.out(0, r.first);
  c.out(1, r.second);
}

TEST(Npbench, Nbody) {
  Case c("nbody");
  c.tolerance = 1e-6;  // chaotic
  run(c);
}

}  // namespace
}  // namespace calque::test
