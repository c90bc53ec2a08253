// Collective operations of a warp, compared with matrices multiplied element by element, and asynchronous copies.
#include <array>
#include <bit>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/hand_written.h"

namespace calque::test {
namespace {

using testing::HasSubstr;

class GpuWarp : public SimulatorTest {
 protected:
  std::string mistake(codegen::SimulatedProgram::Function f, int32_t threads, int32_t shared = 0) {
    return SimulatorTest::mistake(f, 1, threads, shared);
  }
};

TEST_F(GpuWarp, ShufflesMoveValuesBetweenLanes) {
  auto* out = buffer<uint32_t>(3 * 64);
  EXPECT_EQ(mistake(
                [](SimulatedThread* t, void* const* b) {
                  auto* p = static_cast<uint32_t*>(b[0]) + t->thread;
                  const auto own = static_cast<uint32_t>(t->thread) + 100;
                  const auto lane = static_cast<uint32_t>(t->thread % 32);
                  store(t, p, t->table->shuffle(t, own, SimulatorTable::xor_lane, 5, 0));
                  store(t, p + 64, t->table->shuffle(t, own, SimulatorTable::up, 3, 1));
                  store(t, p + 128, t->table->shuffle(t, own, SimulatorTable::index, (lane * 7) % 32, 2));
                },
                64),
            "");
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t lane = i % 32, first = i - lane + 100;
    EXPECT_EQ(out[i], first + (lane ^ 5));
    EXPECT_EQ(out[64 + i], first + (lane < 3 ? lane : lane - 3));
    EXPECT_EQ(out[128 + i], first + lane * 7 % 32);
  }
}

// Every lane holds the rows lane / 4 and lane / 4 + 8 of a and the column lane / 4 of b, as in the PTX ISA. Values are
// small integers, which are exact in every type and whose sums are exact in any order.
int a_at(int row, int k) { return (row * 5 + k * 3) % 13 - 6; }
int b_at(int k, int column) { return (k * 7 + column * 2) % 11 - 5; }

uint32_t bits_of(int32_t shape, int value) {
  const auto number = static_cast<float>(value);
  if (shape == 0) return std::bit_cast<uint16_t>(float16(number));
  const uint32_t bits = std::bit_cast<uint32_t>(number);
  return shape == 1 ? bits >> 16 : bits | 0x1fff;  // the low bits are ignored in tf32
}

template <int32_t shape>
void multiply(SimulatedThread* t, void* const* b) {
  const int row = t->thread / 4, quad_lane = t->thread % 4;
  std::array<uint32_t, 4> a{};
  std::array<uint32_t, 2> f{};
  std::array<float, 4> c{};
  for (int r = 0; r < 4; ++r) {
    const int m = row + r % 2 * 8;
    if (shape == 2) {
      a[static_cast<size_t>(r)] = bits_of(2, a_at(m, quad_lane + r / 2 * 4));
    } else {
      const int k = 2 * quad_lane + r / 2 * 8;
      a[static_cast<size_t>(r)] = bits_of(shape, a_at(m, k)) | bits_of(shape, a_at(m, k + 1)) << 16;
    }
  }
  for (int r = 0; r < 2; ++r) {
    const int k = 2 * quad_lane + r * 8;
    f[static_cast<size_t>(r)] = shape == 2 ? bits_of(2, b_at(quad_lane + r * 4, row))
                                           : bits_of(shape, b_at(k, row)) | bits_of(shape, b_at(k + 1, row)) << 16;
  }
  for (int i = 0; i < 4; ++i) c[static_cast<size_t>(i)] = static_cast<float>(100 * t->thread + i);
  t->table->mma(t, shape, a.data(), f.data(), c.data(), 0);
  for (int i = 0; i < 4; ++i) {
    const int m = row + i / 2 * 8, n = 2 * quad_lane + i % 2;
    store(t, static_cast<float*>(b[0]) + 8 * m + n, c[static_cast<size_t>(i)]);
  }
}

class GpuWarpProducts : public GpuWarp, public testing::WithParamInterface<int32_t> {};

TEST_P(GpuWarpProducts, AreThoseOfTheMatrices) {
  constexpr codegen::SimulatedProgram::Function kFunctions[] = {multiply<0>, multiply<1>, multiply<2>};
  auto* out = buffer<float>(128);
  EXPECT_EQ(mistake(kFunctions[GetParam()], 32), "");
  const int depth = GetParam() == 2 ? 8 : 16;
  for (int m = 0; m < 16; ++m)
    for (int n = 0; n < 8; ++n) {
      const int lane = m % 8 * 4 + n / 2, i = m / 8 * 2 + n % 2;
      int sum = 100 * lane + i;
      for (int k = 0; k < depth; ++k) sum += a_at(m, k) * b_at(k, n);
      EXPECT_EQ(out[8 * m + n], static_cast<float>(sum)) << m << ' ' << n;
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, GpuWarpProducts, testing::Values(0, 1, 2));

// Four matrices of 8 x 8 numbers row * 8 + column + 64 * matrix.
template <int32_t transposed>
void load_four(SimulatedThread* t, void* const* b) {
  for (int64_t i = t->thread; i < 256; i += 32) store_shared(t, i, static_cast<uint16_t>(i));
  t->table->barrier(t, 0);
  std::array<uint32_t, 4> words{};
  t->table->load_matrix(t, shared<uint16_t>(t, 8 * t->thread), transposed, words.data(), 1);
  for (int m = 0; m < 4; ++m)
    store(t, static_cast<uint32_t*>(b[0]) + 32 * m + t->thread, words[static_cast<size_t>(m)]);
}

TEST_F(GpuWarp, LoadsMatrices) {
  auto* out = buffer<uint32_t>(128);
  EXPECT_EQ(mistake(load_four<0>, 32, 512), "");
  for (uint32_t m = 0; m < 4; ++m)
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const uint32_t first = 64 * m + lane / 4 * 8 + lane % 4 * 2;
      EXPECT_EQ(out[32 * m + lane], first | (first + 1) << 16);
    }
  EXPECT_EQ(mistake(load_four<1>, 32, 512), "");
  for (uint32_t m = 0; m < 4; ++m)
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const uint32_t first = 64 * m + lane / 4 + lane % 4 * 16;
      EXPECT_EQ(out[32 * m + lane], first | (first + 8) << 16);
    }
}

