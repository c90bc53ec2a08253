// Results of the simulator, and errors that it detects, each planted in a hand-written kernel: accesses to global
// memory, and collectives.
#include <numeric>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/hand_written.h"

namespace calque::test {
namespace {

using testing::HasSubstr;

class GpuSimulator : public SimulatorTest {};

// ---- results

TEST_F(GpuSimulator, RunsEveryThreadOfEveryBlock) {
  auto* out = buffer<int64_t>(3 * 64);
  EXPECT_EQ(mistake(
                [](SimulatedThread* t, void* const* b) {
                  auto* p = static_cast<int64_t*>(b[0]) + t->block * t->threads + t->thread;
                  store(t, p, 1000 * t->block + t->thread + t->blocks);
                },
                3, 64),
            "");
  for (int64_t i = 0; i < 3 * 64; ++i) EXPECT_EQ(out[i], 1000 * (i / 64) + i % 64 + 3);
}

TEST_F(GpuSimulator, ThreadsExchangeThroughSharedMemory) {
  auto* data = buffer<float>(2 * 128);
  std::iota(data, data + 256, 0.0F);
  EXPECT_EQ(mistake(
                [](SimulatedThread* t, void* const* b) {
                  auto* p = static_cast<float*>(b[0]) + t->block * 128;
                  store_shared(t, t->thread, load(t, p + t->thread));
                  t->table->barrier(t, 1);
                  store(t, p + t->thread, load_shared<float>(t, 127 - t->thread));
                },
                2, 128, 512),
            "");
  for (int i = 0; i < 256; ++i) EXPECT_EQ(data[i], static_cast<float>(i / 128 * 128 + 127 - i % 128));
}

// A tree reduction over the block: many barriers, with fewer active threads after each.
TEST_F(GpuSimulator, ReducesWithManyBarriers) {
  auto* data = buffer<int64_t>(1024);
  std::iota(data, data + 1024, int64_t{0});
  for (int run = 0; run < 3; ++run) {
    EXPECT_EQ(mistake(
                  [](SimulatedThread* t, void* const* b) {
                    auto* p = static_cast<int64_t*>(b[0]);
                    store_shared(t, t->thread, load(t, p + t->thread));
                    for (int64_t half = 512; half > 0; half /= 2) {
                      t->table->barrier(t, 1);
                      if (t->thread < half)
                        store_shared(t, t->thread,
                                     load_shared<int64_t>(t, t->thread) + load_shared<int64_t>(t, t->thread + half));
                    }
                    if (t->thread == 0) store(t, p + 1023, load_shared<int64_t>(t, 0));
                  },
                  1, 1024, 8192),
              "");
    EXPECT_EQ(data[1023], 1023 * 1024 / 2);
    data[1023] = 1023;
  }
}

TEST_F(GpuSimulator, SeveralLaunchesRunAtOnce) {
  constexpr int kLaunches = 4;
  std::vector<int64_t*> outs;
  for (int i = 0; i < kLaunches; ++i) outs.push_back(buffer<int64_t>(4));
  std::vector<std::thread> threads;
  for (int i = 0; i < kLaunches; ++i)
    threads.emplace_back([&, i] {
      const HandWritten program(
          [](SimulatedThread* t, void* const* b) {
            store_shared(t, t->thread, int64_t{t->thread});
            t->table->barrier(t, 0);
            int64_t sum = 0;
            for (int k = 0; k < 256; ++k) sum += load_shared<int64_t>(t, k);
            if (t->thread == 0) store(t, static_cast<int64_t*>(b[0]) + t->block, sum);
          },
          4, 256, 2048);
      void* const own[] = {outs[static_cast<size_t>(i)]};
      runtime::launch(program, 0, own, memory);
    });
  for (std::thread& t : threads) t.join();
  for (const int64_t* out : outs) EXPECT_EQ(out[3], 255 * 128);
}

// ---- global memory

TEST_F(GpuSimulator, FindsLoadBehindAllocation) {
  buffer<float>(100);
  EXPECT_THAT(
      mistake([](SimulatedThread* t, void* const* b) { load(t, static_cast<float*>(b[0]) + t->thread + 64, 7); }, 1,
              64),
      AllOf(HasSubstr("kernel: block 0, thread 36: load of 4 bytes out of bounds"),
            HasSubstr("at byte 400 of an allocation of 400 bytes (operation 7)")));
}

TEST_F(GpuSimulator, FindsAccessThatEndsBehindAllocation) {
  buffer<float>(3);
  EXPECT_THAT(
      mistake([](SimulatedThread* t, void* const* b) { t->table->access(t, b[0], 16, SimulatorTable::load, 0); }, 1,
              32),
      HasSubstr("at byte 0 of an allocation of 12 bytes"));
}

TEST_F(GpuSimulator, FindsStoreBeforeAllocation) {
  buffer<double>(4);
  EXPECT_THAT(mistake([](SimulatedThread* t, void* const* b) { store(t, static_cast<double*>(b[0]) - 1, 0.0); }, 2, 32),
              HasSubstr("store of 8 bytes out of bounds: 8 bytes before an allocation of 32 bytes"));
}

TEST_F(GpuSimulator, FindsAccessAfterRelease) {
  memory.release(buffer<float>(50));
  buffer<float>(50);
  EXPECT_THAT(
      mistake([](SimulatedThread* t, void* const* b) { load(t, static_cast<float*>(b[0]) + t->thread); }, 1, 32),
      HasSubstr("load of 4 bytes after release: of an allocation of 200 bytes"));
}

TEST_F(GpuSimulator, FindsAtomicOutOfBounds) {
  buffer<int32_t>(1);
  EXPECT_THAT(mistake(
                  [](SimulatedThread* t, void* const* b) {
                    t->table->access(t, static_cast<int32_t*>(b[0]) + t->block, 4, SimulatorTable::atomic, 0);
                  },
                  2, 32),
              HasSubstr("block 1, thread 0: atomic operation of 4 bytes out of bounds"));
}

TEST_F(GpuSimulator, FindsMisalignedVector) {
  buffer<float>(64);
  EXPECT_THAT(
      mistake([](SimulatedThread* t,
                 void* const* b) { t->table->access(t, static_cast<float*>(b[0]) + 1, 16, SimulatorTable::load, 3); },
              1, 32),
      HasSubstr("misaligned load of 16 bytes: the address is 4 beyond a multiple of 16 (operation 3)"));
}

TEST_F(GpuSimulator, FreshMemoryIsNotANumber) {
  EXPECT_NE(*buffer<float>(1), *buffer<float>(1));
  EXPECT_EQ(memory.live_allocations(), 2U);
  EXPECT_EQ(memory.live_bytes(), 8U);
  memory.release(buffers[0]);
  EXPECT_EQ(memory.live_bytes(), 4U);
  EXPECT_THROW(memory.release(buffers[0]), DeviceError);
  EXPECT_THROW(memory.release(static_cast<char*>(buffers[1]) + 1), DeviceError);
}

// ---- collectives

TEST_F(GpuSimulator, FindsThreadThatMissesTheBarrier) {
  EXPECT_THAT(mistake(
                  [](SimulatedThread* t, void* const*) {
                    if (t->thread != 40) t->table->barrier(t, 5);
                  },
                  1, 64),
              HasSubstr("thread 0: divergence: it waits at the barrier, but thread 40 has returned (operation 5)"));
}

TEST_F(GpuSimulator, FindsThreadsAtDifferentBarriers) {
  EXPECT_THAT(mistake([](SimulatedThread* t, void* const*) { t->table->barrier(t, t->thread < 32 ? 1 : 2); }, 1, 64),
              HasSubstr("it waits at the barrier, but thread 32 waits at the barrier of operation 2 (operation 1)"));
}

TEST_F(GpuSimulator, FindsLaneThatMissesTheShuffle) {
  EXPECT_THAT(mistake(
                  [](SimulatedThread* t, void* const*) {
                    if (t->thread % 32 < 31) t->table->shuffle(t, 0, SimulatorTable::up, 1, 4);
                    t->table->barrier(t, 5);
                  },
                  1, 64),
              HasSubstr("thread 0: divergence: it waits at the shuffle, but thread 31 waits at the barrier of "
                        "operation 5 (operation 4)"));
}

TEST_F(GpuSimulator, FindsLaneThatMissesTheWarpBarrier) {
  EXPECT_THAT(mistake(
                  [](SimulatedThread* t, void* const*) {
                    if (t->thread != 33) t->table->warp_barrier(t, 4);
                  },
                  1, 64),
              HasSubstr("thread 32: divergence: it waits at the warp's barrier, but thread 33 has returned"));
}

TEST_F(GpuSimulator, WarpsMaySynchronizeAtDifferentTimes) {
  EXPECT_EQ(mistake(
                [](SimulatedThread* t, void* const*) {
                  for (int i = 0; i <= t->thread / 32; ++i) t->table->warp_barrier(t, 0);
                  t->table->barrier(t, 1);
                },
                2, 128),
            "");
}

TEST_F(GpuSimulator, RefusesBlocksThatAreNoWarps) {
  EXPECT_THAT(mistake([](SimulatedThread*, void* const*) {}, 1, 48), HasSubstr("a multiple of 32 threads"));
}

// The fibers of a failed launch are reused by the next one.
TEST_F(GpuSimulator, GoesOnAfterMistakes) {
  for (int i = 0; i < 50; ++i) {
    EXPECT_NE(mistake(
                  [](SimulatedThread* t, void* const*) {
                    t->table->barrier(t, 0);
                    if (t->thread == 200) load_shared<float>(t, 0);
                    t->table->barrier(t, 1);
                  },
                  1, 256, 4),
              "");
    EXPECT_EQ(mistake([](SimulatedThread* t, void* const*) { t->table->barrier(t, 0); }, 1, 256), "");
  }
}

}  // namespace
}  // namespace calque::test
