// The exact error messages of the transformations, with the line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

#include "jit/messages.h"

namespace calque {
namespace {

using F = Array<float>;
using D = Array<double>;
using I = Array<int32_t>;
using testing::HasSubstr;

template <class A>
struct Layer {
  A w;
  std::vector<A> b;
};

const auto identity = [](auto x) { return x; };

// ---- gradients

TEST(GradErrors, ResultMustBeAScalar) {
  const std::string at = line_below();
  const auto g = grad([](auto x) { return x * 2.0; });
  const std::string m = message_of<GradError>([&] { g(F{1, 2, 3}); });
  EXPECT_EQ(
      m,
      "grad: the function must return a scalar, got f32[3]; reduce it, for example with sum, or use cq::jacrev" + at);
}

TEST(GradErrors, ResultMustBeReal) {
  std::string at = line_below();
  const auto g = value_and_grad([](auto x) { return cast<int32_t>(x); });
  std::string m = message_of<GradError>([&] { g(2.0); });
  EXPECT_EQ(m, "value_and_grad: the function must return a floating scalar, got i32[]; cast it" + at);
  at = line_below();
  const auto h = grad(identity);
  m = message_of<GradError>([&] { h(std::complex<double>(1, 2)); });
  EXPECT_EQ(
      m,
      "grad: the function must return a real scalar, got c128[]; differentiate its real and its imaginary part, or "
      "write grad(f, holomorphic)" +
          at);
}

TEST(GradErrors, IntegerLeafIsNamed) {
  const std::string at = line_below();
  const auto g = grad([](const auto& l) { return sum(l.w); });
  const std::string m = message_of<GradError>([&] { g(Layer<I>{I{1, 2}, {}}); });
  EXPECT_EQ(
      m,
      "grad: argument 0.w is i32[2], which has no derivative; cast it to a floating type before, or differentiate "
      "by other arguments (cq::argnums)" +
          at);
  const auto h = grad([](auto x, auto t) { return x * std::get<1>(t); }, argnums<0, 1>);
  const std::string n = message_of<GradError>([&] { h(1.0, std::tuple{2.0, true}); });
  EXPECT_THAT(n, HasSubstr("grad: argument 1[1] is bool[], which has no derivative"));
}

TEST(GradErrors, LoopOfUnknownLengthNamesWhatToUse) {
  const auto f = [](auto x) { return while_loop([](auto s) { return s < 9.0; }, [](auto s) { return s * s; }, x); };
  const std::string m = message_of<GradError>([&] { grad(f)(2.0); });
  EXPECT_THAT(m, HasSubstr("scan"));
  EXPECT_THAT(m, HasSubstr("fori_loop"));
  EXPECT_THAT(m, HasSubstr("custom_vjp"));
  EXPECT_THAT(m, HasSubstr("transform_errors_test.cpp:"));
}

TEST(GradErrors, TracerOfAnOuterFunctionMustBeAnArgument) {
  const auto outer = jit([](auto x) {
    const auto inner = grad([x](auto y) { return x * y; });
    return inner(2.0);
  });
  const std::string m = message_of<ConcretizationError>([&] { outer(3.0); });
  EXPECT_THAT(m, HasSubstr("grad: the lambda uses a tracer of an enclosing function, but is called on data alone and "
                           "runs at once; pass the tracer as an argument"));
}

TEST(GradErrors, BranchOnATracerNamesTheArgument) {
  const auto f = [](const auto& t) {
    if (t.second > 0.0) return t.first;
    return -t.first;
  };
  const auto h = [](const auto& t) {
    if (t.first) return t.second;
    return -t.second;
  };
  EXPECT_THROW(grad(f)(std::pair{1.0, 2.0}), ConcretizationError);
  const std::string m = message_of<ConcretizationError>(
      [&] { grad([h](auto x, const auto& t) { return x * h(t); })(1.0, std::pair{Array<bool>(true), D(1.0)}); });
  EXPECT_THAT(m, HasSubstr("argument 1[0]"));
}

TEST(GradErrors, LeaveTheFunctionUsable) {
  const auto f = grad([](auto x) { return sum(x) * x; });
  EXPECT_THROW(f(D{1, 2}), GradError);
  EXPECT_FALSE(detail::tracing());
  EXPECT_EQ(f(2.0).item(), 4);
}

TEST(GradErrors, MovedFromFunctionSaysSo) {
  auto g = grad([](auto x) { return x * x; });
  const auto moved = std::move(g);
  const std::string m = message_of<Error>([&] { g(1.0); });  // NOLINT(bugprone-use-after-move)
  EXPECT_THAT(m, HasSubstr("the function was moved from"));
  EXPECT_EQ(moved(1.0).item(), 2);
}

// ---- linear maps

TEST(JvpErrors, TangentHasTheShapeOfItsPrimal) {
  const Layer<F> x{{1, 2}, {F{1}, F{2}}}, dx{{1, 2}, {F{1}, F{2, 3}}};
  const std::string at = line_below(2);
  const std::string m =
      message_of<ShapeError>([&] { jvp([](const auto& l) { return l.w; }, std::tuple{x}, std::tuple{dx}); });
  EXPECT_EQ(m, "jvp: the tangent of argument 0.b[1] must be f32[1], got f32[2]" + at);
}

TEST(JvpErrors, TangentHasTheStructureOfItsPrimal) {
  const std::string m = message_of<ShapeError>([&] {
    jvp([](const auto& v) { return v[0]; }, std::tuple{std::vector{D(1.0)}}, std::tuple{std::vector{D(1.0), D(2.0)}});
  });
  EXPECT_THAT(m, HasSubstr("jvp: the primals and the tangents differ in a size, a key or a value that is known while "
                           "tracing, 1 element and 2 elements at [0]"));
}

TEST(VjpErrors, CotangentHasTheShapeOfTheValue) {
  const auto [y, pullback] = vjp([](auto x) { return std::pair{x, x * 2.0}; }, D{1, 2});
  const std::string at = line_below();
  const std::string m = message_of<ShapeError>([&, &p = pullback] { p(std::pair{D{1, 2}, D{1}}); });
  EXPECT_EQ(m, "vjp: cotangent[1] must be f64[2], got f64[1]" + at);
  const std::string n =
      message_of<ShapeError>([&, &p = pullback] { jit([&](auto c) { return p(std::pair{c, D{1}}); })(D{1, 2}); });
  EXPECT_THAT(n, HasSubstr("vjp: cotangent[1] must be f64[2], got f64[1] (transform_errors_test.cpp:"));
}

TEST(LinearizeErrors, TangentHasTheShapeOfTheArgument) {
  const auto [y, linear] = linearize([](auto x, auto z) { return x * z; }, D{1, 2}, D{1, 2});
  const std::string m = message_of<ShapeError>([&, &l = linear] { l(D{1, 2}, 1.0); });
  EXPECT_THAT(m, HasSubstr("linearize: tangent 1 must be f64[2], got f64[]"));
}

TEST(VjpErrors, OnDataAloneNoTracerMayBeUsed) {
  const auto outer = jit([](auto x) { return vjp([x](auto y) { return x * y; }, 2.0).first; });
  const std::string m = message_of<ConcretizationError>([&] { outer(3.0); });
  EXPECT_THAT(m, HasSubstr("vjp: the function uses a tracer of an enclosing function, but is called on data alone and "
                           "runs at once; pass the tracer as an argument (transform_errors_test.cpp:"));
}

TEST(VjpErrors, PullbackOfATraceThatIsOverIsRefused) {
  using P = Pullback<Tracer<double>, Tracer<double>>;
  std::optional<P> kept;
  jit([&](auto x) {
    auto [y, pullback] = vjp([](auto v) { return v * v; }, x);
    kept = pullback;
    return y;
  })(2.0);
  EXPECT_THROW(jit([&](auto c) { return (*kept)(c); })(1.0), LeakedTracerError);
}

TEST(VjpErrors, EmptyArrayIsNamed) {
  std::string m = message_of<ShapeError>([&] { vjp([](auto x, auto) { return x; }, 1.0, std::tuple{D(1.0), D()}); });
  EXPECT_EQ(m, "vjp: argument 1[1] is an empty array");
  const auto [y, pullback] = vjp(identity, D{1, 2});
  const std::string at = line_below();
  m = message_of<ShapeError>([&, &p = pullback] { p(D()); });
  EXPECT_EQ(m, "vjp: cotangent is an empty array" + at);
  EXPECT_THROW(jvp(identity, std::tuple{D{1}}, std::tuple{D()}), ShapeError);
}

// ---- Jacobians

TEST(JacobianErrors, LeavesMustHaveDerivatives) {
  std::string at = line_below();
  const auto j = jacfwd([](auto x) { return std::pair{x * 1.0, argmax(x, 0)}; });
  std::string m = message_of<GradError>([&] { j(D{1, 2}); });
  EXPECT_EQ(m, "jacfwd: the result[1] is i32[], which has no derivative; cast it to a floating type" + at);
  m = message_of<GradError>([&] { jacrev(identity)(I{1}); });
  EXPECT_THAT(m, HasSubstr("jacrev: argument 0 is i32[1], which has no derivative"));
  m = message_of<GradError>([&] { hessian(identity)(I{1}); });
  EXPECT_THAT(m, HasSubstr("hessian: argument 0 is i32[1]"));
}

TEST(JacobianErrors, ComplexLeavesAreRefusedWhereTheyMeanNothing) {
  const std::complex<double> z(1, 2);
  std::string m = message_of<GradError>([&] { jacfwd([](auto v) { return real(v); })(z); });
  EXPECT_THAT(m, HasSubstr("jacfwd: argument 0 is c128[], but must be real"));
  m = message_of<GradError>([&] { jacrev(identity)(z); });
  EXPECT_THAT(m, HasSubstr("jacrev: the result is c128[], but must be real"));
}

// ---- vmap

const auto add = [](auto x, auto y) { return x + y; };

TEST(VmapErrors, DifferentSizesNameBothLeaves) {
  const std::string at = line_below();
  const auto f = vmap([](const auto& l, auto x) { return l.w + x; }, {.in_axes = {0, 1}});
  const std::string m = message_of<ShapeError>([&] { f(Layer<F>{F{1, 2, 3}, {}}, F{{1, 2, 3, 4}}); });
  EXPECT_EQ(m, "vmap: argument 0.w has 3 along axis 0 and argument 1 has 4 along axis 1" + at);
}

TEST(VmapErrors, ScalarHasNoAxis) {
  const std::string at = line_below();
  const auto f = vmap(add);
  const std::string m = message_of<ShapeError>([&] { f(F{1, 2}, 3.0f); });
  EXPECT_EQ(m, "vmap: argument 1 is f32[] and has no axis 0; give cq::none for it in in_axes" + at);
}

TEST(VmapErrors, AxisMustBeThere) {
  const auto message = [](const VmapOptions& options) {
    return message_of<ShapeError>([&] { vmap(add, options)(F{1, 2}, F{{1, 2}, {3, 4}}); });
  };
  EXPECT_THAT(message({.in_axes = {1, 0}}), HasSubstr("vmap: argument 0 is f32[2] and has no axis 1"));
  EXPECT_THAT(message({.in_axes = {0, -3}}), HasSubstr("vmap: argument 1 is f32[2,2] and has no axis -3"));
  EXPECT_THAT(message({.out_axes = {2}}),
              HasSubstr("vmap: out_axes has axis 2 for the result, which is f32[2] for each example"));
  EXPECT_THAT(message({.out_axes = {-3}}), HasSubstr("vmap: out_axes has axis -3 for the result"));
}

TEST(VmapErrors, EntriesFitTheArguments) {
  const auto message = [](const VmapOptions& options) {
    return message_of<ShapeError>([&] {
      vmap([](const auto& l, auto x) { return std::pair{l.w, x}; }, options)(Layer<F>{{1, 2}, {F{1, 2}}}, F{1, 2});
    });
  };
  EXPECT_THAT(message({.in_axes = {0}}),
              HasSubstr("vmap: in_axes has 1 entry, but the function is called with 2 arguments"));
  EXPECT_THAT(message({.in_axes = {{0, 0, 0}, 0}}),
              HasSubstr("vmap: in_axes has a list of 3 entries for argument 0, of which 2 parts hold arrays"));
  EXPECT_THAT(message({.in_axes = {{{0, 0}, 0}, 0}}),
              HasSubstr("vmap: in_axes has a list of 2 entries for argument 0.w, which is one array"));
  EXPECT_THAT(message({.out_axes = {0, 0, 0}}),
              HasSubstr("vmap: out_axes has a list of 3 entries for the result, of which 2 parts hold arrays"));
}

TEST(VmapErrors, SomethingMustBeBatched) {
  const std::string m = message_of<ShapeError>([&] { vmap(add, {.in_axes = {none, none}})(F{1}, F{2}); });
  EXPECT_THAT(m, HasSubstr("vmap: no argument is batched; in_axes must name an axis of one array at least"));
}

TEST(VmapErrors, ResultWithoutAxisMustBeTheSameForAllExamples) {
  const std::string at = line_below();
  const auto f = vmap([](auto x) { return std::pair{x, x * 2.0f}; }, {.out_axes = {0, none}});
  const std::string m = message_of<ShapeError>([&] { f(F{1, 2}); });
  EXPECT_THAT(m, HasSubstr("vmap: the result[1] depends on the example, but out_axes has cq::none for it"));
  EXPECT_THAT(m, HasSubstr(at));
}

// ---- rules

TEST(CustomJvpErrors, RuleKeepsShapesAndStructure) {
  const auto value = [](auto x) { return std::tuple{x, sum(x)}; };
  const auto rule = [value](auto p, auto t) {
    const auto [x] = p;
    const auto [dx] = t;
    return std::pair{value(x), std::tuple{dx, dx}};
  };
  const std::string at = line_below();
  const auto f = custom_jvp(value, rule);
  std::string m = message_of<ShapeError>([&] { f(F{1, 2}); });
  EXPECT_EQ(m, "custom_jvp: the rule's tangent[1] must be f32[], got f32[2]" + at);
  const auto g =
      custom_jvp([](auto x) { return std::vector{x}; },
                 [](auto p, auto t) {
                   return std::pair{std::vector{std::get<0>(p)}, std::vector{std::get<0>(t), std::get<0>(t)}};
                 });
  m = message_of<ShapeError>([&] { g(F{1, 2}); });
  EXPECT_THAT(m, HasSubstr("custom_jvp: the function's value and the rule's tangent differ in a size"));
  const auto h = custom_jvp([](auto x) { return x; },
                            [](auto p, auto t) { return std::pair{sum(std::get<0>(p)), std::get<0>(t)}; });
  m = message_of<ShapeError>([&] { h(F{1, 2}); });
  EXPECT_THAT(m, HasSubstr("custom_jvp: the rule's value must be f32[2], got f32[]"));
}

TEST(CustomVjpErrors, CotangentsHaveTheShapesOfTheArguments) {
  const auto value = [](const auto& l) { return sum(l.w); };
  const auto forward = [](const auto& l) { return std::pair{sum(l.w), l}; };
  const auto backward = [](const auto& l, auto ybar) { return std::tuple{Layer<decltype(ybar)>{ybar, l.b}}; };
  const std::string at = line_below();
  const auto f = custom_vjp(value, forward, backward);
  const std::string m = message_of<ShapeError>([&] { f(Layer<F>{{1, 2}, {F{1}}}); });
  EXPECT_EQ(m, "custom_vjp: backward's cotangent of argument 0.w must be f32[2], got f32[]" + at);
}

TEST(CustomVjpErrors, ForwardGivesTheFunctionsValue) {
  const auto f = custom_vjp([](auto x) { return x; }, [](auto x) { return std::pair{sum(x), x}; },
                            [](auto x, auto) { return std::tuple{x}; });
  const std::string m = message_of<ShapeError>([&] { f(F{1, 2}); });
  EXPECT_THAT(m, HasSubstr("custom_vjp: forward's value must be f32[2], got f32[]"));
}

TEST(CustomVjpErrors, HasNoForwardDerivative) {
  const auto f = custom_vjp([](auto x) { return x * x; }, [](auto x) { return std::pair{x * x, x}; },
                            [](auto x, auto ybar) { return std::tuple{2.0 * x * ybar}; });
  const std::string m = message_of<GradError>([&] { jvp(f, std::tuple{2.0}, std::tuple{1.0}); });
  EXPECT_THAT(m, HasSubstr("custom_vjp"));
  EXPECT_THROW(jacfwd(f)(2.0), GradError);
}

}  // namespace
}  // namespace calque
