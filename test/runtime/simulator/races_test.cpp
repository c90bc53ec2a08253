// Errors with memory shared by threads, each planted in a hand-written kernel: races in global and shared memory, and
// reads of unwritten shared memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/hand_written.h"

namespace calque::test {
namespace {

using testing::HasSubstr;

class GpuRaces : public SimulatorTest {};

// The simulator's order happens to read the correct value; a GPU might not.
TEST_F(GpuRaces, FindsRaceInGlobalMemory) {
  auto* data = buffer<int32_t>(64);
  const auto exchange = [](SimulatedThread* t, void* const* b) {
    auto* p = static_cast<int32_t*>(b[0]);
    store(t, p + t->thread, t->thread);
    t->table->barrier(t, 0);
    const int32_t before = load(t, p + (t->thread == 0 ? 63 : t->thread - 1));
    t->table->barrier(t, 1);
    store(t, p + t->thread, before);
  };
  EXPECT_EQ(mistake(exchange, 1, 64), "");
  EXPECT_EQ(data[5], 4);
  EXPECT_EQ(data[0], 63);
  const auto hasty = [](SimulatedThread* t, void* const* b) {
    auto* p = static_cast<int32_t*>(b[0]);
    store(t, p + t->thread, t->thread);
    if (t->thread > 0) load(t, p + t->thread - 1, 6);
  };
  EXPECT_THAT(mistake(hasty, 1, 64),
              HasSubstr("thread 1: load of 4 bytes at byte 0 of an allocation of 256 bytes, a race: "
                        "thread 0 writes it and no barrier lies between (operation 6)"));
}

TEST_F(GpuRaces, FindsRaceBetweenBlocks) {
  buffer<int32_t>(64);
  EXPECT_THAT(
      mistake([](SimulatedThread* t, void* const* b) { store(t, static_cast<int32_t*>(b[0]) + t->thread, 1); }, 2, 64),
      HasSubstr("block 1, thread 0: store of 4 bytes at byte 0 of an allocation of 256 bytes, a race: another "
                "block accesses it too"));
  EXPECT_THAT(mistake(
                  [](SimulatedThread* t, void* const* b) {
                    auto* p = static_cast<int32_t*>(b[0]);
                    t->block == 1 && t->thread == 0 ? store(t, p + 7, 1) : static_cast<void>(load(t, p + 7));
                  },
                  2, 32),
              HasSubstr("block 1, thread 0: store of 4 bytes at byte 28"));
  EXPECT_THAT(mistake(
                  [](SimulatedThread* t, void* const* b) {
                    auto* p = static_cast<int32_t*>(b[0]);
                    if (t->block == 0 && t->thread == 0) store(t, p + 7, 1);
                    if (t->block == 1) load(t, p + 7);
                  },
                  2, 32),
              HasSubstr("block 1, thread 0: load of 4 bytes at byte 28"));
  EXPECT_EQ(
      mistake([](SimulatedThread* t, void* const* b) { load(t, static_cast<int32_t*>(b[0]) + t->thread); }, 3, 64), "");
}

TEST_F(GpuRaces, AtomicsOfBlocksRaceOnlyWithOtherAccesses) {
  buffer<int32_t>(1);
  const auto add = [](SimulatedThread* t, void* const* b) {
    t->table->access(t, b[0], 4, SimulatorTable::atomic, 0);
    if (t->blocks == 3) load(t, static_cast<int32_t*>(b[0]), 1);
  };
  EXPECT_EQ(mistake(add, 4, 64), "");
  EXPECT_THAT(mistake(add, 3, 64),
              HasSubstr("atomic operation of 4 bytes at byte 0 of an allocation of 4 bytes, a race: "
                        "thread 0 accesses it"));
  const auto reset = [](SimulatedThread* t, void* const* b) {
    if (t->thread == 0 && t->block == 0) store(t, static_cast<int32_t*>(b[0]), 0);
    t->table->barrier(t, 0);
    t->table->access(t, b[0], 4, SimulatorTable::atomic, 1);
  };
  EXPECT_EQ(mistake(reset, 1, 64), "");
  EXPECT_THAT(mistake(reset, 2, 64), HasSubstr("block 1, thread 0: atomic operation of 4 bytes at byte 0 of an "
                                               "allocation of 4 bytes, a race: another block accesses it too"));
}

// ---- shared memory

TEST_F(GpuRaces, FindsSharedAccessOutOfBounds) {
  EXPECT_THAT(mistake([](SimulatedThread* t, void* const*) { store_shared(t, t->thread, 1.0F); }, 1, 64, 128),
              HasSubstr("thread 32: store of 4 bytes out of bounds: at byte 128 of 128 bytes of shared memory"));
}

TEST_F(GpuRaces, FindsUnannouncedWriteBehindSharedMemory) {
  EXPECT_THAT(mistake([](SimulatedThread* t, void* const*) { t->shared[130] = std::byte{1}; }, 1, 32, 128),
              HasSubstr("shared memory was written beyond its ends"));
}

TEST_F(GpuRaces, FindsReadOfUnwrittenSharedMemory) {
  EXPECT_THAT(mistake(
                  [](SimulatedThread* t, void* const*) {
                    if (t->thread < 31) store_shared(t, t->thread, 1.0F);
                    t->table->barrier(t, 0);
                    load_shared<float>(t, t->thread, 2);
                  },
                  1, 32, 128),
              HasSubstr("thread 31: load of 4 bytes at byte 124 of shared memory, which no thread has written since "
                        "the block began (operation 2)"));
}

// Shared memory does not carry values from one block to the next.
TEST_F(GpuRaces, FindsReadOfTheBlockBefore) {
  EXPECT_THAT(mistake(
                  [](SimulatedThread* t, void* const*) {
                    if (t->block == 0) store_shared(t, t->thread, 1.0F);
                    load_shared<float>(t, t->thread);
                  },
                  2, 32, 128),
              HasSubstr("block 1, thread 0: load of 4 bytes at byte 0 of shared memory, which no thread has written"));
}

TEST_F(GpuRaces, FindsWriteWriteRace) {
  EXPECT_THAT(mistake([](SimulatedThread* t, void* const*) { store_shared(t, t->thread / 2, 1.0F); }, 1, 32, 128),
              HasSubstr("thread 1: store of 4 bytes at byte 0 of shared memory, a race: thread 0 writes it too"));
}

TEST_F(GpuRaces, FindsReadBehindWriteWithoutBarrier) {
  EXPECT_THAT(mistake(
                  [](SimulatedThread* t, void* const*) {
                    store_shared(t, t->thread, 1.0F);
                    if (t->thread > 0) load_shared<float>(t, t->thread - 1);
                  },
                  1, 64, 256),
              HasSubstr("thread 1: load of 4 bytes at byte 0 of shared memory, a race: thread 0 writes it"));
}

TEST_F(GpuRaces, FindsWriteBehindReadWithoutBarrier) {
  EXPECT_THAT(mistake(
                  [](SimulatedThread* t, void* const*) {
                    store_shared(t, t->thread, 1.0F);
                    t->table->barrier(t, 0);
                    const float other = load_shared<float>(t, 63 - t->thread);
                    store_shared(t, t->thread, other);  // the other may not have read it yet
                  },
                  1, 64, 256),
              HasSubstr("thread 32: load of 4 bytes at byte 124 of shared memory, a race: thread 31 writes it"));
  EXPECT_THAT(mistake(
                  [](SimulatedThread* t, void* const*) {
                    store_shared(t, t->thread, 1.0F);
                    t->table->barrier(t, 0);
                    load_shared<float>(t, 0);
                    if (t->thread == 63) store_shared(t, 0, 2.0F);
                  },
                  1, 64, 256),
              HasSubstr("thread 63: store of 4 bytes at byte 0 of shared memory, a race: another thread reads it"));
}

TEST_F(GpuRaces, WarpBarrierOrdersItsWarpAlone) {
  const auto within = [](SimulatedThread* t, void* const*) {
    store_shared(t, t->thread, 1.0F);
    t->table->warp_barrier(t, 0);
    load_shared<float>(t, t->thread ^ 1);
    t->table->warp_barrier(t, 1);
    store_shared(t, t->thread ^ 2, 2.0F);
  };
  EXPECT_EQ(mistake(within, 2, 64, 256), "");
  const auto across = [](SimulatedThread* t, void* const*) {
    store_shared(t, t->thread, 1.0F);
    t->table->warp_barrier(t, 0);
    load_shared<float>(t, t->thread ^ 32);
  };
  EXPECT_THAT(mistake(across, 1, 64, 256), HasSubstr("which no thread has written"));
  const auto overwritten = [](SimulatedThread* t, void* const*) {
    store_shared(t, t->thread, 1.0F);
    t->table->warp_barrier(t, 0);
    if (t->thread >= 32) store_shared(t, t->thread - 32, 2.0F);
  };
  EXPECT_THAT(mistake(overwritten, 1, 64, 256), HasSubstr("thread 32: store of 4 bytes at byte 0 of shared memory, a "
                                                          "race: thread 0 writes it too"));
}

// Neighbours in a word are no race.
TEST_F(GpuRaces, TellsBytesApart) {
  const auto apart = [](SimulatedThread* t, void* const*) {
    store_shared(t, t->thread, 1.0F);
    t->table->barrier(t, 0);
    store_shared(t, t->thread, static_cast<uint16_t>(t->thread));
    t->table->barrier(t, 1);
    load_shared<uint16_t>(t, t->thread ^ 1);
    t->table->barrier(t, 2);
    store_shared(t, t->thread, static_cast<uint8_t>(t->thread));
    load_shared<float>(t, 32 + t->thread % 32);
  };
  EXPECT_EQ(mistake(apart, 2, 64, 256), "");
}

TEST_F(GpuRaces, AtomicsDoNotRace) {
  const auto counting = [](SimulatedThread* t, void* const*) {
    if (t->thread == 0) store_shared(t, 0, int32_t{0});
    t->table->barrier(t, 0);
    t->table->access(t, t->shared, 4, SimulatorTable::atomic + SimulatorTable::shared, 1);
    ++*shared<int32_t>(t, 0);
    t->table->barrier(t, 2);
    if (load_shared<int32_t>(t, 0) != t->threads) store_shared(t, 1000, 0);
  };
  EXPECT_EQ(mistake(counting, 2, 128, 4), "");
  const auto unset = [](SimulatedThread* t, void* const*) {
    t->table->access(t, t->shared, 4, SimulatorTable::atomic + SimulatorTable::shared, 1);
  };
  EXPECT_THAT(mistake(unset, 1, 32, 4), HasSubstr("atomic operation of 4 bytes at byte 0 of shared memory, which"));
}

}  // namespace
}  // namespace calque::test
