// Loads a few elements apart that read rows of memory together: every stride and choice of columns, at the ends of
// mapped memory; what must not be read together.
#include <algorithm>
#include <deque>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/kernel_builder.h"

namespace calque::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

using Offsets = std::vector<int64_t>;

template <class T>
T element(size_t i) {
  return static_cast<T>(static_cast<int>(i * 7 % 251 % (sizeof(T) == 1 ? 2 : 251)));
}

template <class T>
void fill(Guarded<T>& memory) {
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = element<T>(i);
}

Offsets range(int64_t begin, int64_t end, int64_t step = 1) {
  Offsets out;
  for (int64_t o = begin; o < end; o += step) out.push_back(o);
  return out;
}

/// Columns of rows of `stride` elements.
std::vector<Offsets> choices(int64_t stride) {
  std::vector<Offsets> all{range(0, stride), {0}, {0, stride - 1}, range(0, stride, 2)};
  all.push_back(range(stride / 2, stride));       // the buffer ends with the row, but does not start with it
  all.push_back(range(0, (stride + 1) / 2 + 1));  // and the other way around
  all.push_back({stride, 1, 0, stride - 1, 1});   // out of order, repeated, in the next row
  Offsets triangle;
  for (int64_t row = 0; row * row < stride; ++row)
    for (int64_t column = 0; column <= row; ++column)
      if (const int64_t o = row * std::max<int64_t>(1, stride / 8) + column; o < stride) triangle.push_back(o);
  all.push_back(triangle);
  return all;
}

/// x[i * stride + offset] of all i < n and offsets, where x ends with the last element that is read.
template <class T>
void check(const std::string& level, int64_t n, int64_t stride, const std::vector<Offsets>& choices) {
  KernelBuilder k("columns");
  std::deque<Guarded<T>> read, written;
  std::vector<void*> inputs, outputs;
  std::vector<int32_t> in, out;
  for (const Offsets& offsets : choices) {
    const int64_t extent = n == 0 ? 0 : (n - 1) * stride + *std::max_element(offsets.begin(), offsets.end()) + 1;
    const int64_t count = n * static_cast<int64_t>(offsets.size());
    fill(read.emplace_back(static_cast<size_t>(extent)));
    written.emplace_back(static_cast<size_t>(count));
    in.push_back(k.input(dtype_of<T>, extent));
    inputs.push_back(read.back().data());
  }
  for (size_t c = 0; c < choices.size(); ++c) {
    out.push_back(k.output(dtype_of<T>, n * static_cast<int64_t>(choices[c].size())));
    outputs.push_back(written[c].data());
  }
  for (size_t c = 0; c < choices.size(); ++c)
    k.parallel(n, true, [&](Id i) {
      const Id row = k.mul(i, k.index(stride));
      int64_t column = 0;
      for (const int64_t o : choices[c])
        k.store(out[c], k.add(k.index(column++ * n), i), k.load(in[c], k.add(row, k.index(o))));
    });
  inputs.insert(inputs.end(), outputs.begin(), outputs.end());
  run(k.program(), inputs, cpu(level));
  for (size_t c = 0; c < choices.size(); ++c)
    for (size_t column = 0; column < choices[c].size(); ++column)
      for (int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<size_t>(i * stride + choices[c][column]);
        ASSERT_EQ(written[c][column * static_cast<size_t>(n) + static_cast<size_t>(i)], read[c][at])
            << level << " n=" << n << " stride=" << stride << " choice " << c << " column " << column << " row " << i;
      }
}

TEST(DeinterleavedLoads, EveryStride) {
  for (const std::string& level : cpu_levels())
    for (int64_t stride = 2; stride <= 16; ++stride)
      for (const int64_t n : {17, 67}) check<float>(level, n, stride, choices(stride));
}

TEST(DeinterleavedLoads, LongRows) {
  for (const std::string& level : cpu_levels())
    for (const int64_t stride : {36, 64, 144})
      check<float>(level, 35, stride, {range(0, stride), choices(stride).back()});
  for (const std::string& level : cpu_levels())
    for (const int64_t stride : {255, 256, 257})
      check<double>(level, 18, stride, {range(0, 9), {0, 3, 100, 101, stride - 1}, {stride - 2, stride - 1}});
}

TEST(DeinterleavedLoads, EveryNumberOfRows) {
  for (const std::string& level : cpu_levels())
    for (const int64_t n : {0, 1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 1000})
      for (const int64_t stride : {2, 3, 6}) check<float>(level, n, stride, {range(0, stride), {1}, {0, stride - 1}});
}