TEST_F(GpuWarp, FindsMatrixOfUnwrittenRows) {
  EXPECT_THAT(mistake(
                  [](SimulatedThread* t, void* const*) {
                    std::array<uint32_t, 4> words{};
                    t->table->load_matrix(t, t->shared, 0, words.data(), 1);
                  },
                  32, 512),
              HasSubstr("thread 0: load of 16 bytes at byte 0 of shared memory, which no thread has written"));
}

TEST_F(GpuWarp, FindsMisalignedMatrixRow) {
  EXPECT_THAT(mistake(
                  [](SimulatedThread* t, void* const*) {
                    std::array<uint32_t, 4> words{};
                    t->table->load_matrix(t, t->shared + 8, 0, words.data(), 1);
                  },
                  32, 512),
              HasSubstr("misaligned load of 16 bytes"));
}

TEST_F(GpuWarp, FindsLaneThatMissesTheProduct) {
  EXPECT_THAT(mistake(
                  [](SimulatedThread* t, void* const*) {
                    std::array<uint32_t, 4> a{};
                    std::array<float, 4> c{};
                    if (t->thread != 7) t->table->mma(t, 0, a.data(), a.data(), c.data(), 9);
                  },
                  32),
              HasSubstr("it waits at the product of matrices, but thread 7 has returned (operation 9)"));
}

// ---- asynchronous copies

TEST_F(GpuWarp, CopiesArriveAtTheWait) {
  auto* in = buffer<float>(256);
  auto* out = buffer<float>(256);
  for (int i = 0; i < 256; ++i) in[i] = static_cast<float>(i);
  EXPECT_EQ(mistake(
                [](SimulatedThread* t, void* const* b) {
                  auto* from = static_cast<float*>(b[0]);
                  auto* to = static_cast<float*>(b[1]);
                  // Two copy groups: the first has arrived while the second is in flight. Half of the second is zeros.
                  t->table->async_copy(t, shared<float>(t, 4 * t->thread), from + 4 * t->thread, 16, 0);
                  t->table->async_commit(t);
                  t->table->async_copy(t, shared<float>(t, 128 + 4 * t->thread), from + 128 + 4 * t->thread, 8, 1);
                  t->table->async_commit(t);
                  t->table->async_wait(t, 1);
                  t->table->barrier(t, 2);
                  for (int i = t->thread; i < 128; i += 32) store(t, to + i, load_shared<float>(t, 127 - i));
                  t->table->async_wait(t, 0);
                  t->table->barrier(t, 3);
                  for (int i = t->thread; i < 128; i += 32) store(t, to + 128 + i, load_shared<float>(t, 128 + i));
                },
                32, 1024),
            "");
  for (int i = 0; i < 128; ++i) {
    EXPECT_EQ(out[i], static_cast<float>(127 - i));
    EXPECT_EQ(out[128 + i], i % 4 < 2 ? static_cast<float>(128 + i) : 0.0F);
  }
}

