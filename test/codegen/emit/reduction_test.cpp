// Reductions: vectorised and scalar, nested in loops and in lanes, short and long; sums within the error bound of
// pairwise summation.
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "support/kernel_builder.h"

namespace calque::test {
namespace {

const std::vector<int64_t> kExtents{0, 1, 2, 3, 7, 15, 16, 17, 63, 64, 65, 100, 255, 1009, 4096, 5000, 70001};

template <class T>
std::vector<T> random_values(int64_t n, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> d(-1.0, 1.0);
  std::vector<T> v(static_cast<size_t>(n));
  for (T& x : v) x = static_cast<T>(d(engine));
  return v;
}

template <class T>
void check_sums(bool vectorize) {
  for (const std::string& level : cpu_levels())
    for (const int64_t n : kExtents) {
      KernelBuilder k("sum");
      const int32_t in = k.input(dtype_of<T>, n), out = k.output(dtype_of<T>, 2);
      const Ids r = k.reduction(n, vectorize, {k.constant<T>(T(0.5)), k.constant<T>(T(0))},
                                {Combiner::add, Combiner::add}, [&](Id i) {
                                  const Id v = k.load(in, i);
                                  return Ids{v, k.mul(v, v)};
                                });
      k.store(out, k.index(0), r[0]);
      k.store(out, k.index(1), r[1]);
      const std::vector<T> x = random_values<T>(n, static_cast<unsigned>(n));
      Guarded<T> a(x), b(2);
      run(k.program(), {a.data(), b.data()}, cpu(level));
      long double sum = 0.5L, magnitude = 0.5L, squares = 0;
      for (const T v : x) {
        sum += v;
        magnitude += std::fabs(static_cast<long double>(v));
        squares += static_cast<long double>(v) * v;
      }
      const long double eps = std::numeric_limits<T>::epsilon();
      const long double bound = eps * (std::log2(static_cast<long double>(n + 1)) + 4);
      ASSERT_LE(std::fabs(b[0] - sum), bound * magnitude) << level << " n=" << n;
      ASSERT_LE(std::fabs(b[1] - squares), bound * squares) << level << " n=" << n;
    }
}

TEST(Reduction, SumsOfF32StayPairwise) { check_sums<float>(true); }
TEST(Reduction, SumsOfF64StayPairwise) { check_sums<double>(true); }
TEST(Reduction, ScalarSumsOfF32StayPairwise) { check_sums<float>(false); }

// Equal terms with a large total: sequential addition would have an error of many ulp.
TEST(Reduction, LongSumOfEqualTermsIsAccurate) {
  for (const std::string& level : cpu_levels())
    for (const bool vectorize : {true, false}) {
      const int64_t n = 1 << 22;
      KernelBuilder k("ones");
      const int32_t in = k.input(DType::f32, 1), out = k.output(DType::f32, 1);
      const Id x = k.load(in, k.index(0));
      const Ids r = k.reduction(n, vectorize, {k.constant(0.0f)}, {Combiner::add}, [&](Id) { return Ids{x}; });
      k.store(out, k.index(0), r[0]);
      std::vector<float> a{0.1f}, b(1);
      run(k.program(), {a.data(), b.data()}, cpu(level));
      const double expected = static_cast<double>(0.1f) * static_cast<double>(n);
      EXPECT_NEAR(b[0], expected, expected * 1e-6) << level;
    }
}

template <class T>
class IntegerReduction : public testing::Test {};
using Integers = testing::Types<int8_t, uint8_t, int16_t, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(IntegerReduction, Integers);

TYPED_TEST(IntegerReduction, IsExactForEveryCombiner) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  std::mt19937_64 engine(7);
  for (const std::string& level : cpu_levels())
    for (const bool vectorize : {true, false})
      for (const int64_t n : {0, 1, 3, 16, 17, 64, 131, 1009}) {
        std::vector<T> x(static_cast<size_t>(n));
        for (T& v : x) v = static_cast<T>(engine() | 1);
        KernelBuilder k("ints");
        const std::vector<Combiner> combiners{Combiner::add, Combiner::mul,  Combiner::max,
                                              Combiner::min, Combiner::and_, Combiner::or_};
        const int32_t in = k.input(dtype_of<T>, n), out = k.output(dtype_of<T>, 6);
        Ids initial;
        for (const Combiner c : combiners) initial.push_back(k.constant(dtype_of<T>, kernel::identity(c, dtype_of<T>)));
        const Ids r = k.reduction(n, vectorize, initial, combiners, [&](Id i) {
          const Id v = k.load(in, i);
          return Ids{v, v, v, v, v, v};
        });
        for (int64_t o = 0; o < 6; ++o) k.store(out, k.index(o), r[static_cast<size_t>(o)]);
        Guarded<T> a(x), b(6);
        run(k.program(), {a.data(), b.data()}, cpu(level));
        uint64_t sum = 0, product = 1;
        T most = std::numeric_limits<T>::lowest(), least = std::numeric_limits<T>::max();
        U all = static_cast<U>(~U{0}), some = 0;
        for (const T v : x) {
          sum += static_cast<uint64_t>(v);
          product *= static_cast<uint64_t>(v);
          most = std::max(most, v);
          least = std::min(least, v);
          all = static_cast<U>(all & static_cast<U>(v));
          some = static_cast<U>(some | static_cast<U>(v));
        }
        EXPECT_EQ(b[0], static_cast<T>(sum)) << level << " n=" << n;
        EXPECT_EQ(b[1], static_cast<T>(product)) << level << " n=" << n;
        EXPECT_EQ(b[2], most) << level << " n=" << n;
        EXPECT_EQ(b[3], least) << level << " n=" << n;
        EXPECT_EQ(b[4], static_cast<T>(all)) << level << " n=" << n;
        EXPECT_EQ(b[5], static_cast<T>(some)) << level << " n=" << n;
      }
}

TEST(Reduction, MaximaOfFloatsPropagateNaN) {
  for (const std::string& level : cpu_levels())
    for (const bool vectorize : {true, false})
      for (const int64_t n : {1, 5, 16, 17, 100})
        for (const int64_t nan_at : {int64_t{-1}, int64_t{0}, n / 2, n - 1}) {
          std::vector<float> x = random_values<float>(n, 3);
          if (nan_at >= 0) x[static_cast<size_t>(nan_at)] = NAN;
          KernelBuilder k("maxima");
          const int32_t in = k.input(DType::f32, n), out = k.output(DType::f32, 2);
          const Ids r = k.reduction(n, vectorize, {k.constant(-INFINITY), k.constant(INFINITY)},
                                    {Combiner::max, Combiner::min}, [&](Id i) {
                                      const Id v = k.load(in, i);
                                      return Ids{v, v};
                                    });
          k.store(out, k.index(0), r[0]);
          k.store(out, k.index(1), r[1]);
          Guarded<float> a(x), b(2);
          run(k.program(), {a.data(), b.data()}, cpu(level));
          if (nan_at >= 0) {
            EXPECT_TRUE(std::isnan(b[0]) && std::isnan(b[1])) << level << " n=" << n;
          } else {
            EXPECT_EQ(b[0], *std::max_element(x.begin(), x.end())) << level;
            EXPECT_EQ(b[1], *std::min_element(x.begin(), x.end())) << level;
          }
        }
}

TEST(Reduction, ArgmaxTakesTheLowestIndexAndNaNFirst) {
  for (const std::string& level : cpu_levels())
    for (const bool vectorize : {true, false})
      for (const int64_t n : {1, 16, 67, 1009})
        for (const int kind : {0, 1, 2, 3}) {
          std::vector<float> x = random_values<float>(n, 11);
          for (float& v : x) v = std::round(v * 4);  // many ties
          if (kind == 1) x[static_cast<size_t>(n - 1)] = NAN;
          if (kind == 2) x[static_cast<size_t>(n / 2)] = x[static_cast<size_t>(n - 1)] = NAN;
          if (kind == 3) std::fill(x.begin(), x.end(), -INFINITY);
          KernelBuilder k("argmax");
          const int32_t in = k.input(DType::f32, n), value = k.output(DType::f32, 3), index = k.output(DType::i64, 2);
          const Ids r = k.reduction(
              n, vectorize,
              {k.constant(0.0f), k.constant(-INFINITY), k.index(INT64_MAX), k.constant(INFINITY), k.index(INT64_MAX)},
              {Combiner::add, Combiner::argmax, Combiner::argmax, Combiner::argmin, Combiner::argmin}, [&](Id i) {
                const Id v = k.load(in, i);
                return Ids{k.constant(1.0f), v, i, v, i};
              });
          for (int64_t o = 0; o < 3; ++o) k.store(value, k.index(o), r[o == 0 ? 0 : o == 1 ? 1 : 3]);
          k.store(index, k.index(0), r[2]);
          k.store(index, k.index(1), r[4]);
          Guarded<float> a(x), v(3);
          Guarded<int64_t> at(2);
          run(k.program(), {a.data(), v.data(), at.data()}, cpu(level));
          size_t most = 0, least = 0;
          for (size_t i = 1; i < x.size(); ++i) {
            if (!std::isnan(x[most]) && (x[i] > x[most] || std::isnan(x[i]))) most = i;
            if (!std::isnan(x[least]) && (x[i] < x[least] || std::isnan(x[i]))) least = i;
          }
          EXPECT_EQ(v[0], static_cast<float>(n));
          EXPECT_EQ(at[0], static_cast<int64_t>(most))
              << level << " n=" << n << " kind=" << kind << " vec=" << vectorize;
          EXPECT_EQ(at[1], static_cast<int64_t>(least)) << level << " n=" << n << " kind=" << kind;
        }
}

TEST(Reduction, BoolsFoldToAllAndAny) {
  for (const std::string& level : cpu_levels())
    for (const int64_t n : {1, 16, 33, 200})
      for (const int64_t odd : {int64_t{-1}, int64_t{0}, n - 1}) {
        KernelBuilder k("bools");
        const int32_t in = k.input(DType::bool_, n), out = k.output(DType::bool_, 2);
        const Ids r =
            k.reduction(n, true, {k.constant(true), k.constant(false)}, {Combiner::and_, Combiner::or_}, [&](Id i) {
              const Id v = k.load(in, i);
              return Ids{v, k.op("not", {v})};
            });
        k.store(out, k.index(0), r[0]);
        k.store(out, k.index(1), r[1]);
        std::vector<uint8_t> x(static_cast<size_t>(n), 1);
        if (odd >= 0) x[static_cast<size_t>(odd)] = 0;
        Guarded<uint8_t> a(x), b(2);
        run(k.program(), {a.data(), b.data()}, cpu(level));
        EXPECT_EQ(b[0], odd < 0) << level;
        EXPECT_EQ(b[1], odd >= 0) << level;
      }
}

// Rows in vectors along the row; and columns, one lane for each, with the reduction inside the vectorised loop.
TEST(Reduction, RowsAndColumnsOfAMatrix) {
  for (const std::string& level : cpu_levels())
    for (const int64_t rows : {1, 3, 16, 17, 100})
      for (const int64_t columns : {1, 5, 16, 33, 100}) {
        KernelBuilder k("matrix");
        const int32_t in = k.input(DType::f32, rows * columns), by_row = k.output(DType::f32, rows),
                      by_column = k.output(DType::f32, columns), first = k.output(DType::i64, columns);
        const Id zero = k.constant(0.0f);
        k.parallel(rows, false, [&](Id r) {
          const Ids sum = k.reduction(columns, true, {zero}, {Combiner::add},
                                      [&](Id c) { return Ids{k.load(in, k.add(k.mul(r, k.index(columns)), c))}; });
          k.store(by_row, r, sum[0]);
        });
        k.parallel(columns, true, [&](Id c) {
          const Ids sum = k.reduction(rows, false, {zero}, {Combiner::add},
                                      [&](Id r) { return Ids{k.load(in, k.add(k.mul(r, k.index(columns)), c))}; });
          const Ids arg =
              k.reduction(rows, false, {k.constant(-INFINITY), k.index(0)}, {Combiner::argmax, Combiner::argmax},
                          [&](Id r) { return Ids{k.load(in, k.add(k.mul(r, k.index(columns)), c)), r}; });
          k.store(by_column, c, sum[0]);
          k.store(first, c, arg[1]);
        });
        const std::vector<float> x = random_values<float>(rows * columns, 5);
        Guarded<float> a(x), b(static_cast<size_t>(rows)), d(static_cast<size_t>(columns));
        Guarded<int64_t> e(static_cast<size_t>(columns));
        run(k.program(), {a.data(), b.data(), d.data(), e.data()}, cpu(level));
        for (int64_t r = 0; r < rows; ++r) {
          double sum = 0;
          for (int64_t c = 0; c < columns; ++c) sum += x[static_cast<size_t>(r * columns + c)];
          ASSERT_NEAR(b[static_cast<size_t>(r)], sum, 1e-5) << level;
        }
        for (int64_t c = 0; c < columns; ++c) {
          double sum = 0;
          int64_t most = 0;
          for (int64_t r = 0; r < rows; ++r) {
            sum += x[static_cast<size_t>(r * columns + c)];
            if (x[static_cast<size_t>(r * columns + c)] > x[static_cast<size_t>(most * columns + c)]) most = r;
          }
          ASSERT_NEAR(d[static_cast<size_t>(c)], sum, 1e-5) << level;
          ASSERT_EQ(e[static_cast<size_t>(c)], most) << level;
        }
      }
}

TEST(Reduction, HalvesAccumulateInF32) {
  for (const std::string& level : cpu_levels())
    for (const bool vectorize : {true, false}) {
      KernelBuilder k("halves");
      const int32_t in = k.input(DType::f16, 5000), out = k.output(DType::f32, 1);
      const Ids r = k.reduction(5000, vectorize, {k.constant(0.0f)}, {Combiner::add},
                                [&](Id i) { return Ids{k.convert(DType::f32, k.load(in, i))}; });
      k.store(out, k.index(0), r[0]);
      const std::vector<float16> x(5000, float16(1.0f));
      Guarded<float16> a(x);
      Guarded<float> b(1);
      run(k.program(), {a.data(), b.data()}, cpu(level));
      EXPECT_EQ(b[0], 5000.0f) << level;
    }
}

// A body too large to be emitted once for each accumulator is summed in the same order.
TEST(Reduction, LargeBodiesSumInTheSameOrder) {
  const int64_t n = 3001;
  std::vector<float> sums;
  const std::vector<float> x = random_values<float>(n, 9);
  for (const bool large : {false, true}) {
    KernelBuilder k("large");
    const int32_t in = k.input(DType::f32, n), out = k.output(DType::f32, 1);
    const Ids r = k.reduction(n, true, {k.constant(0.0f)}, {Combiner::add}, [&](Id i) {
      Id v = k.load(in, i);
      if (large)
        for (int j = 0; j < 60; ++j) v = k.op("neg", {v});
      return Ids{v};
    });
    k.store(out, k.index(0), r[0]);
    Guarded<float> a(x), b(1);
    run(k.program(), {a.data(), b.data()});
    sums.push_back(b[0]);
  }
  EXPECT_EQ(sums[0], sums[1]);
}

}  // namespace
}  // namespace calque::test
