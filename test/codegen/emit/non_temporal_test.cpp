// Non-temporal stores: used only for large results, and correct at every begin and end of these.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/kernel_builder.h"
#include "support/stages.h"

namespace calque::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kLarge = (16 << 20) / 4;  // floats: the least for non-temporal stores

Program scaled(int64_t n, bool in_place = false) {
  KernelBuilder k("scaled");
  const int32_t in = k.input(DType::f32, n), out = k.output(DType::f32, n);
  k.parallel(n, true, [&](Id i) {
    Id x = k.load(in, i);
    if (in_place) x = k.add(x, k.load(out, i));
    k.store(out, i, k.mul(x, k.constant(2.0f)));
  });
  return k.program();
}

TEST(NonTemporalStores, IsForLargeResultsThatAreNotRead) {
  EXPECT_THAT(test::stages::assembly(scaled(kLarge), cpu("x86-64-v4")), ContainsRegex("vmovntps[^\n]*%zmm"));
  EXPECT_THAT(test::stages::assembly(scaled(kLarge), cpu("x86-64-v4")), HasSubstr("sfence"));
  EXPECT_THAT(test::stages::assembly(scaled(kLarge), cpu("x86-64-v3")), ContainsRegex("vmovntps[^\n]*%ymm"));
  EXPECT_THAT(test::stages::assembly(scaled(kLarge), cpu("x86-64-v2")), ContainsRegex("movntps[^\n]*%xmm"));
  EXPECT_THAT(test::stages::assembly(scaled(kLarge - 1), cpu("x86-64-v4")), Not(HasSubstr("vmovnt")));
  EXPECT_THAT(test::stages::assembly(scaled(kLarge, true), cpu("x86-64-v4")), Not(HasSubstr("vmovnt")));
}

// A buffer that is written repeatedly gets ordinary stores.
TEST(NonTemporalStores, IsForWhatIsWrittenOnce) {
  KernelBuilder k("again");
  const int32_t in = k.input(DType::f32, kLarge), out = k.output(DType::f32, kLarge);
  k.parallel(2, false, [&](Id) {
    k.parallel(kLarge, true, [&](Id i) { k.store(out, i, k.mul(k.load(in, i), k.constant(2.0f))); });
  });
  EXPECT_THAT(test::stages::assembly(k.program(), cpu("x86-64-v4")), Not(HasSubstr("vmovnt")));
}

TEST(NonTemporalStores, BeginsAndEndsAnywhere) {
  for (const std::string& level : cpu_levels())
    for (const int64_t n : {kLarge, kLarge + 1, kLarge + 13, kLarge + 31}) {
      std::vector<float> x(static_cast<size_t>(n));
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 8191);
      // The last element is next to an inaccessible page, so the first one is at an arbitrary offset in a cache line.
      Guarded<float> a(x), b(x.size());
      run(scaled(n), {a.data(), b.data()}, cpu(level));
      for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(b[i], 2 * x[i]) << level << " n=" << n << " i=" << i;
    }
}

/// Each iteration writes a row of 64 floats, of which it computes the columns, in `rounds` rounds.
Program transposed_rows(int64_t rows, int64_t rounds = 1) {
  KernelBuilder k("columns");
  const int32_t in = k.input(DType::f32, rows), out = k.output(DType::f32, rows * 64);
  const auto round = [&] {
    k.parallel(rows, true, [&](Id i) {
      const Id x = k.load(in, i), first = k.mul(i, k.index(64));
      for (int64_t c = 0; c < 64; ++c)
        k.store(out, k.add(first, k.index(c)), k.add(x, k.constant(static_cast<float>(c))));
    });
  };
  if (rounds == 1)
    round();
  else
    k.parallel(rounds, false, [&](Id) { round(); });
  return k.program();
}

// Columns that are transposed into whole lines, at any alignment of the first row and with any number of rows left
// over.
TEST(NonTemporalStores, LinesOfRows) {
  constexpr int64_t kRows = kLarge / 64;
  EXPECT_THAT(test::stages::assembly(transposed_rows(kRows), cpu("x86-64-v4")), ContainsRegex("vmovntps[^\n]*%zmm"));
  EXPECT_THAT(test::stages::assembly(transposed_rows(kRows), cpu("x86-64-v4")), HasSubstr("sfence"));
  EXPECT_THAT(test::stages::assembly(transposed_rows(kRows - 1), cpu("x86-64-v4")), Not(HasSubstr("vmovnt")));
  EXPECT_THAT(test::stages::assembly(transposed_rows(kRows, 2), cpu("x86-64-v4")), Not(HasSubstr("vmovnt")));
  for (const std::string& level : cpu_levels())
    for (const int64_t rows : {kRows, kRows + 1, kRows + 17})
      for (const size_t shift : {0, 1, 8, 16}) {
        std::vector<float> x(static_cast<size_t>(rows));
        for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 8191);
        std::vector<float> out(x.size() * 64 + 48 + 64, -1.0f);
        float* const line = reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(out.data()) + 63) / 64 * 64);
        run(transposed_rows(rows), {x.data(), line + shift}, cpu(level));
        for (size_t i = 0; i < x.size(); ++i)
          for (size_t c = 0; c < 64; ++c)
            ASSERT_EQ(line[shift + i * 64 + c], x[i] + static_cast<float>(c)) << level << " " << rows << " " << shift;
        ASSERT_EQ(line[shift + x.size() * 64], -1);
      }
}

// Rows that begin at various offsets in a cache line, with a gap after each, and rows without gaps.
TEST(NonTemporalStores, RowsOfSeveralResults) {
  for (const std::string& level : cpu_levels())
    for (const int64_t columns : {64, 1013, 1024})
      for (const int64_t shift : {0, 1, 3}) {
        const int64_t rows = kLarge / columns + 3, stride = columns + 1;
        KernelBuilder k("rows");
        const int32_t in = k.input(DType::f32, columns), first = k.output(DType::f32, rows * stride + shift),
                      second = k.output(DType::f32, rows * columns);
        k.parallel(rows, false, [&](Id row) {
          k.parallel(columns, true, [&](Id c) {
            const Id x = k.load(in, c);
            k.store(first, k.add(k.add(k.mul(row, k.index(stride)), c), k.index(shift)), k.add(x, k.constant(1.0f)));
            k.store(second, k.add(k.mul(row, k.index(columns)), c), k.mul(x, k.constant(2.0f)));
          });
        });
        std::vector<float> x(static_cast<size_t>(columns));
        for (size_t c = 0; c < x.size(); ++c) x[c] = static_cast<float>(c);
        // After the columns is an inaccessible page.
        Guarded<float> a(x), b(std::vector<float>(static_cast<size_t>(rows * stride + shift), -1.0f)),
            c(static_cast<size_t>(rows * columns));
        run(k.program(), {a.data(), b.data(), c.data()}, cpu(level));
        for (int64_t row = 0; row < rows; ++row) {
          const size_t at = static_cast<size_t>(row * stride + shift), dense = static_cast<size_t>(row * columns);
          for (size_t i = 0; i < x.size(); ++i) {
            ASSERT_EQ(b[at + i], x[i] + 1) << level << " columns=" << columns << " shift=" << shift << " row=" << row;
            ASSERT_EQ(c[dense + i], x[i] * 2) << level << " columns=" << columns << " row=" << row;
          }
          ASSERT_EQ(b[at + x.size()], -1) << level << " columns=" << columns << " shift=" << shift << " row=" << row;
        }
      }
}

}  // namespace
}  // namespace calque::test
