// Containers of numbers are arrays, and results become the caller's types again.
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "native/states.h"

namespace calque {
namespace {

using namespace test;
using D = Array<double>;
using testing::HasSubstr;

TEST(NativeConversions, AVectorOfNumbersIsOneArray) {
  const auto square = jit([](auto x) { return x * x; });
  std::vector<double> v{1, 2, 3};
  std::vector<double> w = square(v);
  EXPECT_EQ(w, (std::vector<double>{1, 4, 9}));
  w = square(w);
  EXPECT_EQ(w[2], 81);
  EXPECT_EQ(square.cache_info().misses, 1u);
  const std::vector<double> from_span = square(std::span<const double>(v).subspan(1));
  EXPECT_EQ(from_span, (std::vector<double>{4, 9}));
  const Eigen::VectorXd e = square(v);
  EXPECT_EQ(e, Eigen::VectorXd(Eigen::Vector3d(1, 4, 9)));
  EXPECT_EQ(square.trace(v).inputs().size(), 1u);
}

TEST(NativeConversions, WarmCallsDoNotCopyTheVector) {
  const auto total = jit([](auto x) { return sum(x); });
  std::vector<double> v(100'000);
  std::iota(v.begin(), v.end(), 0.0);
  EXPECT_EQ(total(v).item(), 4999950000.0);
  v[0] = 1;
  EXPECT_EQ(total(v).item(), 4999950001.0);
  v.push_back(1);
  EXPECT_EQ(total(v).item(), 4999950002.0);
  v.pop_back();
  EXPECT_EQ(total(v).item(), 4999950001.0);
  EXPECT_EQ(total.cache_info().misses, 2u);
  EXPECT_EQ(total(std::vector<double>{}).item(), 0);
}

TEST(NativeConversions, VectorsOfEveryElementType) {
  const auto same = jit([](auto x) { return x; });
  const std::vector<int32_t> i = same(std::vector<int>{1, -2});
  EXPECT_EQ(i, (std::vector<int32_t>{1, -2}));
  const std::vector<uint64_t> u = same(std::vector<unsigned long>{1, 2});
  EXPECT_EQ(u[1], 2u);
  const std::vector<long long> l = to<std::vector<long long>>(same(std::vector<long long>{5}));
  EXPECT_EQ(l[0], 5);
  const std::vector<bool> b = same(std::vector<bool>{true, false});
  EXPECT_EQ(b, (std::vector<bool>{true, false}));
  const std::vector<std::complex<double>> z = same(std::vector<std::complex<double>>{{1, 2}});
  EXPECT_EQ(z[0], std::complex<double>(1, 2));
  const std::vector<float16> h = same(std::vector<float16>{float16(1.5f)});
  EXPECT_EQ(h[0], float16(1.5f));
}

TEST(NativeConversions, ListsInContainersAreArraysToo) {
  const auto f = jit(
      [](const auto& lists, const auto& map) { return std::tuple{sum(lists[0]) + sum(lists[1]), map.at("a") * 2.0}; });
  const auto [total, doubled] =
      f(std::vector<std::vector<double>>{{1, 2}, {3}}, std::map<std::string, std::vector<double>>{{"a", {1, 2}}});
  EXPECT_EQ(total.item(), 6);
  EXPECT_EQ(std::vector<double>(doubled), (std::vector<double>{2, 4}));
}

TEST(NativeConversions, GradientsAreLikeTheirArgument) {
  const Params<double> p{3, {1, 2}};
  const auto loss = [](const auto& q) { return q.k * q.more[0] * q.more[1]; };
  const Params<double> g = like(p, grad(loss)(p));
  EXPECT_EQ(g.k, 2);
  EXPECT_EQ(g.more, (std::vector<double>{6, 3}));
  const std::map<std::string, double> m{{"a", 3}};
  const std::map<std::string, double> gm = like(m, grad([](const auto& x) { return x.at("a") * x.at("a"); })(m));
  EXPECT_EQ(gm.at("a"), 6);
  const auto q = to<Params<double>>(grad(loss)(p));
  EXPECT_EQ(q.more, g.more);
}

TEST(NativeConversions, ToEveryKindOfLeaf) {
  using T = std::tuple<double, Eigen::Vector3d, std::vector<double>, D, std::optional<double>>;
  const auto [a, b, c, d, e] = to<T>(std::tuple{D(1.0), D{1, 2, 3}, D{4, 5}, D{{6}}, std::optional<D>(7.0)});
  EXPECT_EQ(a, 1);
  EXPECT_EQ(b, Eigen::Vector3d(1, 2, 3));
  EXPECT_EQ(c, (std::vector<double>{4, 5}));
  EXPECT_TRUE(array_equal(d, D{{6}}));
  EXPECT_EQ(e, 7);
  const auto back = to<std::tuple<D, D, D, D, std::optional<D>>>(T{a, b, c, d, e});
  EXPECT_TRUE(array_equal(std::get<1>(back), D{1, 2, 3}));
  const auto layer = to<Layer<Eigen::MatrixXd>>(Layer<D>{D{{1, 2}}, D{{3}}});
  EXPECT_EQ(layer.w(0, 1), 2);
  EXPECT_EQ(like(State<long long>{}, State<int64_t>{{1, 2, 3}, {4, 5, 6}, 7}).m, 7);
}

TEST(NativeConversions, NestedContainersAndSpans) {
  const D a = {{1, 2, 3}, {4, 5, 6}};
  const auto rows = to<std::vector<std::vector<double>>>(a);
  EXPECT_EQ(rows[1], (std::vector<double>{4, 5, 6}));
  const auto fixed = to<std::array<std::array<double, 3>, 2>>(a);
  EXPECT_EQ(fixed[1][2], 6);
  const auto points = to<std::vector<std::array<double, 3>>>(a);
  EXPECT_EQ(points[1][0], 4);
  const D list = {1, 2, 3};
  EXPECT_EQ(to<std::span<const double>>(list)[2], 3);
  EXPECT_EQ(to<std::span<const double>>(list).data(), list.host().data());
  const auto three = to<std::array<double, 3>>(list);
  EXPECT_EQ(three[2], 3);
}

template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const ShapeError& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(NativeConversions, ShapesThatDoNotFitAreErrors) {
  const D a = {{1, 2}, {3, 4}};
  EXPECT_THAT(message_of([&] { std::vector<double> v = a; }), HasSubstr("rank 1, got f64[2,2]"));
  EXPECT_THAT(message_of([&] { to<double>(a); }), HasSubstr("conversions_test.cpp:"));
  EXPECT_THAT(message_of([&] { to<std::vector<std::vector<double>>>(D{1, 2}); }), HasSubstr("depth 2"));
  EXPECT_THAT(message_of([&] { to<std::array<std::array<double, 3>, 2>>(a); }),
              HasSubstr("a std::array of 3 elements is made from an extent of 2"));
  EXPECT_THAT(message_of([&] { to<Eigen::Vector3d>(D{1, 2}); }), HasSubstr("3 rows"));
}

TEST(NativeConversions, InsideATrace) {
  using V3 = Vector<double, 3>;
  const auto f = jit([](auto x) {
    V3 r = x;
    const auto y = to<V3>(x);
    const auto t = to<Tracer<double>>(r);
    V3 g = grad([](auto a) { return sum(a * a); })(r);
    return (r + y + g + V3(t)).eval();
  });
  const std::vector<double> v = f(std::vector<double>{1, 2, 3});
  EXPECT_EQ(v, (std::vector<double>{5, 10, 15}));
}

}  // namespace
}  // namespace calque