template <class T>
class DeinterleavedTypes : public testing::Test {};
using Types = testing::Types<bool, uint8_t, int16_t, int32_t, uint64_t, float16, bfloat16, double>;
TYPED_TEST_SUITE(DeinterleavedTypes, Types);

TYPED_TEST(DeinterleavedTypes, SomeStrides) {
  for (const std::string& level : cpu_levels())
    for (const int64_t stride : {2, 3, 4, 5, 7, 9, 16, 36})
      check<TypeParam>(level, 67, stride, {range(0, stride), {0, stride - 1}, range(0, stride / 2 + 1), {stride - 1}});
}

/// out[i] = the sum of x[i * stride + offset].
Program sums(int64_t n, int64_t stride, const Offsets& offsets, DType dtype = DType::f32) {
  KernelBuilder k("sums");
  const int32_t in = k.input(dtype, n * stride), out = k.output(dtype, n);
  k.parallel(n, true, [&](Id i) {
    const Id row = k.mul(i, k.index(stride));
    Id sum = kNone;
    for (const int64_t o : offsets) {
      const Id v = k.load(in, k.add(row, k.index(o)));
      sum = sum == kNone ? v : k.add(sum, v);
    }
    k.store(out, i, sum);
  });
  return k.program();
}

TEST(DeinterleavedCode, ComplexNumbersAreTwoVectors) {
  const std::string text = test::stages::llvm_ir(sums(4096, 2, {0, 1}), cpu("x86-64-v4"));
  EXPECT_THAT(text, Not(HasSubstr("gather")));
  EXPECT_THAT(text, HasSubstr("load <16 x float>"));
  EXPECT_THAT(text, ContainsRegex("shufflevector <16 x float>.*i32 0, i32 2, i32 4"));
  EXPECT_THAT(text, ContainsRegex("shufflevector <16 x float>.*i32 1, i32 3, i32 5"));
}

TEST(DeinterleavedCode, MatricesAreReadInParts) {
  const std::string text = test::stages::llvm_ir(sums(4096, 64, range(0, 64)), cpu("x86-64-v4"));
  EXPECT_THAT(text, Not(HasSubstr("gather")));
  EXPECT_THAT(text, HasSubstr("load <4 x float>"));
  const std::string code = test::stages::assembly(sums(4096, 9, range(0, 9)), cpu("x86-64-v3"));
  EXPECT_THAT(code, ContainsRegex("vunpck[lh]p[sd]"));
  const std::string pairs = test::stages::llvm_ir(sums(4096, 64, range(0, 64), DType::f64), cpu("x86-64-v3"));
  EXPECT_THAT(pairs, Not(HasSubstr("gather")));
  EXPECT_THAT(pairs, HasSubstr("load <2 x double>"));
}

TEST(DeinterleavedCode, VectorsOfLongRowsAreReadInParts) {
  for (const int64_t stride : {257, 1024, 4096}) {
    const std::string text = test::stages::llvm_ir(sums(4096, stride, range(0, 16)), cpu("x86-64-v4"));
    EXPECT_THAT(text, Not(HasSubstr("gather")));
    EXPECT_THAT(text, HasSubstr("load <4 x float>"));
  }
  EXPECT_THAT(test::stages::llvm_ir(sums(4096, 4097, range(0, 16)), cpu("x86-64-v4")), HasSubstr("gather"));
}

