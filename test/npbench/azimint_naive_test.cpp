#include "npbench/programs.h"

namespace cq = calque;

namespace calque::test {
namespace {

void run(Case& c) {
  auto data = c.in("data"), radius = c.in("radius");
  const int64_t npt = c.i("npt");
  auto f = cq::jit([=](auto data, auto radius) {
    auto rmax = amax(radius);
    return cq::fori_loop(
        0, npt,
        [=](auto i, auto res) {
          auto r1 = rmax * i / npt, r2 = rmax * (i + 1) / npt;
          auto mask = (r1 <= radius) & (radius < r2);
          return res.set(i, sum(where(mask, data, 0.0)) / sum(mask));
        },
        cq::zeros<double>({npt}));
  });
  cq::Array<double> r;
  c.time([&] { r = f(data, radius); });
  c.out(0, r);
}

TEST(Npbench, AzimintNaive) {
  Case c("azimint_naive");
  run(c);
}

}  // namespace
}  // namespace calque::test
