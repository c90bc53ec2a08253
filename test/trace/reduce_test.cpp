// Reductions and functions along an axis compared with plain loops.
#include <algorithm>
#include <map>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/trace_eval.h"

namespace calque::test {
namespace {

namespace ops = detail::ops;

/// Lists of elements that are reduced together, each with its index in the result (with kept dimensions).
template <class T>
std::map<std::vector<int64_t>, std::vector<double>> groups(const AnyArray& x, const std::vector<int>& axes) {
  std::map<std::vector<int64_t>, std::vector<double>> out;
  for_each_index(x.shape(), [&](std::vector<int64_t> index) {
    const double v = static_cast<double>(at<T>(x, index));
    for (int a : axes) index[static_cast<size_t>(a)] = 0;
    out[index].push_back(v);
  });
  return out;
}

double total(const std::vector<double>& v) {
  double s = 0;
  for (double e : v) s += e;
  return s;
}

double squared_deviation(const std::vector<double>& v) {
  const double mean = total(v) / static_cast<double>(v.size());
  double s = 0;
  for (double e : v) s += (e - mean) * (e - mean);
  return s / static_cast<double>(v.size());
}

using Reduction = Handle (*)(const Operand&, const Axes&, bool, Location);

struct Case {
  const char* name;
  Reduction f;
  double (*want)(const std::vector<double>&);
};
const Case kCases[] = {
    {"sum", &ops::sum, total},
    {"mean", &ops::mean, [](const std::vector<double>& v) { return total(v) / static_cast<double>(v.size()); }},
    {"var", &ops::var, squared_deviation},
    {"stddev", &ops::stddev, [](const std::vector<double>& v) { return std::sqrt(squared_deviation(v)); }},
    {"prod", &ops::prod,
     [](const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 1.0, std::multiplies<>()); }},
    {"amax", &ops::amax, [](const std::vector<double>& v) { return *std::ranges::max_element(v); }},
    {"amin", &ops::amin, [](const std::vector<double>& v) { return *std::ranges::min_element(v); }},
    {"norm", &ops::norm,
     [](const std::vector<double>& v) {
       double s = 0;
       for (double e : v) s += e * e;
       return std::sqrt(s);
     }},
    {"logsumexp", &ops::logsumexp,
     [](const std::vector<double>& v) {
       double s = 0;
       for (double e : v) s += std::exp(e);
       return std::log(s);
     }},
};

TEST(Reduce, IsThePlainLoopOverAnyAxes) {
  std::mt19937 generator(5);
  const AnyArray x = random_array<double>(Shape{3, 4, 2}, generator);
  for (const Case& c : kCases) {
    for (const std::vector<int>& axes : std::vector<std::vector<int>>{{0}, {1}, {2}, {0, 2}, {1, 2}, {0, 1, 2}, {}}) {
      const auto want = groups<double>(x, axes);
      for (const bool keep : {false, true}) {
        const AnyArray got = result_of({x}, [&](const auto& o) { return c.f(o[0], Axes(axes), keep, kHere); });
        ASSERT_EQ(got.rank(), keep ? 3 : 3 - static_cast<int>(axes.size())) << c.name;
        size_t i = 0;
        for (const auto& [index, elements] : want) {
          EXPECT_NEAR(got.data_as<double>()[i++], c.want(elements), 1e-12) << c.name;
        }
      }
    }
  }
}

TEST(Reduce, HalvesAccumulateInSinglePrecision) {
  // In f16 the sum would stop growing at 2048, the squares overflow at 65504.
  const std::vector<float16> ones(4096, float16(1.0f)), hundreds(64, float16(1000.0f));
  const AnyArray x = AnyArray::from<float16>(ones, Shape{4096}), y = AnyArray::from<float16>(hundreds, Shape{64});
  const auto first = [](const AnyArray& a) { return static_cast<float>(a.data_as<float16>()[0]); };
  EXPECT_EQ(first(result_of({x}, [](const auto& o) { return ops::sum(o[0], {}, false, kHere); })), 4096.f);
  EXPECT_EQ(first(result_of({x}, [](const auto& o) { return ops::mean(o[0], {}, false, kHere); })), 1.f);
  EXPECT_EQ(first(result_of({y}, [](const auto& o) { return ops::norm(o[0], {}, false, kHere); })), 8000.f);
  EXPECT_EQ(first(result_of({y}, [](const auto& o) { return ops::mean(o[0], {}, false, kHere); })), 1000.f);
}

TEST(Reduce, VarianceHasNoCancellation) {
  const AnyArray x = vec<float>({10000000.f, 10000001.f, 10000002.f});
  EXPECT_NEAR(elements<float>(result_of({x}, [](const auto& o) { return ops::var(o[0], {}, false, kHere); }))[0],
              2.f / 3, 1e-6);
}

TEST(Reduce, LogsumexpOfInfinities) {
  const double inf = std::numeric_limits<double>::infinity();
  const AnyArray x = arr<double>({4, 2}, {-inf, -inf, inf, 1, 1e4, 1e4, -inf, 2});
  const auto got =
      elements<double>(result_of({x}, [](const auto& o) { return ops::logsumexp(o[0], 1, false, kHere); }));
  EXPECT_EQ(got[0], -inf);
  EXPECT_EQ(got[1], inf);
  EXPECT_DOUBLE_EQ(got[2], 1e4 + std::log(2.0));
  EXPECT_EQ(got[3], 2);
}

TEST(Reduce, OfNothing) {
  const AnyArray x = AnyArray::full<float>(Shape{2, 0}, 0);
  const auto one = [&](Reduction f) {
    return elements<float>(result_of({x}, [&](const auto& o) { return f(o[0], 1, false, kHere); }))[1];
  };
  EXPECT_EQ(one(&ops::sum), 0.f);
  EXPECT_EQ(one(&ops::prod), 1.f);
  EXPECT_TRUE(std::isnan(one(&ops::mean)));
  EXPECT_EQ(one(&ops::logsumexp), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(words_of<ShapeError>({x.type()}, [](const auto& o) { ops::amax(o[0], 1, false, kHere); }),
            "amax: no elements to choose from in f32[2,0] (model.cpp:42)");
}

TEST(Reduce, TruthOfNumbers) {
  const AnyArray x = arr<int32_t>({2, 2}, {1, 0, 3, -2});
  EXPECT_EQ(elements<bool>(result_of({x}, [](const auto& o) { return ops::all(o[0], 1, false, kHere); })),
            (std::vector<bool>{false, true}));
  EXPECT_EQ(elements<bool>(result_of({x}, [](const auto& o) { return ops::any(o[0], 0, false, kHere); })),
            (std::vector<bool>{true, true}));
}

TEST(Reduce, ComplexNormIsThatOfTheModuli) {
  using C = std::complex<float>;
  const AnyArray x = vec<C>({C(3, 4), C(0, 12)});
  EXPECT_EQ(elements<float>(result_of({x}, [](const auto& o) { return ops::norm(o[0], {}, false, kHere); }))[0], 13.f);
}

TEST(Along, SoftmaxSumsToOneWithoutOverflow) {
  std::mt19937 generator(6);
  const AnyArray x = random_array<double>(Shape{3, 5, 2}, generator, 800);
  for (const int axis : {0, 1, -1}) {
    const AnyArray p = result_of({x}, [&](const auto& o) { return ops::softmax(o[0], axis, kHere); });
    const AnyArray l = result_of({x}, [&](const auto& o) { return ops::log_softmax(o[0], axis, kHere); });
    const int a = axis < 0 ? axis + 3 : axis;
    for (const auto& [index, elements] : groups<double>(p, {a})) EXPECT_NEAR(total(elements), 1, 1e-14);
    for_each_index(x.shape(), [&](const std::vector<int64_t>& index) {
      EXPECT_TRUE(std::isfinite(at<double>(l, index)));
      EXPECT_NEAR(std::exp(at<double>(l, index)), at<double>(p, index), 1e-14);
    });
  }
}

TEST(Along, CumulativeFunctionsAreRunningOnes) {
  const AnyArray x = arr<int32_t>({2, 4}, {3, -1, 4, 1, -5, 9, 2, -6});
  const auto run = [&](auto f, int axis) {
    return elements<int32_t>(result_of({x}, [&](const auto& o) { return f(o[0], axis, kHere); }));
  };
  EXPECT_EQ(run(&ops::cumsum, 1), (std::vector<int32_t>{3, 2, 6, 7, -5, 4, 6, 0}));
  EXPECT_EQ(run(&ops::cumsum, 0), (std::vector<int32_t>{3, -1, 4, 1, -2, 8, 6, -5}));
  EXPECT_EQ(run(&ops::cumprod, -1), (std::vector<int32_t>{3, -3, -12, -12, -5, -45, -90, 540}));
  EXPECT_EQ(run(&ops::cummax, 1), (std::vector<int32_t>{3, 3, 4, 4, -5, 9, 9, 9}));
  EXPECT_EQ(run(&ops::cummin, 1), (std::vector<int32_t>{3, -1, -1, -1, -5, -5, -5, -6}));
}

TEST(Along, ArgmaxTakesTheFirstAndNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const AnyArray x = arr<float>({3, 3}, {1, 5, 5, nan, 7, nan, -1, -1, -2});
  EXPECT_EQ(elements<int32_t>(result_of({x}, [](const auto& o) { return ops::argmax(o[0], 1, kHere); })),
            (std::vector<int32_t>{1, 0, 0}));
  EXPECT_EQ(elements<int32_t>(result_of({x}, [](const auto& o) { return ops::argmin(o[0], 1, kHere); })),
            (std::vector<int32_t>{0, 0, 2}));
}

TEST(Along, LayerNormScalesAndShiftsAlongItsAxis) {
  std::mt19937 generator(7);
  const AnyArray x = random_array<double>(Shape{3, 5, 4}, generator);
  const AnyArray gamma = random_array<double>(Shape{5}, generator), beta = random_array<double>(Shape{5}, generator);
  const AnyArray y =
      result_of({x, gamma, beta}, [](const auto& o) { return ops::layer_norm(o[0], o[1], o[2], 1, 1e-3, kHere); });
  const auto by_row = groups<double>(x, {1});
  for_each_index(x.shape(), [&](const std::vector<int64_t>& i) {
    const std::vector<double>& row = by_row.at({i[0], 0, i[2]});
    const double mean = total(row) / 5;
    const double want =
        (at<double>(x, i) - mean) / std::sqrt(squared_deviation(row) + 1e-3) * gamma.data_as<double>()[i[1]] +
        beta.data_as<double>()[i[1]];
    EXPECT_NEAR(at<double>(y, i), want, 1e-12);
  });
}

}  // namespace
}  // namespace calque::test
