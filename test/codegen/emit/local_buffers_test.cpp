// Local buffers: each iteration has its own, with lanes interleaved in vectorised loops, of a GPU's thread or shared by
// a group. Indices and masks of every form, and dtypes whose vectors are in memory as they are not in registers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "primitives/list.h"
#include "support/kernel_builder.h"
#include "support/native.h"
#include "support/ptxas.h"
#include "support/same_arrays.h"
#include "support/simulated.h"

namespace calque::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int64_t kRow = 5;

/// Each row of x is put into a local buffer. Its last element is then replaced where the first one is above 0, and its
/// first one halved until it is at most 1; what is stored is the buffer from an element on that depends on the row.
template <class T>
Program rotated_rows(int64_t n, bool vectorize) {
  KernelBuilder k("rotated");
  const int32_t in = k.input(dtype_of<T>, n * kRow), first = k.input(DType::i64, n);
  const int32_t out = k.output(dtype_of<T>, n * kRow), local = k.local(dtype_of<T>, kRow);
  const auto body = [&](Id i) {
    const Id row = k.mul(i, k.index(kRow));
    k.sequential(kRow, {}, [&](Id j, const Ids&) {
      k.store(local, j, k.load(in, k.add(row, j)));
      return Ids{};
    });
    const Id start = k.load(first, i);
    const Id is_high = k.compare("gt", start, k.index(2));
    k.if_else(
        is_high, {},
        [&] {
          k.store(local, k.index(kRow - 1), k.load(local, k.index(1)));
          return Ids{};
        },
        [&] { return Ids{}; });
    k.store(local, k.index(2), k.load(local, k.index(3)), k.compare("lt", start, k.index(1)));
    k.while_loop(
        {start}, [&](const Ids& c) { return k.compare("gt", c[0], k.index(1)); },
        [&](const Ids& c) {
          k.store(local, k.index(0), k.load(local, c[0]));
          return Ids{k.op("sub", {c[0], k.index(2)})};
        });
    k.sequential(kRow, {}, [&](Id j, const Ids&) {
      const Id at = k.op("rem", {k.add(start, j), k.index(kRow)});
      k.store(out, k.add(row, j), k.load(local, at));
      return Ids{};
    });
  };
  k.parallel(n, vectorize, body, {local});
  return k.program();
}

template <class T>
void check_rotated(const std::string& level, int64_t n, bool vectorize) {
  using Element = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;  // std::vector<bool> has no elements
  std::vector<Element> x;
  std::vector<int64_t> first;
  const int64_t most = std::is_same_v<T, bool> ? 2 : 113;
  for (int64_t i = 0; i < n * kRow; ++i) x.push_back(static_cast<Element>(static_cast<float>(i * 7 % most)));
  for (int64_t i = 0; i < n; ++i) first.push_back(i * 3 % kRow);
  Guarded<Element> a(x), b(x.size());
  Guarded<int64_t> c(first);
  run(rotated_rows<T>(n, vectorize), {a.data(), c.data(), b.data()}, cpu(level));
  for (int64_t i = 0; i < n; ++i) {
    std::vector<Element> row(x.begin() + i * kRow, x.begin() + (i + 1) * kRow);
    const int64_t start = first[static_cast<size_t>(i)];
    if (start > 2) row[kRow - 1] = row[1];
    if (start < 1) row[2] = row[3];
    for (int64_t s = start; s > 1; s -= 2) row[0] = row[static_cast<size_t>(s)];
    for (int64_t j = 0; j < kRow; ++j)
      ASSERT_EQ(static_cast<float>(b[static_cast<size_t>(i * kRow + j)]),
                static_cast<float>(row[static_cast<size_t>((start + j) % kRow)]))
          << level << " " << name(dtype_of<T>) << " n=" << n << " row " << i << " element " << j;
  }
}

template <class T>
class LocalBuffers : public testing::Test {};
using Types = testing::Types<bool, uint8_t, int16_t, int32_t, uint64_t, float16, bfloat16, float, double>;
TYPED_TEST_SUITE(LocalBuffers, Types);

TYPED_TEST(LocalBuffers, BelongToAnIteration) {
  for (const std::string& level : cpu_levels())
    for (const bool vectorize : {true, false})
      for (const int64_t n : {1, 7, 16, 33, 101}) check_rotated<TypeParam>(level, n, vectorize);
}

