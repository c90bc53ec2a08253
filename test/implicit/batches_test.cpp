// Solvers in batches, whose examples converge after different numbers of steps, against loops; on every device.
#include <gtest/gtest.h>

#include "calque/calque.h"

#include "reference/evaluate.h"

namespace calque::test {
namespace {

using D = Array<double>;

const auto one = [](auto a, auto start) {
  return root([](auto x, auto b) { return stack({x[0] * x[0] - b[0], x[1] * x[1] * x[1] - x[0] * b[1]}, 0); }, start,
              a);
};

TEST(Batches, EqualLoops) {
  const D a{{4, 1}, {1e4, 8}, {1e-4, 2}, {9, 27}}, start{{1, 1}, {1, 1}, {1, 1}, {3, 4}};
  const D many = vmap(one)(a, start);
  const auto loss = [](auto a, auto start) { return sum(one(a, start) * one(a, start)); };
  const D gradients = vmap(grad(loss))(a, start), same_start = vmap(one, {.in_axes = {0, none}})(a, D{1, 1}),
          same_a = vmap(one, {.in_axes = {none, 0}})(D{4, 1}, start);
  const auto jacobians = vmap(jacfwd(one))(a, start), reverse = vmap(jacrev(one))(a, start);
  for (int64_t i = 0; i < 4; ++i) {
    const D b = D(a.at(i)), s = D(start.at(i));
    EXPECT_TRUE(allclose(D(many.at(i)), one(b, s), 1e-11, 1e-11)) << i;
    EXPECT_TRUE(allclose(D(same_start.at(i)), one(b, D{1, 1}), 1e-11, 1e-11)) << i;
    EXPECT_TRUE(allclose(D(same_a.at(i)), one(D{4, 1}, s), 1e-11, 1e-11)) << i;
    EXPECT_TRUE(allclose(D(gradients.at(i)), grad(loss)(b, s), 1e-10, 1e-10)) << i;
    EXPECT_TRUE(allclose(D(jacobians.at(i)), jacfwd(one)(b, s), 1e-10, 1e-10)) << i;
    EXPECT_TRUE(allclose(D(reverse.at(i)), jacfwd(one)(b, s), 1e-10, 1e-10)) << i;
  }
}

TEST(Batches, ExamplesConvergeOrNotOnTheirOwn) {
  const auto f = [](auto a) { return root_and_info([](auto x, auto b) { return x * x - b; }, 1.0, a); };
  const auto [x, info] = vmap(f)(D{4, -1, 1.0001, 1});
  const auto steps = info.iterations;
  EXPECT_TRUE(array_equal(info.converged, Array<bool>{true, false, true, true}));
  EXPECT_EQ(steps[3].item(), 0);
  EXPECT_GT(steps[0].item(), steps[2].item());
  const D alone =
      vmap([](auto a) { return root([](auto x, auto b) { return x * x - b; }, 1.0, a); })(D{4, -1, 1.0001, 1});
  EXPECT_TRUE(std::isnan(alone[1].item()));
  EXPECT_TRUE(allclose(D(alone.at(Array<int32_t>{0, 2, 3})), D{2, std::sqrt(1.0001), 1}, 1e-12, 1e-12));
}

TEST(Batches, OfDerivativesOfTheSecondOrder) {
  const auto f = [](auto a) { return root([](auto x, auto b) { return x * x * x - b; }, 1.0, a); };
  const D a{1, 8, 27};
  EXPECT_TRUE(allclose(vmap(grad(grad(f)))(a), -2.0 / 9 * pow(a, -5.0 / 3), 1e-12, 1e-12));
  EXPECT_TRUE(
      allclose(grad([&](auto v) { return sum(vmap(grad(f))(v)); })(a), -2.0 / 9 * pow(a, -5.0 / 3), 1e-12, 1e-12));
}

TEST(Batches, ShareParametersThatAreNotBatched) {
  const D matrix{{4, 1}, {1, 3}}, sides{{1, 2}, {3, 4}, {5, 6}};
  const auto solve = [](auto a, auto b) {
    return root([](auto x, auto m, auto b) { return matmul(m, x) - b; }, zeros<double>({2}), a, b);
  };
  const D x = vmap(solve, {.in_axes = {none, 0}})(matrix, sides);
  EXPECT_TRUE(allclose(matmul(x, matrix), sides, 1e-12, 1e-12));
}

template <class Function>
void expect_same_on_devices(const Function& f, const D& a) {
  const D here = jit(f, {.device = cpu()})(a), simulated = jit(f, {.device = gpu_sim()})(a.to(gpu_sim())).to(cpu());
  EXPECT_TRUE(allclose(here, simulated, 1e-11, 1e-11));
}

TEST(Devices, Agree) {
  const D a{{4, 1}, {100, 8}, {9, 27}};
  expect_same_on_devices(vmap([](auto b) { return one(b, ones<double>({2})); }), a);
  expect_same_on_devices(vmap(grad([](auto b) { return sum(one(b, ones<double>({2}))); })), a);
  expect_same_on_devices(vmap([](auto b) {
                           return minimize_newton(
                               [](auto x, auto c) { return sum(exp(x) - c * x) + square(x[0] - x[1]); },
                               zeros<double>({2}), b);
                         }),
                         a);
  expect_same_on_devices(
      vmap(grad([](auto b) {
        return sum(fixed_point([](auto x, auto c) { return cos(x) * 0.5 + 0.01 * c; }, zeros<double>({2}), b));
      })),
      a);
  expect_same_on_devices(
      vmap(grad([](auto b) { return sum(linalg::cg([b](auto x) { return 3.0 * x + b * sum(b * x) * 0.01; }, b)); })),
      a);
}

TEST(Devices, RecordedAndCompiledFunctionsAgree) {
  // The same graph by the reference evaluator.
  const auto f = [](auto a) { return vmap(grad([](auto b) { return sum(one(b, ones<double>({2}))); }))(a); };
  const D a{{4, 1}, {100, 8}, {9, 27}};
  const Graph g = jit(f).trace(a);
  const std::vector<AnyArray> by_reference = reference::evaluate(g, std::vector<AnyArray>{a.any()});
  EXPECT_TRUE(allclose(D(by_reference[0]), jit(f)(a), 1e-11, 1e-11));
}

}  // namespace
}  // namespace calque::test