/// Loads at x, x + x and x + x + 1 for x = 4 i, in this order or the other one, and stores of one vector at u + 4 j and
/// 2 u + 1 + 4 j.
TEST(DeinterleavedLoads, OfANumberAndItsDoubleAreApart) {
  for (const std::string& level : cpu_levels()) {
    for (const bool sums_first : {false, true}) {
      constexpr int64_t kCount = 64;
      KernelBuilder k;
      const int32_t in = k.input(DType::i32, 8 * kCount), out = k.output(DType::i32, 3 * kCount);
      k.parallel(kCount, true, [&](Id i) {
        const Id x = k.mul(i, k.index(4)), twice = k.add(x, x), next = k.add(twice, k.index(1));
        std::vector<std::pair<int64_t, Id>> at = {{0, x}, {1, twice}, {2, next}};
        if (sums_first) std::reverse(at.begin(), at.end());
        for (const auto& [part, index] : at) k.store(out, k.add(i, k.index(part * kCount)), k.load(in, index));
      });
      std::vector<int32_t> numbers;
      for (int32_t i = 0; i < 8 * kCount; ++i) numbers.push_back(i);
      Guarded<int32_t> a(numbers), b(3 * kCount);
      run(k.program(), {a.data(), b.data()}, cpu(level));
      for (int32_t i = 0; i < kCount; ++i) {
        ASSERT_EQ(b[static_cast<size_t>(i)], 4 * i) << level;
        ASSERT_EQ(b[static_cast<size_t>(kCount + i)], 8 * i) << level;
        ASSERT_EQ(b[static_cast<size_t>(2 * kCount + i)], 8 * i + 1) << level;
      }
    }
    for (const int64_t n : {4, 8, 16}) {
      KernelBuilder k;
      const int64_t rows = 3, extent = 4 * n + 2 * rows + 1;
      const int32_t out = k.output(DType::i32, rows * extent);
      const Id row_length = k.index(extent);
      k.sequential(rows, {}, [&](Id u, const Ids&) {
        const Id row = k.mul(u, row_length);
        k.parallel(n, true, [&](Id j) {
          const Id at = k.mul(j, k.index(4)), value = k.convert(DType::i32, j);
          k.store(out, k.add(k.add(u, row), at), value);
          k.store(out, k.add(k.add(k.add(u, k.add(u, k.index(1))), row), at), k.add(value, k.constant(100)));
        });
        return Ids{};
      });
      Guarded<int32_t> b(std::vector<int32_t>(static_cast<size_t>(rows * extent), -1));
      run(k.program(), {b.data()}, cpu(level));
      std::vector<int32_t> want(static_cast<size_t>(rows * extent), -1);
      for (int64_t u = 0; u < rows; ++u) {
        for (int64_t j = 0; j < n; ++j) want[static_cast<size_t>(u * extent + u + 4 * j)] = static_cast<int32_t>(j);
        for (int64_t j = 0; j < n; ++j)
          want[static_cast<size_t>(u * extent + 2 * u + 1 + 4 * j)] = static_cast<int32_t>(j + 100);
      }
      EXPECT_EQ(std::vector<int32_t>(b.begin(), b.end()), want) << level << " " << n;
    }
  }
}

TEST(DeinterleavedCode, OtherLoadsAreGathers) {
  for (const Program& p : {sums(4096, 257, {0, 1}), sums(4096, 64, {20}), sums(4096, 3, {1})}) {
    const std::string text = test::stages::llvm_ir(p, cpu("x86-64-v4"));
    EXPECT_THAT(text, HasSubstr("llvm.masked.gather.v16f32"));
    EXPECT_THAT(text, Not(HasSubstr("load <4 x float>")));
  }
}

// Elements that do not exist are not read.
TEST(DeinterleavedLoads, PredicatesStay) {
  for (const std::string& level : cpu_levels())
    for (const int64_t n : {16, 40}) {
      const int64_t exist = n - 5;
      KernelBuilder k("predicates");
      const int32_t in = k.input(DType::f32, 2 * exist), out = k.output(DType::f32, n);
      k.parallel(n, true, [&](Id i) {
        const Id row = k.mul(i, k.index(2)), inside = k.compare("lt", i, k.index(exist));
        k.store(out, i, k.add(k.load(in, row, inside), k.load(in, k.add(row, k.index(1)), inside)));
      });
      Guarded<float> x(static_cast<size_t>(2 * exist)), y(static_cast<size_t>(n));
      fill(x);
      run(k.program(), {x.data(), y.data()}, cpu(level));
      for (int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<size_t>(2 * i);
        ASSERT_EQ(y[static_cast<size_t>(i)], i < exist ? x[at] + x[at + 1] : 0.0f) << level << " n=" << n;
      }
    }
}

// Loads of a branch happen in the lanes that take it.
TEST(DeinterleavedLoads, BranchesStay) {
  for (const std::string& level : cpu_levels())
    for (const int64_t n : {16, 40}) {
      const int64_t exist = n - 5;
      KernelBuilder k("branches");
      const int32_t in = k.input(DType::f32, 2 * exist), out = k.output(DType::f32, n);
      k.parallel(n, true, [&](Id i) {
        const Id row = k.mul(i, k.index(2));
        const auto both = [&] { return Ids{k.add(k.load(in, row), k.load(in, k.add(row, k.index(1))))}; };
        const Ids r =
            k.if_else(k.compare("lt", i, k.index(exist)), {DType::f32}, both, [&] { return Ids{k.constant(-1.0f)}; });
        k.store(out, i, r[0]);
      });
      Guarded<float> x(static_cast<size_t>(2 * exist)), y(static_cast<size_t>(n));
      fill(x);
      run(k.program(), {x.data(), y.data()}, cpu(level));
      for (int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<size_t>(2 * i);
        ASSERT_EQ(y[static_cast<size_t>(i)], i < exist ? x[at] + x[at + 1] : -1.0f) << level << " n=" << n;
      }
    }
}

