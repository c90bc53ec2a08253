// A thread runs until it arrives at a collective or returns. Threads without collectives run one after the other on one
// fiber; a thread that has paused ends its fiber when it returns. A warp continues as soon as all its threads have
// arrived, so warps reach the block's barriers one by one, in order.
#include "runtime/simulator/simulated_block.h"

#include <algorithm>
#include <cstring>

#include "calque/ir/errors.h"

namespace calque::runtime {

namespace {

using codegen::SimulatorTable;

// Guard zones on both sides of a block's shared memory.
constexpr size_t kGuardBytes = 128;
constexpr std::byte kGuard{0xa5};

}  // namespace

SimulatedBlock::SimulatedBlock(const codegen::SimulatedProgram& program, size_t kernel, std::span<void* const> buffers,
                               const SimulatedMemory& memory)
    : function_(program.functions()[kernel]),
      code_(program.function(kernel)),
      buffers_(buffers),
      memory_(memory),
      threads_(static_cast<size_t>(function_.threads)),
      shared_memory_(
          std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(function_.shared_bytes) + 3 * kGuardBytes)),
      shadow_(AccessShadow::Scope::block, static_cast<size_t>(function_.shared_bytes)),
      warp_epochs_(threads_.size() / kWarp) {
  const auto first = reinterpret_cast<uintptr_t>(shared_memory_.get());
  const uintptr_t begin = (first + 2 * kGuardBytes - 1) / kGuardBytes * kGuardBytes;
  shared_ = shared_memory_.get() + (begin - first);
  std::fill(shared_memory_.get(), shared_memory_.get() + function_.shared_bytes + 3 * kGuardBytes, kGuard);
}

SimulatedBlock::~SimulatedBlock() {
  for (auto& fiber : idle_) keep_fiber(std::move(fiber));
}

void SimulatedBlock::begin(BlockThread& t) const {
  t.table = &kSimulatorTable;
  t.thread = static_cast<int32_t>(&t - threads_.data());
  t.threads = function_.threads;
  t.block = block_;
  t.blocks = function_.blocks;
  t.shared = shared_;
  t.owner = const_cast<SimulatedBlock*>(this);
  t.state = BlockThread::State::fresh;
  t.has_paused = false;
  t.copies.clear();
  t.commits = 0;
}

void SimulatedBlock::run(int64_t block) {
  block_ = block;
  first_epoch_ = ++epoch_;
  for (BlockThread& t : threads_) begin(t);
  begun_ = 0;
  do {
    for (size_t first = 0; first < threads_.size(); first += kWarp) run_warp(first);
  } while (release_block());
  check_guards();
}

/// Body of a fiber: runs the threads of a warp from the next one on, until one has paused.
void SimulatedBlock::run_threads(void* block) {
  SimulatedBlock& b = *static_cast<SimulatedBlock*>(block);
  for (;;) {
    BlockThread& t = b.threads_[b.begun_++];
    b.running_ = &t;
    b.code_(&t, b.buffers_.data());
    t.state = BlockThread::State::returned;
    if (t.has_paused || b.begun_ % kWarp == 0) return;
  }
}

void SimulatedBlock::begin_threads() {
  if (idle_.empty()) idle_.push_back(take_fiber());
  std::unique_ptr<Fiber> fiber = std::move(idle_.back());
  idle_.pop_back();
  fiber_ = fiber.get();
  fiber->start(run_threads, this);
  if (fiber->ended()) {
    idle_.push_back(std::move(fiber));
  } else {
    running_->fiber = std::move(fiber);
  }
  if (mistake_.kind != Mistake::none) raise(mistake_);
}

void SimulatedBlock::resume(BlockThread& t) {
  running_ = &t;
  fiber_ = t.fiber.get();
  fiber_->resume();
  if (t.fiber->ended()) idle_.push_back(std::move(t.fiber));
  if (mistake_.kind != Mistake::none) raise(mistake_);
}

