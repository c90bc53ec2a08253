#include "npbench/programs.h"

namespace cq = calque;

namespace calque::test {
namespace {

void run(Case& c) {
  auto a = c.in("a");
  auto f = cq::jit([](auto a) {
    auto trace = cq::fori_loop(0, a.shape()[0], [=](auto i, auto trace) { return trace + tanh(a.at(i, i)); }, 0.0);
    return a + trace;
  });
  decltype(f(a)) r;
  c.time([&] { r = f(a); });
  c.out(0, r);
}

TEST(Npbench, GoFast) {
  Case c("go_fast");
  run(c);
}

}  // namespace
}  // namespace calque::test
