#include "npbench/programs.h"

namespace cq = calque;

namespace calque::test {
namespace {

void run(Case& c) {
  auto t1 = c.in("theta_1"), p1 = c.in("phi_1"), t2 = c.in("theta_2"), p2 = c.in("phi_2");
  auto f = cq::jit([](auto theta_1, auto phi_1, auto theta_2, auto phi_2) {
    auto temp = pow(sin((theta_2 - theta_1) / 2), 2) + cos(theta_1) * cos(theta_2) * pow(sin((phi_2 - phi_1) / 2), 2);
    return 2 * atan2(sqrt(temp), sqrt(1 - temp));
  });
  cq::Array<double> r;
  c.time([&] { r = f(t1, p1, t2, p2); });
  c.out(0, r);
}

TEST(Npbench, ArcDistance) {
  Case c("arc_distance");
  run(c);
}

}  // namespace
}  // namespace calque::test