/// Lanes that a branch or the end of the loop masks off may have any index.
TEST(LocalBuffersOfLanes, AreNotAccessedByInactiveOnes) {
  constexpr int64_t kFar = 1'000'000'000'000;
  for (const std::string& level : cpu_levels()) {
    for (const int64_t n : {3, 16, 33}) {
      KernelBuilder k;
      const int32_t in = k.input(DType::i64, n), out = k.output(DType::i64, n), local = k.local(DType::i64, 4);
      k.parallel(n, true,
                 [&](Id i) {
                   const Id v = k.load(in, i), near = k.op("sub", {v, k.index(kFar)});
                   k.sequential(4, {}, [&](Id j, const Ids&) {
                     k.store(local, j, k.mul(j, j));
                     return Ids{};
                   });
                   const Id inside = k.compare("lt", near, k.index(4));
                   const Ids got = k.if_else(
                       inside, {DType::i64},
                       [&] {
                         k.store(local, near, k.add(k.load(local, near), k.index(7)));
                         return Ids{k.load(local, near)};
                       },
                       [&] { return Ids{k.index(-1)}; });
                   k.store(out, i, got[0]);
                 },
                 {local});
      std::vector<int64_t> x;
      for (int64_t i = 0; i < n; ++i) x.push_back(i % 3 == 2 ? 2 * kFar : kFar + i % 4);
      Guarded<int64_t> a(x), b(x.size());
      run(k.program(), {a.data(), b.data()}, cpu(level));
      for (int64_t i = 0; i < n; ++i)
        ASSERT_EQ(b[static_cast<size_t>(i)], i % 3 == 2 ? -1 : (i % 4) * (i % 4) + 7) << level << " " << n << " " << i;
      // The same without the branch: only the end of the loop masks lanes.
      KernelBuilder m;
      const int32_t from = m.input(DType::i64, n), to = m.output(DType::i64, n), own = m.local(DType::i64, 4);
      m.parallel(n, true,
                 [&](Id i) {
                   const Id at = m.op("sub", {m.load(from, i), m.index(kFar)});
                   m.store(own, at, i);
                   m.store(to, i, m.load(own, at));
                 },
                 {own});
      for (int64_t i = 0; i < n; ++i) a[static_cast<size_t>(i)] = kFar + i % 4;
      run(m.program(), {a.data(), b.data()}, cpu(level));
      for (int64_t i = 0; i < n; ++i) ASSERT_EQ(b[static_cast<size_t>(i)], i) << level << " " << n;
    }
  }
}

/// The rows of x backwards, by loops over their elements inside a loop over rows.
Program reversed_rows(int64_t n, int64_t row_length, bool vectorize) {
  KernelBuilder k("reversed");
  const int32_t in = k.input(DType::i32, n * row_length), out = k.output(DType::i32, n * row_length);
  const int32_t local = k.local(DType::i32, row_length);
  k.parallel(n, false,
             [&](Id i) {
               const Id row = k.mul(i, k.index(row_length));
               k.parallel(row_length, vectorize, [&](Id j) { k.store(local, j, k.load(in, k.add(row, j))); });
               k.parallel(row_length, vectorize, [&](Id j) {
                 const Id at = k.op("sub", {k.index(row_length - 1), j});
                 k.store(out, k.add(row, j), k.add(k.load(local, at), k.load(local, k.index(0))));
               });
             },
             {local});
  return k.program();
}

std::vector<int32_t> numbers(int64_t count) {
  std::vector<int32_t> x;
  for (int64_t i = 0; i < count; ++i) x.push_back(static_cast<int32_t>(i * 31 % 997));
  return x;
}

std::vector<int32_t> reversed(const std::vector<int32_t>& x, int64_t row_length) {
  std::vector<int32_t> want;
  for (size_t row = 0; row < x.size(); row += static_cast<size_t>(row_length))
    for (int64_t j = 0; j < row_length; ++j) want.push_back(x[row + static_cast<size_t>(row_length - 1 - j)] + x[row]);
  return want;
}

