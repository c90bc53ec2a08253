// Memory accesses: strides, reversal, gathers, scatters, predicates. Every buffer ends at an unmapped page, and some
// start at one, so that any access out of bounds crashes.
#include <numeric>

#include <gtest/gtest.h>

#include "support/kernel_builder.h"

namespace calque::test {
namespace {

const std::vector<int64_t> kExtents{1, 5, 16, 17, 67};

template <class T>
std::vector<T> counting(int64_t n, int first = 1) {
  std::vector<T> v(static_cast<size_t>(n));
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<T>(static_cast<int>(i) % 100 + first);
  return v;
}

template <class T>
class Memory : public testing::Test {};
using Types = testing::Types<uint8_t, int16_t, float, double, float16>;
TYPED_TEST_SUITE(Memory, Types);

TYPED_TEST(Memory, ReadsAndWritesAtEveryStride) {
  using T = TypeParam;
  for (const std::string& level : cpu_levels())
    for (const int64_t n : kExtents)
      for (const int64_t stride : {1, -1, 2, -3}) {
        const int64_t span = (n - 1) * std::abs(stride) + 1;
        const int64_t start = stride < 0 ? span - 1 : 0;
        const std::vector<T> x = counting<T>(span);
        KernelBuilder k("strided");
        const int32_t in = k.input(dtype_of<T>, span), read = k.output(dtype_of<T>, n),
                      written = k.output(dtype_of<T>, span);
        k.parallel(n, true, [&](Id i) {
          const Id at = k.add(k.index(start), k.mul(i, k.index(stride)));
          const Id v = k.load(in, at);
          k.store(read, i, v);
          k.store(written, at, v);
        });
        for (const auto side : {Guarded<T>::Side::end, Guarded<T>::Side::start}) {
          Guarded<T> a(x.size(), side), b(static_cast<size_t>(n), side), c(x.size(), side);
          std::copy(x.begin(), x.end(), a.begin());
          run(k.program(), {a.data(), b.data(), c.data()}, cpu(level));
          for (int64_t i = 0; i < span; ++i)
            ASSERT_EQ(c[static_cast<size_t>(i)], i % stride == 0 ? x[static_cast<size_t>(i)] : T(0));
          for (int64_t i = 0; i < n; ++i)
            ASSERT_EQ(b[static_cast<size_t>(i)], x[static_cast<size_t>(start + i * stride)])
                << level << " n=" << n << " stride=" << stride;
        }
      }
}

TYPED_TEST(Memory, GathersAndScattersWithinBounds) {
  using T = TypeParam;
  for (const std::string& level : cpu_levels())
    for (const int64_t n : kExtents) {
      // A permutation, and indices out of bounds under a predicate.
      std::vector<int64_t> where(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i)
        where[static_cast<size_t>(i)] = i % 4 == 3 ? (i % 8 == 3 ? -1000000007 : n + 4096) : n - 1 - i;
      const std::vector<T> x = counting<T>(n);
      KernelBuilder k("gather");
      const int32_t in = k.input(dtype_of<T>, n), indices = k.input(DType::i64, n), got = k.output(dtype_of<T>, n),
                    put = k.output(dtype_of<T>, n);
      k.parallel(n, true, [&](Id i) {
        const Id at = k.load(indices, i);
        const Id inside = k.op("and", {k.compare("ge", at, k.index(0)), k.compare("lt", at, k.index(n))});
        k.store(got, i, k.load(in, at, inside));
        k.store(put, at, k.load(in, i), inside);
      });
      Guarded<T> a(x), b(x.size()), c(x.size());
      Guarded<int64_t> p(where);
      run(k.program(), {a.data(), p.data(), b.data(), c.data()}, cpu(level));
      std::vector<T> expected(static_cast<size_t>(n), T(0));
      for (int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<size_t>(where[static_cast<size_t>(i)]);
        const bool inside = i % 4 != 3;
        if (inside) expected[at] = x[static_cast<size_t>(i)];
        ASSERT_EQ(b[static_cast<size_t>(i)], inside ? x[at] : T(0)) << level << " n=" << n;
      }
      for (size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(c[i], expected[i]) << level << " n=" << n;
    }
}

// Like pad and concatenate: elements outside the operand are not read.
TYPED_TEST(Memory, PredicatesGuardContiguousAccesses) {
  using T = TypeParam;
  for (const std::string& level : cpu_levels())
    for (const int64_t n : kExtents) {
      const std::vector<T> x = counting<T>(n);
      const int64_t low = 3, high = 4, padded = n + low + high;
      KernelBuilder k("pad");
      const int32_t in = k.input(dtype_of<T>, n), out = k.output(dtype_of<T>, padded), inner = k.output(dtype_of<T>, n);
      k.parallel(padded, true, [&](Id i) {
        const Id at = k.op("sub", {i, k.index(low)});
        const Id inside = k.op("and", {k.compare("ge", at, k.index(0)), k.compare("lt", at, k.index(n))});
        const Id v = k.load(in, at, inside);
        k.store(out, i, k.op("select", {inside, v, k.constant<T>(T(9))}));
        k.store(inner, at, v, inside);
      });
      for (const auto side : {Guarded<T>::Side::end, Guarded<T>::Side::start}) {
        Guarded<T> a(x.size(), side), b(static_cast<size_t>(padded), side), c(x.size(), side);
        std::copy(x.begin(), x.end(), a.begin());
        run(k.program(), {a.data(), b.data(), c.data()}, cpu(level));
        for (int64_t i = 0; i < padded; ++i)
          ASSERT_EQ(b[static_cast<size_t>(i)], i >= low && i < low + n ? x[static_cast<size_t>(i - low)] : T(9))
              << level;
        for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(c[i], x[i]) << level;
      }
    }
}

TEST(MemoryUniform, PredicateOfTheWholeLoop) {
  for (const std::string& level : cpu_levels())
    for (const bool on : {false, true})
      for (const int64_t n : {1, 7, 16, 40}) {
        KernelBuilder k("uniform");
        const int32_t flag = k.input(DType::bool_, 1), in = k.input(DType::f32, n), out = k.output(DType::f32, n),
                      one = k.output(DType::f32, n);
        const Id p = k.load(flag, k.index(0));
        // Far out of bounds when the predicate is off.
        const Id offset = k.op("select", {p, k.index(0), k.index(int64_t{1} << 40)});
        const Id scalar = k.load(in, offset, p);
        k.parallel(n, true, [&](Id i) {
          k.store(out, i, k.load(in, k.add(i, offset), p));
          k.store(one, k.add(i, offset), scalar, p);
        });
        Guarded<uint8_t> f(std::vector<uint8_t>{static_cast<uint8_t>(on)});
        Guarded<float> a(counting<float>(n)), b(static_cast<size_t>(n)), c(static_cast<size_t>(n));
        run(k.program(), {f.data(), a.data(), b.data(), c.data()}, cpu(level));
        for (int64_t i = 0; i < n; ++i) {
          ASSERT_EQ(b[static_cast<size_t>(i)], on ? a[static_cast<size_t>(i)] : 0.0f) << level;
          ASSERT_EQ(c[static_cast<size_t>(i)], on ? 1.0f : 0.0f) << level;
        }
      }
}

TEST(MemoryUniform, PredicateThatVariesOverOneElement) {
  for (const std::string& level : cpu_levels()) {
    KernelBuilder k("one");
    const int32_t in = k.input(DType::f32, 1), empty = k.input(DType::f32, 0), out = k.output(DType::f32, 37);
    k.parallel(37, true, [&](Id i) {
      const Id late = k.compare("ge", i, k.index(30));
      const Id v = k.load(in, k.index(0), late);
      const Id nothing = k.load(empty, i, k.compare("lt", i, k.index(0)));
      k.store(out, i, k.add(v, nothing));
    });
    Guarded<float> a(std::vector<float>{5.0f}), e(0), b(37);
    run(k.program(), {a.data(), e.data(), b.data()}, cpu(level));
    for (size_t i = 0; i < 37; ++i) ASSERT_EQ(b[i], i >= 30 ? 5.0f : 0.0f) << level;
  }
}

// A kernel that reads a buffer that it writes must not repeat iterations.
TEST(AliasedMemory, LastVectorRunsOnce) {
  for (const std::string& level : cpu_levels())
    for (const int64_t n : kExtents) {
      KernelBuilder k("in_place");
      const int32_t x = k.output(DType::f32, n), b = k.output(DType::u8, n);
      k.parallel(n, true, [&](Id i) {
        k.store(x, i, k.add(k.load(x, i), k.constant(1.0f)));
        k.store(b, i, k.add(k.load(b, i), k.constant<uint8_t>(1)));
      });
      Guarded<float> a(counting<float>(n));
      Guarded<uint8_t> c(static_cast<size_t>(n));
      run(k.program(), {a.data(), c.data()}, cpu(level));
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(a[static_cast<size_t>(i)], static_cast<float>(i % 100 + 2)) << level << " n=" << n;
        ASSERT_EQ(c[static_cast<size_t>(i)], 1) << level << " n=" << n;
      }
    }
}

// The same memory passed as two parameters, one of them written.
TEST(AliasedMemory, OverlappingViewsAreSeen) {
  for (const std::string& level : cpu_levels())
    for (const int64_t n : kExtents) {
      KernelBuilder k("alias");
      const int32_t x = k.input(DType::f32, n), y = k.output(DType::f32, n);
      k.parallel(n, true, [&](Id i) { k.store(y, i, k.mul(k.load(x, i), k.constant(2.0f))); });
      Program p = k.program();
      p.steps[0].views[0].buffer = 1;
      Guarded<float> a(counting<float>(n)), unused(static_cast<size_t>(n));
      run(p, {unused.data(), a.data()}, cpu(level));
      for (int64_t i = 0; i < n; ++i)
        ASSERT_EQ(a[static_cast<size_t>(i)], static_cast<float>(2 * (i % 100 + 1))) << level;
    }
}

// Index expressions: a matrix transposed, and one flattened and divided again.
TEST(MemoryIndex, TransposesAndReshapes) {
  const int64_t rows = 13, columns = 37;
  for (const std::string& level : cpu_levels()) {
    KernelBuilder k("transpose");
    const int32_t in = k.input(DType::i32, rows * columns), out = k.output(DType::i32, rows * columns),
                  flat = k.output(DType::i32, rows * columns);
    k.parallel(columns, false, [&](Id c) {
      k.parallel(rows, true, [&](Id r) {
        k.store(out, k.add(k.mul(c, k.index(rows)), r), k.load(in, k.add(k.mul(r, k.index(columns)), c)));
      });
    });
    k.parallel(rows * columns, true, [&](Id i) {
      const Id r = k.op("div", {i, k.index(columns)}), c = k.op("rem", {i, k.index(columns)});
      const Id v = k.convert(DType::i32, k.add(k.mul(r, k.index(1000)), c));
      k.store(flat, i, k.add(v, k.load(in, i)));
    });
    std::vector<int32_t> x(static_cast<size_t>(rows * columns)), y(x.size()), z(x.size());
    std::iota(x.begin(), x.end(), 0);
    run(k.program(), {x.data(), y.data(), z.data()}, cpu(level));
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) {
        const auto at = static_cast<size_t>(r * columns + c);
        ASSERT_EQ(y[static_cast<size_t>(c * rows + r)], x[at]) << level;
        ASSERT_EQ(z[at], r * 1000 + c + x[at]) << level;
      }
  }
}

}  // namespace
}  // namespace calque::test
