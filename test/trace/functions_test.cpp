// The public templates as users write them: recorded lines, spellings, effects and calls back into C++.
#include "calque/functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/trace_eval.h"

namespace calque::test {
namespace {

namespace cq = calque;

TEST(Functions, TakeTheUsersLine) {
  const auto r = trace({{DType::f32, Shape{4}}}, [](std::span<const Handle> in) {
    const Tracer<float> x(in[0]);
    const auto y = sin(x) + gather(x, iota(2))[0];
    return Handles{where(y > 0, y, x).handle()};
  });
  for (const Equation& e : r.graph.equations()) {
    EXPECT_THAT(to_string(e.location()), testing::StartsWith("functions_test.cpp:")) << e.primitive();
  }
}

TEST(Functions, MixedSpellings) {
  trace({{DType::f32, Shape{2, 3}}, {DType::f32, Shape{3}}}, [](std::span<const Handle> in) {
    const Tracer<float> x(in[0]), w(in[1]);
    EXPECT_EQ(sum(x, {0, 1}).rank(), 0);
    EXPECT_EQ(sum(x, {-1}, cq::keepdims).shape(), (Shape{2, 1}));
    EXPECT_EQ(cq::all(x > 0, {0}).shape(), Shape{3});
    EXPECT_EQ(all(x > 0).rank(), 0);
    EXPECT_EQ(cq::concatenate({w, w}, 0).shape(), Shape{6});
    EXPECT_EQ(cq::stack(std::vector{w, w}, 0).shape(), (Shape{2, 3}));
    EXPECT_EQ(cq::stack(std::array{w, w}, 1).shape(), (Shape{3, 2}));
    EXPECT_EQ(split(w, 3, 0).size(), 3u);
    EXPECT_EQ(split(w, {1}, 0)[1].shape(), Shape{2});
    EXPECT_EQ(pad(w, 0.0, {1}, {-1}).shape(), Shape{3});
    EXPECT_EQ(transpose(x, {1, 0}).shape(), (Shape{3, 2}));
    EXPECT_EQ(dynamic_slice(x, {0, argmax(w, 0)}, {1, 2}).shape(), (Shape{1, 2}));
    EXPECT_EQ(tile(w, {2, 2}).shape(), (Shape{2, 6}));
    EXPECT_EQ(layer_norm(x, w, w, -1, 1e-6).shape(), (Shape{2, 3}));
    EXPECT_EQ(arange<float>(0, 1, 0.25).shape(), Shape{4});
    EXPECT_EQ((full<float>({2}, 3).shape()), Shape{2});
    {
      using namespace std;
      EXPECT_EQ(max(w, 1.0).shape(), Shape{3});
      EXPECT_EQ(min(w, w).shape(), Shape{3});
      EXPECT_EQ(pow(w, 2).shape(), Shape{3});
      EXPECT_EQ(abs(w).shape(), Shape{3});
      EXPECT_EQ(fma(w, w, w).shape(), Shape{3});
    }
    return Handles{};
  });
}

TEST(DebugPrint, IsKeptInOrder) {
  const auto r = trace({{DType::f32, {}}}, [](std::span<const Handle> in) {
    const Tracer<float> x(in[0]);
    debug_print("first {}", x);
    debug_print("second {} {}", sin(x), 3);
    return Handles{};
  });
  ASSERT_EQ(r.graph.num_equations(), 3u);
  EXPECT_EQ(r.graph.equations()[0].attributes().get<std::string>("format"), "first {}");
  EXPECT_EQ(r.graph.equations()[2].attributes().get<std::string>("format"), "second {} {}");
  EXPECT_EQ(words_of<CompileError>({}, [](const auto&) { debug_print("{}"); }).substr(0, 12), "debug_print:");
}

TEST(HostCall, CallsWithTypedArrays) {
  const auto r = trace(
      {{DType::f32, Shape{2}}},
      [](std::span<const Handle> in) {
        const Tracer<float> x(in[0]);
        const auto one = cq::host_call([](const Array<float>& a) { return Array<double>{a.host()[1], 5.0}; },
                                       cq::spec<double>({2}), x);
        const auto [p, q] = cq::host_call(
            [](const Array<float>& a, const Array<double>& b) {
              return std::tuple{Array<int32_t>(static_cast<int32_t>(b.host()[1])), a};
            },
            std::tuple{cq::spec<int32_t>({}), cq::spec<float>({2})}, x, one);
        return Handles{one.handle(), p.handle(), q.handle()};
      },
      false);
  const auto got = reference::evaluate(r.graph, std::vector{vec<float>({3, 4})});
  EXPECT_EQ(elements<double>(got[0]), (std::vector<double>{4, 5}));
  EXPECT_EQ(elements<int32_t>(got[1])[0], 5);
  EXPECT_EQ(elements<float>(got[2]), (std::vector<float>{3, 4}));
}

TEST(Arrays, CannotTakeATracersValue) {
  trace({{DType::i32, {}}}, [](std::span<const Handle> in) {
    const Array<float> a = {1, 2, 3};
    EXPECT_THROW(dynamic_slice(a, {Tracer<int32_t>(in[0])}, {2}), ConcretizationError);
    return Handles{};
  });
}

}  // namespace
}  // namespace calque::test
