#include "npbench/programs.h"

namespace cq = calque;

namespace calque::test {
namespace {

void run(Case& c) {
  auto ex = c.in("ex"), ey = c.in("ey"), hz = c.in("hz"), fict = c.in("_fict_");
  auto T = c.i("TMAX");
  auto f = cq::jit([T](auto ex, auto ey, auto hz, auto fict) {
    return cq::fori_loop(
        0, T,
        [=](auto t, auto c) {
          auto [ex, ey, hz] = c;
          auto tail = cq::range(1, cq::none), head = cq::range(cq::none, -1);
          using cq::all;
          ey = ey.set(0, all, fict[t]);
          ey = ey.add(tail, all, -0.5 * (hz.at(tail, all) - hz.at(head, all)));
          ex = ex.add(all, tail, -0.5 * (hz.at(all, tail) - hz.at(all, head)));
          hz = hz.add(head, head,
                      -0.7 * (ex.at(head, tail) - ex.at(head, head) + ey.at(tail, head) - ey.at(head, head)));
          return std::tuple{ex, ey, hz};
        },
        std::tuple{ex, ey, hz});
  });
  decltype(f(ex, ey, hz, fict)) r;
  c.time([&] { r = f(ex, ey, hz, fict); });
  c.out(0, std::get<0>(r));
  c.out(1, std::get<1>(r));
  c.out(2, std::get<2>(r));
}

TEST(Npbench, Fdtd2d) {
  Case c("fdtd_2d");
  run(c);
}

}  // namespace
}  // namespace calque::test
