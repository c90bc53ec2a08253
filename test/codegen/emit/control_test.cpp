// While loops and branches inside vectorised loops: lanes are independent, and inactive lanes access no memory.
#include <gtest/gtest.h>

#include "support/kernel_builder.h"

namespace calque::test {
namespace {

const std::vector<int64_t> kExtents{1, 3, 8, 16, 17, 40, 101};

TEST(While, EveryLaneHasItsOwnTripCount) {
  for (const std::string& level : cpu_levels())
    for (const bool vectorize : {true, false})
      for (const int64_t n : kExtents) {
        KernelBuilder k("collatz");
        const int32_t in = k.input(DType::i32, n), out = k.output(DType::i32, n);
        const Id one = k.constant(1), two = k.constant(2);
        k.parallel(n, vectorize, [&](Id i) {
          const Ids r = k.while_loop(
              {k.load(in, i), k.constant(0)}, [&](const Ids& c) { return k.compare("gt", c[0], one); },
              [&](const Ids& c) {
                const Id even = k.compare("eq", k.op("rem", {c[0], two}), k.constant(0));
                const Id odd_next = k.add(k.mul(c[0], k.constant(3)), one);
                const Id next = k.op("select", {even, k.op("div", {c[0], two}), odd_next});
                return Ids{next, k.add(c[1], one)};
              });
          k.store(out, i, r[1]);
        });
        std::vector<int32_t> x;
        for (int64_t i = 0; i < n; ++i) x.push_back(static_cast<int32_t>(i * 7 % 97));
        Guarded<int32_t> a(x), b(x.size());
        run(k.program(), {a.data(), b.data()}, cpu(level));
        for (size_t i = 0; i < x.size(); ++i) {
          int steps = 0;
          for (int v = x[i]; v > 1; ++steps) v = v % 2 == 0 ? v / 2 : 3 * v + 1;
          ASSERT_EQ(b[i], steps) << level << " n=" << n;
        }
      }
}

// Each lane has a different number of iterations; the index of a finished lane is past the end of the buffer.
TEST(While, FinishedLanesDoNotLoadOrStore) {
  for (const std::string& level : cpu_levels())
    for (const int64_t n : kExtents) {
      KernelBuilder k("walk");
      const int32_t in = k.input(DType::f32, n), out = k.output(DType::f32, n), seen = k.output(DType::u8, n);
      k.parallel(n, true, [&](Id i) {
        const Ids r = k.while_loop(
            {i, k.constant(0.0f)}, [&](const Ids& c) { return k.compare("lt", c[0], k.index(n)); },
            [&](const Ids& c) {
              const Id sum = k.add(c[1], k.load(in, c[0]));
              k.store(seen, c[0], k.constant<uint8_t>(1));
              return Ids{k.add(c[0], k.index(3)), sum};
            });
        k.store(out, i, r[1]);
      });
      std::vector<float> x;
      for (int64_t i = 0; i < n; ++i) x.push_back(static_cast<float>(i + 1));
      Guarded<float> a(x), b(x.size());
      Guarded<uint8_t> c(x.size());
      run(k.program(), {a.data(), b.data(), c.data()}, cpu(level));
      for (size_t i = 0; i < x.size(); ++i) {
        float sum = 0;
        for (size_t j = i; j < x.size(); j += 3) sum += x[j];
        ASSERT_EQ(b[i], sum) << level << " n=" << n;
        ASSERT_EQ(c[i], 1);
      }
    }
}

TEST(While, MandelbrotAgreesWithPlainCode) {
  const int64_t width = 61, height = 7, limit = 50;
  for (const std::string& level : cpu_levels()) {
    KernelBuilder k("mandelbrot");
    const int32_t out = k.output(DType::i32, width * height);
    k.parallel(height, false, [&](Id y) {
      k.parallel(width, true, [&](Id x) {
        const Id cr = k.add(k.mul(k.convert(DType::f64, x), k.constant(3.0 / 61)), k.constant(-2.0));
        const Id ci = k.add(k.mul(k.convert(DType::f64, y), k.constant(2.0 / 7)), k.constant(-1.0));
        const Ids r = k.while_loop(
            {k.constant(0.0), k.constant(0.0), k.constant(0)},
            [&](const Ids& c) {
              const Id norm = k.add(k.mul(c[0], c[0]), k.mul(c[1], c[1]));
              return k.op("and", {k.compare("le", norm, k.constant(4.0)),
                                  k.compare("lt", c[2], k.constant(static_cast<int32_t>(limit)))});
            },
            [&](const Ids& c) {
              const Id re = k.add(k.op("sub", {k.mul(c[0], c[0]), k.mul(c[1], c[1])}), cr);
              const Id im = k.add(k.mul(k.mul(c[0], c[1]), k.constant(2.0)), ci);
              return Ids{re, im, k.add(c[2], k.constant(1))};
            });
        k.store(out, k.add(k.mul(y, k.index(width)), x), r[2]);
      });
    });
    Guarded<int32_t> b(static_cast<size_t>(width * height));
    auto options = cpu(level);
    options.strict = true;
    run(k.program(), {b.data()}, options);
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < width; ++x) {
        const double cr = static_cast<double>(x) * (3.0 / 61) + -2.0, ci = static_cast<double>(y) * (2.0 / 7) + -1.0;
        double re = 0, im = 0;
        int count = 0;
        while (re * re + im * im <= 4.0 && count < limit) {
          const double next = re * re - im * im + cr;
          im = re * im * 2.0 + ci;
          re = next;
          ++count;
        }
        ASSERT_EQ(b[static_cast<size_t>(y * width + x)], count) << level << ' ' << x << ',' << y;
      }
  }
}

// The number of iterations is the same for all lanes: no masks, but varying carries.
TEST(While, UniformConditionWithVaryingCarries) {
  for (const std::string& level : cpu_levels())
    for (const int64_t n : kExtents) {
      KernelBuilder k("steps");
      const int32_t in = k.input(DType::f32, n), count = k.input(DType::i32, 1), out = k.output(DType::f32, n),
                    bits = k.output(DType::bool_, n);
      const Id limit = k.load(count, k.index(0));
      k.parallel(n, true, [&](Id i) {
        const Ids r = k.while_loop(
            {k.constant(0), k.load(in, i), k.constant(false)},
            [&](const Ids& c) { return k.compare("lt", c[0], limit); },
            [&](const Ids& c) {
              const Id next = k.mul(c[1], k.constant(2.0f));
              return Ids{k.add(c[0], k.constant(1)), next, k.compare("gt", next, k.constant(20.0f))};
            });
        k.store(out, i, r[1]);
        k.store(bits, i, r[2]);
      });
      std::vector<float> x;
      for (int64_t i = 0; i < n; ++i) x.push_back(static_cast<float>(i));
      Guarded<float> a(x), b(x.size());
      Guarded<int32_t> c(std::vector<int32_t>{3});
      Guarded<uint8_t> d(x.size());
      run(k.program(), {a.data(), c.data(), b.data(), d.data()}, cpu(level));
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_EQ(b[i], 8 * x[i]) << level;
        ASSERT_EQ(d[i], 8 * x[i] > 20.0f) << level;
      }
    }
}