TEST(LocalBuffersOfRows, AreSharedByVectorisedLoopsInside) {
  for (const std::string& level : cpu_levels())
    for (const int64_t length : {1, 5, 16, 100}) {
      const std::vector<int32_t> x = numbers(13 * length);
      Guarded<int32_t> a(x), b(x.size());
      run(reversed_rows(13, length, true), {a.data(), b.data()}, cpu(level));
      EXPECT_EQ(std::vector<int32_t>(b.begin(), b.end()), reversed(x, length)) << level << " " << length;
    }
}

TEST(LocalBuffersOnGpus, AreSharedByTheThreadsOfAGroup) {
  for (const int64_t length : {3, 40, 300, 5000}) {
    const Program p = stages::schedule_for_gpu(reversed_rows(9, length, false), kernel::GpuLimits{});
    const std::vector<int32_t> x = numbers(9 * length);
    EXPECT_EQ(run_on_simulator(p, {x})[0], reversed(x, length)) << length;
    EXPECT_EQ(p.kernels[0].launch->group_size > 1, length > 8);
    if (length <= 8) continue;
    EXPECT_EQ(ptxas_complaint(stages::ptx(p, {}), "sm_80"), "");
  }
}

TEST(LocalBuffersOnGpus, LieInTheMemoryOfAThread) {
  Graph g;
  const Value a = g.add_input({DType::f32, {100, 13, 13}});
  g.set_outputs(
      {g.append(primitive(primitives::id_of<primitives::BatchedCholesky>), {a}, {{"add_transpose", false}}).result()});
  const Program p = program_for_gpu(g, kernel::GpuLimits{});
  EXPECT_EQ(p.kernels[0].launch->group_size, 1);
  std::vector<float> x;
  for (int64_t i = 0; i < 100 * 13 * 13; ++i)
    x.push_back(i % 169 % 14 == 0 ? 13.0F + static_cast<float>(i % 5) : static_cast<float>(i % 7) / 8);
  const AnyArray input = AnyArray::from(std::span<const float>(x), Shape{100, 13, 13});
  EXPECT_EQ(difference(run_simulated(g, {input}, kernel::GpuLimits{})[0], run_native(g, {input})[0], 1e-5, 1e-5), "");
}

TEST(LocalBufferCode, UniformElementsAreOneVector) {
  KernelBuilder k;
  const int32_t in = k.input(DType::f32, 4096), out = k.output(DType::f32, 4096), local = k.local(DType::f32, 8);
  k.parallel(4096, true,
             [&](Id i) {
               k.sequential(8, {}, [&](Id j, const Ids&) {
                 k.store(local, j, k.load(in, i));
                 return Ids{};
               });
               const Id zero = k.constant(0.0F);
               const Ids sum =
                   k.sequential(8, {zero}, [&](Id j, const Ids& c) { return Ids{k.add(c[0], k.load(local, j))}; });
               k.store(out, i, sum[0]);
             },
             {local});
  const std::string text = stages::llvm_ir(k.program(), cpu("x86-64-v4"));
  EXPECT_THAT(text, HasSubstr("alloca [128 x float], align 64"));
  EXPECT_THAT(text, Not(HasSubstr("gather")));
  EXPECT_THAT(text, Not(HasSubstr("scatter")));
}

TEST(LocalBufferCode, LargeOnesRunInFewerLanesOrAreRefused) {
  const auto copy_through = [](int64_t extent) {
    KernelBuilder k;
    const int32_t in = k.input(DType::f32, 64), out = k.output(DType::f32, 64), local = k.local(DType::f32, extent);
    k.parallel(64, true,
               [&](Id i) {
                 k.store(local, k.index(extent - 1), k.load(in, i));
                 k.store(out, i, k.load(local, k.index(extent - 1)));
               },
               {local});
    return k.program();
  };
  const auto lanes = [&](int64_t extent) {
    return stages::schedule_for_cpu(copy_through(extent), cpu("x86-64-v4")).kernels[0].body.instructions.back().lanes;
  };
  EXPECT_EQ(lanes(1152), 16);
  EXPECT_EQ(lanes(1153), 8);
  EXPECT_EQ(lanes(20000), 1);
  EXPECT_EQ(lanes(1 << 16), 1);
  EXPECT_NO_THROW(stages::compile(copy_through(1 << 16), {}));
  EXPECT_THROW(stages::compile(copy_through(1 << 17), {}), CompileError);
}

}  // namespace
}  // namespace calque::test
