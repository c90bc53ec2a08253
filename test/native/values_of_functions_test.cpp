// Graphs and functions as values: a graph called in a trace, functions by their signature, loops without an index.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "native/states.h"

namespace calque {
namespace {

using namespace test;
using D = Array<double>;
using F = Array<float>;
using testing::ElementsAre;
using testing::HasSubstr;

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(GraphValues, AreCalledInTraces) {
  const D x = {1, 2, 3};
  const Graph graph = jit([](auto v) { return sum(v * v * v); }).trace(x);
  EXPECT_EQ(graph(x)[0].as<double>().item(), 36);
  const auto twice = jit([graph](auto v) { return graph(v)[0].template as<double>() * 2.0; });
  EXPECT_EQ(twice(x).item(), 72);
  EXPECT_THAT(grad(graph)(x).host(), ElementsAre(3, 12, 27));
  const std::vector<AnyArray> batched = vmap(graph)(D{{1, 2, 3}, {0, 0, 1}});
  EXPECT_THAT(batched[0].as<double>().host(), ElementsAre(36, 1));
  const std::vector<AnyArray> whole = jit([graph](auto v) { return graph(v); })(x);
  EXPECT_EQ(whole[0].as<double>().item(), 36);
  const std::vector<AnyArray> nested = jit([g = jit(graph)](auto v) { return g(v); })(x);
  EXPECT_EQ(nested[0].as<double>().item(), 36);
  // A parsed graph of two results, of which the first is differentiated.
  const Graph parsed = parse(print(jit([](auto v) { return std::tuple{sum(v), v > 1.0}; }).trace(x)));
  EXPECT_THAT(grad(parsed)(x).host(), ElementsAre(1, 1, 1));
  EXPECT_EQ(jit([parsed](auto v) { return parsed(v); })(x)[1].dtype(), DType::bool_);
}

TEST(GraphValues, RefuseOtherArguments) {
  const Graph graph = jit([](auto v) { return sum(v); }).trace(D{1, 2});
  EXPECT_THAT(message_of([&] { jit([&](auto v) { return graph(v); })(D{1, 2, 3}); }), HasSubstr("input 0 is f64[2]"));
  EXPECT_THROW(jit([&](auto v) { return graph(v); })(F{1, 2}), DTypeError);
  EXPECT_THROW(jit([&](auto v) { return graph(v, v); })(D{1, 2}), ShapeError);
  EXPECT_THROW(jit([&](auto v) { return graph(v)[0].template as<float>(); })(D{1, 2}), DTypeError);
  EXPECT_THROW(grad(graph)(D{1, 2, 3}), ShapeError);
}

struct Net {
  Function<F(F)> f;
};

TEST(FunctionValues, HoldJittedFunctions) {
  const auto f = jit([](auto x) { return x * x; });
  Function<F(F)> fn = f;
  fn = f;
  EXPECT_THAT(fn(F{1, 2, 3}).host(), ElementsAre(1, 4, 9));
  EXPECT_EQ(f.cache_info().misses, 1u);  // shared
  const std::vector<Net> nets{{f}, {jit([](auto x) { return -x; })}};
  EXPECT_EQ(nets[1].f(F{1, 2})(1), -2);
  const std::map<std::string, Function<F(F)>> table{{"square", f}, {"slope", grad([](auto x) { return sum(x * x); })}};
  EXPECT_EQ(table.at("slope")(F{1, 2})(1), 4);
  // In a trace it becomes part of it.
  const auto loss = [fn](auto x) { return sum(fn(x)); };
  EXPECT_THAT(grad(loss)(F{1, 2}).host(), ElementsAre(2, 4));
  EXPECT_THAT(vmap(fn)(F{{1, 2}, {3, 4}}).host(), ElementsAre(1, 4, 9, 16));
}

TEST(FunctionValues, ConvertTrees) {
  using V3 = Vector<double, 3>;
  using M3 = Matrix<double, 3, 3>;
  const Function<Eigen::Vector3d(Eigen::Matrix3d, Eigen::Vector3d)> h =
      jit([](const M3& a, const V3& x) -> V3 { return a * x; });
  EXPECT_EQ(h(Eigen::Matrix3d::Identity(), Eigen::Vector3d(1, 2, 3)), Eigen::Vector3d(1, 2, 3));
  const Function<std::vector<double>(std::vector<double>)> list = jit([](auto x) { return x + 1.0; });
  EXPECT_EQ(list({1, 2}), (std::vector<double>{2, 3}));
  Function deduced = jit([](const Tracer<float>& x, const V3& y) { return std::pair{x * 2.0F, V3(y * 2.0)}; });
  const auto [first, second] = deduced(F{1}, Eigen::Vector3d(1, 2, 3));
  EXPECT_EQ(first(0), 2);
  EXPECT_EQ(second, Eigen::Vector3d(2, 4, 6));
  const Function<F(F)> plain = [](const F& a) { return a; };
  EXPECT_EQ(plain(F{7})(0), 7);
  EXPECT_THAT(message_of([&] { jit([&](auto x) { return plain(x); })(F{1}); }), HasSubstr("cq::jit(lambda)"));
  const Function<F(F)> none;
  EXPECT_FALSE(none);
  EXPECT_THROW(none(F{1}), Error);
  EXPECT_THROW(jit([&](auto x) { return none(x); })(F{1}), Error);
}

TEST(FunctionValues, OfScalars) {
  const Function<double(double, double)> compiled =
      compile<double(double, double)>([](auto x, auto y) { return x * y; });
  EXPECT_EQ(compiled(3, 4), 12);
  const Function<double(double)> held = jit([](auto x) { return x * 3.0; });
  EXPECT_EQ(held(2), 6);
  Function<double(double)> moved = held;
  const Function<double(double)> taken = std::move(moved);
  EXPECT_EQ(taken(2), 6);
  EXPECT_FALSE(moved);
  EXPECT_EQ(jit([held](auto x) { return held(x) + 1.0; })(2.0).item(), 7);
  EXPECT_THROW(jit([compiled](auto x) { return compiled(x, x); })(2.0), Error);
  const auto of_arrays = compile<D(D, double)>([](auto x, auto s) { return x * s; });
  EXPECT_THAT(of_arrays(D{1, 2}, 3).host(), ElementsAre(3, 6));
}

TEST(TypedParameters, ContainersConvert) {
  using V3 = Vector<double, 3>;
  const std::vector<Eigen::Vector3d> mesh{{1, 0, 0}, {0, 2, 0}, {0, 0, 3}};
  const auto volume = jit([](const std::vector<V3>& p) { return p[0].dot(p[1].cross(p[2])); });
  EXPECT_EQ(volume(mesh).item(), 6);
  const auto lengths = jit([](const auto& p) { return p[0].norm() + p[1].norm() + p[2].squaredNorm(); });
  EXPECT_EQ(lengths(mesh).item(), 12);
  const auto product = jit([](const std::vector<Tracer<double>>& x) { return x[0] * x[1]; });
  EXPECT_EQ(product(std::vector<double>{3, 4}).item(), 12);
  const auto slope = grad([](const std::vector<V3>& p) { return p[0].dot(p[1]); });
  const std::vector<Eigen::Vector3d> by = like(mesh, slope(mesh));
  EXPECT_EQ(by[0], mesh[1]);
  EXPECT_EQ(by[2], Eigen::Vector3d::Zero());
}

TEST(Loops, BodiesWithoutTheIndex) {
  const auto f = jit([](auto x) { return fori_loop(0, 3, [](auto y) { return y * 2.0; }, x); });
  EXPECT_EQ(f(5.0).item(), 40);
  const auto pair = jit([](auto x) {
    return fori_loop(0, 2, [](auto p) { return std::pair{p.second, p.first + p.second}; }, std::pair{x, x});
  });
  EXPECT_EQ(pair(1.0).second.item(), 3);
}

TEST(Gradients, ByAPositionKnownAtRunTime) {
  const auto f = [](auto x, auto y) { return sum(x * y * y); };
  const D x = {1, 2}, y = {3, 4};
  EXPECT_THAT(grad(f, 0)(x, y).host(), ElementsAre(9, 16));
  EXPECT_THAT(grad(f, 1)(x, y).host(), ElementsAre(6, 16));
  EXPECT_THAT(message_of([&] { grad(f, 2)(x, y); }), HasSubstr("there is no argument 2"));
  EXPECT_THROW(grad(f, -1)(x, y), GradError);
  EXPECT_THAT(jit([&](auto a, auto b) { return grad(f, 1)(a, b); })(x, y).host(), ElementsAre(6, 16));
}

TEST(Literals, HaveTheirOwnTypeBesideIntegers) {
  const auto f = jit([](auto i, auto mask) {
    return std::tuple{i * 0.1,
                      i * 0.1F,
                      where(mask, 0.1, 0.0),
                      where(mask, 1, 0),
                      where(mask, int64_t{1}, 0),
                      mask + 2,
                      where(mask, i, 0.5),
                      i + 2,
                      where(mask, 1, 0.5F)};
  });
  const auto r = f(Array<int64_t>{3}, Array<bool>{true});
  static_assert(
      std::is_same_v<std::remove_cvref_t<decltype(r)>,
                     std::tuple<D, F, D, Array<int32_t>, Array<int64_t>, Array<int32_t>, D, Array<int64_t>, F>>);
  EXPECT_EQ(std::get<0>(r)(0), 3 * 0.1);
  EXPECT_EQ(std::get<2>(r)(0), 0.1);
  const Array<float> stays = jit([](auto x) { return x * 0.1; })(F{1});
  EXPECT_EQ(stays(0), 0.1F);
  const D outside = Array<int>{1} * 0.1;
  EXPECT_EQ(outside(0), 0.1);
}

}  // namespace
}  // namespace calque
