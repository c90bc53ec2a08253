#include "npbench/programs.h"

namespace cq = calque;

namespace calque::test {
namespace {

void run(Case& c) {
  auto xn = c.i("XN"), yn = c.i("YN"), maxiter = c.i("maxiter");
  double xmin = c.d("xmin"), xmax = c.d("xmax"), ymin = c.d("ymin"), ymax = c.d("ymax");
  const std::complex<double> I(0, 1);
  auto f = cq::jit([=](auto horizon) {
    auto X = cq::linspace<double>(xmin, xmax, xn), Y = cq::linspace<double>(ymin, ymax, yn);
    auto C = X + Y.at(cq::all, cq::newaxis) * I;
    auto N = cq::zeros<int64_t>(C.shape());
    auto Z = cq::zeros<std::complex<double>>(C.shape());
    auto [z, n] = cq::fori_loop(
        0, maxiter,
        [=](auto n, auto s) {
          auto [Z, N] = s;
          auto inside = abs(Z) < horizon;
          return std::tuple{where(inside, Z * Z + C, Z), where(inside, n, N)};
        },
        std::tuple{Z, N});
    return std::tuple{z, where(n == maxiter - 1, 0, n)};
  });
  double horizon = c.d("horizon");
  decltype(f(horizon)) r;
  c.time([&] { r = f(horizon); });
  c.out(0, std::get<0>(r));
  c.out(1, std::get<1>(r));
}

TEST(Npbench, Mandelbrot1) {
  Case c("mandelbrot1");
  c.tolerance = 1e-4;  // chaotic at the edge of the set
  run(c);
}

}  // namespace
}  // namespace calque::test
