#include "npbench/programs.h"

namespace cq = calque;

namespace calque::test {
namespace {

void run(Case& c) {
  auto in_field = c.in("in_field"), out_field = c.in("out_field"), coeff = c.in("coeff");
  auto f = cq::jit([](auto in_field, auto out_field, auto coeff) {
    using cq::range, cq::none;
    auto I = out_field.shape()[0], J = out_field.shape()[1];
    auto in = [&](int64_t i0, int64_t i1, int64_t j0, int64_t j1) { return in_field.at(range(i0, i1), range(j0, j1)); };
    auto lap = 4.0 * in(1, I + 3, 1, J + 3) -
               (in(2, I + 4, 1, J + 3) + in(0, I + 2, 1, J + 3) + in(1, I + 3, 2, J + 4) + in(1, I + 3, 0, J + 2));
    auto res = lap.at(range(1, none), range(1, J + 1)) - lap.at(range(none, -1), range(1, J + 1));
    auto flx = where(res * (in(2, I + 3, 2, J + 2) - in(1, I + 2, 2, J + 2)) > 0, 0, res);
    res = lap.at(range(1, I + 1), range(1, none)) - lap.at(range(1, I + 1), range(none, -1));
    auto fly = where(res * (in(2, I + 2, 2, J + 3) - in(2, I + 2, 1, J + 2)) > 0, 0, res);
    return in(2, I + 2, 2, J + 2) - coeff * (flx[range(1, none)] - flx[range(none, -1)] +
                                             fly.at(cq::all, range(1, none)) - fly.at(cq::all, range(none, -1)));
  });
  decltype(f(in_field, out_field, coeff)) r;
  c.time([&] { r = f(in_field, out_field, coeff); });
  c.out(0, r);
}

TEST(Npbench, Hdiff) {
  Case c("hdiff");
  run(c);
}

}  // namespace
}  // namespace calque::test
