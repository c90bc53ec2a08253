// The reference evaluator as a backend: what runs there, its exact results, and the memory that it reads.
#include <gtest/gtest.h>

#include "calque/eigen.h"

#include "compile/executable.h"
#include "reference/evaluate.h"
#include "runtime/call/dispatch.h"
#include "runtime/process/environment.h"

namespace calque {
namespace {

using F = Array<float>;
using C = Array<std::complex<float>>;

TEST(ReferenceBackend, HostFunctionsMayRetainTheirArrays) {
  static std::vector<F> retained;
  retained.clear();
  runtime::mutable_environment().reference_backend = true;
  const auto f = jit([](auto x) {
    return host_call(
        [](const F& v) {
          retained.push_back(v);
          return v;
        },
        spec<float>({3}), x);
  });
  Eigen::Vector3f v(1, 2, 3);
  const Eigen::Vector3f got = f(v);
  runtime::mutable_environment().reference_backend = false;
  EXPECT_EQ(got, v);
  v.setZero();
  ASSERT_EQ(retained.size(), 1u);
  EXPECT_TRUE(array_equal(retained[0], F{1, 2, 3}));
  retained.clear();
}

TEST(ReferenceBackend, StrictModeHasTheBitsOfCompiledCode) {
  const auto f = jit([](auto x) { return sin(x) * exp(x) + fori_loop(0, 3, [](auto, auto s) { return tanh(s); }, x); });
  const F x = F::linspace(-9, 9, 4001);
  const Graph graph = f.trace(x);
  const std::vector<runtime::Strides> strides = {row_major_strides(x.shape())};
  const AnyArray input = x.any();
  const AnyArray* const inputs[] = {&input};
  const auto run = [&](const runtime::CompileOptions& options) {
    return runtime::execute(*runtime::find_executable(graph, strides, options), inputs)[0];
  };
  const AnyArray native = run({.strict = true});
  EXPECT_TRUE(identical(run({.strict = true, .reference = true}), native));
  EXPECT_TRUE(identical(run({.reference = true}), reference::evaluate(graph, std::vector{input})[0]));
}

TEST(ReferenceBackend, StrictModeTakesComplexNumbers) {
  const auto f = jit([](auto x) { return exp(x) * x; }, {.strict = true});
  const C x = {std::complex<float>(1, 2), std::complex<float>(-0.5f, 0.25f)};
  const auto plain = jit([](auto y) { return exp(y) * y; });
  EXPECT_TRUE(array_equal(f(x), plain(x)));
}

TEST(ReferenceBackend, ComplexOperandsOfAnyKindAreSplit) {
  Graph graph;
  const Value x = graph.add_input({DType::f32, Shape()});
  const Value c = graph.add_constant(AnyArray::full(Shape(), std::complex<float>(3, 4)));
  const Equation& e = graph.append(*find_primitive("abs"), {c});
  graph.set_outputs({graph.append(*find_primitive("add"), {x, e.result()}).result()});
  EXPECT_EQ(jit(graph)(1.0f)[0].as<float>().item(), 6);
  const C z = {std::complex<float>(3, 4)};
  const auto f = jit([z](auto n) {
    return fori_loop(0, 2, [&](auto, auto s) { return s + abs(Tracer<std::complex<float>>(z))[0]; }, n);
  });
  EXPECT_EQ(f(1.0f).item(), 11);
}

}  // namespace
}  // namespace calque