TEST_F(GpuWarp, FindsCopyThatWasNotWaitedFor) {
  buffer<float>(256);
  const auto no_wait = [](SimulatedThread* t, void* const* b) {
    t->table->async_copy(t, shared<float>(t, 4 * t->thread), static_cast<float*>(b[0]) + 4 * t->thread, 16, 0);
    t->table->async_commit(t);
    t->table->async_wait(t, 1);
    t->table->barrier(t, 1);
    load_shared<float>(t, t->thread, 2);
  };
  EXPECT_THAT(mistake(no_wait, 32, 512),
              HasSubstr("thread 0: load of 4 bytes at byte 0 of shared memory, to which a copy of thread 0 has not "
                        "been waited for (operation 2)"));
  const auto no_commit = [](SimulatedThread* t, void* const* b) {
    t->table->async_copy(t, shared<float>(t, 4 * t->thread), static_cast<float*>(b[0]) + 4 * t->thread, 16, 0);
    t->table->async_wait(t, 0);
    load_shared<float>(t, 4 * t->thread, 2);
  };
  EXPECT_THAT(mistake(no_commit, 32, 512), HasSubstr("a copy of thread 0 has not been waited for"));
}

// Each thread has waited for its own copies, but none for those of others.
TEST_F(GpuWarp, FindsCopyWithoutBarrier) {
  buffer<float>(256);
  EXPECT_THAT(mistake(
                  [](SimulatedThread* t, void* const* b) {
                    t->table->async_copy(t, shared<float>(t, 4 * t->thread), static_cast<float*>(b[0]) + 4 * t->thread,
                                         16, 0);
                    t->table->async_commit(t);
                    t->table->async_wait(t, 0);
                    if (t->thread > 0) load_shared<float>(t, 4 * t->thread - 1, 2);
                  },
                  32, 512),
              HasSubstr("thread 1: load of 4 bytes at byte 12 of shared memory, a race: thread 0 writes it"));
}

// The next tile must not overwrite a tile that is still being read.
TEST_F(GpuWarp, FindsCopyOverWhatIsRead) {
  buffer<float>(256);
  EXPECT_THAT(mistake(
                  [](SimulatedThread* t, void* const* b) {
                    store_shared(t, t->thread, 1.0F);
                    t->table->barrier(t, 0);
                    load_shared<float>(t, t->thread);
                    if (t->thread == 31) t->table->async_copy(t, t->shared, b[0], 16, 7);
                  },
                  32, 128),
              HasSubstr("thread 31: store of 16 bytes at byte 0 of shared memory, a race: thread 0 reads it"));
}

TEST_F(GpuWarp, FindsCopiesOutOfBounds) {
  buffer<float>(8);
  EXPECT_THAT(mistake(
                  [](SimulatedThread* t, void* const* b) {
                    t->table->async_copy(t, shared<float>(t, 4 * t->thread), static_cast<float*>(b[0]) + 4 * t->thread,
                                         t->thread < 2 ? 16 : 4, 0);
                  },
                  32, 512),
              HasSubstr("thread 2: load of 4 bytes out of bounds: at byte 32 of an allocation of 32 bytes"));
  EXPECT_THAT(mistake([](SimulatedThread* t,
                         void* const*) { t->table->async_copy(t, t->shared + 16 * t->thread, nullptr, 0, 0); },
                      32, 256),
              HasSubstr("thread 16: store of 16 bytes out of bounds: at byte 256 of 256 bytes of shared memory"));
  EXPECT_THAT(mistake([](SimulatedThread* t,
                         void* const* b) { t->table->async_copy(t, t->shared, static_cast<float*>(b[0]) + 1, 16, 0); },
                      32, 256),
              HasSubstr("misaligned load of 16 bytes"));
}

}  // namespace
}  // namespace calque::test