TEST(While, NestsInAWhile) {
  for (const std::string& level : cpu_levels())
    for (const int64_t n : kExtents) {
      KernelBuilder k("nested");
      const int32_t out = k.output(DType::i64, n);
      k.parallel(n, true, [&](Id i) {
        const Ids r = k.while_loop(
            {k.index(0), k.index(0)}, [&](const Ids& c) { return k.compare("lt", c[0], i); },
            [&](const Ids& c) {
              const Ids inner = k.while_loop(
                  {k.index(0), c[1]}, [&](const Ids& d) { return k.compare("lt", d[0], c[0]); },
                  [&](const Ids& d) { return Ids{k.add(d[0], k.index(1)), k.add(d[1], k.index(1))}; });
              return Ids{k.add(c[0], k.index(1)), inner[1]};
            });
        k.store(out, i, r[1]);
      });
      Guarded<int64_t> b(static_cast<size_t>(n));
      run(k.program(), {b.data()}, cpu(level));
      for (int64_t i = 0; i < n; ++i) ASSERT_EQ(b[static_cast<size_t>(i)], i * (i - 1) / 2) << level;
    }
}

// A flag that the first iteration clears: a branch to a cold path that few lanes take.
TEST(While, ThatRunsOnceIsABranch) {
  for (const std::string& level : cpu_levels())
    for (const bool vectorize : {true, false})
      for (const int64_t n : kExtents) {
        KernelBuilder k("once");
        const int32_t in = k.input(DType::f32, n), table = k.input(DType::f32, 10), out = k.output(DType::f32, n);
        k.parallel(n, vectorize, [&](Id i) {
          const Id x = k.load(in, i);
          const Id cold = k.compare("gt", x, k.constant(90.0f));
          const Ids r = k.while_loop(
              {cold, k.mul(x, k.constant(2.0f))}, [&](const Ids& c) { return c[0]; },
              [&](const Ids& c) {
                const Id at = k.op("sub", {k.convert(DType::i64, x), k.index(91)});
                return Ids{k.constant(false), k.add(c[1], k.load(table, at))};
              });
          const Id again = k.convert(DType::f32, r[0]);
          k.store(out, i, k.add(r[1], again));
        });
        std::vector<float> x, t;
        for (int64_t i = 0; i < n; ++i) x.push_back(static_cast<float>(i * 37 % 100));
        for (int i = 0; i < 10; ++i) t.push_back(static_cast<float>(1000 * i));
        Guarded<float> a(x), b(t), c(x.size());
        run(k.program(), {a.data(), b.data(), c.data()}, cpu(level));
        for (size_t i = 0; i < x.size(); ++i)
          ASSERT_EQ(c[i], 2 * x[i] + (x[i] > 90 ? t[static_cast<size_t>(x[i]) - 91] : 0.0f)) << level << " n=" << n;
      }
}

