// Entry points of generated code, which forward to the block of the calling thread.
#include "runtime/simulator/simulated_block.h"

namespace calque::runtime {

namespace {

using codegen::SimulatorTable;

BlockThread& thread_of(void* thread) {
  return *static_cast<BlockThread*>(static_cast<codegen::SimulatedThread*>(thread));
}

void on_barrier(void* thread, int32_t site) noexcept {
  BlockThread& t = thread_of(thread);
  t.owner->arrive_and_wait(t, Collective::barrier, site);
}

void on_warp_barrier(void* thread, int32_t site) noexcept {
  BlockThread& t = thread_of(thread);
  t.owner->arrive_and_wait(t, Collective::warp_barrier, site);
}

uint32_t on_shuffle(void* thread, uint32_t value, int32_t mode, uint32_t operand, int32_t site) noexcept {
  BlockThread& t = thread_of(thread);
  t.value = value;
  t.mode = mode;
  t.operand = operand;
  t.owner->arrive_and_wait(t, Collective::shuffle, site);
  return t.value;
}

void on_access(void* thread, const void* address, int64_t bytes, int32_t kind, int32_t site) noexcept {
  BlockThread& t = thread_of(thread);
  t.owner->access(t, address, bytes, kind, site);
}

void on_mma(void* thread, int32_t shape, const uint32_t* a, const uint32_t* b, float* c, int32_t site) noexcept {
  BlockThread& t = thread_of(thread);
  t.mode = shape;
  t.fragments = {a, b, c};
  t.owner->arrive_and_wait(t, Collective::mma, site);
}

void on_load_matrix(void* thread, const void* row, int32_t transposed, uint32_t* out, int32_t site) noexcept {
  BlockThread& t = thread_of(thread);
  t.mode = transposed;
  t.row = static_cast<const std::byte*>(row);
  t.out = out;
  t.owner->access(t, row, 16, SimulatorTable::load + SimulatorTable::shared, site);
  t.owner->arrive_and_wait(t, Collective::load_matrix, site);
}

void on_async_copy(void* thread, void* shared, const void* global, int32_t valid, int32_t site) noexcept {
  BlockThread& t = thread_of(thread);
  t.owner->begin_copy(t, shared, global, valid, site);
}

void on_async_commit(void* thread) noexcept { ++thread_of(thread).commits; }

void on_async_wait(void* thread, int32_t pending) noexcept {
  BlockThread& t = thread_of(thread);
  t.owner->end_copies(t, static_cast<uint32_t>(pending));
}

}  // namespace

const SimulatorTable kSimulatorTable = {.barrier = on_barrier,
                                        .warp_barrier = on_warp_barrier,
                                        .shuffle = on_shuffle,
                                        .access = on_access,
                                        .mma = on_mma,
                                        .load_matrix = on_load_matrix,
                                        .async_copy = on_async_copy,
                                        .async_commit = on_async_commit,
                                        .async_wait = on_async_wait};

}  // namespace calque::runtime