// Parts of rows in a loop inside the vectorised one.
TEST(DeinterleavedLoads, InnerLoops) {
  const int64_t n = 37, rows = 5, columns = 4;
  for (const std::string& level : cpu_levels()) {
    KernelBuilder k("inner");
    const int32_t in = k.input(DType::f32, n * rows * columns), out = k.output(DType::f32, n);
    k.parallel(n, true, [&](Id i) {
      const Id matrix = k.mul(i, k.index(rows * columns));
      const Ids sum = k.sequential(rows, {k.constant(0.0f)}, [&](Id r, const Ids& carries) {
        const Id row = k.add(matrix, k.mul(r, k.index(columns)));
        Id s = carries[0];
        for (int64_t c = 0; c < columns; ++c)
          s = k.add(s, k.mul(k.constant(static_cast<float>(c + 1)), k.load(in, k.add(row, k.index(c)))));
        return Ids{s};
      });
      k.store(out, i, sum[0]);
    });
    Guarded<float> x(static_cast<size_t>(n * rows * columns)), y(static_cast<size_t>(n));
    fill(x);
    run(k.program(), {x.data(), y.data()}, cpu(level));
    for (int64_t i = 0; i < n; ++i) {
      float expected = 0;
      for (int64_t e = 0; e < rows * columns; ++e)
        expected += static_cast<float>(e % columns + 1) * x[static_cast<size_t>(i * rows * columns + e)];
      ASSERT_EQ(y[static_cast<size_t>(i)], expected) << level << " row " << i;
    }
    EXPECT_THAT(test::stages::llvm_ir(k.program(), cpu("x86-64-v4")), HasSubstr("load <4 x float>"));
  }
}

// Each of four columns is read after the one before it was written.
TEST(DeinterleavedLoads, StoresToTheBufferStayBetweenLoads) {
  const int64_t n = 35, stride = 4;
  for (const std::string& level : cpu_levels()) {
    KernelBuilder k("in_place");
    const int32_t x = k.output(DType::f32, n * stride), y = k.output(DType::f32, n);
    k.parallel(n, true, [&](Id i) {
      const Id row = k.mul(i, k.index(stride));
      const auto at = [&](int64_t c) { return k.add(row, k.index(c)); };
      const Id first = k.load(x, at(0)), before = k.load(x, at(1));
      k.store(x, at(1), k.add(first, before));
      const Id after = k.load(x, at(1)), third = k.load(x, at(2));
      k.store(x, at(3), k.mul(after, third));
      k.store(y, i, k.add(k.load(x, at(3)), k.load(x, at(0))));
    });
    Guarded<float> a(static_cast<size_t>(n * stride)), b(static_cast<size_t>(n));
    fill(a);
    run(k.program(), {a.data(), b.data()}, cpu(level));
    for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
      const auto x0 = [&](size_t c) { return element<float>(4 * i + c); };
      const float sum = x0(0) + x0(1);
      ASSERT_EQ(a[4 * i + 1], sum) << level;
      ASSERT_EQ(a[4 * i + 3], sum * x0(2)) << level;
      ASSERT_EQ(b[i], sum * x0(2) + x0(0)) << level;
    }
  }
}

// The same memory as two parameters, one of which is written.
TEST(DeinterleavedLoads, StoresToOverlappingBuffersStayBetweenLoads) {
  const int64_t n = 35;
  for (const std::string& level : cpu_levels()) {
    KernelBuilder k("alias");
    const int32_t x = k.input(DType::f32, 2 * n), y = k.output(DType::f32, 2 * n), out = k.output(DType::f32, n);
    k.parallel(n, true, [&](Id i) {
      const Id even = k.mul(i, k.index(2)), odd = k.add(even, k.index(1));
      k.store(y, odd, k.mul(k.load(x, even), k.constant(3.0f)));
      k.store(out, i, k.load(x, odd));
    });
    Program p = k.program();
    p.steps[0].views[0].buffer = 1;
    Guarded<float> unused(static_cast<size_t>(2 * n)), a(static_cast<size_t>(2 * n)), b(static_cast<size_t>(n));
    fill(a);
    run(p, {unused.data(), a.data(), b.data()}, cpu(level));
    for (size_t i = 0; i < static_cast<size_t>(n); ++i) ASSERT_EQ(b[i], 3 * a[2 * i]) << level;
  }
}

}  // namespace
}  // namespace calque::test