TEST(If, LanesTakeTheirSidesAndLoadOnlyThere) {
  for (const std::string& level : cpu_levels())
    for (const bool large : {false, true})
      for (const bool vectorize : {true, false})
        for (const int64_t n : kExtents) {
          KernelBuilder k("sides");
          const int64_t half = (n + 1) / 2;
          const int32_t left = k.input(DType::f32, half), right = k.input(DType::i32, n - half),
                        out = k.output(DType::f32, n);
          k.parallel(n, vectorize, [&](Id i) {
            const Id first = k.compare("lt", i, k.index(half));
            const auto lengthen = [&](Id v) {
              for (int j = 0; large && j < 20; ++j) v = k.op("neg", {v});
              return v;
            };
            const Ids r = k.if_else(
                first, {DType::f32, DType::bool_}, [&] { return Ids{lengthen(k.load(left, i)), k.constant(true)}; },
                [&] {
                  const Id v = k.load(right, k.op("sub", {i, k.index(half)}));
                  return Ids{lengthen(k.convert(DType::f32, k.op("div", {k.constant(1000), v}))),
                             k.compare("gt", v, k.constant(5))};
                });
            k.store(out, i, k.add(r[0], k.convert(DType::f32, r[1])));
          });
          std::vector<float> x;
          std::vector<int32_t> y;
          for (int64_t i = 0; i < half; ++i) x.push_back(static_cast<float>(i) * 0.5f);
          for (int64_t i = half; i < n; ++i) y.push_back(static_cast<int32_t>(i - half));
          Guarded<float> a(x), c(static_cast<size_t>(n));
          Guarded<int32_t> b(y);
          run(k.program(), {a.data(), b.data(), c.data()}, cpu(level));
          for (int64_t i = 0; i < n; ++i) {
            float expected;
            if (i < half) {
              expected = static_cast<float>(i) * 0.5f + 1;
            } else {
              const int v = static_cast<int>(i - half);
              expected = static_cast<float>(v == 0 ? -1 : 1000 / v) + (v > 5 ? 1.0f : 0.0f);
            }
            ASSERT_EQ(c[static_cast<size_t>(i)], expected) << level << " n=" << n << " i=" << i << " large=" << large;
          }
        }
}

TEST(If, UniformConditionBranches) {
  for (const std::string& level : cpu_levels())
    for (const bool on : {true, false}) {
      KernelBuilder k("uniform");
      const int32_t flag = k.input(DType::bool_, 1), in = k.input(DType::f32, 21), out = k.output(DType::f32, 21);
      const Id p = k.load(flag, k.index(0));
      k.parallel(21, true, [&](Id i) {
        const Ids r = k.if_else(
            p, {DType::f32}, [&] { return Ids{k.mul(k.load(in, i), k.constant(2.0f))}; },
            [&] { return Ids{k.constant(-1.0f)}; });
        k.store(out, i, r[0]);
      });
      Guarded<uint8_t> f(std::vector<uint8_t>{static_cast<uint8_t>(on)});
      Guarded<float> a(std::vector<float>(21, 4.0f)), b(21);
      run(k.program(), {f.data(), a.data(), b.data()}, cpu(level));
      for (const float v : b) ASSERT_EQ(v, on ? 8.0f : -1.0f) << level;
    }
}

// A recurrence along one axis, all columns at once: stores in order, carries in registers; f16 carries too.
TEST(Sequential, RunsAlongOneAxisInLanes) {
  for (const std::string& level : cpu_levels())
    for (const bool strict : {false, true})
      for (const int64_t columns : {1, 7, 16, 35}) {
        const int64_t rows = 9;
        KernelBuilder k("cumulative");
        const int32_t in = k.input(DType::f16, rows * columns), out = k.output(DType::f16, rows * columns),
                      last = k.output(DType::i32, columns);
        k.parallel(columns, true, [&](Id c) {
          const Ids r = k.sequential(rows, {k.constant(float16(0.0f)), k.constant(0)}, [&](Id row, const Ids& carry) {
            const Id at = k.add(k.mul(row, k.index(columns)), c);
            const Id sum = k.add(carry[0], k.load(in, at));
            k.store(out, at, sum);
            return Ids{sum, k.add(carry[1], k.convert(DType::i32, row))};
          });
          k.store(last, c, r[1]);
        });
        std::vector<float16> x(static_cast<size_t>(rows * columns));
        for (size_t i = 0; i < x.size(); ++i) x[i] = float16(static_cast<float>(i % 13));
        Guarded<float16> a(x), b(x.size());
        Guarded<int32_t> d(static_cast<size_t>(columns));
        auto options = cpu(level);
        options.strict = strict;
        run(k.program(), {a.data(), b.data(), d.data()}, options);
        for (int64_t c = 0; c < columns; ++c) {
          float sum = 0;
          for (int64_t r = 0; r < rows; ++r) {
            sum += static_cast<float>(x[static_cast<size_t>(r * columns + c)]);
            ASSERT_EQ(static_cast<float>(b[static_cast<size_t>(r * columns + c)]), sum) << level;
          }
          ASSERT_EQ(d[static_cast<size_t>(c)], 36);
        }
      }
}

}  // namespace
}  // namespace calque::test