void SimulatedBlock::run_warp(size_t first) {
  while (begun_ < first + kWarp) begin_threads();
  while (release_warp(first) || threads_[first].state == BlockThread::State::ready)
    for (size_t i = first; i < first + kWarp; ++i)
      if (threads_[i].state == BlockThread::State::ready) resume(threads_[i]);
}

void SimulatedBlock::arrive_and_wait(BlockThread& t, Collective collective, int32_t site) {
  t.collective = collective;
  t.site = site;
  t.state = BlockThread::State::waiting;
  t.has_paused = true;
  fiber_->pause();
  t.collective = Collective::none;
}

/// Completes the collective at which the threads of a warp wait. False if none waits at one.
bool SimulatedBlock::release_warp(size_t first) {
  const std::span<BlockThread, kWarp> warp(threads_.data() + first, kWarp);
  const auto waits = [](const BlockThread& t) {
    return t.state == BlockThread::State::waiting && t.collective != Collective::barrier;
  };
  const auto found = std::find_if(warp.begin(), warp.end(), waits);
  if (found == warp.end()) return false;
  for (const BlockThread& t : warp)
    if (!waits(t) || t.collective != found->collective || t.site != found->site)
      raise({.kind = Mistake::divergence, .thread = found->thread, .other = t.thread, .site = found->site});
  exchange(warp);
  for (BlockThread& t : warp) t.state = BlockThread::State::ready;
  return true;
}

void SimulatedBlock::exchange(std::span<BlockThread, kWarp> warp) {
  const auto all = [&](auto member) {
    std::array<std::decay_t<decltype(member(warp[0]))>, kWarp> out;
    std::transform(warp.begin(), warp.end(), out.begin(), member);
    return out;
  };
  switch (warp[0].collective) {
    case Collective::warp_barrier:
      ++warp_epochs_[static_cast<size_t>(warp[0].thread / kWarp)];
      break;
    case Collective::shuffle: {
      const auto values = all([](const BlockThread& t) { return t.value; });
      for (uint32_t lane = 0; lane < kWarp; ++lane) {
        BlockThread& t = warp[lane];
        uint32_t from = t.operand;
        if (t.mode == SimulatorTable::xor_lane) from = lane ^ t.operand;
        if (t.mode == SimulatorTable::up) from = t.operand <= lane ? lane - t.operand : lane;
        t.value = values[from % kWarp];
      }
      break;
    }
    case Collective::mma:
      multiply_matrices(warp[0].mode, all([](const BlockThread& t) { return t.fragments; }));
      break;
    case Collective::load_matrix:
      load_matrices(warp[0].mode != 0, all([](const BlockThread& t) { return t.row; }),
                    all([](const BlockThread& t) { return t.out; }));
      break;
    default:
      break;
  }
}

/// Completes the barrier at which the threads of the block wait. False if all have returned.
bool SimulatedBlock::release_block() {
  const auto waits = [](const BlockThread& t) { return t.state == BlockThread::State::waiting; };
  const auto found = std::find_if(threads_.begin(), threads_.end(), waits);
  if (found == threads_.end()) return false;
  for (const BlockThread& t : threads_)
    if (!waits(t) || t.site != found->site)
      raise({.kind = Mistake::divergence, .thread = found->thread, .other = t.thread, .site = found->site});
  for (BlockThread& t : threads_) t.state = BlockThread::State::ready;
  ++epoch_;
  return true;
}

void SimulatedBlock::check_guards() {
  const std::byte* const end = shared_ + function_.shared_bytes;
  const auto damaged = [](std::byte b) { return b != kGuard; };
  if (std::any_of(shared_ - kGuardBytes, shared_, damaged) || std::any_of(end, end + kGuardBytes, damaged))
    raise({.kind = Mistake::guard});
}

void SimulatedBlock::fail(const Mistake& mistake) {
  mistake_ = mistake;
  fiber_->leave();
}

void SimulatedBlock::raise(const Mistake& mistake) {
  for (BlockThread& t : threads_) {
    if (!t.fiber) continue;
    t.fiber->abandon();
    idle_.push_back(std::move(t.fiber));
  }
  throw DeviceError(describe(mistake));
}

}  // namespace calque::runtime
