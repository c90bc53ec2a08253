#include "npbench/programs.h"

namespace cq = calque;

namespace calque::test {
namespace {

void run(Case& c) {
  auto path = c.in<int32_t>("path");
  auto f = cq::jit([](auto path) {
    return cq::fori_loop(
        0, path.shape()[0],
        [](auto k, auto path) { return minimum(path, path.at(cq::all, k, cq::newaxis) + path.at(cq::newaxis, k)); },
        path);
  });
  decltype(f(path)) r;
  c.time([&] { r = f(path); });
  c.out(0, r);
}

TEST(Npbench, FloydWarshall) {
  Case c("floyd_warshall");
  run(c);
}

}  // namespace
}  // namespace calque::test
