// One array of all elements of a tree, and the way back.
#include <gtest/gtest.h>

#include "native/states.h"

namespace calque {
namespace {

using namespace test;
using F = Array<float>;
using D = Array<double>;

TEST(TreeValues, RavelAndBack) {
  const Layer<F> net{{{1, 2}, {3, 4}}, {5, 6}};
  const auto [flat, unravel] = ravel(net);
  EXPECT_TRUE(array_equal(flat, F{1, 2, 3, 4, 5, 6}));
  const Layer<F> back = unravel(flat * 2.0f);
  EXPECT_TRUE(array_equal(back.w, F{{2, 4}, {6, 8}}));
  EXPECT_TRUE(array_equal(back.b, F{10, 12}));
  EXPECT_THROW(unravel(F{1, 2}), ShapeError);
  const auto [wide, narrow] = ravel(std::tuple{F{1}, D{2, 3}, int32_t{4}});
  EXPECT_TRUE(array_equal(wide, D{1, 2, 3, 4}));
  EXPECT_EQ(std::get<2>(narrow(wide)).item(), 4);
  const auto [fp, up] = ravel(pose());
  EXPECT_EQ(fp.size(), 6 + 7 + 3 + 2 + 1);
  EXPECT_EQ(up(fp).gains, pose().gains);
}

TEST(TreeValues, JacobiansThroughRavel) {
  const auto [flat, unravel] = ravel(state());
  const auto hess = hessian([unravel = unravel](auto v) {
    auto s = unravel(v);
    return s.m * s.v.dot(s.p);
  })(flat);
  EXPECT_EQ(hess.shape(), Shape({7, 7}));
  EXPECT_EQ(hess(0, 3), 2);  // d2 / dp0 dv0
  EXPECT_EQ(hess(6, 3), 0);  // dm dv0 = p0
  EXPECT_EQ(hess(6, 5), 1);  // dm dv2 = p2
}

}  // namespace
}  // namespace calque
