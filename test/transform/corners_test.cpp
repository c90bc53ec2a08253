// Derivatives where differences do not give them: ties, kinks, edges of domains, and custom rules.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "primitives/list.h"
#include "support/trace_eval.h"
#include "support/transforms.h"
#include "transform/autodiff/jvp.h"
#include "transform/autodiff/vjp.h"

namespace calque::test {
namespace {

namespace ops = detail::ops;
using Arrays = std::vector<AnyArray>;
using testing::DoubleEq;
using testing::ElementsAre;
using testing::IsNan;

AnyArray f64s(std::initializer_list<double> x) { return vec<double>(x); }

/// Cotangents of all inputs for a cotangent of ones.
template <class F>
Arrays gradients(const Arrays& x, F&& f) {
  const Graph g = trace(types_of(x), [&](std::span<const Handle> in) { return Handles{f(in)}; }).graph;
  const Graph pulled = transform::vjp(g, inexact_inputs(g));
  pulled.verify("vjp");
  Arrays inputs = x;
  Rng rng(1);
  inputs.push_back(uniform(g.output_types()[0], rng, 1, 1));
  Arrays all = reference::evaluate(pulled, inputs);
  all.erase(all.begin());
  return all;
}

/// Both modes agree on the sum of the gradient.
template <class F>
std::vector<double> gradient(const Arrays& x, F&& f) {
  const std::vector<double> by_reverse = numbers(gradients(x, f)[0]);
  const Graph g = trace(types_of(x), [&](std::span<const Handle> in) { return Handles{f(in)}; }).graph;
  const Graph pushed = transform::jvp(g, {true});
  double total = 0, want = 0;
  Arrays inputs = x;
  Rng rng(1);
  inputs.push_back(uniform(x[0].type(), rng, 1, 1));
  for (const double t : numbers(reference::evaluate(pushed, inputs)[1])) total += t;
  for (const double t : by_reverse) want += t;
  if (std::isfinite(want)) {
    EXPECT_NEAR(total, want, 1e-12);
  }
  return by_reverse;
}

Operand lit(double x) { return detail::literal_operand(x); }

TEST(Corners, TiesOfMaximumAndMinimumSplitInHalf) {
  const auto max = [](std::span<const Handle> in) { return ops::maximum(in[0], in[1], kHere); };
  const Arrays g = gradients({f64s({1, 2, 3}), f64s({1, 3, 2})}, max);
  EXPECT_THAT(numbers(g[0]), ElementsAre(0.5, 0, 1));
  EXPECT_THAT(numbers(g[1]), ElementsAre(0.5, 1, 0));
  const auto min = [](std::span<const Handle> in) { return ops::minimum(in[0], in[1], kHere); };
  const Arrays h = gradients({f64s({1, 2, 3}), f64s({1, 3, 2})}, min);
  EXPECT_THAT(numbers(h[0]), ElementsAre(0.5, 1, 0));
  EXPECT_THAT(numbers(h[1]), ElementsAre(0.5, 0, 1));
}

TEST(Corners, TiesOfReductionsShareEqually) {
  const auto most = [](std::span<const Handle> in) { return ops::amax(in[0], {}, false, kHere); };
  EXPECT_THAT(gradient({f64s({3, 1, 3, 3})}, most), ElementsAre(1.0 / 3, 0, 1.0 / 3, 1.0 / 3));
  EXPECT_THAT(gradient({f64s({1, 4, 2})}, most), ElementsAre(0, 1, 0));
  const auto least = [](std::span<const Handle> in) { return ops::amin(in[0], {}, false, kHere); };
  EXPECT_THAT(gradient({f64s({3, 1, 1, 3})}, least), ElementsAre(0, 0.5, 0.5, 0));
}

TEST(Corners, KinksHaveTheDerivativeOfTheirSign) {
  const AnyArray x = f64s({-2, 0, 3});
  EXPECT_THAT(gradient({x}, [](auto in) { return ops::abs(in[0], kHere); }), ElementsAre(-1, 0, 1));
  EXPECT_THAT(gradient({x}, [](auto in) { return ops::relu(in[0], kHere); }), ElementsAre(0, 0, 1));
  EXPECT_THAT(gradient({x}, [](auto in) { return ops::sign(in[0], kHere); }), ElementsAre(0, 0, 0));
}

TEST(Corners, StepsHaveDerivativeZero) {
  const AnyArray x = f64s({-1.5, 0, 2, 2.5});
  for (auto* f : {&ops::floor, &ops::ceil, &ops::trunc, &ops::round, &ops::round_half_away}) {
    EXPECT_THAT(gradient({x}, [&](auto in) { return f(in[0], kHere); }), ElementsAre(0, 0, 0, 0));
  }
}

TEST(Corners, ClipIsOneStrictlyInside) {
  const auto clip = [](std::span<const Handle> in) { return ops::clip(in[0], lit(-1), lit(1), kHere); };
  EXPECT_THAT(gradient({f64s({-2, -1, -0.5, 1, 2})}, clip), ElementsAre(0, 0, 1, 0, 0));
}

TEST(Corners, NormHasGradientZeroAtZero) {
  const auto norm = [](std::span<const Handle> in) { return ops::norm(in[0], {}, false, kHere); };
  EXPECT_THAT(gradient({f64s({0, 0, 0})}, norm), ElementsAre(0, 0, 0));
  EXPECT_THAT(gradient({f64s({3, 4})}, norm), ElementsAre(DoubleEq(0.6), DoubleEq(0.8)));
}

TEST(Corners, HypotHasGradientZeroAtZero) {
  const Arrays g = gradients({f64s({0, 3}), f64s({0, 4})}, [](auto in) { return ops::hypot(in[0], in[1], kHere); });
  EXPECT_THAT(numbers(g[0]), ElementsAre(0, DoubleEq(0.6)));
  EXPECT_THAT(numbers(g[1]), ElementsAre(0, DoubleEq(0.8)));
}

TEST(Corners, PowersAtZero) {
  const Arrays g =
      gradients({f64s({0, 0, 0, 2}), f64s({2, 1, 0, 0})}, [](auto in) { return ops::pow(in[0], in[1], kHere); });
  EXPECT_THAT(numbers(g[0]), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(numbers(g[1]), ElementsAre(0, 0, 0, DoubleEq(std::log(2.0))));
  const auto square = [](std::span<const Handle> in) { return ops::pow(in[0], lit(2), kHere); };
  EXPECT_THAT(gradient({f64s({-3, 0, 5})}, square), ElementsAre(-6, 0, 10));
}

TEST(Corners, ProductsWithZeros) {
  const auto product = [](std::span<const Handle> in) { return ops::prod(in[0], {}, false, kHere); };
  EXPECT_THAT(gradient({f64s({2, 0, 3})}, product), ElementsAre(0, 6, 0));
  EXPECT_THAT(gradient({f64s({0, 0, 3})}, product), ElementsAre(0, 0, 0));
  const auto running = [](std::span<const Handle> in) { return ops::cumprod(in[0], 0, kHere); };
  EXPECT_THAT(gradient({f64s({2, 0, 3})}, running), ElementsAre(1, 2 + 6, 0));
}

TEST(Corners, RunningMaximumTakesTheFirstOfTies) {
  const auto running = [](std::span<const Handle> in) { return ops::cummax(in[0], 0, kHere); };
  const std::vector<double> g = gradient({f64s({1, 3, 2, 5})}, running);
  EXPECT_THAT(g, ElementsAre(1, 2, 0, 1));
  double total = 0;
  for (const double x : gradient({f64s({1, 1, 0, 1})}, running)) total += x;
  EXPECT_DOUBLE_EQ(total, 4);
}

TEST(Corners, SelectDoesNotBlockNanOfTheOtherBranch) {
  const auto unsafe = [](std::span<const Handle> in) {
    const Handle positive = ops::greater(in[0], lit(0), kHere);
    return ops::where(positive, ops::sqrt(in[0], kHere), lit(0), kHere);
  };
  const std::vector<double> g = gradient({f64s({4, -1})}, unsafe);
  EXPECT_EQ(g[0], 0.25);
  EXPECT_THAT(g[1], IsNan());
  const auto safe = [](std::span<const Handle> in) {
    const Handle positive = ops::greater(in[0], lit(0), kHere);
    const Handle inside = ops::where(positive, in[0], lit(1), kHere);
    return ops::where(positive, ops::sqrt(inside, kHere), lit(0), kHere);
  };
  EXPECT_THAT(gradient({f64s({4, -1})}, safe), ElementsAre(0.25, 0));
}

TEST(Corners, EdgesOfDomainsAreInfinite) {
  EXPECT_THAT(gradient({f64s({0})}, [](auto in) { return ops::sqrt(in[0], kHere); }), ElementsAre(INFINITY));
  EXPECT_THAT(gradient({f64s({0})}, [](auto in) { return ops::log(in[0], kHere); }), ElementsAre(INFINITY));
  EXPECT_THAT(gradient({f64s({1})}, [](auto in) { return ops::asin(in[0], kHere); }), ElementsAre(INFINITY));
}

TEST(Corners, CubeRootIsVerticalAtZero) {
  const auto cbrt = [](std::span<const Handle> in) { return ops::cbrt(in[0], kHere); };
  EXPECT_THAT(gradient({f64s({0, 8, -8})}, cbrt), ElementsAre(INFINITY, DoubleEq(1.0 / 12), DoubleEq(1.0 / 12)));
}

TEST(Corners, CrossedBoundsGiveTheUpperOne) {
  const Graph g = parse(
      "calque 1\n"
      "graph (%0: f64[3], %1: f64[3], %2: f64[3]) {\n"
      "  %3 = clamp %0 %1 %2\n"
      "  return %3\n"
      "}\n");
  const Graph pulled = transform::vjp(g, inexact_inputs(g));
  const AnyArray low = f64s({2, 2, 2}), high = f64s({1, 1, 1}), x = f64s({0, 1.5, 3});
  const Arrays out = reference::evaluate(pulled, Arrays{low, x, high, f64s({1, 1, 1})});
  EXPECT_THAT(numbers(out[0]), ElementsAre(1, 1, 1));
  EXPECT_THAT(numbers(out[1]), ElementsAre(0, 0, 0));
  EXPECT_THAT(numbers(out[2]), ElementsAre(0, 0, 0));
  EXPECT_THAT(numbers(out[3]), ElementsAre(1, 1, 1));
}

TEST(Corners, BoundsOfClipHaveTheDerivativeWhereTheyComeOut) {
  const auto clip = [](std::span<const Handle> in) { return ops::clip(in[0], in[1], in[2], kHere); };
  // Below, at and between the bounds, at the upper one, above; then bounds that are equal or in the wrong order.
  const Arrays x{f64s({-1, 0, 0.5, 1, 2, 0, 1, 2, 0, 1.5, 3}), f64s({0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2}),
                 f64s({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})};
  const Arrays g = gradients(x, clip);
  EXPECT_THAT(numbers(g[0]), ElementsAre(0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(numbers(g[1]), ElementsAre(1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0));
  EXPECT_THAT(numbers(g[2]), ElementsAre(0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 1));
  const auto from_x = [](std::span<const Handle> in) {
    return ops::clip(in[0], in[0], ops::add(in[0], lit(1), kHere), kHere);
  };
  EXPECT_THAT(gradient({f64s({-2, 0, 3})}, from_x), ElementsAre(1, 1, 1));
  const auto to_x = [](std::span<const Handle> in) {
    return ops::clip(in[0], ops::subtract(in[0], lit(1), kHere), in[0], kHere);
  };
  EXPECT_THAT(gradient({f64s({-2, 0, 3})}, to_x), ElementsAre(1, 1, 1));
  const auto all_x = [](std::span<const Handle> in) { return ops::clip(in[0], in[0], in[0], kHere); };
  EXPECT_THAT(gradient({f64s({-2, 0, 3})}, all_x), ElementsAre(1, 1, 1));
}

TEST(Corners, ExtremaThatIgnoreNanGiveItsDerivativeToTheOther) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Arrays x{f64s({nan, 2, 1, 1}), f64s({3, nan, 1, 2})};
  const Arrays most = gradients(x, [](auto in) { return ops::fmax(in[0], in[1], kHere); });
  EXPECT_THAT(numbers(most[0]), ElementsAre(0, 1, 0.5, 0));
  EXPECT_THAT(numbers(most[1]), ElementsAre(1, 0, 0.5, 1));
  const Arrays least = gradients(x, [](auto in) { return ops::fmin(in[0], in[1], kHere); });
  EXPECT_THAT(numbers(least[0]), ElementsAre(0, 1, 0.5, 1));
  EXPECT_THAT(numbers(least[1]), ElementsAre(1, 0, 0.5, 0));
}

TEST(Corners, LogaddexpOfInfinitiesHasAFiniteDerivative) {
  const auto f = [](std::span<const Handle> in) { return ops::logaddexp(in[0], in[1], kHere); };
  const Arrays g = gradients({f64s({-INFINITY, 2, -INFINITY, INFINITY}), f64s({2, -INFINITY, -INFINITY, 0})}, f);
  EXPECT_THAT(numbers(g[0]), ElementsAre(0, 1, 0.5, 1));
  EXPECT_THAT(numbers(g[1]), ElementsAre(1, 0, 0.5, 0));
}

TEST(Corners, XlogyWithoutALogarithmIsConstantByX) {
  const auto f = [](std::span<const Handle> in) { return ops::xlogy(in[0], in[1], kHere); };
  const Arrays g = gradients({f64s({0, 0, 0, 0}), f64s({0, -1, INFINITY, 2})}, f);
  EXPECT_THAT(numbers(g[0]), ElementsAre(0, 0, 0, DoubleEq(std::log(2.0))));
  EXPECT_THAT(numbers(g[1]), ElementsAre(0, 0, 0, 0));
}

TEST(Corners, XlogyOfZeroIsPositiveZero) {
  const std::vector<double> y = numbers(results_of({f64s({0, 0}), f64s({0.5, 2})}, [](std::span<const Handle> in) {
    return Handles{ops::xlogy(in[0], in[1], kHere)};
  })[0]);
  EXPECT_FALSE(std::signbit(y[0]));
  EXPECT_FALSE(std::signbit(y[1]));
}

TEST(Corners, PowerOfZeroIsConstantByXWhereTheReciprocalOverflows) {
  const auto f = [](std::span<const Handle> in) { return ops::pow(in[0], in[1], kHere); };
  const Arrays g = gradients({f64s({1e-310, 1e-160, NAN, 0, 3}), f64s({0, 0, 0, 0, 0})}, f);
  EXPECT_THAT(numbers(g[0]), ElementsAre(0, 0, 0, 0, 0));
}

TEST(Corners, RemaindersAreSlopedWhereTheyAreZero) {
  const auto mod = [](std::span<const Handle> in) { return ops::mod(in[0], in[1], kHere); };
  const Arrays g = gradients({f64s({-6, 6, -6, 0, -0.0}), f64s({3, -3, -3, 3, 3})}, mod);
  EXPECT_THAT(numbers(g[0]), ElementsAre(1, 1, 1, 1, 1));
  EXPECT_THAT(numbers(g[1]), ElementsAre(2, 2, -2, 0, 0));
  const std::vector<double> zeros =
      numbers(results_of({f64s({-6, 6, -6, 0, -0.0}), f64s({3, -3, -3, 3, 3})},
                         [&](std::span<const Handle> in) { return Handles{mod(in)}; })[0]);
  for (size_t i = 0; i < zeros.size(); ++i) EXPECT_EQ(std::signbit(zeros[i]), i == 1 || i == 2) << i;
}

TEST(Corners, SecondDerivativesOfDistancesAreZeroAtZero) {
  const auto second = [](auto f) {
    const Graph g =
        trace({{DType::f64, {}}, {DType::f64, {}}}, [&](std::span<const Handle> in) { return Handles{f(in)}; }).graph;
    const Graph h = transform::vjp(transform::vjp(g, {true, false}), {true, true, false});
    Arrays x{scalar(0.0), scalar(0.0), scalar(1.0), scalar(0.0), scalar(1.0)};
    const Arrays out = reference::evaluate(h, x);
    return std::vector<double>{numbers(out[2])[0], numbers(out[3])[0]};
  };
  EXPECT_THAT(second([](auto in) { return ops::hypot(in[0], in[1], kHere); }), ElementsAre(0, 0));
  EXPECT_THAT(second([](auto in) {
                const Operand both[] = {in[0], in[1]};
                return ops::norm(ops::stack(both, 0, kHere), {}, false, kHere);
              }),
              ElementsAre(0, 0));
  // Their squares are smooth.
  EXPECT_THAT(second([](auto in) { return ops::square(ops::hypot(in[0], in[1], kHere), kHere); }), ElementsAre(2, 0));
  EXPECT_THAT(second([](auto in) { return ops::square(ops::abs(ops::as_complex(in[0], in[1], kHere), kHere), kHere); }),
              ElementsAre(2, 0));
}

TEST(Corners, BitsOfTheSameTypeAreTheNumber) {
  const auto same = [](std::span<const Handle> in) {
    return detail::emit(primitives::get<primitives::Bitcast>(), {in[0]}, {{"dtype", DType::f64}}, kHere);
  };
  EXPECT_THAT(gradient({f64s({3, -2})}, same), ElementsAre(1, 1));
  const auto there_and_back = [](std::span<const Handle> in) {
    return ops::bitcast(ops::bitcast(in[0], DType::i64, kHere), DType::f64, kHere);
  };
  EXPECT_THAT(gradient({f64s({3, -2})}, there_and_back), ElementsAre(0, 0));
}

TEST(Corners, ExtremaOfNothingAreConstant) {
  const Graph g = parse(
      "calque 1\n"
      "graph (%0: f64[0]) {\n"
      "  %1 = reduce_max[axes=[0]] %0\n"
      "  return %1\n"
      "}\n");
  const AnyArray none = AnyArray::full(Shape{0}, 0.0);
  EXPECT_THAT(numbers(reference::evaluate(transform::jvp(g, {true}), Arrays{none, none})[1]), ElementsAre(0));
}

TEST(Corners, LogsumexpOfExtremes) {
  const auto f = [](std::span<const Handle> in) { return ops::logsumexp(in[0], {}, false, kHere); };
  EXPECT_THAT(gradient({f64s({1000, 1000})}, f), ElementsAre(0.5, 0.5));
  EXPECT_THAT(gradient({f64s({-INFINITY, 2})}, f), ElementsAre(0, 1));
}

TEST(Corners, ReadsOutOfBoundsHaveNoCotangent) {
  const AnyArray i = vec<int32_t>({0, 7, -1, -9});
  const auto f = [](std::span<const Handle> in) { return ops::take(in[0], in[1], 0, mode::fill, kHere); };
  EXPECT_THAT(numbers(gradients({f64s({1, 2, 3}), i}, f)[0]), ElementsAre(1, 0, 1));
}

TEST(Corners, RepeatedReadsAddUp) {
  const AnyArray i = vec<int32_t>({1, 1, 2, 1});
  const auto f = [](std::span<const Handle> in) { return ops::take(in[0], in[1], 0, mode::fill, kHere); };
  EXPECT_THAT(numbers(gradients({f64s({1, 2, 3}), i}, f)[0]), ElementsAre(0, 3, 1));
}

TEST(Corners, OverwrittenUpdatesHaveNoCotangent) {
  const Graph g = parse(
      "calque 1\n"
      "graph (%0: f64[3], %1: i32[3,1], %2: f64[3]) {\n"
      "  %3 = scatter[indices_batching_dims=[], inserted_window_dims=[0], operand_batching_dims=[], "
      "scatter_dims_to_operand_dims=[0], update_window_dims=[]] %0 %1 %2\n"
      "  return %3\n"
      "}\n");
  const Graph pulled = transform::vjp(g, inexact_inputs(g));
  const Arrays out = reference::evaluate(
      pulled, Arrays{f64s({1, 2, 3}), arr<int32_t>({3, 1}, {1, 1, 9}), f64s({5, 6, 7}), f64s({10, 20, 30})});
  EXPECT_THAT(numbers(out[0]), ElementsAre(1, 6, 3));
  EXPECT_THAT(numbers(out[1]), ElementsAre(10, 0, 30));
  EXPECT_THAT(numbers(out[2]), ElementsAre(0, 20, 0));
}

TEST(Corners, SecondDerivativesAtZero) {
  const Graph g = trace({{DType::f64, {}}}, [](std::span<const Handle> in) {
                    return Handles{ops::pow(in[0], lit(3), kHere)};
                  }).graph;
  const Graph second = transform::vjp(transform::vjp(g, {true}), {true, true});
  Arrays x = {scalar(0.0), scalar(1.0), scalar(0.0), scalar(1.0)};
  EXPECT_EQ(numbers(reference::evaluate(second, x)[2])[0], 0);
}

TEST(Corners, StopGradientAndIntegersEndDerivatives) {
  const auto f = [](std::span<const Handle> in) {
    const Handle known = ops::stop_gradient(in[0], kHere);
    const Handle steps = ops::cast(ops::cast(in[0], DType::i32, kHere), DType::f64, kHere);
    return ops::add(ops::multiply(in[0], known, kHere), steps, kHere);
  };
  EXPECT_THAT(gradient({f64s({3, -2})}, f), ElementsAre(3, -2));
}

TEST(Corners, RealFunctionsOfComplexNumbersGiveTheConjugate) {
  const AnyArray z = arr<std::complex<double>>({1}, {{3, 4}});
  const auto square = [](std::span<const Handle> in) {
    return ops::real(ops::multiply(in[0], ops::conj(in[0], kHere), kHere), kHere);
  };
  EXPECT_THAT(numbers(gradients({z}, square)[0]), ElementsAre(6, -8));
  const auto modulus = [](std::span<const Handle> in) { return ops::abs(in[0], kHere); };
  EXPECT_THAT(numbers(gradients({z}, modulus)[0]), ElementsAre(DoubleEq(0.6), DoubleEq(-0.8)));
  const AnyArray zero = arr<std::complex<double>>({1}, {{0, 0}});
  EXPECT_THAT(numbers(gradients({zero}, modulus)[0]), ElementsAre(0, 0));
}

// ---- custom rules

TEST(Corners, CustomRulesDecide) {
  const Graph forward = parse(R"(calque 1
graph (%x: f64[2]) {
  %a = custom_jvp %x {
    (%0: f64[2]) { %1 = sin %0  return %1 }
    (%0: f64[2], %1: f64[2]) { %2 = sin %0  %3 = mul %1 7.0:f64[2]  return %2, %3 }
  }
  return %a
})");
  const AnyArray x = f64s({1, 2}), t = f64s({1, 10});
  EXPECT_THAT(numbers(reference::evaluate(transform::jvp(forward, {true}), Arrays{x, t})[1]), ElementsAre(7, 70));
  EXPECT_THAT(numbers(reference::evaluate(transform::vjp(forward, {true}), Arrays{x, t})[1]), ElementsAre(7, 70));
  const Graph reverse = parse(R"(calque 1
graph (%x: f64[2], %y: f64[2]) {
  %a = custom_vjp %x %y {
    (%0: f64[2], %1: f64[2]) { %2 = mul %0 %1  return %2 }
    (%0: f64[2], %1: f64[2]) { %2 = mul %0 %1  return %2, %1 }
    (%0: f64[2], %1: f64[2]) { %2 = mul %0 %1  %3 = mul %1 5.0:f64[2]  return %2, %3 }
  }
  return %a
})");
  const AnyArray y = f64s({3, 4});
  const Arrays out = reference::evaluate(transform::vjp(reverse, {true, true}), Arrays{x, y, t});
  EXPECT_THAT(numbers(out[0]), ElementsAre(3, 8));
  EXPECT_THAT(numbers(out[1]), ElementsAre(3, 40));
  EXPECT_THAT(numbers(out[2]), ElementsAre(5, 50));
  EXPECT_THROW(transform::jvp(reverse, {true, false}), GradError);
  EXPECT_NO_THROW(transform::jvp(reverse, {false, false}));
}

TEST(Corners, CustomRulesHoldInsideControlFlow) {
  const Graph g = parse(R"(calque 1
graph (%x: f64[], %n: i32[], %w: f64[]) {
  %c = scan[carry=1, consts=2, length=3, reverse=false, unroll=1] %n %w %x {
    (%0: i32[], %1: f64[], %2: f64[]) {
      %3 = switch %0 %1 %2 {
        (%0: f64[], %1: f64[]) {
          %2 = custom_vjp %1 {
            (%0: f64[]) { %1 = mul %0 1.0:f64[]  return %1 }
            (%0: f64[]) { return %0 }
            (%0: f64[]) { %1 = mul %0 2.0:f64[]  return %1 }
          }
          %3 = mul %0 %2
          return %3
        }
        (%0: f64[], %1: f64[]) { return %1 }
      }
      return %3
    }
  }
  return %c
})");
  const Graph pulled = transform::vjp(g, {true, false, true});
  pulled.verify("vjp");
  const Arrays taken = reference::evaluate(pulled, Arrays{scalar(0.5), scalar(int32_t{0}), scalar(3.0), scalar(1.0)});
  EXPECT_DOUBLE_EQ(numbers(taken[1])[0], 8 * 27);
  const Arrays other = reference::evaluate(pulled, Arrays{scalar(0.5), scalar(int32_t{1}), scalar(3.0), scalar(1.0)});
  EXPECT_DOUBLE_EQ(numbers(other[1])[0], 1);
  // A vmap keeps the rule.
  const Graph batched = transform::vmap(g, {BatchAxis(0), BatchAxis(), BatchAxis()}, 2, {BatchAxis(0)});
  const Graph both = transform::vjp(batched, {true, false, true});
  const Arrays out = reference::evaluate(both, Arrays{f64s({0.5, 1}), scalar(int32_t{0}), scalar(3.0), f64s({1, 1})});
  EXPECT_THAT(numbers(out[1]), ElementsAre(8 * 27, 8 * 27));
}

}  // namespace
}  // namespace calque::test
