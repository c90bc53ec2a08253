// Every kind of tree as an argument and a result of a wrapped function.
#include <gtest/gtest.h>

#include "calque/calque.h"
#include "calque/eigen.h"

namespace calque {
namespace {

using F = Array<float>;
using D = Array<double>;

template <class A>
struct Layer {
  A w, b;
};
template <class A, int N>
struct Sized {
  A w;
  std::array<A, N> b;
  int depth = N;
};
template <class A>
struct Body {
  A position;
  Layer<A> inner;
  std::optional<A> maybe;
  std::map<std::string, A> named;
  std::vector<int> sizes;
  bool on = false;
};
struct Plain {
  int n;
  double x;
  std::string s;
};

// A separate type, so that its results show what the lambda received.
const auto identity = jit([](const auto& tree) { return tree; });

TEST(Trees, TupleAndPairKeepTheirParts) {
  const auto f = jit([](const auto& t) {
    const auto& [a, p] = t;
    return std::pair{p.second * 2.0f, std::tuple{a, p.first}};
  });
  const auto [doubled, rest] = f(std::tuple{F{1, 2}, std::pair{D{3, 4}, F{5}}});
  EXPECT_TRUE(array_equal(doubled, F{10}));
  EXPECT_TRUE(array_equal(std::get<0>(rest), F{1, 2}));
  EXPECT_TRUE(array_equal(std::get<1>(rest), D{3, 4}));
}

TEST(Trees, AggregateIsReboundToTracers) {
  const auto predict = jit([](const auto& layer, auto x) {
    static_assert(std::same_as<std::remove_cvref_t<decltype(layer)>, Layer<Tracer<float>>>);
    return matmul(x, layer.w) + layer.b;
  });
  const F y = predict(Layer<F>{{{1, 2}, {3, 4}}, {10, 20}}, F{1, 1});
  EXPECT_TRUE(array_equal(y, F{14, 26}));
}

TEST(Trees, AggregateOfScalarsIsReboundToo) {
  const Layer<D> l = jit([](const auto& l) { return Layer{l.w + l.b, l.w * l.b}; })(Layer<double>{2, 3});
  EXPECT_EQ(l.w.item(), 5);
  EXPECT_EQ(l.b.item(), 6);
}

TEST(Trees, NestedAggregateComesBackWithItsStaticMembers) {
  Body<F> body{{1}, {{2}, {3}}, F{4}, {{"left", F{5}}, {"right", F{6}}}, {7, 8}, true};
  const Body<F> back = identity(body);
  EXPECT_EQ(back.position.item(), 1);
  EXPECT_EQ(back.inner.w.item(), 2);
  EXPECT_EQ(back.inner.b.item(), 3);
  EXPECT_EQ(back.maybe->item(), 4);
  EXPECT_EQ(back.named.at("left").item(), 5);
  EXPECT_EQ(back.named.at("right").item(), 6);
  EXPECT_EQ(back.sizes, (std::vector{7, 8}));
  EXPECT_TRUE(back.on);
}

TEST(Trees, ValueParameterNextToTheLeafTypeIsKept) {
  const Sized<F, 3> back = identity(Sized<F, 3>{{1}, {F{2}, F{3}, F{4}}, 9});
  EXPECT_EQ(back.b[2].item(), 4);
  EXPECT_EQ(back.depth, 9);
}

TEST(Trees, StructWithoutArraysIsSeenAsItIs) {
  const auto f = jit([](const auto& plain, auto x) {
    static_assert(std::same_as<std::remove_cvref_t<decltype(plain)>, Plain>);
    return plain.s == "twice" ? x * plain.x : x + plain.n;
  });
  EXPECT_EQ(f(Plain{1, 2.0, "twice"}, D(5.0)).item(), 10);
  EXPECT_EQ(f(Plain{1, 2.0, "plus"}, D(5.0)).item(), 6);
}

TEST(Trees, EmptyContainersAndAbsentOptionalsKeepTheirShape) {
  const auto [v, o, m] = identity(std::tuple{std::vector<F>{}, std::optional<F>{}, std::map<std::string, F>{}});
  EXPECT_TRUE(v.empty());
  EXPECT_FALSE(o.has_value());
  EXPECT_TRUE(m.empty());
}

TEST(Trees, ScalarsAreLeavesOfTheirOwnType) {
  const auto [a, b, c, d, e] = identity(std::tuple{2, 2LL, 0.5f, 0.5, true});
  static_assert(std::same_as<std::remove_cvref_t<decltype(a)>, Array<int32_t>>);
  static_assert(std::same_as<std::remove_cvref_t<decltype(b)>, Array<int64_t>>);
  static_assert(std::same_as<std::remove_cvref_t<decltype(c)>, F>);
  static_assert(std::same_as<std::remove_cvref_t<decltype(d)>, D>);
  static_assert(std::same_as<std::remove_cvref_t<decltype(e)>, Array<bool>>);
  EXPECT_EQ(a.item(), 2);
  EXPECT_EQ(b.item(), 2);
  EXPECT_EQ(c.item(), 0.5f);
  EXPECT_EQ(d.item(), 0.5);
  EXPECT_TRUE(e.item());
}

TEST(Trees, VectorOfBoolIsOneArray) {
  const std::vector<bool> back = identity(std::vector<bool>{true, false, true});
  EXPECT_EQ(back, (std::vector<bool>{true, false, true}));
}

TEST(Trees, ResultsMayMixArraysScalarsAndTracers) {
  const F captured = {7, 8};
  const auto [a, b, c] = jit([captured](auto x) { return std::tuple{x + 1.0f, captured, 2.5}; })(F{1});
  EXPECT_TRUE(array_equal(a, F{2}));
  EXPECT_TRUE(array_equal(b, captured));
  EXPECT_EQ(c.item(), 2.5);
}

TEST(Trees, FunctionWithoutArgumentsRuns) {
  const auto f = jit([] { return zeros<float>({2, 2}) + 3.0f; });
  EXPECT_TRUE(array_equal(f(), F{{3, 3}, {3, 3}}));
}

TEST(Trees, NamesOfMembersAreThoseOfTheProgram) {
  const Body<F> body{{1}, {{2}, {3}}, F{4}, {{"left", F{5}}}, {}, false};
  const std::vector<std::string> paths = detail::leaf_paths(std::pair{body, std::vector{F{1}, F{2}}}, "argument 0");
  EXPECT_EQ(paths, (std::vector<std::string>{"argument 0[0].position", "argument 0[0].inner.w", "argument 0[0].inner.b",
                                             "argument 0[0].maybe", "argument 0[0].named[\"left\"]", "argument 0[1][0]",
                                             "argument 0[1][1]"}));
}

TEST(Trees, MatricesAreReadThroughTheirStrides) {
  Eigen::MatrixXf m(2, 3);  // column-major
  m << 1, 2, 3, 4, 5, 6;
  EXPECT_TRUE(array_equal(identity(m), F{{1, 2, 3}, {4, 5, 6}}));
  EXPECT_TRUE(array_equal(jit([](auto x) { return x * 2.0f; })(m.block(0, 1, 2, 2)), F{{4, 6}, {10, 12}}));
  EXPECT_TRUE(array_equal(jit([](auto x) { return x + 1.0f; })(m.transpose()), F{{2, 5}, {3, 6}, {4, 7}}));
  EXPECT_TRUE(array_equal(identity(std::vector{m})[0], F{{1, 2, 3}, {4, 5, 6}}));
}

TEST(Trees, LayoutIsPartOfTheSignature) {
  const auto f = jit([](auto x) { return x * 3.0f; });
  Eigen::Matrix<float, 2, 3, Eigen::RowMajor> rows;
  rows << 1, 2, 3, 4, 5, 6;
  const Eigen::MatrixXf columns = rows;
  const F expected = {{3, 6, 9}, {12, 15, 18}};
  EXPECT_TRUE(array_equal(f(columns), expected));
  EXPECT_TRUE(array_equal(f(rows), expected));
  EXPECT_EQ(f.cache_info().entries, 2u);
  EXPECT_TRUE(array_equal(f(columns), expected));
  EXPECT_EQ(f.cache_info().hits, 1u);
}

TEST(Trees, ExpressionsAreEvaluated) {
  Eigen::Matrix2f a, b;
  a << 1, 2, 3, 4;
  b << 0, 1, 1, 0;
  EXPECT_TRUE(array_equal(jit([](auto x) { return x + 1.0f; })(a * b), F{{3, 2}, {5, 4}}));
}

TEST(Trees, ResultThatIsTheCallersMemoryIsACopy) {
  Eigen::VectorXf v(3);
  v << 1, 2, 3;
  const F fromMatrix = identity(v);
  float buffer[] = {4, 5, 6};
  const F wrapped = F::wrap(buffer, {3}, [](float*) {});
  const F fromWrapped = identity(wrapped);
  v.setZero();
  buffer[0] = 0;
  EXPECT_TRUE(array_equal(fromMatrix, F{1, 2, 3}));
  EXPECT_TRUE(array_equal(fromWrapped, F{4, 5, 6}));
}

TEST(Trees, ResultThatIsAnArrayOfTheLibraryIsShared) {
  const F x = {1, 2, 3};
  EXPECT_EQ(identity(x).host().data(), x.host().data());
}

}  // namespace
}  // namespace calque
